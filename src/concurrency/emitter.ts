import { EventEmitter } from 'node:events';

/** An EventEmitter that knows its events' names. Node's own types let any name pass, so that a misspelt one compiles. */
interface TypedEmitter<Events extends Record<keyof Events, unknown[]>>
  extends Omit<EventEmitter<Events>, 'on' | 'once' | 'off' | 'addListener' | 'removeListener'> {
  on<Name extends keyof Events>(event: Name, listener: (...args: Events[Name]) => void): this;
  once<Name extends keyof Events>(event: Name, listener: (...args: Events[Name]) => void): this;
  off<Name extends keyof Events>(event: Name, listener: (...args: Events[Name]) => void): this;
  addListener<Name extends keyof Events>(event: Name, listener: (...args: Events[Name]) => void): this;
  removeListener<Name extends keyof Events>(event: Name, listener: (...args: Events[Name]) => void): this;
}

const TypedEmitter = EventEmitter as unknown as new <Events extends Record<keyof Events, unknown[]>>() => TypedEmitter<Events>;

/**
 * An emitter whose listeners cannot hurt the emitter: one that throws, or returns a promise that rejects, is reported
 * and the others are still called. There is no special `error` event.
 */
export class SafeEmitter<Events extends Record<keyof Events, unknown[]>> extends TypedEmitter<Events> {
  readonly #onListenerError: (event: PropertyKey, error: unknown) => void;

  constructor(onListenerError: (event: PropertyKey, error: unknown) => void) {
    super();
    this.#onListenerError = onListenerError;
  }

  /** Calls the listeners of `event`, in the order they were added. True when there was one. */
  protected notify<Name extends keyof Events>(event: Name & (string | symbol), ...args: Events[Name]): boolean {
    const listeners = this.rawListeners(event as never);
    for (const listener of listeners) {
      try {
        const result: unknown = Reflect.apply(listener, this, args);
        if (result instanceof Promise) result.catch((error: unknown) => this.#onListenerError(event, error));
      } catch (error) {
        this.#onListenerError(event, error);
      }
    }
    return listeners.length > 0;
  }
}
