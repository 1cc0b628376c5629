import { classifyApiError, type ErrorClass } from '../../client/error-class.ts';
import { RateLimiter, type RateLimiterOptions } from '../../concurrency/rate-limiter.ts';
import type { CancelTimer, Clock } from '../../seams/clock.ts';
import type { MetricsSink } from '../../seams/metrics.ts';

export type Verb = 'get' | 'patch' | 'delete';

/** A request that failed, with what the failure means. */
export class RequestFailure extends Error {
  readonly verb: Verb;
  readonly errorClass: ErrorClass;
  override readonly cause: unknown;

  constructor(verb: Verb, errorClass: ErrorClass, cause: unknown) {
    super(`${verb} failed: ${errorClass}`);
    this.verb = verb;
    this.errorClass = errorClass;
    this.cause = cause;
  }
}

/** A token of the rate limiter that was taken for a sync before it was known whether it needs one. */
export interface Admission {
  prepaid: boolean;
}

export interface RequestGateOptions {
  readonly clock: Clock;
  readonly metrics: MetricsSink;
  readonly requestTimeoutMs: number;
  readonly rateLimiter: RateLimiterOptions | undefined;
  /** Called when requests may go again after a pause or a want of tokens. */
  readonly onOpen: () => void;
}

/**
 * Every request of a manager goes through here: rate limit, pauses the server asked for, timeout and abort.
 * A request counts as in flight until its promise has settled, aborted or not.
 */
export class RequestGate {
  readonly #options: RequestGateOptions;
  readonly #limiter: RateLimiter | undefined;
  readonly #inFlight = new Set<AbortController>();
  #pausedUntil = 0;
  #cancelPause: CancelTimer | undefined;
  #pauseWaiters: (() => void)[] = [];
  #aborted = false;

  constructor(options: RequestGateOptions) {
    this.#options = options;
    if (options.rateLimiter !== undefined) this.#limiter = new RateLimiter(options.rateLimiter, options.clock, options.onOpen);
  }

  /** When the pause of the whole client ends, in milliseconds since the epoch; undefined while there is none. */
  get pausedUntil(): number | undefined {
    return this.#cancelPause === undefined ? undefined : this.#pausedUntil;
  }

  get requestsInFlight(): number {
    return this.#inFlight.size;
  }

  /** Room for one more request now? If so, a token is taken for it. */
  tryAdmit(): Admission | undefined {
    if (this.#aborted || this.#cancelPause !== undefined) return undefined;
    if (this.#limiter === undefined) return { prepaid: false };
    return this.#limiter.tryTake() ? { prepaid: true } : undefined;
  }

  /** Gives back a token that no request used. */
  putBack(admission: Admission): void {
    if (!admission.prepaid) return;
    admission.prepaid = false;
    this.#limiter?.putBack();
  }

  /** Nothing is sent for this long; a longer pause already running stays. */
  pause(ms: number): void {
    const until = this.#options.clock.now() + ms;
    if (this.#aborted || (this.#cancelPause !== undefined && until <= this.#pausedUntil)) return;
    this.#cancelPause?.();
    this.#pausedUntil = until;
    this.#cancelPause = this.#options.clock.setTimer(() => this.#endPause(), ms);
  }

  /** Sends one request. Rejects with a {@link RequestFailure}, never with anything else. */
  async send<T>(verb: Verb, admission: Admission, request: (signal: AbortSignal) => Promise<T>): Promise<T> {
    await this.#admit(admission);
    try {
      return await this.#sendOnce(verb, request);
    } catch (failure) {
      // credentials are asked for on every request: a second one may carry a fresh token
      if (!(failure instanceof RequestFailure) || failure.errorClass !== 'unauthorized') throw failure;
      await this.#admit({ prepaid: false });
      return await this.#sendOnce(verb, request);
    }
  }

  /** Aborts what is in flight and refuses everything from now on. */
  abort(): void {
    this.#aborted = true;
    this.#endPause();
    this.#limiter?.release();
    for (const controller of this.#inFlight) controller.abort();
  }

  async #admit(admission: Admission): Promise<void> {
    const { clock, metrics } = this.#options;
    while (this.#cancelPause !== undefined) await new Promise<void>((resolve) => this.#pauseWaiters.push(resolve));
    // once aborted nothing is sent any more: no wait for a token may keep `stop` waiting
    if (this.#aborted) return;
    if (admission.prepaid || this.#limiter === undefined) {
      admission.prepaid = false;
      return;
    }
    const since = clock.now();
    await this.#limiter.take();
    metrics.observe('pod_status_manager_rate_limiter_wait_seconds', (clock.now() - since) / 1000);
  }

  async #sendOnce<T>(verb: Verb, request: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { clock, metrics, requestTimeoutMs } = this.#options;
    if (this.#aborted) throw new RequestFailure(verb, 'aborted', undefined);
    const controller = new AbortController();
    let timedOut = false;
    const cancelTimer = clock.setTimer(() => {
      timedOut = true;
      controller.abort();
    }, requestTimeoutMs);
    this.#inFlight.add(controller);
    try {
      const answer = await request(controller.signal);
      metrics.increment('pod_status_manager_requests_total', { verb, result: 'ok' });
      return answer;
    } catch (error) {
      const errorClass = timedOut ? 'timeout' : this.#aborted ? 'aborted' : classifyApiError(error);
      metrics.increment('pod_status_manager_requests_total', { verb, result: errorClass });
      throw new RequestFailure(verb, errorClass, error);
    } finally {
      cancelTimer();
      this.#inFlight.delete(controller);
    }
  }

  #endPause(): void {
    this.#cancelPause?.();
    this.#cancelPause = undefined;
    for (const resolve of this.#pauseWaiters.splice(0)) resolve();
    if (!this.#aborted) this.#options.onOpen();
  }
}
