import { type CancelTimer, type Clock, type SteadyClock, safeClock } from '../clock.ts';
import { invalidOption } from '../errors.ts';
import { integerOption, numberOption, requireKnownOptions } from '../options.ts';

/** A limit of requests: a token bucket. */
export interface RateLimiterOptions {
  /** Requests per second in the long run. */
  readonly qps: number;
  /** Requests that may go at once after a time without requests. */
  readonly burst: number;
}

/** The option `rateLimiter`, checked. Throws ERR_INVALID_OPTION. */
export function rateLimiterOption(limiter: RateLimiterOptions): RateLimiterOptions {
  if (typeof limiter !== 'object' || limiter === null) throw invalidOption('rateLimiter', 'an object { qps, burst }', limiter);
  requireKnownOptions('rateLimiter', limiter, ['qps', 'burst']);
  return {
    qps: numberOption('rateLimiter.qps', limiter.qps, 0.001, 1_000_000),
    burst: integerOption('rateLimiter.burst', limiter.burst, 1),
  };
}

/**
 * A token bucket over an injected clock. `tryTake` never waits; `take` waits for a token. Waiting takers are served in
 * order, and before any `tryTake`.
 */
export class RateLimiter {
  readonly #clock: SteadyClock;
  readonly #bucket: TokenBucket;
  readonly #takers: (() => void)[] = [];
  readonly #onAvailable: () => void;
  #cancelTimer: CancelTimer | undefined;

  constructor({ qps, burst }: RateLimiterOptions, clock: Clock, onAvailable: () => void) {
    this.#clock = safeClock(clock);
    this.#bucket = new TokenBucket({ burst, tokens: qps, perMs: 1000 }, this.#clock);
    this.#onAvailable = onAvailable;
  }

  /** Takes a token if one is free. If not, the limiter calls `onAvailable` when one may be free. */
  tryTake(): boolean {
    if (this.#takers.length === 0 && this.#bucket.tryTake()) return true;
    this.#arm();
    return false;
  }

  /** Resolves once a token is taken, or when `release` ends the wait. */
  take(): Promise<void> {
    if (this.tryTake()) return Promise.resolve();
    return new Promise((resolve) => {
      this.#takers.push(resolve);
    });
  }

  /** Puts back a token that was not needed. */
  putBack(): void {
    this.#bucket.putBack();
    this.#serve();
  }

  /** Ends every wait and the timer; waiting takers resolve without a token. */
  release(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    for (const resolve of this.#takers.splice(0)) resolve();
  }

  #arm(): void {
    if (this.#cancelTimer !== undefined) return;
    const waitMs = Math.max(1, Math.ceil(this.#bucket.waitMs));
    this.#cancelTimer = this.#clock.setTimer(() => {
      this.#cancelTimer = undefined;
      this.#serve();
    }, waitMs);
  }

  #serve(): void {
    while (this.#takers.length > 0 && this.#bucket.tryTake()) this.#takers.shift()?.();
    if (this.#takers.length > 0) this.#arm();
    else this.#onAvailable();
  }
}

export interface TokenBucketOptions {
  /** The most tokens that are there at once; so many are there at first. */
  readonly burst: number;
  /** So many tokens come in `perMs`. */
  readonly tokens: number;
  readonly perMs: number;
}

/** Tokens that are taken at will and come again with time. */
export class TokenBucket {
  readonly #options: TokenBucketOptions;
  readonly #clock: SteadyClock;
  #tokens: number;
  #countedAt: number;

  constructor(options: TokenBucketOptions, clock: SteadyClock) {
    this.#options = options;
    this.#clock = clock;
    this.#tokens = options.burst;
    this.#countedAt = clock.elapsed();
  }

  /** How long until there is a token, in milliseconds; 0 where there is one. */
  get waitMs(): number {
    const { tokens, perMs } = this.#options;
    return Math.max(0, ((1 - this.#count()) * perMs) / tokens);
  }

  /** Takes a token. False where there is none. */
  tryTake(): boolean {
    if (this.#count() < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Takes a token, or what there is of one. */
  take(): void {
    this.#tokens = Math.max(0, this.#count() - 1);
  }

  /** Puts back a token that was not needed. What is above the burst is gone at the next look. */
  putBack(): void {
    this.#tokens += 1;
  }

  #count(): number {
    const { burst, tokens, perMs } = this.#options;
    const now = this.#clock.elapsed();
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#countedAt) * tokens) / perMs);
    this.#countedAt = now;
    return this.#tokens;
  }
}
