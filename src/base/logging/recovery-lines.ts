import type { CancelTimer, SteadyClock } from '../clock.ts';
import { callGuarded, ignoreFailure } from '../guard.ts';
import { isLevelEnabled, type Logger } from './logger.ts';

/** So many pods that are well again have a line each in a minute, as many as the console shows of one message. */
const mostLines = 20;
const windowMs = 60_000;
/** So soon after the first pod that has no line, a line says how many there are. */
const summaryAfterMs = 10_000;

/**
 * How many pods that are well again have a line of their own: when an outage ends, thousands are well again at once. The first 20 of a
 * minute have one, and one line counts those that come within ten seconds after them.
 */
export class RecoveryLines {
  readonly #clock: SteadyClock;
  readonly #logger: Logger;
  /** When the minute began, by `Clock.elapsed`. */
  #since: number | undefined;
  #lines = 0;
  #leftOut = 0;
  #cancelTimer: CancelTimer | undefined;
  #isStopped = false;

  constructor({ clock, logger }: { readonly clock: SteadyClock; readonly logger: Logger }) {
    this.#clock = clock;
    this.#logger = logger;
  }

  /** True where the pod that is well again has a line of its own, which the caller writes; else it is counted. */
  take(): boolean {
    if (this.#isStopped || !isLevelEnabled(this.#logger, 'info')) return false;
    const now = this.#clock.elapsed();
    if (this.#since === undefined || now - this.#since >= windowMs) {
      this.#since = now;
      this.#lines = 0;
    }
    if (this.#lines < mostLines) {
      this.#lines += 1;
      return true;
    }
    this.#leftOut += 1;
    this.#cancelTimer ??= callGuarded(() => this.#clock.setTimer(() => this.#flush(), summaryAfterMs), ignoreFailure);
    return false;
  }

  /** Tells now of those that have no line, and of no pod after that. No timer is left. */
  stop(): void {
    this.#isStopped = true;
    this.#flush();
  }

  #flush(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    const pods = this.#leftOut;
    this.#leftOut = 0;
    if (pods > 0) this.#logger.info({ pods }, 'further pods are well again, which have no line of their own');
  }
}
