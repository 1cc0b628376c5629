// Behaviour of updateRuntimeUp in pkg/kubelet/kubelet.go and of pkg/kubelet/runtime.go, v1.36.3.

import { type SteadyClock, sleep } from '../../base/clock.ts';
import { callWithin } from '../../base/concurrency/aborts.ts';
import { errorText } from '../../base/errors.ts';
import { type Failing, FailureRun } from '../../base/failure-run.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { type ProblemFields, problemFields } from '../../base/problem.ts';
import { helped } from '../../node/problem-help.ts';
import {
  type ContainerRuntime,
  type RuntimeCall,
  RuntimeError,
  type RuntimeHealth,
  type RuntimeVersion,
} from '../runtime/container-runtime.ts';

export interface RuntimeWatchOptions {
  readonly runtime: Pick<ContainerRuntime, 'health' | 'version'>;
  readonly clock: SteadyClock;
  readonly logger: Logger;
  /** Told when the runtime or its network has become ready, or is not any more. */
  readonly changed: () => void;
}

/** How often the runtime is asked. */
const periodMs = 5000;
/** So long the runtime may give no good answer before the node is not ready. */
const patienceMs = 30_000;

/** Something of the runtime that is not well. */
export interface RuntimeTrouble extends Failing {
  /** When the runtime is asked again, in milliseconds since the epoch. */
  readonly retryAt: number;
}

/** Asks the runtime again and again whether it and its network are ready. */
export class RuntimeWatch {
  readonly #options: RuntimeWatchOptions;
  readonly #stopping = new AbortController();
  #health: RuntimeHealth | undefined;
  #version: RuntimeVersion | undefined;
  /** When the runtime last said that it is ready, by the clock's elapsed time. */
  #readyAt: number | undefined;
  #failure: string | undefined;
  #networkError: string | undefined = 'container runtime status check may not have completed yet';
  #told: string | undefined;
  readonly #failures: FailureRun;
  readonly #networkFailures: FailureRun;
  #askedAt: number;
  #run: Promise<void> = Promise.resolve();

  constructor(options: RuntimeWatchOptions) {
    this.#options = options;
    const { clock, logger } = options;
    this.#failures = new FailureRun(clock, (ended) => logger.info(ended, 'the container runtime is ready again'));
    this.#networkFailures = new FailureRun(clock, (ended) =>
      logger.info(ended, 'the network of the container runtime is ready again'),
    );
    this.#askedAt = options.clock.now();
  }

  /** What the runtime last said of itself. */
  get health(): RuntimeHealth | undefined {
    return this.#health;
  }

  get version(): RuntimeVersion | undefined {
    return this.#version;
  }

  /** Why no container can be run, in words; undefined where all is well. */
  runtimeError(): string | undefined {
    if (this.#readyAt === undefined) return this.#failure ?? 'container runtime status check may not have completed yet';
    if (this.#options.clock.elapsed() - this.#readyAt <= patienceMs) return undefined;
    return `container runtime is down${this.#failure === undefined ? '' : `: ${this.#failure}`}`;
  }

  /** Why no pod gets a network of its own, in words; undefined where all is well. */
  networkError(): string | undefined {
    return this.#networkError;
  }

  /** Why the runtime is not well, from its first bad answer on; undefined where all is well. */
  trouble(): RuntimeTrouble | undefined {
    return this.#withRetry(this.#failures.failing);
  }

  /** The same of its network, as far as it says. */
  networkTrouble(): RuntimeTrouble | undefined {
    return this.#withRetry(this.#networkFailures.failing);
  }

  /** Asks once before it resolves, and then again and again until `stop`. A runtime that fails is asked again. */
  async start(): Promise<void> {
    await this.#ask();
    this.#run = this.#askOnAndOn();
  }

  /** Resolves once no question is under way. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#run;
  }

  async #askOnAndOn(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await sleep(this.#options.clock, periodMs, signal);
      if (!signal.aborted) await this.#ask();
    }
  }

  async #ask(): Promise<void> {
    const { clock, runtime, logger, changed } = this.#options;
    const { signal } = this.#stopping;
    try {
      this.#version ??= await this.#limited('Version', (call) => runtime.version(call));
      this.#health = await this.#limited('Status', (call) => runtime.health(call));
      this.#failure = problemOf(this.#health, 'RuntimeReady', 'container runtime not ready');
      this.#networkError = problemOf(this.#health, 'NetworkReady', 'container runtime network not ready');
      if (this.#failure === undefined) this.#readyAt = clock.elapsed();
      if (isNews(this.#failures, this.#failure)) {
        const fields = { reason: this.#failure, ...this.#problem(this.#failures, 'runtime-down') };
        logger.warn(fields, 'the container runtime says that it is not ready');
      }
      if (isNews(this.#networkFailures, this.#networkError)) {
        const fields = { reason: this.#networkError, ...this.#problem(this.#networkFailures, 'network-not-ready') };
        logger.warn(fields, 'the container runtime says that its network is not ready');
      }
    } catch (err) {
      if (signal.aborted) return;
      // another runtime may answer the next time
      this.#version = undefined;
      this.#failure = errorText(err);
      this.#failures.failed(err);
      const fields = { err, ...this.#problem(this.#failures, 'runtime-down') };
      logger.warn(fields, 'the container runtime did not say how it is; it is asked again');
    }
    this.#askedAt = clock.now();
    const state = JSON.stringify([this.runtimeError() === undefined, this.#networkError]);
    if (state === this.#told) return;
    this.#told = state;
    changed();
  }

  /** A runtime that never answers has failed, too. */
  #limited<T>(what: string, call: (options: RuntimeCall) => Promise<T>): Promise<T> {
    const late = (): Error => new RuntimeError('timeout', what, `${what} gave no answer within ${patienceMs / 1000} s`);
    const limits = { clock: this.#options.clock, timeoutMs: patienceMs, signal: this.#stopping.signal, late };
    return callWithin((signal) => call({ signal }), limits);
  }

  #problem({ failing }: FailureRun, kind: 'runtime-down' | 'network-not-ready'): ProblemFields {
    return { ...problemFields({ ...failing, ...helped(kind) }, this.#options.clock.now()), retryInMs: periodMs };
  }

  #withRetry(failing: Failing | undefined): RuntimeTrouble | undefined {
    return failing && { ...failing, retryAt: this.#askedAt + periodMs };
  }
}

/** Counts what the runtime says. True for a failure that it did not name the last time. */
function isNews(run: FailureRun, failure: string | undefined): boolean {
  if (failure === undefined) {
    run.succeeded();
    return false;
  }
  const before = run.failing?.message;
  return run.failed(failure).message !== before;
}

function problemOf({ conditions }: RuntimeHealth, type: string, words: string): string | undefined {
  const condition = conditions.find((each) => each.type === type);
  if (condition?.status) return undefined;
  const { reason = '', message = '' } = condition ?? {};
  return `${words}: ${type}=false reason:${reason} message:${message}`;
}
