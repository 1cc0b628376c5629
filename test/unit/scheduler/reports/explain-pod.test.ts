import { describe, expect, it } from 'vitest';
import { type Diagnosis, FitError } from '../../../../src/scheduler/framework/fit-error.ts';
import type { PluginRejection } from '../../../../src/scheduler/framework/plugin.ts';
import { explainPod, type KnownOfAttempts } from '../../../../src/scheduler/reports/explain-pod.ts';
import { LastAttempts } from '../../../../src/scheduler/reports/last-attempts.ts';
import { giveBack, nodeWaiter, pod, queueOf } from '../queue/queue-world.ts';

const full: PluginRejection = {
  plugin: 'NodeResourcesFit',
  code: 'Unschedulable',
  reasons: ['Insufficient cpu', 'Too many pods'],
};
const tainted: PluginRejection = {
  plugin: 'TaintToleration',
  code: 'UnschedulableAndUnresolvable',
  reasons: ['node(s) had untolerated taint(s)'],
};

function diagnosis(failures: Readonly<Record<string, PluginRejection>>, more: Partial<Diagnosis> = {}): Diagnosis {
  const byName = new Map(Object.entries(failures));
  const rejectors = new Set([...byName.values()].map(({ plugin }) => plugin));
  return {
    nodes: byName.size,
    failures: byName,
    rest: undefined,
    isRejectedAsSuch: false,
    rejectors,
    pending: new Set(),
    ...more,
  };
}

function known(more: Partial<KnownOfAttempts>): KnownOfAttempts {
  return {
    uid: 'a',
    place: undefined,
    placed: undefined,
    last: undefined,
    nodeNames: [],
    now: 0,
    wallNow: 0,
    asksForEvents: () => true,
    maxInUnschedulableMs: 300_000,
    ...more,
  };
}

describe('why a pod is pending', () => {
  it('is said node by node, with what may help', async () => {
    const { queue, clock } = queueOf();
    const attempts = new LastAttempts();
    queue.add(pod('a'));
    queue.pop();
    giveBack(queue, 'a', 'NodeResourcesFit', 'TaintToleration');
    attempts.set('a', clock.now(), new FitError({}, diagnosis({ n2: tainted, n1: full })));
    await clock.advance(12_000);
    const explained = explainPod(known({ place: queue.placeOf('a'), last: attempts.get('a'), now: clock.now() }));
    expect(explained).toMatchObject({ state: 'waiting', attempts: 1, nextAttemptAt: undefined });
    expect(explained.nodes.map(({ nodeName, mayFitWithoutOtherPods }) => [nodeName, mayFitWithoutOtherPods])).toEqual([
      ['n1', true],
      ['n2', false],
    ]);
    expect(explained.text.split('\n')).toEqual([
      'The pod d/a was tried once, and waits for a change that may help it.',
      'Its last attempt, 12 s ago, failed: 0/2 nodes are available: 1 Insufficient cpu, 1 Too many pods, 1 node(s) had untolerated taint(s).',
      '- n1: Insufficient cpu, Too many pods (NodeResourcesFit); it may fit once other pods are gone.',
      '- n2: node(s) had untolerated taint(s) (TaintToleration); the end of other pods would not help.',
      'It is tried again when something changes that NodeResourcesFit or TaintToleration can be helped by, and in any case in about 5 min.',
    ]);
  });

  it('names the nodes, too, that were not looked at', () => {
    const { queue } = queueOf();
    const attempts = new LastAttempts();
    queue.add(pod('a'));
    queue.pop();
    giveBack(queue, 'a', 'NodeAffinity');
    attempts.set('a', 0, new FitError({}, diagnosis({ n1: full }, { nodes: 3, rest: tainted })));
    const { nodes } = explainPod(known({ place: queue.placeOf('a'), last: attempts.get('a'), nodeNames: ['n3', 'n1', 'n2'] }));
    expect(nodes.map(({ nodeName, plugin }) => `${nodeName} ${plugin}`)).toEqual([
      'n1 NodeResourcesFit',
      'n2 TaintToleration',
      'n3 TaintToleration',
    ]);
  });

  it('promises no event that no plugin has asked for', () => {
    const { queue, clock } = queueOf();
    queue.add(pod('a'));
    queue.pop();
    giveBack(queue, 'a', 'VolumeBinding', 'w');
    const lastLine = (asksForEvents: (plugin: string) => boolean): string | undefined =>
      explainPod(known({ place: queue.placeOf('a'), now: clock.now(), asksForEvents }))
        .text.split('\n')
        .at(-1);
    expect(lastLine((plugin) => plugin === 'w')).toBe(
      'It is tried again when something changes that w can be helped by, and in any case in about 5 min.',
    );
    expect(lastLine(() => false)).toBe(
      'It is tried again in about 5 min: VolumeBinding or w waits for no change that is known here.',
    );
  });

  it('is said of each place where a pod may be', () => {
    const { queue, clock } = queueOf([nodeWaiter('w', () => 'Skip')]);
    const at = (uid: string): readonly string[] => {
      const { state, nextAttemptAt, text } = explainPod(
        known({ uid, place: queue.placeOf(uid), now: clock.now(), wallNow: 5000 }),
      );
      return [state, nextAttemptAt === undefined ? '' : `${nextAttemptAt - 5000}`, text];
    };
    queue.add(pod('gated', { schedulingGates: [{ name: 'g' }] }));
    queue.add(pod('failed'));
    queue.pop();
    giveBack(queue, 'failed');
    queue.add(pod('tried'));
    queue.pop();
    queue.add(pod('ready'));
    expect(['gated', 'failed', 'tried', 'ready', 'gone'].map(at)).toEqual([
      ['gated', '', 'The pod d/gated is not tried: waiting for scheduling gates: [g] (SchedulingGates).'],
      ['backoff', '1000', 'The pod d/failed was tried once. It is tried again in about 1 s.'],
      ['trying', '', 'The pod d/tried is being tried.'],
      ['ready', '', 'The pod d/ready can be tried, after the pods that come before it. It has not been tried yet.'],
      ['unknown', '', 'No pod with the uid gone is known here: it is gone, or meant for another scheduler.'],
    ]);
    const placed = { key: 'd/a', nodeName: 'n', isBound: false };
    expect(explainPod(known({ placed })).text).toBe('The pod d/a has the node n and is being bound to it.');
    expect(explainPod(known({ placed: { ...placed, isBound: true } })).text).toBe('The pod d/a is on the node n.');
  });
});

describe('the last attempts', () => {
  it('keep the reasons node by node of the latest ones alone', () => {
    const attempts = new LastAttempts(5);
    const error = new FitError({}, diagnosis({ n1: full, n2: tainted }));
    for (const uid of ['a', 'b', 'c']) attempts.set(uid, 0, error);
    const kept = (): boolean[] => ['a', 'b', 'c'].map((uid) => attempts.get(uid)?.diagnosis !== undefined);
    expect(kept()).toEqual([false, true, true]);
    attempts.set('a', 1, error);
    expect(kept()).toEqual([true, false, true]);
    attempts.set('c', 1, new Error('not at all'));
    attempts.set('b', 1, error);
    expect(kept()).toEqual([true, true, false]);
    expect(attempts.get('c')).toEqual({ at: 1, message: 'not at all', fitsNowhere: false, diagnosis: undefined });
    for (const uid of ['a', 'b', 'c']) attempts.delete(uid);
    expect(attempts.size).toBe(0);
    const big = new LastAttempts(1);
    big.set('a', 0, error);
    expect(big.get('a')?.diagnosis).toBeDefined();
  });
});
