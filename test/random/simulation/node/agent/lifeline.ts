import type { NodeFound } from '../rules.ts';

/** Whether one run of an agent still lives. What a dead one does has no effect, and nothing of it is ever answered. */
export class Lifeline {
  readonly #found: NodeFound;
  #state: 'alive' | 'stopped' | 'dead' = 'alive';

  constructor(found: NodeFound) {
    this.#found = found;
  }

  get isDead(): boolean {
    return this.#state === 'dead';
  }

  get isAlive(): boolean {
    return this.#state === 'alive';
  }

  /** True: the call may be made. After `stop` no call may come. */
  admits(call: string): boolean {
    if (this.#state === 'stopped') this.#found('nothing is called after stop', call);
    return this.#state === 'alive';
  }

  /** The agent says that it has stopped. */
  stopped(): void {
    this.#state = 'stopped';
  }

  /** The process is gone, in the middle of whatever it did. */
  kill(): void {
    this.#state = 'dead';
  }
}

export function never<T>(): Promise<T> {
  return new Promise<T>(() => {});
}
