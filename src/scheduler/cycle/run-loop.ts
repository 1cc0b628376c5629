import type { SteadyClock } from '../../base/clock.ts';

export interface RunLoopOptions {
  /** Does one piece of work; false where there is none. */
  readonly step: () => boolean;
  readonly clock: SteadyClock;
}

/** How long the steps of one turn may take together, in milliseconds, before sockets and timers have theirs. */
const turnMs = 8;

/** The clock may stand still. */
const mostSteps = 256;

/** Does pieces of work for as long as there are any, and lets the rest of the process have its turn in between. */
export class RunLoop {
  readonly #options: RunLoopOptions;
  #isRunning = false;
  #turn: NodeJS.Immediate | undefined;
  #idle = Promise.withResolvers<void>();

  constructor(options: RunLoopOptions) {
    this.#options = options;
    this.#idle.resolve();
  }

  /** True while work is under way or about to begin. */
  get isBusy(): boolean {
    return this.#turn !== undefined;
  }

  start(): void {
    this.#isRunning = true;
    this.wake();
  }

  stop(): void {
    this.#isRunning = false;
    if (this.#turn === undefined) return;
    clearImmediate(this.#turn);
    this.#turn = undefined;
    this.#idle.resolve();
  }

  /** There may be work. */
  wake(): void {
    if (!this.#isRunning || this.#turn !== undefined) return;
    this.#idle = Promise.withResolvers<void>();
    this.#turn = setImmediate(() => this.#work());
  }

  /** Resolves once there is no work, or the loop was stopped. */
  idle(): Promise<void> {
    return this.#idle.promise;
  }

  #work(): void {
    const { step, clock } = this.#options;
    const until = clock.elapsed() + turnMs;
    let steps = 1;
    while (step()) {
      if (!this.#isRunning) return;
      if (steps >= mostSteps || clock.elapsed() >= until) {
        this.#turn = setImmediate(() => this.#work());
        return;
      }
      steps += 1;
    }
    this.#turn = undefined;
    this.#idle.resolve();
  }
}
