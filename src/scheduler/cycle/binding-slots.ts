/** Lets only so many bindings go on at once; the others wait in their order. */
export class BindingSlots {
  readonly #most: number;
  readonly #onFree: () => void;
  readonly #waiting: (() => void)[] = [];
  #taken = 0;

  /** `onFree` is called when a slot is free that nobody waits for. */
  constructor(most: number, onFree: () => void) {
    this.#most = most;
    this.#onFree = onFree;
  }

  /** True where a binding that came now would have to wait. */
  get isFull(): boolean {
    return this.#taken >= this.#most;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.isFull) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#taken += 1;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next !== undefined) {
        next();
      } else {
        this.#taken -= 1;
        this.#onFree();
      }
    }
  }
}
