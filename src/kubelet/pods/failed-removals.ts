import type { SteadyClock } from '../../base/clock.ts';
import { nthDelayMs } from '../../base/concurrency/backoff.ts';

/** From one look for what pods have left to the next, and at most as long as between two of the kubelet's. */
const delays = { firstMs: 2000, longestMs: 60_000 };

/** What a log line says of a removal that has failed. */
export interface FailedRemoval {
  /** Failures in a row. */
  readonly attempt: number;
  readonly retryInMs: number;
}

interface Failed {
  readonly attempt: number;
  /** When the next try is due, by `Clock.elapsed`. */
  readonly dueMs: number;
}

/** What could not be removed, by id, and when each is tried again: later with each failure, since a runtime may refuse for ever. */
export class FailedRemovals {
  readonly #clock: Pick<SteadyClock, 'elapsed'>;
  readonly #failed = new Map<string, Failed>();

  constructor(clock: Pick<SteadyClock, 'elapsed'>) {
    this.#clock = clock;
  }

  /** False until the next try is due. */
  isDue(id: string): boolean {
    const { dueMs = 0 } = this.#failed.get(id) ?? {};
    return this.#clock.elapsed() >= dueMs;
  }

  failed(id: string): FailedRemoval {
    const attempt = (this.#failed.get(id)?.attempt ?? 0) + 1;
    const retryInMs = nthDelayMs(attempt, delays);
    this.#failed.set(id, { attempt, dueMs: this.#clock.elapsed() + retryInMs });
    return { attempt, retryInMs };
  }

  removed(id: string): void {
    this.#failed.delete(id);
  }

  /** Forgets what is not there any more. */
  keepOnly(ids: ReadonlySet<string>): void {
    for (const id of this.#failed.keys()) if (!ids.has(id)) this.#failed.delete(id);
  }
}
