import { describe, expect, it } from 'vitest';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { minute, NodeWorld } from './node-world.ts';

describe('a clock that jumps', () => {
  it.each([
    ['back', -3_600_000],
    ['forth', 3_600_000],
  ])('%s costs no report, and the heartbeat goes on', async (_, jumpMs) => {
    const world = new NodeWorld();
    await world.start();
    await world.clock.advance(minute);
    world.takeCalls();
    world.clock.jump(jumpMs);
    await world.clock.advance(2 * minute);
    const calls = world.takeCalls();
    expect(calls.filter((call) => call === 'PATCH nodes/status')).toEqual([]);
    expect(calls.filter((call) => call === 'PUT leases').length).toBeGreaterThanOrEqual(11);
    expect(world.clock.now() - Date.parse(world.lease()?.spec?.renewTime ?? '')).toBeLessThanOrEqual(10_200);
    await world.node.stop();
  });

  it('or sets no timer is replaced by the machine for a wait', async () => {
    const world = new NodeWorld();
    const { clock } = world;
    let failures = 0;
    const node = world.another({
      clock: {
        now: () => clock.now(),
        setTimer: (...args) => {
          if (args[1] > 9999 && args[1] < 10_500) {
            failures += 1;
            throw new Error('no timer');
          }
          return clock.setTimer(...args);
        },
      },
    });
    node.start();
    await settle(20);
    expect(world.lease()).toBeDefined();
    expect(failures).toBeGreaterThan(0);
    expect(world.logs).toContain('error: the clock set no timer; the machine counts the time of this wait');
    await node.stop();
  });
});
