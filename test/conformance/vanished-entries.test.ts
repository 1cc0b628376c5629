import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/api/json/types.ts';
import type { WirePod, WirePodStatus } from '../../src/index.ts';
import { excesses } from './replay/ceilings.ts';
import { type Judgement, judge } from './replay/judge-scenario.ts';
import { type Outcome, play, type Variant } from './replay/play-scenario.ts';
import type { Call, Scenario, Step } from './replay/replay-scenario.ts';
import { variants } from './replay/variants.ts';

const variant: Variant = { fetchBeforePatch: 'always', patchFormat: 'strategic' };
const pod: WirePod = {
  metadata: { name: 'p', namespace: 'd', uid: 'u-1' },
  spec: { nodeName: 'n', restartPolicy: 'Always', containers: [{ name: 'c0', image: 'i' }] },
  status: { phase: 'Pending' },
};
const statusWith = (state: object): WirePodStatus => ({
  phase: 'Running',
  containerStatuses: [{ name: 'c0', image: 'i', imageID: 'i', ready: false, restartCount: 0, state }],
});
const waiting = statusWith({ waiting: { reason: 'CrashLoopBackOff' } });

type Doing = Omit<Step, 'expect'>;
const put: Doing = { op: 'apiserver.put', pod };
const observe: Doing = { op: 'podManager.observe', namespace: 'd', name: 'p' };
const set = (status: WirePodStatus): Doing => ({ op: 'setPodStatus', podUID: 'u-1', status });
const forget: Doing = { op: 'podManager.remove', podUID: 'u-1' };
const batch: Doing = { op: 'advance', seconds: 10 };

/** Does nothing to the pod: stands where the pod manager forgets it. */
const nothing: Doing = { op: 'apiserver.remove', namespace: 'd', name: 'another' };

/** The scenario as a manager that keeps every entry plays it: its pod manager goes on showing the pod. */
async function keeping(steps: readonly Doing[]): Promise<{ scenario: Scenario; outcomes: Outcome[] }> {
  const outcomes = await play(unrecorded(steps.map((step) => (step.op === 'podManager.remove' ? nothing : step))), variant);
  const scenario = { ...unrecorded(steps), steps: steps.map((step, index) => recorded(step, outcomes[index])) };
  return { scenario, outcomes };
}

function unrecorded(steps: readonly Doing[]): Scenario {
  return { name: 'vanished', start: '2000-01-01T00:00:00Z', steps: steps.map((step) => ({ ...step, expect: {} })) };
}

function recorded(step: Doing, outcome: Outcome | undefined): Step {
  if (outcome === undefined) throw new Error('a step was not played');
  const { changed, cache, server, notifications, arrived } = outcome;
  const calls = arrived.map(({ verb, pod: name, code, patched }): Call => {
    const [namespace = '', podName = ''] = name.split('/');
    const failed = code === 200 ? {} : { error: code };
    return { verb, namespace, name: podName, ...failed, ...(patched && { patch: patched.patch.body as JsonObject }) };
  });
  return { ...step, expect: { ...(changed !== undefined && { changed }), calls, cache, server, notifications } };
}

/** What our manager does, judged by a recording of one that keeps the entry. */
async function judged(steps: readonly Doing[]): Promise<Judgement> {
  const { scenario } = await keeping(steps);
  return judge(scenario, variant, await play(scenario, variant));
}

/** A manager that drops the entry at the last step whatever holds, judged by a recording of one that keeps it. */
async function judgedDropping(steps: readonly Doing[]): Promise<Judgement> {
  const { scenario } = await keeping(steps);
  const outcomes = await play(scenario, variant);
  const last = outcomes.length - 1;
  return judge(
    scenario,
    variant,
    outcomes.map((outcome, index) => (index < last ? outcome : { ...outcome, cache: {} })),
  );
}

describe('an entry that goes by itself (D11)', () => {
  it('is excused once the pod manager has forgotten the pod and a batch has run', async () => {
    const { differences, exempt } = await judged([put, observe, set(waiting), forget, batch]);
    expect(differences).toEqual([]);
    expect(exempt).toEqual([{ step: 4, pod: 'd/p', rules: ['D11 vanished'] }]);
  });

  it('is excused for as long as upstream keeps it', async () => {
    const { differences, exempt } = await judged([put, observe, set(waiting), forget, batch, batch]);
    expect(differences).toEqual([]);
    expect(exempt.map(({ step }) => step)).toEqual([4, 5]);
  });

  it('is excused for a pod the apiserver does not know', async () => {
    const removed: Doing = { op: 'apiserver.remove', namespace: 'd', name: 'p' };
    const { differences, exempt } = await judged([put, observe, set(waiting), removed, forget, batch]);
    expect(differences).toEqual([]);
    expect(exempt).toEqual([{ step: 5, pod: 'd/p', rules: ['D11 vanished'] }]);
  });

  it('is excused for a pod that another writer has changed since its newest status arrived', async () => {
    const { differences, exempt } = await judged([put, observe, set(waiting), forget, put, batch]);
    expect(differences).toEqual([]);
    expect(exempt).toEqual([{ step: 5, pod: 'd/p', rules: ['D11 vanished'] }]);
  });

  it('is excused with what follows: a later status begins a new entry, with times of its own', async () => {
    const conditions = [{ type: 'Ready', status: 'False' }];
    const again = set({ ...waiting, conditions, message: 'again' });
    const steps: Doing[] = [put, observe, set({ ...waiting, conditions }), forget, batch, again, batch];
    const { scenario, outcomes } = await keeping(steps);
    const ours = await play(scenario, variant);
    expect(ours[5]?.cache).not.toEqual(outcomes[5]?.cache);
    expect(judge(scenario, variant, ours).differences).toEqual([]);
  });

  it.each([
    ['the pod manager still shows the pod', [put, observe, set(waiting), batch]],
    ['no batch has run since it was forgotten', [put, observe, set(waiting), batch, forget]],
    ['a container runs', [put, observe, set(statusWith({ running: { startedAt: '1999-12-31T00:00:00Z' } })), forget, batch]],
    [
      'containers could run',
      [
        put,
        observe,
        set(waiting),
        { op: 'podDeletionSafety.couldHaveRunningContainers', podUID: 'u-1', value: true },
        forget,
        batch,
      ],
    ],
    [
      'the apiserver has not had its newest status',
      [
        put,
        observe,
        { op: 'apiserver.fail', namespace: 'd', name: 'p', verb: 'patch', code: 500, times: 9 },
        set(waiting),
        forget,
        batch,
      ],
    ],
  ] satisfies [string, Doing[]][])('is a difference while %s', async (_, steps) => {
    const { differences, exempt } = await judgedDropping(steps);
    expect(differences.map(({ step, pod: name }) => ({ step, name }))).toEqual([{ step: steps.length - 1, name: 'd/p' }]);
    expect(exempt).toEqual([]);
  });

  it('excuses nothing of a manager that keeps the entry', async () => {
    const { scenario, outcomes } = await keeping([put, observe, set(waiting), forget, batch]);
    const { differences, exempt } = judge(scenario, variant, outcomes);
    expect({ differences, exempt }).toEqual({ differences: [], exempt: [] });
  });

  it('is switched off by its ceiling', () => {
    const result = { pairs: 10_000, exempt: new Map([['D11 vanished', 1] as const]), exemptPairs: 1 };
    for (const { ceilings } of variants) {
      expect(excesses({ ...ceilings, 'D11 vanished': 0 }, result)).toEqual([{ rule: 'D11 vanished', pairs: 1, atMost: 0 }]);
      expect(excesses({ ...ceilings, 'D11 vanished': 0.01 }, result)).toEqual([]);
    }
  });
});
