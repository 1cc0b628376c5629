import { describe, expect, it } from 'vitest';
import { isStatusManagerError } from '../../../src/base/errors.ts';
import { node, pod, schedulerWorld } from './scheduler-world.ts';

const ttlMs = 30_000;

/** A scheduler that has bound a pod, which takes the only node's room, and one more pod that waits for it. */
async function boundAndWaiting(options: Parameters<typeof schedulerWorld>[0]) {
  const world = schedulerWorld(options);
  const { scheduler } = world;
  scheduler.setNode(node('n', '4'));
  scheduler.setPod(pod('first', '4'));
  scheduler.start();
  await scheduler.flush();
  scheduler.setPod(pod('second', '4'));
  await scheduler.flush();
  expect(scheduler.stats()).toMatchObject({ bound: 1, pods: 1, unschedulable: 1 });
  return world;
}

describe('a bound pod that nothing shows on its node', () => {
  it('gives its place to a pod that waits once its time is over, and the log says so', async () => {
    const warnings: unknown[] = [];
    const logger = { debug: () => {}, info: () => {}, error: () => {}, warn: (...args: unknown[]) => void warnings.push(args) };
    const { clock, scheduler } = await boundAndWaiting({ assumedPodTTLMs: ttlMs, logger });
    await clock.advance(ttlMs);
    await scheduler.flush();
    expect(scheduler.stats()).toMatchObject({ bound: 1, pods: 1 });
    await clock.advance(2000);
    await scheduler.flush();
    expect(scheduler.stats()).toMatchObject({ bound: 2, pods: 1 });
    expect(scheduler.explain('uid-first').state).toBe('unknown');
    expect(warnings).toContainEqual([
      { podName: 'first', podNamespace: 'default', podUID: 'uid-first', node: 'n' },
      'a pod was bound, and nothing shows it on its node: its place is given to others',
    ]);
    await scheduler.stop();
    expect(clock.pendingTimers).toBe(0);
  });

  it('keeps its place where the option is not set, and where it was shown in time', async () => {
    const forever = await boundAndWaiting({});
    await forever.clock.advance(100 * ttlMs);
    expect(forever.scheduler.stats()).toMatchObject({ bound: 1, pods: 1 });
    await forever.scheduler.stop();
    const shown = await boundAndWaiting({ assumedPodTTLMs: ttlMs });
    await shown.clock.advance(ttlMs - 1);
    shown.scheduler.setPod(pod('first', '4', { nodeName: 'n' }));
    await shown.clock.advance(100 * ttlMs);
    expect(shown.scheduler.stats()).toMatchObject({ bound: 1, pods: 1 });
    await shown.scheduler.stop();
  });

  it('keeps its place while it is being bound', async () => {
    const { clock, scheduler } = schedulerWorld({ assumedPodTTLMs: 5000, bindTimeoutMs: 60_000 }, true);
    scheduler.setNode(node('n', '4'));
    scheduler.setPod(pod('first', '4'));
    scheduler.start();
    await clock.advance(50_000);
    expect(scheduler.stats()).toMatchObject({ binding: 1, pods: 1 });
    await scheduler.stop();
  });

  it.each([0, -1, Number.NaN, '30'])('has no such time: %s', (assumedPodTTLMs) => {
    const make = () => schedulerWorld({ assumedPodTTLMs: assumedPodTTLMs as number });
    expect(make).toThrow(expect.toSatisfy((error) => isStatusManagerError(error, 'ERR_INVALID_OPTION')));
  });
});
