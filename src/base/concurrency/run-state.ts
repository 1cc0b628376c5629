import type { Clock } from '../clock.ts';
import { invalidOption, StatusManagerError } from '../errors.ts';
import { callGuarded, ignoreFailure } from '../guard.ts';
import { longestTimerMs, numberOption, requireKnownOptions } from '../options.ts';
import { callWithin, untilAborted } from './aborts.ts';

/** The states of something that runs once: idle -> running -> stopping -> stopped, or idle -> stopping -> stopped. */
export type RunStateName = 'idle' | 'running' | 'stopping' | 'stopped';

type State<Result> =
  | { readonly name: 'idle' | 'running' }
  | { readonly name: 'stopping' | 'stopped'; readonly stopped: Promise<Result> };

/** The run state of an owner that has `start` and `stop`; it allows only legal changes. `stop` resolves to a `Result`. */
export class RunState<Result = void> {
  /** The owner's name in errors: `manager`, `pod source`. */
  readonly #owner: string;
  #state: State<Result> = { name: 'idle' };

  constructor(owner: string) {
    this.#owner = owner;
  }

  get name(): RunStateName {
    return this.#state.name;
  }

  /** idle -> running. Throws ERR_ALREADY_STARTED or ERR_STOPPED. */
  start(): void {
    if (this.#state.name === 'running') {
      throw new StatusManagerError('ERR_ALREADY_STARTED', `The ${this.#owner} was already started; it can start only once`);
    }
    this.assertNotStopped('start');
    this.#state = { name: 'running' };
  }

  /** Runs `shutDown` on the first call; every later call gets the first one's promise. */
  stop(shutDown: () => Promise<Result>): Promise<Result> {
    if ('stopped' in this.#state) return this.#state.stopped;
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.#state = { name: 'stopping', stopped: promise };
    const finish = (): void => {
      this.#state = { name: 'stopped', stopped: promise };
    };
    shutDown().then(
      (result) => {
        finish();
        resolve(result);
      },
      (error: unknown) => {
        finish();
        reject(error);
      },
    );
    return promise;
  }

  /** Throws ERR_STOPPED after `stop` was called. */
  assertNotStopped(operation: string): void {
    if ('stopped' in this.#state) {
      throw new StatusManagerError('ERR_STOPPED', `${operation}() was called on a ${this.#owner} that is ${this.#state.name}`);
    }
  }
}

/** How long a start is waited for. */
export interface StartOptions {
  /** In milliseconds. Default: without limit. */
  readonly timeoutMs?: number;
  /** Ends the wait when it aborts: the promise then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** What a start that has not succeeded waits for. */
export interface AwaitedStart {
  /** In words, with the last error. */
  readonly text: string;
  /** The last error. */
  readonly cause?: unknown;
}

export interface StartWait {
  /** The name of what starts, in errors: `pod source`. */
  readonly owner: string;
  readonly clock: Clock;
  /** Asked when the time is over. */
  readonly waitsFor: () => AwaitedStart;
}

/** Throws ERR_INVALID_OPTION, naming the option, the rule and the value; the signal's reason where it has aborted already. */
export function requireStartOptions(options: StartOptions): void {
  requireKnownOptions('options', options, ['timeoutMs', 'signal']);
  const { timeoutMs, signal } = options;
  if (timeoutMs !== undefined) numberOption('timeoutMs', timeoutMs, 0, longestTimerMs);
  if (signal !== undefined && !(signal instanceof AbortSignal)) throw invalidOption('signal', 'an AbortSignal', signal);
  signal?.throwIfAborted();
}

/**
 * The same promise within limits. Rejects with ERR_START_TIMEOUT once the time is over, and with the signal's reason once it
 * aborts; what starts is not told of either. The process stays alive meanwhile where there is a time limit. A caller may leave the
 * promise alone: one that rejects is then no unhandled rejection, since a stop makes it reject.
 */
export function awaitStart(started: Promise<void>, options: StartOptions, wait: StartWait): Promise<void> {
  const awaited =
    options.timeoutMs === undefined && options.signal === undefined ? started : withinLimits(started, options, wait);
  awaited.catch(ignoreFailure);
  return awaited;
}

async function withinLimits(started: Promise<void>, { timeoutMs, signal }: StartOptions, wait: StartWait): Promise<void> {
  const { owner, clock, waitsFor } = wait;
  if (timeoutMs === undefined) return await untilAborted(started, signal);
  const late = (): StatusManagerError => {
    const { text, cause } = callGuarded(waitsFor, ignoreFailure) ?? { text: 'it does not say what it waits for' };
    const message = `The ${owner} has not started within ${timeoutMs} ms: ${text}`;
    return new StatusManagerError('ERR_START_TIMEOUT', message, cause === undefined ? undefined : { cause });
  };
  return await callWithin(() => started, { clock, timeoutMs, signal, late });
}

/** The last failure of something that is tried again and again, while no success has followed. */
export interface LastFailure {
  /** What was thrown, or what a promise rejected with. */
  readonly error: unknown;
  /** When it failed, in milliseconds since the epoch. */
  readonly at: number;
  /** When it is tried again, in milliseconds since the epoch. */
  readonly retryAt: number;
  /** When the first one in a row failed, in milliseconds since the epoch. Default: `at`. */
  readonly since?: number | undefined;
  /** How many have failed in a row. Default 1. */
  readonly attempt?: number | undefined;
}

/** The failure after `before`, which failed at `at` and is tried again `waitMs` later. */
export function failedAgain(before: LastFailure | undefined, error: unknown, at: number, waitMs: number): LastFailure {
  const { since = at, attempt = 0 } = before ?? {};
  return { error, at, retryAt: Math.round(at + waitMs), since, attempt: attempt + 1 };
}
