import type { SteadyClock } from '../../base/clock.ts';

export interface ReportTimesOptions {
  readonly statusReportFrequencyMs: number;
  /** From 0 up to 1. */
  readonly random: () => number;
  readonly clock: SteadyClock;
}

/**
 * When the status is written although nothing has changed. After a change the wait is 50 % to 150 % of the frequency, so that
 * nodes which changed at once do not report at once ever after. Behaviour of pkg/kubelet/kubelet_node_status.go
 * isUpdateStatusPeriodExpired and calculateDelay, v1.36.3.
 */
export class ReportTimes {
  readonly #options: ReportTimesOptions;
  #lastAt: number | undefined;
  /** The same in time that has passed. */
  #reportedAt = 0;
  #waitMs = 0;

  constructor(options: ReportTimesOptions) {
    this.#options = options;
  }

  /** In milliseconds since the epoch. */
  get lastAt(): number | undefined {
    return this.#lastAt;
  }

  isDue(): boolean {
    if (this.#lastAt === undefined) return true;
    return this.#options.clock.elapsed() - this.#reportedAt >= this.#waitMs;
  }

  reported(afterChange: boolean): void {
    const { statusReportFrequencyMs: frequencyMs, random, clock } = this.#options;
    const isFirst = this.#lastAt === undefined;
    this.#lastAt = clock.now();
    this.#reportedAt = clock.elapsed();
    this.#waitMs = afterChange || isFirst ? frequencyMs * (0.5 + random()) : frequencyMs;
  }
}
