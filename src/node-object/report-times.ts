import type { Clock } from '../seams/clock.ts';

export interface ReportTimesOptions {
  readonly statusReportFrequencyMs: number;
  /** From 0 up to 1. */
  readonly random: () => number;
  readonly clock: Clock;
}

/**
 * When the status is written although nothing has changed. After a change the wait is 50 % to 150 % of the frequency, so that
 * nodes which changed at once do not report at once ever after. Behaviour of pkg/kubelet/kubelet_node_status.go
 * isUpdateStatusPeriodExpired and calculateDelay, v1.36.3.
 */
export class ReportTimes {
  readonly #options: ReportTimesOptions;
  #lastAt: number | undefined;
  #waitMs = 0;

  constructor(options: ReportTimesOptions) {
    this.#options = options;
  }

  get lastAt(): number | undefined {
    return this.#lastAt;
  }

  /** Also true when the clock was set back: how long the wait has lasted is not known then. */
  isDue(): boolean {
    if (this.#lastAt === undefined) return true;
    const sinceMs = this.#options.clock.now() - this.#lastAt;
    return sinceMs < 0 || sinceMs >= this.#waitMs;
  }

  reported(afterChange: boolean): void {
    const { statusReportFrequencyMs: frequencyMs, random, clock } = this.#options;
    const isFirst = this.#lastAt === undefined;
    this.#lastAt = clock.now();
    this.#waitMs = afterChange || isFirst ? frequencyMs * (0.5 + random()) : frequencyMs;
  }
}
