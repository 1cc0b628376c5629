import { describe, expect, it } from 'vitest';
import type { WirePodCondition, WirePodStatus } from '../../../../src/api/json/types.ts';
import { mergePodStatus } from '../../../../src/status/rules/merge-pod-status.ts';

const now = '2000-01-01T00:00:10Z';
const condition = (type: string, status: string, reason?: string): WirePodCondition => ({
  type,
  status,
  ...(reason && { reason }),
});
const base: WirePodStatus = {
  phase: 'Running',
  conditions: [condition('Ready', 'True'), condition('PodScheduled', 'True')],
  message: 'Message',
};
const withConditions = (...extra: WirePodCondition[]): WirePodStatus => ({
  ...base,
  conditions: [...(base.conditions ?? []), ...extra],
});
const disrupted = (reason: string): WirePodCondition => condition('DisruptionTarget', 'True', reason);
const feature = (status: string): WirePodCondition => condition('example.com/feature', status);
const notReady = (reason: string): WirePodCondition[] => [
  condition('ContainersReady', 'False', reason),
  condition('PodScheduled', 'True'),
  condition('Ready', 'False', reason),
];

function merge(
  old: WirePodStatus,
  next: WirePodStatus,
  { running = false, generation = 0, own = [] as string[] } = {},
): WirePodStatus {
  const pod = { metadata: generation === 0 ? {} : { generation } };
  return mergePodStatus(old, next, { pod, couldHaveRunningContainers: running, now, ownedConditionTypes: new Set(own) });
}

/** Conditions by type, without times; the other members unchanged. */
function comparable({ conditions = [], ...rest }: WirePodStatus): unknown {
  const stripped = conditions.map(({ type, status, reason }) => condition(type, status, reason));
  return { ...rest, conditions: stripped.sort((a, b) => (a.type < b.type ? -1 : 1)) };
}

function expectMerged(old: WirePodStatus, next: WirePodStatus, expected: WirePodStatus, options = {}): void {
  const before = structuredClone({ old, next });
  expect(comparable(merge(old, next, options))).toEqual(comparable(expected));
  expect({ old, next }).toEqual(before);
}

describe('mergePodStatus', () => {
  it('changes nothing when both statuses are equal [T-SM-080]', () => {
    expectMerged(base, base, base);
  });

  it('adds DisruptionTarget with the terminal phase, and ends readiness [T-SM-081]', () => {
    const next = { ...withConditions(disrupted('TerminationByKubelet')), phase: 'Failed' };
    const conditions = [...notReady('PodFailed'), disrupted('TerminationByKubelet')];
    expectMerged(base, next, { ...base, phase: 'Failed', conditions });
  });

  it('does not add DisruptionTarget while containers could run [T-SM-082]', () => {
    const next = { ...withConditions(disrupted('TerminationByKubelet')), phase: 'Failed' };
    expectMerged(base, next, base, { running: true });
  });

  it('keeps an existing DisruptionTarget [T-SM-083]', () => {
    const old = withConditions(disrupted('EvictedByEvictionAPI'));
    expectMerged(old, base, old);
  });

  it('overrides DisruptionTarget with the terminal phase [T-SM-084]', () => {
    const old = withConditions(disrupted('EvictedByEvictionAPI'));
    const next = { ...withConditions(disrupted('TerminationByKubelet')), phase: 'Failed' };
    const conditions = [...notReady('PodFailed'), disrupted('TerminationByKubelet')];
    expectMerged(old, next, { ...base, phase: 'Failed', conditions });
  });

  it('does not override DisruptionTarget of a pod that stays running [T-SM-085]', () => {
    const old = withConditions(disrupted('EvictedByEvictionAPI'));
    expectMerged(old, withConditions(disrupted('TerminationByKubelet')), old);
  });

  it('does not override DisruptionTarget while containers could run [T-SM-086]', () => {
    const old = withConditions(disrupted('EvictedByEvictionAPI'));
    const next = { ...withConditions(disrupted('TerminationByKubelet')), phase: 'Failed' };
    expectMerged(old, next, old, { running: true });
  });

  it('takes the readiness that the agent set [T-SM-087]', () => {
    const next = { ...base, conditions: [condition('Ready', 'False'), condition('PodScheduled', 'True')] };
    expectMerged(base, next, next);
  });

  it('keeps a foreign condition [T-SM-088]', () => {
    const old = withConditions(feature('True'));
    expectMerged(old, base, old);
  });

  it('keeps a foreign condition while readiness changes [T-SM-089]', () => {
    const next = { ...base, conditions: [condition('Ready', 'False'), condition('PodScheduled', 'True')] };
    expectMerged(withConditions(feature('True')), next, { ...next, conditions: [...next.conditions, feature('True')] });
  });

  it('prefers the apiserver’s value of a foreign condition [T-SM-090]', () => {
    const old = withConditions(feature('True'));
    expectMerged(old, withConditions(feature('False')), old);
  });

  it('takes a terminal phase when no container runs [T-SM-091]', () => {
    const old = { ...base, reason: 'Unknown' };
    const next = { ...base, phase: 'Failed', reason: 'Evicted', message: 'Was Evicted' };
    expectMerged(old, next, { ...next, conditions: notReady('PodFailed') });
  });

  it('holds a terminal phase back while containers could run [T-SM-092]', () => {
    const old = { ...base, reason: 'Unknown' };
    const next = { ...base, phase: 'Failed', reason: 'Evicted', message: 'Was Evicted' };
    expectMerged(old, next, old, { running: true });
  });

  it('drops foreign conditions that only the agent has, and owned ones that only the apiserver has', () => {
    expectMerged({ conditions: [condition('Initialized', 'True')] }, { conditions: [feature('True')] }, {});
    expect(merge({ conditions: [condition('Initialized', 'True')] }, {})).not.toHaveProperty('conditions');
  });

  it('counts the agent’s own condition types as owned', () => {
    const next = { conditions: [feature('False')] };
    expectMerged(
      { conditions: [feature('True'), condition('other.io/x', 'True')] },
      next,
      {
        conditions: [condition('other.io/x', 'True'), feature('False')],
      },
      { own: ['example.com/feature'] },
    );
  });

  it('puts foreign conditions first, then owned ones, each in their order', () => {
    const merged = merge(
      { conditions: [condition('b.io/b', 'True'), condition('Ready', 'True'), condition('a.io/a', 'True')] },
      { conditions: [condition('Ready', 'False'), condition('Initialized', 'True')] },
    );
    expect(merged.conditions?.map(({ type }) => type)).toEqual(['b.io/b', 'a.io/a', 'Ready', 'Initialized']);
  });

  it('leaves claim statuses to their owner', () => {
    const old = { resourceClaimStatuses: [{ name: 'theirs' }] };
    expect(merge(old, { resourceClaimStatuses: [{ name: 'ours' }] })).toEqual(old);
    expect(merge({}, { resourceClaimStatuses: [{ name: 'ours' }] })).toEqual({});
  });

  it('holds back only phase, reason and message', () => {
    const next: WirePodStatus = { phase: 'Succeeded', reason: 'r', message: 'm', podIP: '10.0.0.1', observedGeneration: 3 };
    expect(merge({ phase: 'Running' }, next, { running: true })).toEqual({
      phase: 'Running',
      podIP: '10.0.0.1',
      observedGeneration: 3,
    });
    expect(merge({}, next, { running: true })).toEqual({ podIP: '10.0.0.1', observedGeneration: 3 });
  });

  it('holds nothing back when the apiserver’s phase is already terminal', () => {
    expect(merge({ phase: 'Succeeded' }, { phase: 'Failed', message: 'm' }, { running: true })).toEqual({
      phase: 'Failed',
      message: 'm',
    });
  });

  it('ends Ready with a terminal phase, with a new reason, generation and time', () => {
    const next = { phase: 'Succeeded', conditions: [condition('Ready', 'True')] };
    expect(merge({ phase: 'Running' }, next, { generation: 7 }).conditions).toEqual([
      { type: 'Ready', status: 'False', reason: 'PodCompleted', lastTransitionTime: now, observedGeneration: 7 },
      { type: 'ContainersReady', status: 'False', reason: 'PodCompleted', lastTransitionTime: now, observedGeneration: 7 },
    ]);
  });

  it('keeps the time when Ready ended on the apiserver, even when the agent still sets Ready True', () => {
    const next = { phase: 'Failed', conditions: [condition('Ready', 'True')] };
    const first = merge({ phase: 'Running' }, next);
    const earlier = '1999-01-01T00:00:00Z';
    const there = { ...first, conditions: first.conditions?.map((lost) => ({ ...lost, lastTransitionTime: earlier })) ?? [] };
    expect(merge(there, next)).toEqual(there);
  });

  it('keeps a terminal pod’s conditions when Ready is not True', () => {
    const next = { phase: 'Failed', conditions: [condition('Ready', 'False', 'Mine')] };
    expect(merge({ phase: 'Running' }, next)).toEqual(next);
  });

  it('gives DisruptionTarget the time of the merge, or the time it has on the apiserver', () => {
    const stale = { ...disrupted('TerminationByKubelet'), lastTransitionTime: '1999-01-01T00:00:00Z' };
    const next = { phase: 'Failed', conditions: [stale] };
    expect(merge({ phase: 'Running' }, next).conditions?.[0]?.lastTransitionTime).toBe(now);
    const there = { ...disrupted('EvictedByEvictionAPI'), lastTransitionTime: '1999-02-02T00:00:00Z' };
    expect(merge({ phase: 'Running', conditions: [there] }, next).conditions).toEqual([
      { ...disrupted('TerminationByKubelet'), lastTransitionTime: '1999-02-02T00:00:00Z' },
    ]);
  });
});
