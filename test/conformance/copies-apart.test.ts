import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { PodClient, WirePodStatus } from '../../src/index.ts';
import { type Judgement, judge } from './replay/judge-scenario.ts';
import { type Outcome, play, type Variant } from './replay/play-scenario.ts';
import { readCases } from './replay/read-cases.ts';
import type { Expectation, Scenario, Step } from './replay/replay-scenario.ts';
import { variants } from './replay/variants.ts';

// Recorded by hand: an operation looks at the copy that the pod manager shows, while a rule says why the two sides' copies differ.
const { scenarios } = readCases(fileURLToPath(new URL('scenarios-copies.jsonl.gz', import.meta.url)));
const withReads: Variant = { fetchBeforePatch: 'always', patchFormat: 'strategic' };
const withoutReads: Variant = { fetchBeforePatch: 'when-unknown', patchFormat: 'strategic' };

const pending = 'backfill of a pending condition after a failed GET';
const inProgress = 'backfill of an in-progress condition after a failed GET';
const ofGone = 'backfill of a condition that is gone on one copy';
const agreeing = 'backfill of copies that agree';
const kept = 'backfill of an in-progress generation that a real server keeps';
const ending = 'termination of a pod that one copy shows initialized';
const turning = 'readiness of a pod whose gate turned on one copy';

function recorded(name: string): Scenario {
  const scenario = scenarios.find((each) => each.name === name);
  if (scenario === undefined) throw new Error(`no scenario ${name}`);
  return scenario;
}

/** Where an operation is played for the first time. */
function indexOf({ steps }: Scenario, op: string): number {
  return steps.findIndex((step) => step.op === op);
}

type Change = (outcome: Outcome, step: Step) => Partial<Outcome>;

/** How a manager is judged that does something else than ours in every step from the first such operation on. */
async function judged(name: string, op: string, change: Change): Promise<Judgement> {
  const scenario = recorded(name);
  const from = indexOf(scenario, op);
  const outcomes = await play(scenario, withoutReads);
  const changed = outcomes.map((outcome, index) => {
    const step = scenario.steps[index];
    return step === undefined || index < from ? outcome : { ...outcome, ...change(outcome, step) };
  });
  return judge(scenario, withoutReads, changed);
}

/** What is reported of the first step of which anything is. */
function firstAspects({ differences }: Judgement): { step: number | undefined; aspects: string[] } {
  const step = differences[0]?.step;
  const found = differences.filter((difference) => difference.step === step);
  return { step, aspects: found.flatMap(({ aspects }) => aspects.map(({ aspect }) => aspect)) };
}

/** The first step of a recording told falsely, which tells the truth from the next step on. */
async function falsified(name: string, op: string, told: (expect: Expectation) => Expectation): Promise<Judgement> {
  const scenario = recorded(name);
  const at = indexOf(scenario, op);
  const steps = scenario.steps.map((step, index) => (index === at ? { ...step, expect: told(step.expect) } : step));
  return judge({ ...scenario, steps }, withoutReads, await play(scenario, withoutReads));
}

const withGeneration = (conditions: Outcome['resizeConditions']): Outcome['resizeConditions'] =>
  Object.fromEntries(
    Object.entries(conditions).map(([uid, list]) => [uid, list.map((each) => ({ ...each, observedGeneration: 9 }))]),
  );

const withoutResizes = (status: WirePodStatus): WirePodStatus => ({
  ...status,
  conditions: (status.conditions ?? []).filter(({ type }) => !type.startsWith('PodResize')),
});

const mapped = <T>(byUID: Readonly<Record<string, T>>, change: (value: T) => T): Record<string, T> =>
  Object.fromEntries(Object.entries(byUID).map(([uid, value]) => [uid, change(value)]));

describe('an operation that looks at copies which differ', () => {
  it.each(
    variants.flatMap(({ name: variantName, fetchBeforePatch, patchFormat }) =>
      scenarios.map(({ name }) => ({ name, variantName, variant: { fetchBeforePatch, patchFormat } })),
    ),
  )('is no difference: $name ($variantName)', async ({ name, variant }) => {
    const scenario = recorded(name);
    expect(judge(scenario, variant, await play(scenario, variant)).differences).toEqual([]);
  });

  it.each([
    [pending, 'backfillPodResizeConditions', withoutReads, ['D1 retry']],
    [inProgress, 'setPodResizeInProgressCondition', withoutReads, ['D1 retry']],
    [ofGone, 'backfillPodResizeConditions', withoutReads, ['D1 retry']],
    [kept, 'backfillPodResizeConditions', withReads, ['D9 server fill-ins']],
    [ending, 'terminatePod', withoutReads, ['D1 retry']],
    [turning, 'reconcilePodReadiness', withoutReads, ['D1 retry']],
  ] as const)('is excused by what makes the copies differ: %s, %s', async (name, op, variant, rules) => {
    const scenario = recorded(name);
    const last = scenario.steps.findLastIndex((step) => step.op === op);
    const { exempt } = judge(scenario, variant, await play(scenario, variant));
    expect(exempt.find(({ step }) => step === last)).toEqual({ step: last, pod: 'd/p', rules });
  });

  it('is excused in nothing where the copies agree', async () => {
    const scenario = recorded(agreeing);
    for (const variant of [withReads, withoutReads]) {
      expect(judge(scenario, variant, await play(scenario, variant)).exempt).toEqual([]);
    }
  });

  it.each([inProgress, ofGone, kept])('is excused in nothing once the two sides show the same again: %s', async (name) => {
    const scenario = recorded(name);
    const { exempt } = judge(scenario, withoutReads, await play(scenario, withoutReads));
    const after = scenario.steps.findLastIndex(({ op }) => op === 'advance') - 1;
    expect(exempt.filter(({ step }) => step >= after)).toEqual([]);
  });
});

describe('what is wrong of an operation that looks at copies which differ', () => {
  it.each([
    [
      'takes over another generation',
      pending,
      'backfillPodResizeConditions',
      ({ resizeConditions }) => ({ resizeConditions: withGeneration(resizeConditions) }),
      ['our resizes'],
    ],
    [
      'takes over a condition that its copy does not show',
      ofGone,
      'backfillPodResizeConditions',
      () => ({ resizeConditions: { 'u-1': [{ type: 'PodResizePending', status: 'True', reason: 'Deferred' }] } }),
      ['our resizes'],
    ],
    [
      'takes over another generation from copies that agree',
      agreeing,
      'backfillPodResizeConditions',
      ({ resizeConditions }) => ({ resizeConditions: withGeneration(resizeConditions) }),
      ['our resizes', 'resizeConditions'],
    ],
    [
      'answers another generation than it holds',
      inProgress,
      'backfillPodResizeConditions',
      (_, { op }) => (op.startsWith('clearPod') ? { result: { observedGeneration: 9, changed: true } } : {}),
      ['our resizes'],
    ],
    [
      'caches a status without its resize conditions',
      ofGone,
      'setPodResizePendingCondition',
      ({ written, cache }) => ({ written: mapped(written, withoutResizes), cache: mapped(cache, withoutResizes) }),
      ['our cache'],
    ],
    [
      'ends containers that its copy shows begun in another way',
      ending,
      'terminatePod',
      ({ written }) => ({ written: mapped(written, (status) => ({ ...status, containerStatuses: [] })) }),
      ['our cache'],
    ],
    [
      'changes more than the readiness',
      turning,
      'setPodStatus',
      ({ written }, { op }) =>
        op === 'reconcilePodReadiness'
          ? {
              written: mapped(written, (status) => ({ ...status, message: 'other' })),
              notifications: [{ type: 'updated', podUID: 'u-1' }],
            }
          : {},
      ['our cache'],
    ],
  ] satisfies [
    string,
    string,
    string,
    Change,
    string[],
  ][])('is found in a manager that %s', async (_, name, op, change, aspects) => {
    expect(firstAspects(await judged(name, op, change)).aspects).toEqual(expect.arrayContaining(aspects));
  });

  it.each([
    [
      'a generation that no copy shows',
      pending,
      'backfillPodResizeConditions',
      (expectation) => ({ ...expectation, resizeConditions: withGeneration(expectation.resizeConditions ?? {}) }),
    ],
    [
      'another answer',
      inProgress,
      'clearPodResizeInProgressCondition',
      (expectation) => ({ ...expectation, result: { observedGeneration: 9, changed: true } }),
    ],
    [
      'a phase that terminatePod does not make',
      ending,
      'terminatePod',
      (expectation) => ({
        ...expectation,
        cache: mapped(expectation.cache ?? {}, (status) => ({ ...status, phase: 'Unknown' })),
      }),
    ],
    [
      'a message that no readiness is',
      turning,
      'reconcilePodReadiness',
      (expectation) => ({ ...expectation, cache: mapped(expectation.cache ?? {}, (status) => ({ ...status, message: 'x' })) }),
    ],
  ] satisfies [
    string,
    string,
    string,
    (expectation: Expectation) => Expectation,
  ][])('is found in a recording that tells %s', async (_, name, op, told) => {
    const { step, aspects } = firstAspects(await falsified(name, op, told));
    expect(step).toBe(indexOf(recorded(name), op));
    expect(aspects).toContain('recording');
  });

  it('is found in a manager that does not write the resize conditions', async () => {
    const scenario = recorded(ofGone);
    const outcomes = await play(scenario, withoutReads, withoutResizeWrites);
    const { differences } = judge(scenario, withoutReads, outcomes);
    expect(differences.flatMap(({ aspects }) => aspects.map(({ aspect }) => aspect))).toContain('server');
  });
});

/** Takes a PATCH with a resize condition for done, and sends none. */
function withoutResizeWrites(client: PodClient): PodClient {
  return {
    getPod: (...request) => client.getPod(...request),
    deletePod: (...request) => client.deletePod(...request),
    patchPodStatus: async (namespace, name, patch, options) => {
      if (!JSON.stringify(patch.body).includes('PodResizePending')) return client.patchPodStatus(namespace, name, patch, options);
      const { metadata } = await client.getPod(namespace, name, options);
      return { uid: metadata?.uid ?? '', resourceVersion: metadata?.resourceVersion ?? '' };
    },
  };
}
