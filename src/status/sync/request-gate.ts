import type { CancelTimer, SteadyClock } from '../../base/clock.ts';
import type { Emitter } from '../../base/concurrency/emitter.ts';
import { LateSet } from '../../base/concurrency/late-collections.ts';
import { RateLimiter, type RateLimiterOptions } from '../../base/concurrency/rate-limiter.ts';
import type { Metrics } from '../../base/metrics/metrics.ts';
import { ApiError } from '../../client/transport/api-error.ts';
import {
  type RequestSubject,
  type RequestTimes,
  requestEvent,
  type StatusManagerEvents,
} from '../events/status-manager-events.ts';
import { RequestFailure } from './request-failure.ts';

/** A token of the rate limiter that was taken for a sync before it was known whether the sync needs one. */
export interface GateToken {
  prepaid: boolean;
}

export interface RequestGateOptions {
  readonly clock: SteadyClock;
  readonly metrics: Metrics;
  readonly requestTimeoutMs: number;
  readonly rateLimiter: RateLimiterOptions | undefined;
  /** Told of every request that ends. */
  readonly events?: Emitter<StatusManagerEvents>;
}

/** What a request passes on to the pod client. */
export interface RequestLimits {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** A request whose promise has not settled. */
interface UnderWay {
  /** Ends the wait for the answer, unless it is over. */
  readonly giveUp: (errorClass: 'timeout' | 'aborted', cause: ApiError) => void;
}

/**
 * Every request of a manager goes through here: rate limit, pauses that the server asked for, timeout and abort.
 * The caller of a request waits no longer than the timeout, whatever the pod client does. A request counts as under way
 * until the pod client's promise has settled.
 */
export class RequestGate {
  readonly #options: RequestGateOptions;
  readonly #limiter: RateLimiter | undefined;
  readonly #underWay = new LateSet<UnderWay>();
  /** Wall-clock time, only to be shown. */
  #pausedSince = 0;
  #pausedUntil = 0;
  #pauseEndsAt = 0;
  #cancelPause: CancelTimer | undefined;
  readonly #pauseWaiters: (() => void)[] = [];
  #opening: PromiseWithResolvers<void> | undefined;
  /** Since when the next pod waits for the rate limiter. */
  #limitedSince: number | undefined;
  #aborted = false;

  constructor(options: RequestGateOptions) {
    this.#options = options;
    const { rateLimiter, clock } = options;
    if (rateLimiter !== undefined) this.#limiter = new RateLimiter(rateLimiter, clock, () => this.#opened());
  }

  /** When the pause of the whole client ends, in milliseconds since the epoch; undefined while there is none. */
  get pausedUntil(): number | undefined {
    return this.#cancelPause === undefined ? undefined : this.#pausedUntil;
  }

  /** When the pause of the whole client began, in milliseconds since the epoch; undefined while there is none. */
  get pausedSince(): number | undefined {
    return this.#cancelPause === undefined ? undefined : this.#pausedSince;
  }

  /** How long the whole client still waits, in milliseconds; undefined when it does not. */
  get pauseLeftMs(): number | undefined {
    if (this.#cancelPause === undefined) return undefined;
    return Math.max(0, Math.ceil(this.#pauseEndsAt - this.#options.clock.elapsed()));
  }

  /** Requests that have not settled: those on their way, and those that were given up. */
  get underWay(): number {
    return this.#underWay.size;
  }

  /** Room for one more request now? If so, a token is taken for it. */
  tryAdmit(): GateToken | undefined {
    if (this.#aborted || this.#cancelPause !== undefined) return undefined;
    if (this.#limiter === undefined) return { prepaid: false };
    return this.#limiter.tryTake() ? { prepaid: true } : undefined;
  }

  /** Resolves when there may be room again, after {@link tryAdmit} has found none. Never resolves once aborted. */
  whenOpen(): Promise<void> {
    this.#opening ??= Promise.withResolvers();
    // a pause is no wait for the limiter
    if (this.#cancelPause === undefined) this.#limitedSince ??= this.#options.clock.elapsed();
    return this.#opening.promise;
  }

  /** Puts back a token that no request used. */
  putBack(token: GateToken): void {
    if (!token.prepaid) return;
    token.prepaid = false;
    this.#limiter?.putBack();
  }

  /** Nothing is sent for this long; a longer pause already running stays. */
  pause(ms: number): void {
    const { clock } = this.#options;
    if (this.#aborted || ms <= (this.pauseLeftMs ?? -1)) return;
    if (this.#cancelPause === undefined) this.#pausedSince = clock.now();
    this.#cancelPause?.();
    this.#pausedUntil = clock.now() + ms;
    this.#pauseEndsAt = clock.elapsed() + ms;
    this.#cancelPause = clock.setTimer(() => this.#endPause(), ms);
  }

  /** True when a request with this token would be sent at once. */
  isOpenFor(token: GateToken): boolean {
    return this.#aborted || (this.#cancelPause === undefined && (token.prepaid || this.#limiter === undefined));
  }

  /** Waits until a request with this token would be sent at once: for the end of a pause, and for the rate limiter. */
  async admit(token: GateToken): Promise<void> {
    while (this.#cancelPause !== undefined) await new Promise<void>((resolve) => this.#pauseWaiters.push(resolve));
    // after an abort nothing is sent, so there is no token to wait for
    if (this.#aborted || token.prepaid || this.#limiter === undefined) return;
    const since = this.#options.clock.elapsed();
    await this.#limiter.take();
    token.prepaid = true;
    this.#noteLimited(since);
  }

  /** Sends one request, once it is admitted. Rejects with a {@link RequestFailure}, never with anything else. */
  async send<T>(subject: RequestSubject, token: GateToken, request: (limits: RequestLimits) => Promise<T>): Promise<T> {
    await this.admit(token);
    return await this.sendAdmitted(subject, token, request);
  }

  /** Gives up what is under way, and refuses everything from now on. */
  abort(): void {
    this.#aborted = true;
    this.#endPause();
    this.#limiter?.release();
    const cause = new ApiError({ reason: 'Aborted', message: 'The manager was stopped' });
    for (const { giveUp } of this.#underWay) giveUp('aborted', cause);
  }

  /** Sends a request that {@link admit} has just let through. */
  sendAdmitted<T>(subject: RequestSubject, token: GateToken, request: (limits: RequestLimits) => Promise<T>): Promise<T> {
    token.prepaid = false;
    const { verb } = subject;
    const { clock, events, metrics, requestTimeoutMs: timeoutMs } = this.#options;
    if (this.#aborted) return Promise.reject(new RequestFailure(verb, 'aborted', undefined));
    const answer = Promise.withResolvers<T>();
    const settled = Promise.withResolvers<void>();
    const controller = new AbortController();
    const isHeard = (events?.listenerCount('request') ?? 0) > 0;
    let isOver = false;
    const startedAt = clock.now();
    const began = clock.elapsed();
    const over = (failure: RequestFailure | undefined): boolean => {
      if (isOver) return false;
      isOver = true;
      cancelTimer();
      metrics.increment('pod_status_manager_requests_total', { verb, result: failure?.errorClass ?? 'ok' });
      const durationMs = clock.elapsed() - began;
      metrics.observe('pod_status_manager_request_duration_seconds', durationMs / 1000, { verb });
      if (isHeard) this.#tell(subject, failure, { startedAt, durationMs: Math.round(durationMs) });
      return true;
    };
    const giveUp: UnderWay['giveUp'] = (errorClass, cause) => {
      const failure = new RequestFailure(verb, errorClass, cause, settled.promise);
      if (!over(failure)) return;
      controller.abort(cause);
      answer.reject(failure);
    };
    const cancelTimer = clock.setTimer(() => giveUp('timeout', noAnswer(timeoutMs)), timeoutMs);
    const underWay: UnderWay = { giveUp };
    this.#underWay.add(underWay);
    const settle = (): void => {
      this.#underWay.delete(underWay);
      // the gauges may be read no more
      if (this.#aborted) metrics.set('pod_status_manager_requests_in_flight', this.#underWay.size);
      settled.resolve();
    };
    call(request, { signal: controller.signal, timeoutMs }).then(
      (value) => {
        settle();
        if (over(undefined)) answer.resolve(value);
      },
      (error: unknown) => {
        settle();
        const failure = RequestFailure.of(verb, error, clock.now(), this.#aborted);
        if (over(failure)) answer.reject(failure);
      },
    );
    return answer.promise;
  }

  #tell(subject: RequestSubject, failure: RequestFailure | undefined, times: RequestTimes): void {
    const { errorClass: result = 'ok', message } = failure ?? {};
    this.#options.events?.emit('request', requestEvent(subject, { result, status: failure?.answer.status, message, ...times }));
  }

  #endPause(): void {
    this.#cancelPause?.();
    this.#cancelPause = undefined;
    for (const resolve of this.#pauseWaiters.splice(0)) resolve();
    if (!this.#aborted) this.#opened();
  }

  #noteLimited(since: number): void {
    const { clock, metrics } = this.#options;
    metrics.observe('pod_status_manager_rate_limiter_wait_seconds', (clock.elapsed() - since) / 1000);
  }

  #opened(): void {
    const opening = this.#opening;
    this.#opening = undefined;
    if (this.#limitedSince !== undefined) this.#noteLimited(this.#limitedSince);
    this.#limitedSince = undefined;
    opening?.resolve();
  }
}

/** A request that throws is one that rejects. */
async function call<T>(request: (limits: RequestLimits) => Promise<T>, limits: RequestLimits): Promise<T> {
  return request(limits);
}

function noAnswer(timeoutMs: number): ApiError {
  return new ApiError({ reason: 'Timeout', message: `The pod client gave no answer within ${timeoutMs} ms` });
}
