import { type SteadyClock, sleep } from '../../base/clock.ts';
import { untilAborted } from '../../base/concurrency/aborts.ts';
import { FailureRun } from '../../base/failure-run.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { type ContainerRuntime, isRuntimeError, type RuntimeEvent } from '../runtime/container-runtime.ts';
import type { LifecycleMetrics } from './pod-lifecycle-options.ts';

export interface EventReaderOptions {
  readonly runtime: Pick<ContainerRuntime, 'events'>;
  readonly clock: SteadyClock;
  readonly logger: Logger;
  readonly metrics: LifecycleMetrics;
  /** Ends the reading. */
  readonly signal: AbortSignal;
  readonly hear: (event: RuntimeEvent) => void;
  /** Called when events come again after they had not, and when they come no more. */
  readonly turned: () => void;
}

const reconnectMs = 1000;

/** Reads the events of the runtime, and connects again when they end. */
export class EventReader {
  readonly #options: EventReaderOptions;
  #isConnected = false;
  readonly #failures: FailureRun;

  constructor(options: EventReaderOptions) {
    this.#options = options;
    this.#failures = new FailureRun(options.clock, (ended) =>
      options.logger.info(ended, 'the events of the container runtime come again'),
    );
  }

  /** False while no events come: the runtime is away, or sends none at all. */
  get isConnected(): boolean {
    return this.#isConnected;
  }

  /** Resolves once the signal has aborted, or the runtime has no events. Never rejects. */
  async run(): Promise<void> {
    const { clock, logger, metrics, signal, turned } = this.#options;
    while (!signal.aborted) {
      const error = await this.#read().catch((reason: unknown) => reason);
      this.#isConnected = false;
      if (signal.aborted) return;
      turned();
      if (isRuntimeError(error, 'unimplemented')) {
        logger.info({ err: error }, 'the container runtime has no events; it is listed more often');
        return;
      }
      metrics.disconnected();
      if (this.#failures.failed(error).attempt === 1)
        logger.warn({ err: error }, 'the events of the container runtime have ended, and are asked for again');
      await sleep(clock, reconnectMs, signal);
    }
  }

  async #read(): Promise<void> {
    const { runtime, signal, turned, hear, logger } = this.#options;
    const warn = (err: unknown): void => logger.warn({ err }, 'an event of the container runtime could not be read');
    const events = runtime.events(signal)[Symbol.asyncIterator]();
    this.#isConnected = true;
    if (this.#failures.failing !== undefined) turned();
    try {
      for (;;) {
        const { done, value } = await untilAborted(events.next(), signal);
        if (done === true) return;
        this.#failures.succeeded();
        callGuarded(() => hear(value), warn);
      }
    } finally {
      callGuarded(() => events.return?.(), ignoreFailure);
    }
  }
}
