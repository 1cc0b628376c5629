import { describe, expect, it } from 'vitest';
import { awaitStart, requireStartOptions, type StartOptions } from '../../../../src/base/concurrency/run-state.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { unhandledRejectionsOf } from '../../../support/unhandled-rejections.ts';

const cause = new Error('forbidden');

function startOf(options: StartOptions) {
  const clock = new FakeClock();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const waitsFor = () => ({ text: 'the pods are not listed: forbidden', cause });
  const outcome: unknown[] = [];
  const done = awaitStart(promise, options, { owner: 'part', clock, waitsFor }).then(
    () => outcome.push('started'),
    (error: unknown) => outcome.push(error),
  );
  return { clock, resolve, reject, outcome, done };
}

describe('the wait for a start', () => {
  it('ends with the start, without a timer left', async () => {
    const { clock, resolve, outcome, done } = startOf({ timeoutMs: 1000 });
    await clock.advance(999);
    resolve();
    await done;
    expect([outcome, clock.pendingTimers]).toEqual([['started'], 0]);
  });

  it('ends with the failure of the start', async () => {
    const { clock, reject, outcome, done } = startOf({ timeoutMs: 1000, signal: new AbortController().signal });
    reject(cause);
    await done;
    expect([outcome, clock.pendingTimers]).toEqual([[cause], 0]);
  });

  it('ends when the time is over, and says in words what was waited for', async () => {
    const { clock, outcome } = startOf({ timeoutMs: 1000 });
    await clock.advance(1000);
    expect(outcome).toEqual([
      expect.objectContaining({
        ...{ code: 'ERR_START_TIMEOUT', cause },
        message: 'The part has not started within 1000 ms: the pods are not listed: forbidden',
      }),
    ]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('ends when the signal aborts, with its reason, and leaves no timer', async () => {
    const controller = new AbortController();
    const { clock, outcome } = startOf({ timeoutMs: 1000, signal: controller.signal });
    controller.abort(cause);
    await settle();
    expect([outcome, clock.pendingTimers]).toEqual([[cause], 0]);
  });

  it('without limits sets no timer', async () => {
    const { clock, resolve, outcome, done } = startOf({});
    expect(clock.pendingTimers).toBe(0);
    resolve();
    await done;
    expect(outcome).toEqual(['started']);
  });

  it('leaves no rejection unhandled when the start fails after the wait', async () => {
    const unhandled = await unhandledRejectionsOf(async () => {
      const { clock, reject, done } = startOf({ timeoutMs: 1000 });
      await clock.advance(1000);
      await done;
      reject(new Error('too late'));
    });
    expect(unhandled).toEqual([]);
  });

  it.each([
    [{ timeoutMs: -1 }, 'timeoutMs'],
    [{ timeoutMs: '1' }, 'timeoutMs'],
    [{ timeoutMs: Number.POSITIVE_INFINITY }, 'timeoutMs'],
    [{ signal: {} }, 'signal'],
    [{ typo: 1 }, 'typo'],
    [null, 'options'],
  ])('refuses wrong options: %j', (options, name) => {
    expect(() => requireStartOptions(options as never)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_OPTION' }));
    expect(() => requireStartOptions(options as never)).toThrow(name);
  });

  it('refuses a signal that has aborted, with its reason', () => {
    expect(() => requireStartOptions({ signal: AbortSignal.abort(cause) })).toThrow(cause);
  });
});
