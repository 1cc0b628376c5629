import { describe, expect, it } from 'vitest';
import { container, podOf, SyncerWorld } from './syncer-world.ts';

describe('a pod with an active deadline', () => {
  it('is synced when the deadline has passed, and has failed then', async () => {
    await using world = new SyncerWorld();
    const pod = podOf({ containers: [container('app')], activeDeadlineSeconds: 60 });
    await world.sync(pod);
    await world.clock.advance(59_000);
    expect(world.calls).not.toContain('wake web');
    await world.clock.advance(1500);
    expect(world.calls).toContain('wake web');
    expect(await world.sync(pod)).toEqual({ isTerminal: true, isStatusKnown: true });
    expect(world.status).toMatchObject({ phase: 'Failed', reason: 'DeadlineExceeded' });
    await world.end(pod);
    expect(world.status).toMatchObject({ phase: 'Failed', reason: 'DeadlineExceeded' });
    expect(world.events.filter((event) => event.includes('DeadlineExceeded'))).toEqual([
      'Normal DeadlineExceeded : Pod was active on the node longer than the specified deadline',
    ]);
  });

  it('that comes nearer is synced sooner', async () => {
    await using world = new SyncerWorld();
    await world.sync(podOf({ containers: [container('app')], activeDeadlineSeconds: 3600 }));
    await world.clock.advance(5000);
    await world.sync(podOf({ containers: [container('app')], activeDeadlineSeconds: 10 }));
    await world.clock.advance(6000);
    expect(world.calls).toContain('wake web');
  });

  it('does not end early where the wall clock is set forward', async () => {
    await using world = new SyncerWorld();
    const pod = podOf({ containers: [container('app')], activeDeadlineSeconds: 60 });
    await world.sync(pod);
    world.clock.jump(3_600_000);
    expect(await world.sync(pod)).toEqual({ isTerminal: false, isStatusKnown: true });
    expect(world.status.phase).toBe('Running');
    await world.clock.advance(59_000);
    expect(world.calls).not.toContain('wake web');
    await world.clock.advance(1500);
    expect(await world.sync(pod)).toEqual({ isTerminal: true, isStatusKnown: true });
  });

  it('ends in time where the wall clock is set back', async () => {
    await using world = new SyncerWorld();
    const pod = podOf({ containers: [container('app')], activeDeadlineSeconds: 60 });
    await world.sync(pod);
    world.clock.jump(-3_600_000);
    await world.sync(pod);
    await world.clock.advance(60_500);
    expect(world.calls).toContain('wake web');
    expect(await world.sync(pod)).toEqual({ isTerminal: true, isStatusKnown: true });
    expect(world.status.reason).toBe('DeadlineExceeded');
  });

  it('that has succeeded before stays so', async () => {
    await using world = new SyncerWorld({ lives: () => ({ runsMs: 1000 }) });
    const pod = podOf({ containers: [container('app')], restartPolicy: 'Never', activeDeadlineSeconds: 60 });
    await world.sync(pod);
    await world.clock.advance(1000);
    await world.sync(pod);
    await world.clock.advance(100_000);
    await world.end(pod);
    expect(world.status.phase).toBe('Succeeded');
    expect(world.clock.pendingTimers).toBe(0);
  });
});
