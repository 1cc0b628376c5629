import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { Clock } from '../../../../src/base/clock.ts';
import {
  callWithin,
  LinkedAbort,
  onAbort,
  settlesWithin,
  untilAborted,
  watchLimits,
} from '../../../../src/base/concurrency/aborts.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';

const never = new Promise<never>(() => {});
const listeners = ({ signal }: AbortController): number => getEventListeners(signal, 'abort').length;
const late = (): Error => new Error('late');

describe('onAbort', () => {
  it('calls once, and at once where the signal has aborted', () => {
    const stop = new AbortController();
    const calls: string[] = [];
    onAbort(stop.signal, () => calls.push('before'));
    onAbort(stop.signal, () => calls.push('left'))();
    stop.abort();
    onAbort(stop.signal, () => calls.push('after'));
    onAbort(undefined, () => calls.push('no signal'))();
    expect(calls).toEqual(['before', 'after']);
    expect(listeners(stop)).toBe(0);
  });
});

describe('untilAborted', () => {
  it('gives the outcome of the work, and leaves no listener', async () => {
    const stop = new AbortController();
    await expect(untilAborted(Promise.resolve(1), stop.signal)).resolves.toBe(1);
    await expect(untilAborted(2, undefined)).resolves.toBe(2);
    await expect(untilAborted(Promise.reject(new Error('no')), stop.signal)).rejects.toThrow('no');
    expect(listeners(stop)).toBe(0);
  });

  it('rejects with the reason once the signal aborts; what the work then does is ignored', async () => {
    const stop = new AbortController();
    const { promise, reject } = Promise.withResolvers<never>();
    const waiting = untilAborted(promise, stop.signal);
    stop.abort('enough');
    await expect(waiting).rejects.toBe('enough');
    reject(new Error('nobody hears this'));
    await settle();
    await expect(untilAborted(1, stop.signal)).rejects.toBe('enough');
  });
});

describe('LinkedAbort', () => {
  it('aborts with any signal that it follows, or alone', () => {
    const [first, second] = [new AbortController(), new AbortController()];
    const linked = new LinkedAbort(first.signal, undefined, second.signal);
    second.abort('second');
    expect(linked.signal.reason).toBe('second');
    const alone = new LinkedAbort(first.signal);
    alone.abort('alone');
    expect([alone.signal.reason, first.signal.aborted]).toEqual(['alone', false]);
    alone.release();
    linked.release();
    expect(listeners(first)).toBe(0);
  });

  it('follows nothing after its release', () => {
    const stop = new AbortController();
    const linked = new LinkedAbort(stop.signal);
    linked.release();
    stop.abort();
    expect(linked.signal.aborted).toBe(false);
  });
});

describe('callWithin', () => {
  it('leaves no timer and no listener, however the call ends', async () => {
    const clock = new FakeClock();
    const stop = new AbortController();
    const limits = { clock, timeoutMs: 100, signal: stop.signal, late };
    await expect(callWithin(() => 1, limits)).resolves.toBe(1);
    const fails = (): never => {
      throw new Error('at once');
    };
    await expect(callWithin(fails, limits)).rejects.toThrow('at once');
    const hangs = callWithin(() => never, limits);
    const isLate = expect(hangs).rejects.toThrow('late');
    await clock.advance(100);
    await isLate;
    expect([clock.pendingTimers, listeners(stop)]).toEqual([0, 0]);
  });

  it('leaves no listener on the signal where the clock sets no timer', async () => {
    const stop = new AbortController();
    const setTimer = (): never => {
      throw new Error('no timers');
    };
    const limits = { clock: { now: () => 0, setTimer }, timeoutMs: 100, signal: stop.signal, late };
    await expect(callWithin(() => 1, limits)).rejects.toThrow('no timers');
    expect(listeners(stop)).toBe(0);
  });

  it('tells the call that nobody waits any more', async () => {
    const clock = new FakeClock();
    const stop = new AbortController();
    const told: AbortSignal[] = [];
    const call = (signal: AbortSignal): Promise<never> => {
      told.push(signal);
      return never;
    };
    const given = callWithin(call, { clock, timeoutMs: 100, signal: stop.signal, late });
    stop.abort('enough');
    await expect(given).rejects.toBe('enough');
    await expect(callWithin(call, { clock, timeoutMs: 100, signal: stop.signal, late })).rejects.toBe('enough');
    expect(told.map(({ aborted }) => aborted)).toEqual([true]);
  });
});

describe('settlesWithin', () => {
  it.each([
    ['resolves', () => Promise.resolve(), true],
    ['rejects', () => Promise.reject(new Error('no')), true],
    ['hangs', () => never, false],
  ])('says whether work that %s has ended', async (_, work, expected) => {
    const clock = new FakeClock();
    const stop = new AbortController();
    const answer = settlesWithin(work(), { clock, timeoutMs: 10, signal: stop.signal });
    await clock.advance(10);
    await expect(answer).resolves.toBe(expected);
    expect([clock.pendingTimers, listeners(stop)]).toEqual([0, 0]);
  });

  it('gives up when the signal aborts', async () => {
    const clock = new FakeClock();
    const stop = new AbortController();
    const answer = settlesWithin(never, { clock, timeoutMs: 10, signal: stop.signal });
    stop.abort();
    await expect(answer).resolves.toBe(false);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('watchLimits', () => {
  const watch = (stop = new AbortController(), timeoutMs: number | undefined = 1000) => {
    const clock = new FakeClock();
    const told: unknown[] = [];
    const limits = { clock, timeoutMs, signal: stop.signal };
    const end = watchLimits(limits, { onTimeout: () => told.push('late'), onAbort: (reason) => told.push(reason) });
    return { clock, told, stop, end, left: () => [clock.pendingTimers, listeners(stop)] };
  };

  it('tells of what comes first alone, and leaves nothing behind', async () => {
    const late = watch();
    await late.clock.advance(1000);
    expect(late.left()).toEqual([0, 0]);
    late.stop.abort('stop');
    const aborted = watch();
    aborted.stop.abort('stop');
    expect(aborted.left()).toEqual([0, 0]);
    await aborted.clock.advance(1000);
    expect([late.told, aborted.told]).toEqual([['late'], ['stop']]);
  });

  it('tells nothing once it has ended', async () => {
    const { clock, told, stop, end, left } = watch();
    expect(left()).toEqual([1, 1]);
    end();
    expect(left()).toEqual([0, 0]);
    stop.abort();
    await clock.advance(1000);
    expect(told).toEqual([]);
  });

  it('tells at once of a signal that has aborted', () => {
    const stop = new AbortController();
    stop.abort('before');
    const { told, left } = watch(stop);
    expect([told, left()]).toEqual([['before'], [0, 0]]);
  });

  it('waits for ever without a limit', () => {
    const told: string[] = [];
    const tell = { onTimeout: () => told.push('late'), onAbort: () => told.push('aborted') };
    const clock = new FakeClock();
    watchLimits({ clock, timeoutMs: undefined }, tell)();
    expect([told, clock.pendingTimers]).toEqual([[], 0]);
  });

  it.each([undefined, false, true])('keeps the process alive only where it is to: %s', (keepAlive) => {
    const asked: unknown[] = [];
    const setTimer: Clock['setTimer'] = (_, delayMs, options) => {
      asked.push(delayMs, options?.keepAlive === true);
      return () => {};
    };
    const limits = { clock: { now: () => 0, setTimer }, timeoutMs: 5, ...(keepAlive !== undefined && { keepAlive }) };
    watchLimits(limits, { onTimeout: () => {}, onAbort: () => {} })();
    expect(asked).toEqual([5, keepAlive === true]);
  });
});
