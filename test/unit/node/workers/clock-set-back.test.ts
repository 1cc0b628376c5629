import { describe, expect, it } from 'vitest';
import { pod, World } from './workers-world.ts';

describe('a clock that is set back', () => {
  it('makes no call wait for a status from beyond the clock', async () => {
    const asked: { readonly time: number; readonly now: number }[] = [];
    const world: World = new World({
      runtimeStatusCache: {
        get: (podUID) => world.runtimeStatus(podUID),
        getNewerThan: async (podUID, time) => {
          asked.push({ time, now: world.clock.now() });
          return world.runtimeStatus(podUID);
        },
      },
    });
    world.isQuick = true;
    await world.update('create', pod('u1'));
    const syncedAt = world.clock.now();
    await world.clock.advance(2000);
    await world.update('sync', pod('u1'));
    world.clock.jump(-3_600_000);
    const setBackTo = world.clock.now();
    await world.update('kill', pod('u1'));
    expect(asked.slice(1, 3)).toEqual([
      { time: syncedAt, now: syncedAt + 2000 },
      { time: setBackTo, now: setBackTo },
    ]);
    expect(world.workers.shouldPodBeFinished('u1')).toBe(true);
  });
});
