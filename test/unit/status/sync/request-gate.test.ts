import { describe, expect, it } from 'vitest';
import { Emitter } from '../../../../src/base/concurrency/emitter.ts';
import { metricsOption, noMetrics } from '../../../../src/base/metrics/metrics.ts';
import { ApiError } from '../../../../src/client/transport/api-error.ts';
import { type StatusManagerEvents, statusManagerEventNames } from '../../../../src/status/events/status-manager-events.ts';
import { RequestFailure } from '../../../../src/status/sync/request-failure.ts';
import { type GateToken, RequestGate, type RequestLimits } from '../../../../src/status/sync/request-gate.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';

function gate(rateLimiter?: { qps: number; burst: number }) {
  const clock = new FakeClock();
  const subject = new RequestGate({ clock, metrics: noMetrics, requestTimeoutMs: 1_000, rateLimiter });
  const seen = { opened: 0 };
  /** Counts the next opening of the gate in `seen.opened`. */
  const listen = (): void => {
    void subject.whenOpen().then(() => {
      seen.opened += 1;
    });
  };
  return { clock, seen, listen, subject };
}
const about = (verb: 'get' | 'patch' | 'delete') => ({ verb, podUID: '12345678' }) as const;
const unpaid = (): GateToken => ({ prepaid: false });
const fail = (status: number) => (): Promise<never> => Promise.reject(new ApiError({ status, reason: 'NotFound', message: 'x' }));
/** A request that rejects only after its abort, `turns` turns of the event loop later. */
const untilAborted =
  (turns = 0) =>
  ({ signal }: RequestLimits): Promise<never> =>
    new Promise((_, reject) => {
      const end = async (): Promise<void> => {
        await settle(turns);
        reject(new ApiError({ reason: 'Aborted', message: 'aborted' }));
      };
      signal.addEventListener('abort', () => void end());
    });

describe('RequestGate.send', () => {
  it('returns the answer, and leaves no timer', async () => {
    const { clock, subject } = gate();
    const answer = Promise.withResolvers<string>();
    const sent = subject.send(about('get'), unpaid(), () => answer.promise);
    await settle();
    expect(clock.pendingTimers).toBe(1);
    answer.resolve('pod');
    await expect(sent).resolves.toBe('pod');
    expect(clock.pendingTimers).toBe(0);
  });

  it.each([
    [404, 'gone'],
    [409, 'conflict'],
    [422, 'invalid'],
    [429, 'throttled'],
    [503, 'unavailable'],
  ])('rejects with the error class of a %i, and sends the request once', async (status, errorClass) => {
    const { subject } = gate();
    let requests = 0;
    const sent = subject.send(about('patch'), unpaid(), () => {
      requests += 1;
      return fail(status)();
    });
    await expect(sent).rejects.toMatchObject({ verb: 'patch', errorClass, cause: { status } });
    expect(requests).toBe(1);
  });

  it('takes a client that calls a request aborted by itself for an unavailable one: a closed client does', async () => {
    const { subject } = gate();
    const closed = () => Promise.reject(new ApiError({ reason: 'Aborted', message: 'The client is closed' }));
    await expect(subject.send(about('get'), unpaid(), closed)).rejects.toMatchObject({ errorClass: 'unavailable' });
  });

  it('knows how long the server asked to wait, also where it named a date', async () => {
    const { clock, subject } = gate();
    const headers = { 'retry-after': new Date(clock.now() + 7_000).toUTCString() };
    const sent = subject.send(about('get'), unpaid(), () => Promise.reject({ code: 429, body: '', headers }));
    await expect(sent).rejects.toMatchObject({ answer: { retryAfterMs: 7_000 } });
  });

  it('counts it as a failure when the client throws, or rejects with any value', async () => {
    const { subject } = gate();
    const thrown = subject.send(about('get'), unpaid(), () => {
      throw new TypeError('broken client');
    });
    await expect(thrown).rejects.toMatchObject({ errorClass: 'unavailable' });
    await expect(subject.send(about('get'), unpaid(), () => Promise.reject('text'))).rejects.toMatchObject({
      errorClass: 'unavailable',
    });
  });

  it('passes the signal and the time limit to the client', async () => {
    const { subject } = gate();
    let limits: RequestLimits | undefined;
    await subject.send(about('get'), unpaid(), async (given) => {
      limits = given;
    });
    expect(limits).toMatchObject({ timeoutMs: 1_000, signal: { aborted: false } });
  });

  it('gives up a request after its time limit, and counts it until it has settled', async () => {
    const { clock, subject } = gate();
    const seen = { error: undefined as unknown, settled: false };
    void subject.send(about('get'), unpaid(), untilAborted(20)).catch((error: unknown) => {
      seen.error = error;
      if (error instanceof RequestFailure) void error.settled?.then(() => (seen.settled = true));
    });
    await clock.advance(999);
    expect(seen.error).toBeUndefined();
    await clock.advance(1);
    expect(seen).toMatchObject({ error: { errorClass: 'timeout', cause: { reason: 'Timeout' } }, settled: false });
    await settle(20);
    expect(seen.settled).toBe(true);
  });

  it('waits for nothing when the client has settled', async () => {
    const { subject } = gate();
    await expect(subject.send(about('get'), unpaid(), fail(500))).rejects.toMatchObject({ settled: undefined });
  });
});

describe('RequestGate.pause', () => {
  it('holds every request back until it is over, and reports its end', async () => {
    const { clock, seen, listen, subject } = gate();
    listen();
    subject.pause(5_000);
    expect([subject.pausedUntil, subject.tryAdmit()]).toEqual([clock.now() + 5_000, undefined]);
    let sent = false;
    void subject.send(about('get'), unpaid(), async () => {
      sent = true;
    });
    await clock.advance(4_999);
    expect([sent, seen.opened]).toEqual([false, 0]);
    await clock.advance(1);
    expect([sent, seen.opened, subject.pausedUntil]).toEqual([true, 1, undefined]);
    expect(subject.tryAdmit()).toEqual({ prepaid: false });
  });

  it('is extended by a longer one, and not cut by a shorter one', async () => {
    const { clock, subject } = gate();
    const until = clock.now() + 9_000;
    subject.pause(5_000);
    subject.pause(9_000);
    subject.pause(1_000);
    expect([subject.pausedUntil, clock.pendingTimers]).toEqual([until, 1]);
    await clock.advance(8_999);
    expect(subject.pausedUntil).toBe(until);
    await clock.advance(1);
    expect(subject.pausedUntil).toBeUndefined();
  });
});

describe.each([-3_600_000, 3_600_000])('RequestGate, when the wall clock is set by %s ms', (ms) => {
  it('goes on with its pause, and takes a longer one, and no shorter one', async () => {
    const { clock, subject } = gate();
    subject.pause(5_000);
    await clock.advance(1_000);
    clock.jump(ms);
    expect(subject.pauseLeftMs).toBe(4_000);
    subject.pause(3_000);
    expect(subject.pauseLeftMs).toBe(4_000);
    subject.pause(6_000);
    expect([subject.pauseLeftMs, subject.pausedUntil]).toEqual([6_000, clock.now() + 6_000]);
    await clock.advance(5_999);
    expect(subject.tryAdmit()).toBeUndefined();
    await clock.advance(1);
    expect([subject.tryAdmit(), subject.pauseLeftMs]).toEqual([{ prepaid: false }, undefined]);
  });

  it('tells how long a request took, and how long one waited for the rate limiter', async () => {
    const observed: [string, number][] = [];
    const metrics = metricsOption({ increment() {}, set() {}, observe: (name, value) => void observed.push([name, value]) });
    const clock = new FakeClock();
    const events = new Emitter<StatusManagerEvents>(statusManagerEventNames, () => {});
    const told: number[] = [];
    events.on('request', ({ durationMs }) => told.push(durationMs));
    const subject = new RequestGate({ clock, metrics, events, requestTimeoutMs: 1_000, rateLimiter: { qps: 1, burst: 1 } });
    await subject.send(about('get'), unpaid(), async () => 'ok');
    const answer = Promise.withResolvers<string>();
    const second = subject.send(about('get'), unpaid(), () => answer.promise);
    await clock.advance(400);
    clock.jump(ms);
    await clock.advance(600);
    clock.jump(-ms);
    await clock.advance(250);
    answer.resolve('ok');
    await second;
    expect(told).toEqual([0, 250]);
    expect(observed).toContainEqual(['pod_status_manager_rate_limiter_wait_seconds', 1]);
    expect(observed).toContainEqual(['pod_status_manager_request_duration_seconds', 0.25]);
  });
});

describe('RequestGate and its rate limit', () => {
  it('admits as many requests as there are tokens, one token for each', async () => {
    const { subject } = gate({ qps: 0.001, burst: 2 });
    const [first, second] = [subject.tryAdmit(), subject.tryAdmit()];
    expect([first, second, subject.tryAdmit()]).toEqual([{ prepaid: true }, { prepaid: true }, undefined]);
    await subject.send(about('patch'), first ?? unpaid(), async () => 'ok');
    expect(first).toEqual({ prepaid: false });
    subject.putBack(first ?? unpaid());
    expect(subject.tryAdmit()).toBeUndefined();
    subject.putBack(second ?? unpaid());
    expect(subject.tryAdmit()).toEqual({ prepaid: true });
  });

  it('takes a token back once', () => {
    const { subject } = gate({ qps: 0.001, burst: 2 });
    const first = subject.tryAdmit() ?? unpaid();
    subject.tryAdmit();
    subject.putBack(first);
    subject.putBack(first);
    expect([subject.tryAdmit(), subject.tryAdmit()]).toEqual([{ prepaid: true }, undefined]);
  });

  it('makes the second request of a sync wait for another token', async () => {
    const { clock, subject } = gate({ qps: 1, burst: 1 });
    const token = subject.tryAdmit() ?? unpaid();
    await subject.send(about('get'), token, async () => 'ok');
    let sent = false;
    void subject.send(about('patch'), token, async () => {
      sent = true;
    });
    await clock.advance(999);
    expect(sent).toBe(false);
    await clock.advance(1);
    expect(sent).toBe(true);
  });

  it('reports a new token to a caller that found none', async () => {
    const { clock, seen, listen, subject } = gate({ qps: 1, burst: 1 });
    subject.tryAdmit();
    listen();
    expect(subject.tryAdmit()).toBeUndefined();
    await clock.advance(1_000);
    expect(seen.opened).toBe(1);
  });
});

describe('RequestGate.abort', () => {
  it('gives up the requests in flight, refuses new ones, and leaves no timer', async () => {
    const { clock, seen, listen, subject } = gate({ qps: 0.001, burst: 1 });
    listen();
    const inFlight = expect(subject.send(about('get'), unpaid(), untilAborted())).rejects.toMatchObject({
      errorClass: 'aborted',
    });
    await settle();
    const waiting = expect(subject.send(about('get'), unpaid(), async () => 'never')).rejects.toMatchObject({
      errorClass: 'aborted',
    });
    await settle();
    subject.abort();
    await Promise.all([inFlight, waiting]);
    await expect(subject.send(about('get'), unpaid(), async () => 'never')).rejects.toMatchObject({ errorClass: 'aborted' });
    expect(subject.tryAdmit()).toBeUndefined();
    expect([clock.pendingTimers, seen.opened]).toEqual([0, 0]);
  });

  it('ends a pause, and lets no later one begin', async () => {
    const { clock, seen, listen, subject } = gate();
    listen();
    subject.pause(5_000);
    const waiting = expect(subject.send(about('get'), unpaid(), async () => 'never')).rejects.toMatchObject({
      errorClass: 'aborted',
    });
    await settle();
    subject.abort();
    await waiting;
    subject.pause(5_000);
    expect([clock.pendingTimers, subject.pausedUntil, seen.opened]).toEqual([0, undefined, 0]);
  });
});
