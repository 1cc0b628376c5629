import type { SteadyClock } from '../../base/clock.ts';
import type { PodSourceView } from './pod-source-view.ts';

/** Pods read again in one batch while the pod source is silent; more where there are so many that it takes more. */
const staleReadsAtLeast = 50;

export interface StaleReadsOptions {
  readonly source: PodSourceView;
  readonly clock: SteadyClock;
  readonly staleAfterMs: number;
  readonly syncPeriodMs: number;
}

/**
 * A pod source that is silent for too long may be dead: then each batch has a few pods read from the apiserver itself, in
 * turn, each pod at least once in `staleAfterMs`.
 */
export class StaleReads {
  readonly #options: StaleReadsOptions;
  #startedAt = 0;
  #cursor = 0;

  constructor(options: StaleReadsOptions) {
    this.#options = options;
  }

  /** The silence counts from now. */
  start(): void {
    this.#startedAt = this.#options.clock.elapsed();
  }

  /** True while the pod source hears from the apiserver: what happens there reaches the pod manager. */
  get isWatched(): boolean {
    const { source, clock, staleAfterMs } = this.#options;
    return source.isThere && clock.elapsed() - (source.lastObserved() ?? this.#startedAt) <= staleAfterMs;
  }

  /** The pods that are to be read in this batch, of all that have a status. */
  next(podUIDs: readonly string[]): string[] {
    const { source, syncPeriodMs, staleAfterMs } = this.#options;
    if (!source.isThere || this.isWatched) return [];
    const share = Math.ceil((podUIDs.length * syncPeriodMs) / staleAfterMs);
    const count = Math.min(podUIDs.length, Math.max(staleReadsAtLeast, share));
    const next = Array.from({ length: count }, (_, n) => podUIDs[(this.#cursor + n) % podUIDs.length] ?? '');
    this.#cursor += count;
    return next;
  }
}
