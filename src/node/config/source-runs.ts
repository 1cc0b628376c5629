import type { Clock } from '../../base/clock.ts';
import { settlesWithin } from '../../base/concurrency/aborts.ts';
import { callGuarded } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { PodSource, SendPods } from '../sources/pod-source.ts';

/** The longest that a source may take to stop. */
const longestStopMs = 10_000;

interface SourceRun {
  readonly source: PodSource;
  readonly send: SendPods;
}

/** Starts and stops pod sources. What they throw, or reject with, is logged. */
export class SourceRuns {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #runs = new Map<string, SourceRun>();
  #isStarted = false;

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock;
    this.#logger = logger;
  }

  has(name: string): boolean {
    return this.#runs.has(name);
  }

  find(name: string): PodSource | undefined {
    return this.#runs.get(name)?.source;
  }

  add(name: string, source: PodSource, send: SendPods): void {
    const run = { source, send };
    this.#runs.set(name, run);
    if (this.#isStarted) this.#start(name, run);
  }

  start(): void {
    this.#isStarted = true;
    for (const [name, run] of this.#runs) this.#start(name, run);
  }

  /** Resolves when every source has stopped, and at the latest after ten seconds. Nothing happens where none was started. */
  async stop(): Promise<void> {
    if (!this.#isStarted || this.#runs.size === 0) return;
    const late = new Set(this.#runs.keys());
    const stops = Array.from(this.#runs, async ([name, { source }]) => {
      await callGuarded(
        async () => source.stop(),
        (error) => this.#logger.error({ source: name, err: error }, 'a pod source has failed to stop'),
      )?.catch(() => {});
      late.delete(name);
    });
    await settlesWithin(Promise.all(stops), { clock: this.#clock, timeoutMs: longestStopMs });
    if (late.size > 0) this.#logger.error({ sources: [...late] }, 'pod sources have not stopped in time; they are left behind');
  }

  #start(name: string, { source, send }: SourceRun): void {
    callGuarded(
      () => source.start(send),
      (error) => this.#logger.error({ source: name, err: error }, 'a pod source has failed to start'),
    );
  }
}
