import type { SteadyClock } from '../clock.ts';

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

  /** Gives back a token that was not needed. What is above the burst is gone at the next look. */
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
