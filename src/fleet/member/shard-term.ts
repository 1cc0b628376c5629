import type { SteadyClock } from '../../base/clock.ts';
import { ApiError } from '../../client/transport/api-error.ts';

export interface ShardTermOptions {
  readonly shard: number;
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly clock: SteadyClock;
  /** Told of each write that was refused. */
  readonly refused?: () => void;
}

/** When a request was sent: by what passes, and by the wall clock. */
export interface SentAt {
  readonly elapsedMs: number;
  readonly at: number;
}

export function sentNow(clock: SteadyClock): SentAt {
  return { elapsedMs: clock.elapsed(), at: clock.now() };
}

/**
 * The time in which a member owns a shard. It is over once the Lease was given up, or was not renewed for `renewDeadlineMs`. That counts
 * from before the request that renewed was sent: any other member counts the Lease's duration, which is longer, from a later moment.
 */
export class ShardTerm {
  readonly shard: number;
  /** When the term began, in milliseconds since the epoch. */
  readonly since: number;
  readonly #options: ShardTermOptions;
  #renewed: SentAt;
  #isOver = false;

  constructor(options: ShardTermOptions, acquired: SentAt) {
    this.#options = options;
    this.shard = options.shard;
    this.since = options.clock.now();
    this.#renewed = acquired;
  }

  /** True while no other member can have taken the shard. */
  get isOwned(): boolean {
    return !this.#isOver && this.#ageMs() < this.#options.renewDeadlineMs;
  }

  /** When the term is over unless the Lease is renewed, by `clock.elapsed()`. */
  get deadlineMs(): number {
    return this.#renewed.elapsedMs + this.#options.renewDeadlineMs;
  }

  /**
   * To be asked at the moment at which a request of one of the shard's nodes is sent. Throws an ApiError of the reason `NotOwner` once the
   * term is over; the request must not be sent then.
   */
  requireOwned(): void {
    if (this.isOwned) return;
    this.#options.refused?.();
    const message = `this member does not own shard ${this.shard} of the fleet any more: nothing of its nodes is written from here`;
    throw new ApiError({ reason: 'NotOwner', message });
  }

  /** How long a request that is sent now may take until another member could own the shard, in milliseconds, at least 1. */
  writeLimitMs(): number {
    return Math.max(1, Math.floor(this.#options.leaseDurationMs - this.#ageMs()));
  }

  /** The Lease was renewed by a request that was sent then. False where that is too long ago: the term is over then. */
  renewed(sent: SentAt): boolean {
    if (this.#isOver) return false;
    this.#renewed = sent;
    return this.#options.clock.elapsed() < this.deadlineMs;
  }

  end(): void {
    this.#isOver = true;
  }

  /** Of a machine that slept only the wall clock may tell. One that is set forward keeps writes back until the next renewal. */
  #ageMs(): number {
    const { clock } = this.#options;
    return Math.max(clock.elapsed() - this.#renewed.elapsedMs, clock.now() - this.#renewed.at);
  }
}
