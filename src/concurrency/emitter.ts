import { EventEmitter } from 'node:events';
import { invalidArgument } from '../errors.ts';
import { callGuarded } from '../seams/guard.ts';

/** Event names, each with the arguments its listeners get. */
export type EventMap<Events> = Record<keyof Events, unknown[]>;

/** The listening half of an emitter; it cannot emit. `on`, `off` and their kin return the object they are called on. */
export interface Listenable<Events extends EventMap<Events>> {
  /**
   * Calls the listener at each such event. Throws ERR_INVALID_ARGUMENT for an unknown event, or a listener that is no function.
   */
  on<Name extends keyof Events>(event: Name, listener: (...args: Events[Name]) => void): this;
  /** Calls the listener at the next such event only. Throws as `on` does. */
  once<Name extends keyof Events>(event: Name, listener: (...args: Events[Name]) => void): this;
  /** Ends what `on` or `once` began with this listener. Throws as `on` does. */
  off<Name extends keyof Events>(event: Name, listener: (...args: Events[Name]) => void): this;
  /** The same as `on`. Node's helpers for emitters call it. */
  addListener<Name extends keyof Events>(event: Name, listener: (...args: Events[Name]) => void): this;
  /** The same as `off`. Node's helpers for emitters call it. */
  removeListener<Name extends keyof Events>(event: Name, listener: (...args: Events[Name]) => void): this;
  /** How many listeners the event has. */
  listenerCount(event: keyof Events): number;
}

/**
 * Events of a fixed set of names. When a listener throws, or its promise rejects, the emitter reports the error and
 * calls the other listeners; `emit` does not throw. There is no special `error` event.
 */
export class Emitter<Events extends EventMap<Events>> {
  readonly #names: readonly PropertyKey[];
  readonly #onListenerError: (event: PropertyKey, error: unknown) => void;
  readonly #listeners = new EventEmitter();

  constructor(names: readonly (keyof Events)[], onListenerError: (event: PropertyKey, error: unknown) => void) {
    this.#names = names;
    this.#onListenerError = onListenerError;
  }

  /** Throws ERR_INVALID_ARGUMENT for an unknown event name, and for a listener that is no function. */
  on<Name extends keyof Events>(event: Name, listener: (...args: Events[Name]) => void): void {
    this.#listeners.on(this.#checked(event, listener), listener as () => void);
  }

  once<Name extends keyof Events>(event: Name, listener: (...args: Events[Name]) => void): void {
    this.#listeners.once(this.#checked(event, listener), listener as () => void);
  }

  off<Name extends keyof Events>(event: Name, listener: (...args: Events[Name]) => void): void {
    this.#listeners.off(this.#checked(event, listener), listener as () => void);
  }

  listenerCount(event: keyof Events): number {
    return this.#listeners.listenerCount(event as string);
  }

  /** Calls the listeners of `event`, in the order they were added. */
  emit<Name extends keyof Events>(event: Name, ...args: Events[Name]): void {
    for (const listener of this.#listeners.rawListeners(event as string)) {
      callGuarded(
        () => Reflect.apply(listener, undefined, args),
        (error) => this.#onListenerError(event, error),
      );
    }
  }

  #checked(event: keyof Events, listener: unknown): string {
    // `once` of node:events listens for `error` beside the event it waits for
    if (!this.#names.includes(event) && event !== 'error')
      throw invalidArgument('event', `one of ${this.#names.join(', ')}`, event);
    if (typeof listener !== 'function') throw invalidArgument('listener', 'a function', listener);
    return event as string;
  }
}
