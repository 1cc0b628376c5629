import { describe, expect, it } from 'vitest';
import type { SteadyClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/logging/logger.ts';
import { EventFailures } from '../../../src/client/events/event-failures.ts';
import { ClusterWatches } from '../../../src/scheduler/cluster/cluster-watches.ts';
import { keepsObjects, type SchedulerOptions } from '../../../src/scheduler/scheduler-options.ts';
import { FakeClock } from '../../../src/testing.ts';
import { node, pod, schedulerWorld } from './scheduler-world.ts';

/** As the machine's: the wall clock has whole milliseconds, and what passes has parts of one and grows from reading to reading. */
function fineClock(): SteadyClock & { readonly fake: FakeClock } {
  const fake = new FakeClock();
  let readMs = 0;
  return {
    fake,
    now: () => Math.floor(fake.now() + readMs),
    elapsed: () => {
      readMs += 0.037;
      return fake.elapsed() + readMs;
    },
    setTimer: (callback, delayMs) => fake.setTimer(callback, delayMs),
  };
}

/** The different answers of a thousand looks, as text. */
function looks(look: () => unknown): string[] {
  return [...new Set(Array.from({ length: 1000 }, () => JSON.stringify(look())))];
}

describe('what is wrong and does not change', () => {
  it('looks the same however often it is looked at', async () => {
    const clock = fineClock();
    const client: SchedulerOptions['client'] = {
      bind: async ({ metadata }) => {
        if (metadata?.name === 'failing') throw new Error('no link');
      },
      patchStatus: async () => {
        throw new Error('no link');
      },
    };
    const around = { state: 'running', problems: () => [] };
    const within = { [keepsObjects]: around } as Partial<SchedulerOptions>;
    const { scheduler } = schedulerWorld({ clock, client, ...within });
    scheduler.setNode(node('n'));
    scheduler.start();
    scheduler.setPod(pod('unconfirmed'));
    await clock.fake.advance(40_000);
    scheduler.setPod(pod('gated', '1', { schedulingGates: [{ name: 'g' }] }));
    scheduler.setPod(pod('big', '9'));
    scheduler.setPod(pod('failing'));
    await clock.fake.advance(10);
    const [only, ...others] = looks(() => scheduler.snapshot().problems);
    expect(others).toEqual([]);
    const kinds = (JSON.parse(only ?? '[]') as { readonly kind: string }[]).map(({ kind }) => kind);
    expect(kinds.toSorted()).toEqual(['client-failed', 'client-failed', 'gated', 'no-node-fits', 'not-confirmed']);
    expect(looks(() => scheduler.explain('uid-failing').nextAttemptAt)).toHaveLength(1);
    await scheduler.stop();
  });

  it('moves with the wall clock once that is set', async () => {
    const { scheduler, clock } = schedulerWorld();
    scheduler.setNode(node('n'));
    scheduler.setPod(pod('big', '9'));
    scheduler.start();
    await clock.advance(10);
    const since = (): number => scheduler.explain('uid-big').problem?.since ?? 0;
    const before = since();
    clock.jump(900);
    expect(since() - before).toBe(0);
    clock.jump(3_600_000);
    expect(since() - before).toBe(3_600_900);
    await scheduler.stop();
  });

  it('of the watches and of events looks the same, too', async () => {
    const clock = fineClock();
    const failures = new EventFailures(clock);
    failures.failed(new Error('no link'));
    expect(looks(() => failures.failing)).toHaveLength(1);
    const fails = () => Promise.reject(new Error('no link'));
    const shared = { clock, random: () => 0.5, logger: silentLogger };
    const watches = new ClusterWatches({
      ...{ ...shared, transport: { request: fails, stream: fails } as never, sink: {} as never },
      resourcesOfInterest: [],
    });
    const started = watches.start();
    await clock.fake.advance(5000);
    expect(watches.problems()).toMatchObject([{ attempt: expect.any(Number) }]);
    expect(looks(() => watches.problems())).toHaveLength(1);
    await watches.stop();
    await started.catch(() => {});
  });
});
