import { describe, expect, it } from 'vitest';
import type { PodInfo } from '../../../../src/scheduler/nodes/pod-info.ts';
import type { ClusterEvent } from '../../../../src/scheduler/queue/cluster-event.ts';
import { InFlightPods } from '../../../../src/scheduler/queue/in-flight-pods.ts';
import { newQueueEntry } from '../../../../src/scheduler/queue/queued-pod-info.ts';

function entryOf(uid: string): ReturnType<typeof newQueueEntry> {
  return newQueueEntry({ uid } as PodInfo, 0);
}

function see(pods: InFlightPods, label: string): void {
  const event: ClusterEvent = { resource: 'Pod', action: 'Add', label };
  pods.see({ event, before: undefined, after: undefined });
}

function seenSince(pods: InFlightPods, uid: string): string[] {
  return pods.eventsSince(uid).map(({ event }) => event.label);
}

describe('pods in flight', () => {
  it('know the events since they were popped, and no others', () => {
    const pods = new InFlightPods();
    see(pods, 'before all');
    pods.add(entryOf('a'));
    see(pods, 'one');
    pods.add(entryOf('b'));
    see(pods, 'two');
    expect(seenSince(pods, 'a')).toEqual(['one', 'two']);
    expect(seenSince(pods, 'b')).toEqual(['two']);
    expect(seenSince(pods, 'c')).toEqual([]);
    pods.delete('a');
    expect(seenSince(pods, 'b')).toEqual(['two']);
    see(pods, 'three');
    expect(seenSince(pods, 'b')).toEqual(['two', 'three']);
  });

  it('keep no event that every pod in flight came after', () => {
    const pods = new InFlightPods();
    for (let i = 0; i < 1000; i += 1) {
      pods.add(entryOf(`${i}`));
      see(pods, `${i}`);
      pods.delete(`${i - 10}`);
      expect(pods.eventCount).toBeLessThanOrEqual(21);
    }
    expect(seenSince(pods, '990')).toHaveLength(10);
    for (let i = 990; i < 1000; i += 1) pods.delete(`${i}`);
    expect(pods.eventCount).toBe(0);
  });

  it('keep no event for a pod that no event helps any more', () => {
    const pods = new InFlightPods();
    for (const uid of ['waits', 'tried']) pods.add(entryOf(uid));
    see(pods, 'one');
    pods.setApart('waits');
    see(pods, 'two');
    expect([seenSince(pods, 'waits'), seenSince(pods, 'tried')]).toEqual([[], ['one', 'two']]);
    pods.delete('tried');
    see(pods, 'three');
    expect(pods.eventCount).toBe(0);
    expect([pods.size, pods.has('waits'), pods.get('waits')?.podInfo.uid]).toEqual([1, true, 'waits']);
    const newer = { uid: 'waits' } as PodInfo;
    expect([pods.setLatest('waits', newer), pods.latestOf('waits') === newer]).toEqual([true, true]);
    pods.delete('waits');
    expect(pods.size).toBe(0);
  });

  it('keep the newest version of a pod, and that it is not to come back', () => {
    const pods = new InFlightPods();
    const newer = { uid: 'a' } as PodInfo;
    expect(pods.setLatest('a', newer)).toBe(false);
    pods.add(entryOf('a'));
    expect(pods.setLatest('a', newer)).toBe(true);
    expect(pods.latestOf('a')).toBe(newer);
    pods.setLatest('a', undefined);
    expect(pods.latestOf('a')).toBeUndefined();
    expect(pods.has('a')).toBe(true);
  });
});
