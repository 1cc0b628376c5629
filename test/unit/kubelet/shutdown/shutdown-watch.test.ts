import { describe, expect, it, onTestFinished } from 'vitest';
import type { ShutdownSignals } from '../../../../src/kubelet/shutdown/shutdown-signals.ts';
import { ShutdownWatch } from '../../../../src/kubelet/shutdown/shutdown-watch.ts';
import { FakeClock, FakeShutdownSignals, type FakeShutdownSignalsOptions, settle } from '../../../../src/testing.ts';

function watch(given: FakeShutdownSignalsOptions | ShutdownSignals = {}, wantedMs = 30_000) {
  const clock = new FakeClock();
  const machine = new FakeShutdownSignals('read' in given ? {} : given);
  const signals = 'read' in given ? given : machine;
  const told: boolean[] = [];
  const warnings: Record<string, unknown>[] = [];
  const note = (fields: object): void => void warnings.push(fields as Record<string, unknown>);
  const logger = { debug: () => {}, info: () => {}, warn: note, error: note };
  const shutdowns = new ShutdownWatch({ signals, wantedMs, told: (value) => void told.push(value), clock, logger });
  onTestFinished(() => shutdowns.stop());
  shutdowns.start();
  return { clock, machine, shutdowns, told, warnings };
}

const nothing = (): void => {};
const open = { ended: new Promise<void>(nothing), end: nothing };
const fine: ShutdownSignals = {
  read: async () => ({ longestDelayMs: 60_000, isShuttingDown: false }),
  allowDelay: async () => {},
  delay: async () => open,
  listen: async () => open,
};

describe('the watch for shutdowns of the machine', () => {
  it('delays them, and tells once of each that begins or is called off', async () => {
    const { machine, shutdowns, told } = watch({ longestDelayMs: 30_000 });
    await settle();
    expect([machine.isDelayed, shutdowns.isDelaying, shutdowns.longestDelayMs]).toEqual([true, true, 30_000]);
    machine.shutDown();
    machine.shutDown();
    expect(told).toEqual([true]);
    shutdowns.release();
    expect(machine.isDelayed).toBe(false);
    machine.callOff();
    await settle();
    expect([told, machine.isDelayed]).toEqual([[true, false], true]);
    machine.shutDown();
    expect(told).toEqual([true, false, true]);
  });

  it('lets the machine wait longer where it waits too short, with some time for the statuses', async () => {
    const { clock, machine, shutdowns } = watch();
    await settle();
    await clock.advance(100);
    expect([machine.longestDelayMs, shutdowns.longestDelayMs, machine.isDelayed]).toEqual([35_000, 35_000, true]);
    expect(shutdowns.shortage).toBeUndefined();
  });

  it('says that the machine cannot be made to wait, delays what it can, and tries again each minute', async () => {
    const { clock, machine, shutdowns, warnings } = watch({ canWaitLonger: false });
    await settle();
    await clock.advance(3100);
    expect(shutdowns.shortage).toMatchObject({ message: 'it was asked to wait 30 s, and waits 5 s', attempt: 1 });
    expect(warnings).toEqual([expect.objectContaining({ problemKind: 'shutdown-delay', attempt: 1, retryInMs: 60_000 })]);
    expect([machine.isDelayed, shutdowns.longestDelayMs, shutdowns.failing]).toEqual([true, 5000, undefined]);
    await clock.advance(63_100);
    expect(shutdowns.shortage?.attempt).toBe(2);
    expect(machine.isDelayed).toBe(true);
  });

  it('listens and delays anew after a restart of who tells it', async () => {
    const { clock, machine, shutdowns, told, warnings } = watch({ longestDelayMs: 30_000 });
    await settle();
    machine.startAnew();
    await settle();
    expect([machine.isDelayed, shutdowns.isDelaying]).toEqual([false, false]);
    expect(shutdowns.failing).toMatchObject({ attempt: 1, retryAt: clock.now() + 1000 });
    await clock.advance(1000);
    expect([machine.isDelayed, shutdowns.isDelaying, shutdowns.failing]).toEqual([true, true, undefined]);
    expect(warnings).toEqual([expect.objectContaining({ problemKind: 'shutdown-unseen', attempt: 1, retryInMs: 1000 })]);
    machine.shutDown();
    expect(told).toEqual([true]);
  });

  it('learns of a shutdown, or of its end, that came while nothing was heard', async () => {
    const { clock, machine, told } = watch({ longestDelayMs: 30_000 });
    await settle();
    machine.startAnew();
    machine.shutDown();
    await clock.advance(1000);
    expect([told, machine.isDelayed]).toEqual([[true], false]);
    machine.startAnew();
    machine.callOff();
    await clock.advance(1000);
    await settle();
    expect([told, machine.isDelayed]).toEqual([[true, false], true]);
  });

  it('holds what it has heard for newer than an answer that comes later', async () => {
    const answer = Promise.withResolvers<boolean>();
    const answers = [answer.promise];
    const read: ShutdownSignals['read'] = async () => ({
      longestDelayMs: 60_000,
      isShuttingDown: (await answers.shift()) ?? false,
    });
    let say: (isShuttingDown: boolean) => void = nothing;
    const listen: ShutdownSignals['listen'] = async (tell) => {
      say = tell;
      return open;
    };
    const { told } = watch({ ...fine, listen, read });
    await settle();
    say(true);
    say(false);
    answer.resolve(true);
    await settle();
    expect(told).toEqual([true, false]);
  });

  it('tries again and again, less and less often, while nobody answers', async () => {
    const { clock, machine, shutdowns, warnings } = watch({ longestDelayMs: 30_000 });
    machine.failure = new Error('no bus');
    await settle();
    machine.startAnew();
    await clock.advance(200_000);
    expect(shutdowns.failing).toMatchObject({ message: 'no bus' });
    expect(warnings.map((fields) => fields.retryInMs)).toEqual([
      1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000, 30_000, 30_000, 30_000,
    ]);
    machine.failure = undefined;
    await clock.advance(30_000);
    expect([shutdowns.failing, machine.isDelayed]).toEqual([undefined, true]);
  });

  it.each<[string, Partial<Record<keyof ShutdownSignals, unknown>>]>([
    ['read() must answer', { read: async () => ({ longestDelayMs: '5', isShuttingDown: false }) }],
    ['read() must answer', { read: async () => ({ longestDelayMs: Number.NaN, isShuttingDown: false }) }],
    ['read() must answer', { read: () => null }],
    ['listen() must answer { ended, end }', { listen: async () => nothing }],
    ['delay() must answer { ended, end }', { delay: async () => ({ ended: 'now', end: nothing }) }],
    [
      'it breaks',
      {
        delay: () => {
          throw new Error('it breaks');
        },
      },
    ],
    ['nothing is heard of shutdowns any more', { listen: async () => ({ ...open, ended: Promise.reject(new Error('gone')) }) }],
    ['the delay of shutdowns has ended by itself', { delay: async () => ({ ...open, ended: Promise.resolve() }) }],
  ])('takes for a failure what an embedder answers otherwise: %s', async (message, broken) => {
    const { clock, shutdowns } = watch({ ...fine, ...broken } as ShutdownSignals);
    await settle();
    await clock.advance(3500);
    expect(shutdowns.failing?.message).toContain(message);
  });

  it.each([
    'read',
    'delay',
    'listen',
  ] as const)('gives up a %s() that never answers, and ends what it brings later', async (method) => {
    const late = Promise.withResolvers<unknown>();
    let ends = 0;
    const { clock, shutdowns } = watch({ ...fine, [method]: () => late.promise });
    await settle();
    await clock.advance(10_000);
    expect(shutdowns.failing?.message).toBe(`${method}() gave no answer within 10 s`);
    late.resolve({
      ...open,
      end: () => {
        ends += 1;
      },
    });
    await settle();
    expect(ends).toBe(method === 'read' ? 0 : 1);
  });

  it('leaves nothing behind when it is stopped', async () => {
    const { clock, machine, shutdowns, told } = watch();
    await settle();
    await shutdowns.stop();
    machine.shutDown();
    expect([machine.isDelayed, told, clock.pendingTimers]).toEqual([false, [], 0]);
  });
});
