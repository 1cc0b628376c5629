import { StatusManagerError } from '../errors.ts';

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
