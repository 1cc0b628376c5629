import { EventEmitter } from 'node:events';
import { invalidArgument } from '../errors.ts';
import { callGuarded, ignoreFailure } from '../guard.ts';
import { FifoSet } from './fifo-set.ts';

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
  /**
   * From so many listeners of one event on, Node.js warns of a leak, once. Default 0: never. Node's `events.setMaxListeners`
   * calls it. Throws ERR_INVALID_ARGUMENT for anything but a whole number, 0 or more.
   */
  setMaxListeners(most: number): this;
}

/** So many events are told in one turn of the event loop, where listeners bring about more and more of them. */
const mostInOneGo = 1_000;

/**
 * Events of a fixed set of names. When a listener throws, or its promise rejects, the emitter reports the error and
 * calls the other listeners; `emit` does not throw. There is no special `error` event.
 *
 * Every listener is told of the events in the order in which they came about: an event that a listener brings about is told once
 * all listeners of the event before were called. Listeners that bring about events without end do not hold the event loop.
 */
export class Emitter<Events extends EventMap<Events>> {
  readonly #names: readonly PropertyKey[];
  readonly #onListenerError: (event: PropertyKey, error: unknown) => void;
  readonly #listeners = new EventEmitter();
  /** Events that listeners have brought about, and that are to be told. */
  readonly #waiting = new FifoSet<() => void>();
  #isTelling = false;

  constructor(names: readonly (keyof Events)[], onListenerError: (event: PropertyKey, error: unknown) => void) {
    this.#names = names;
    this.#onListenerError = onListenerError;
    this.#listeners.setMaxListeners(0);
  }

  /** True while an event is told: one that comes about now is told later. */
  get isTelling(): boolean {
    return this.#isTelling;
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

  /** See {@link Listenable.setMaxListeners}. */
  setMaxListeners(most: number): void {
    if (!Number.isSafeInteger(most) || most < 0) throw invalidArgument('most', 'a whole number, 0 or more', most);
    this.#listeners.setMaxListeners(most);
  }

  /** Calls the listeners of `event`, in the order they were added; at once, unless an event is being told. */
  emit<Name extends keyof Events>(event: Name, ...args: Events[Name]): void {
    if (this.#listeners.listenerCount(event as string) === 0) return;
    if (this.#isTelling) {
      this.#waiting.add(() => this.#tell(event, args));
      return;
    }
    this.#isTelling = true;
    this.#tell(event, args);
    this.#tellWaiting();
  }

  #tellWaiting(): void {
    for (let told = 0; told < mostInOneGo; told += 1) {
      const tell = this.#waiting.take();
      if (tell === undefined) {
        this.#isTelling = false;
        return;
      }
      tell();
    }
    setImmediate(() => this.#tellWaiting());
  }

  #tell<Name extends keyof Events>(event: Name, args: Events[Name]): void {
    const failed = (error: unknown): void => void callGuarded(() => this.#onListenerError(event, error), ignoreFailure);
    for (const listener of this.#listeners.rawListeners(event as string)) {
      callGuarded(() => Reflect.apply(listener, undefined, args), failed);
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
