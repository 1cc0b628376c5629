import { describe, expect, it } from 'vitest';
import type { WirePod, WirePodStatus } from '../../../src/api/json/types.ts';
import { transitionTimeConditionTypes } from '../../../src/status/conditions/pod-conditions.ts';
import { PodStatuses, type UpdateOutcome, type UpdateRequest, updateStatusInternal } from '../../../src/status/status-cache.ts';

const now = Date.UTC(2000, 0, 1);
const pod: WirePod = {
  metadata: { uid: 'u', name: 'n', namespace: 'ns' },
  spec: { containers: [{ name: 'c' }], restartPolicy: 'Never' },
};
const staticPod: WirePod = { ...pod, metadata: { ...pod.metadata, annotations: { 'kubernetes.io/config.source': 'file' } } };

function update(podStatuses: PodStatuses, status: WirePodStatus, more: Partial<UpdateRequest> = {}): UpdateOutcome {
  const times = { now, elapsed: () => 0 };
  const request = {
    ...times,
    pod,
    podUID: 'u',
    fallback: () => ({}),
    force: false,
    podIsFinished: false,
    isAcknowledged: () => true,
  };
  return updateStatusInternal(podStatuses, { ...request, status: structuredClone(status), ...more });
}
const container = (state: object) => ({ name: 'c', image: '', imageID: '', ready: false, restartCount: 0, state });

describe('updateStatusInternal', () => {
  it('stores the first version with the pod’s name and namespace, and the next ones after it', () => {
    const podStatuses = new PodStatuses();
    expect(update(podStatuses, { phase: 'Pending' })).toMatchObject({
      kind: 'stored',
      isAdded: true,
      previous: {},
      entry: { version: 1, podName: 'n', podNamespace: 'ns', at: now, podIsFinished: false },
    });
    expect(update(podStatuses, { phase: 'Running' })).toMatchObject({ kind: 'stored', isAdded: false, entry: { version: 2 } });
    expect(podStatuses.get('u')?.status.phase).toBe('Running');
  });

  it('looks at each condition a few times only, also where a type comes very often', () => {
    let reads = 0;
    const conditions = Array.from({ length: 2_000 }, (_, n) => ({
      status: 'True',
      get type() {
        reads += 1;
        return n < 1_000 ? `example.com/${n}` : 'Ready';
      },
    }));
    const request = { pod, podUID: 'u', status: { conditions }, fallback: () => ({}), force: false, podIsFinished: false };
    updateStatusInternal(new PodStatuses(), { ...request, isAcknowledged: () => true, now, elapsed: () => 0 });
    expect(reads).toBeLessThan(20_000);
  });

  it('keeps the stored entry for an equal status, unless forced', () => {
    const podStatuses = new PodStatuses();
    update(podStatuses, { phase: 'Running' });
    const entry = podStatuses.get('u');
    expect(update(podStatuses, { phase: 'Running' })).toEqual({ kind: 'unchanged' });
    expect(podStatuses.get('u')).toBe(entry);
    expect(update(podStatuses, { phase: 'Running' }, { force: true })).toMatchObject({ kind: 'stored', entry: { version: 2 } });
  });

  it('keeps the stored entry for an illegal status, even when forced', () => {
    const podStatuses = new PodStatuses();
    update(podStatuses, { containerStatuses: [container({ terminated: { exitCode: 1 } })] });
    const entry = podStatuses.get('u');
    const running = { containerStatuses: [container({ running: {} })] };
    expect(update(podStatuses, running, { force: true, podIsFinished: true })).toEqual({
      kind: 'refused',
      reason: 'terminated container c attempted illegal transition to non-terminated state',
      detail: 'container c from terminated (exit code 1) to running',
    });
    expect(podStatuses.get('u')).toBe(entry);
  });

  it('keeps an ordinary pod finished, and not a static pod', () => {
    for (const [which, finished] of [
      [pod, true],
      [staticPod, false],
    ] as const) {
      const podStatuses = new PodStatuses();
      update(podStatuses, { phase: 'Failed' }, { pod: which, podIsFinished: true, force: true });
      expect(podStatuses.get('u')?.podIsFinished).toBe(true);
      update(podStatuses, { phase: 'Failed', message: 'm' }, { pod: which });
      expect(podStatuses.get('u')?.podIsFinished).toBe(finished);
    }
  });

  it('keeps the time since which a change waits to be sent', () => {
    const podStatuses = new PodStatuses();
    update(podStatuses, { message: '1' });
    update(podStatuses, { message: '2' }, { now: now + 5_000, isAcknowledged: () => false });
    expect(podStatuses.get('u')?.at).toBe(now);
    update(podStatuses, { message: '3' }, { now: now + 9_000, isAcknowledged: () => true });
    expect(podStatuses.get('u')?.at).toBe(now + 9_000);
  });

  it('keeps the first version that the agent set after it had seen the deletion', () => {
    const podStatuses = new PodStatuses();
    update(podStatuses, { message: '1' });
    expect(podStatuses.get('u')?.deletionSeenAt).toBeUndefined();
    for (const message of ['2', '3']) update(podStatuses, { message }, { deletionSeen: true });
    expect(podStatuses.get('u')).toMatchObject({ version: 3, deletionSeenAt: 2 });
  });

  it.each(transitionTimeConditionTypes)('gives %s a new transition time only when its status changes', (type) => {
    const podStatuses = new PodStatuses();
    const time = (): string | undefined => podStatuses.get('u')?.status.conditions?.[0]?.lastTransitionTime;
    const set = (status: string, reason: string, at: number) =>
      update(podStatuses, { conditions: [{ type, status, reason }] }, { now: at });
    set('True', 'a', now);
    expect(time()).toBe('2000-01-01T00:00:00Z');
    set('True', 'b', now + 5_000);
    expect(time()).toBe('2000-01-01T00:00:00Z');
    set('False', 'b', now + 9_999);
    expect(time()).toBe('2000-01-01T00:00:09Z');
  });

  it('adds no condition for a type that the new status lacks [T-SM-076]', () => {
    const podStatuses = new PodStatuses();
    update(podStatuses, { conditions: [{ type: 'Ready', status: 'True' }] });
    update(podStatuses, { conditions: [{ type: 'example.com/other', status: 'True' }] }, { now: now + 5_000 });
    expect(podStatuses.get('u')?.status.conditions).toEqual([{ type: 'example.com/other', status: 'True' }]);
  });

  it('looks at the first condition of a type on either side', () => {
    const podStatuses = new PodStatuses();
    const set = (statuses: string[], at: number) =>
      update(podStatuses, { conditions: statuses.map((status) => ({ type: 'Ready', status })) }, { now: at });
    set(['False', 'True'], now);
    set(['True', 'False'], now + 5_000);
    expect(podStatuses.get('u')?.status.conditions).toEqual([
      { type: 'Ready', status: 'True', lastTransitionTime: '2000-01-01T00:00:05Z' },
      { type: 'Ready', status: 'False' },
    ]);
  });

  it('gives the agent’s own condition types a transition time, and keeps that of resize and foreign conditions', () => {
    const podStatuses = new PodStatuses();
    const conditions = ['agent.io/x', 'other.io/y', 'PodResizePending'].map((type) => ({ type, status: 'True' }));
    update(podStatuses, { conditions }, { ownedConditionTypes: new Set(['agent.io/x']) });
    expect(podStatuses.get('u')?.status.conditions?.map(({ lastTransitionTime }) => lastTransitionTime)).toEqual([
      '2000-01-01T00:00:00Z',
      undefined,
      undefined,
    ]);
  });

  it('compares with the fallback only while nothing is cached', () => {
    const podStatuses = new PodStatuses();
    const fallback = (): WirePodStatus => ({ startTime: '1999-01-01T00:00:00Z', observedGeneration: 4 });
    expect(update(podStatuses, {}, { fallback })).toMatchObject({ previous: fallback(), entry: { status: fallback() } });
    const never = (): never => {
      throw new Error('asked for the fallback');
    };
    expect(update(podStatuses, { message: 'm' }, { fallback: never }).kind).toBe('stored');
  });
});
