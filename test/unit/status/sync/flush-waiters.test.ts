import { afterEach, describe, expect, it, vi } from 'vitest';
import { FlushWaiters } from '../../../../src/status/sync/flush-waiters.ts';
import type { SyncPhases } from '../../../../src/status/sync/sync-phase.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';

afterEach(() => void vi.restoreAllMocks());

function waitersOf() {
  const clock = new FakeClock();
  const settled = new Set<string>();
  const phases: Pick<SyncPhases, 'isSettled' | 'heldPhaseOf' | 'phaseOf' | 'describe'> = {
    isSettled: (podUID) => settled.has(podUID),
    heldPhaseOf: () => undefined,
    phaseOf: () => 'in-sync',
    describe: (podUID) => ({ podUID, podNamespace: 'default', podName: podUID, phase: 'pending', error: undefined }),
  };
  return { clock, settled, waiters: new FlushWaiters(clock, phases as SyncPhases) };
}

describe('FlushWaiters', () => {
  it('look only at the calls that wait for the pod, however many there are', async () => {
    const { clock, settled, waiters } = waitersOf();
    const uids = Array.from({ length: 500 }, (_, n) => `uid-${n}`);
    const flushes = uids.map((podUID) => waiters.wait(new Map([[podUID, 1]]), 1_000));
    const reads = vi.spyOn(Map.prototype, 'get');
    for (const podUID of uids) {
      settled.add(podUID);
      waiters.look(podUID);
    }
    const count = reads.mock.calls.length;
    vi.restoreAllMocks();
    expect(count).toBeLessThan(10_000);
    expect(await Promise.all(flushes)).toEqual(uids.map(() => ({ held: [] })));
    expect(clock.pendingTimers).toBe(0);
  });

  it('hold nothing of a call that was given up, and go on with the others', async () => {
    const { clock, settled, waiters } = waitersOf();
    const both = waiters.wait(
      new Map([
        ['a', 1],
        ['b', 1],
      ]),
      1_000,
    );
    const onlyA = waiters.wait(new Map([['a', 1]]), 5_000);
    const failed = expect(both).rejects.toMatchObject({ code: 'ERR_FLUSH_TIMEOUT', pods: [{ podUID: 'a' }, { podUID: 'b' }] });
    await clock.advance(1_000);
    await failed;
    settled.add('a');
    waiters.look('a');
    waiters.look('b');
    expect([await onlyA, clock.pendingTimers]).toEqual([{ held: [] }, 0]);
  });
});
