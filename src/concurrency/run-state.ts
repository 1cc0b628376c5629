import { StatusManagerError } from '../errors.ts';

/** The life of a manager. It runs once: idle -> running -> stopping -> stopped, or idle -> stopped. */
export type RunStateName = 'idle' | 'running' | 'stopping' | 'stopped';

type State = { readonly name: 'idle' | 'running' } | { readonly name: 'stopping' | 'stopped'; readonly stopped: Promise<void> };

/** The one place that knows which lifecycle moves are legal. */
export class RunState {
  #state: State = { name: 'idle' };

  get name(): RunStateName {
    return this.#state.name;
  }

  /** idle -> running. Throws ERR_ALREADY_STARTED or ERR_STOPPED. */
  start(): void {
    if (this.#state.name === 'running') {
      throw new StatusManagerError('ERR_ALREADY_STARTED', 'The manager was started already; one manager is started once');
    }
    this.assertNotStopped('start');
    this.#state = { name: 'running' };
  }

  /** Runs `shutDown` on the first call; every later call gets the first one's promise. */
  stop(shutDown: () => Promise<void>): Promise<void> {
    if ('stopped' in this.#state) return this.#state.stopped;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#state = { name: 'stopping', stopped: promise };
    const finish = (): void => {
      this.#state = { name: 'stopped', stopped: promise };
    };
    shutDown().then(
      () => {
        finish();
        resolve();
      },
      (error: unknown) => {
        finish();
        reject(error);
      },
    );
    return promise;
  }

  /** Throws ERR_STOPPED once `stop` was called. */
  assertNotStopped(operation: string): void {
    if ('stopped' in this.#state) {
      throw new StatusManagerError('ERR_STOPPED', `${operation}() was called on a manager that is ${this.#state.name}`);
    }
  }
}
