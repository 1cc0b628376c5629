import { getEventListeners } from 'node:events';

/** Counts the listeners that are left on signals which have not aborted, of all signals that were listened to since it was made. */
export class AbortListeners implements Disposable {
  readonly #signals = new Set<AbortSignal>();
  readonly #restore: () => void;

  constructor() {
    const signals = this.#signals;
    const { addEventListener } = EventTarget.prototype;
    EventTarget.prototype.addEventListener = function (this: EventTarget, ...args: Parameters<typeof addEventListener>): void {
      if (this instanceof AbortSignal && args[0] === 'abort') signals.add(this);
      addEventListener.apply(this, args);
    };
    this.#restore = () => {
      EventTarget.prototype.addEventListener = addEventListener;
    };
  }

  get left(): number {
    let left = 0;
    for (const signal of this.#signals) if (!signal.aborted) left += getEventListeners(signal, 'abort').length;
    return left;
  }

  /** The most that one signal has. Each that is added is compared with all that are there. */
  get mostOnOne(): number {
    return Math.max(0, ...Array.from(this.#signals, (signal) => getEventListeners(signal, 'abort').length));
  }

  [Symbol.dispose](): void {
    this.#restore();
  }
}
