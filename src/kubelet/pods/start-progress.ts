import type { Clock } from '../../base/clock.ts';
import { nthDelayMs } from '../../base/concurrency/backoff.ts';
import type { Logger } from '../../base/logging/logger.ts';

export interface StartProgressOptions {
  /** Tells how far the start has come. */
  readonly tell: (signal: AbortSignal) => Promise<void>;
  readonly podUID: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A start that is over sooner tells one status alone: one request less for a pod that starts at once. */
const waits = { firstMs: 500, longestMs: 10_000 };

/** While a pod's start takes long, as when an image is pulled, tells again and again how far it has come. */
export class StartProgress {
  readonly #options: StartProgressOptions;
  readonly #over = new AbortController();
  #cancel: () => void = () => {};
  #telling: Promise<void> | undefined;

  constructor(options: StartProgressOptions) {
    this.#options = options;
    this.#wait(1);
  }

  /** Resolves once nothing more is told. */
  async end(): Promise<void> {
    this.#cancel();
    this.#over.abort();
    await this.#telling;
  }

  #wait(n: number): void {
    const waitMs = nthDelayMs(n, waits);
    this.#cancel = this.#options.clock.setTimer(() => {
      this.#telling = this.#tell().then(() => {
        if (!this.#over.signal.aborted) this.#wait(n + 1);
      });
    }, waitMs);
  }

  async #tell(): Promise<void> {
    const { tell, podUID, logger } = this.#options;
    const { signal } = this.#over;
    try {
      await tell(signal);
    } catch (err) {
      if (!signal.aborted) logger.debug({ err, podUID }, 'it could not be told how far the start of a pod has come');
    }
  }
}
