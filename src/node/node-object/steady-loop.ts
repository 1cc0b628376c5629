import type { Clock } from '../../base/clock.ts';
import { Backoff } from '../../base/concurrency/backoff.ts';
import { WakeableWait } from '../../base/concurrency/timers.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { classOf, type ErrorClass, readApiFailure } from '../../client/resources/error-class.ts';

/** A step that failed, and when the next one comes. */
export interface StepFailure {
  /** What the step was rejected with. */
  readonly error: unknown;
  /** What the error means: `forbidden`, `timeout` and so on. */
  readonly errorClass: ErrorClass;
  /** How many failures in a row, this one included. */
  readonly attempt: number;
  /** How long after the failure the next step comes, in milliseconds. */
  readonly retryInMs: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** When the first of the failures in a row was, in milliseconds since the epoch. */
  readonly since: number;
}

export interface SteadyLoopOptions {
  /** Asked after each step that succeeded: how long to wait, in milliseconds. */
  readonly periodMs: () => number;
  readonly step: () => Promise<void>;
  readonly failed: (failure: StepFailure) => void;
  /** Told of the first step that succeeds after one that `failed` was told of, with the last failure. Default: nobody is. */
  readonly recovered?: (failure: StepFailure) => void;
  /** From 0 up to 1. */
  readonly random: () => number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The share of the period that comes on top at random, so that the agents of a cluster do not stay in step. */
const jitter = 0.04;
/** As the kubelet's waits between two attempts to register, or to create a Lease. */
const backoffLimits = { baseMs: 200, capMs: 7000 };

/** Takes one step after another: a period after one that succeeded, and after a backoff when one has failed. */
export class SteadyLoop {
  readonly #options: SteadyLoopOptions;
  readonly #wait: WakeableWait;
  readonly #backoff: Backoff;
  #failure: StepFailure | undefined;
  #isStopped = false;
  #run: Promise<void> = Promise.resolve();

  constructor(options: SteadyLoopOptions) {
    this.#options = options;
    this.#wait = new WakeableWait(options);
    this.#backoff = new Backoff({ ...backoffLimits, random: options.random });
  }

  /** The last failure, while no step has succeeded since. */
  get failure(): StepFailure | undefined {
    return this.#failure;
  }

  start(): void {
    this.#run = this.#steps();
  }

  /** Takes the next step at once. */
  wake(): void {
    this.#wait.wake();
  }

  /** Takes no more steps. Resolves when the one under way has ended. */
  stop(): Promise<void> {
    this.#isStopped = true;
    this.#wait.close();
    return this.#run;
  }

  async #steps(): Promise<void> {
    const { periodMs, step, random } = this.#options;
    let waitMs: number;
    while (!this.#isStopped) {
      try {
        await step();
        this.#succeed();
        waitMs = periodMs() * (1 + jitter * random());
      } catch (error) {
        waitMs = this.#fail(error);
      }
      await this.#wait.wait(waitMs);
    }
  }

  #succeed(): void {
    const failure = this.#failure;
    this.#failure = undefined;
    this.#backoff.reset();
    if (failure !== undefined && !this.#isStopped) this.#options.recovered?.(failure);
  }

  #fail(error: unknown): number {
    const { clock, failed } = this.#options;
    if (this.#isStopped) return 0;
    const failure = readApiFailure(error, clock.now());
    const retryInMs = this.#backoff.next(failure.retryAfterMs);
    const attempt = (this.#failure?.attempt ?? 0) + 1;
    const at = clock.now();
    const since = this.#failure?.since ?? at;
    this.#failure = { error, errorClass: classOf(failure), attempt, retryInMs, at, since };
    failed(this.#failure);
    return retryInMs;
  }
}
