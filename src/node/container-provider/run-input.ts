import { Readable } from 'node:stream';
import { untilAborted } from '../../base/concurrency/aborts.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';

/** What attached clients type, as one stream for a run of a container. Who types waits while nobody reads it. */
export class RunInput {
  readonly stream: Readable;
  readonly #waiting = new Set<() => void>();
  #hasEnded = false;

  constructor() {
    this.stream = new Readable({ read: () => this.#wake() });
    this.stream.on('error', ignoreFailure);
  }

  /** Takes what a client types until it has no more, the signal aborts, or the input has ended. Never rejects. */
  async take(source: Readable, signal: AbortSignal): Promise<void> {
    source.on('error', ignoreFailure);
    await this.#takeAll(source, signal).catch(ignoreFailure);
  }

  /** There is no more. A second call does nothing. */
  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    if (!this.stream.destroyed) this.stream.push(null);
    this.#wake();
  }

  async #takeAll(source: Readable, signal: AbortSignal): Promise<void> {
    const chunks = source.iterator({ destroyOnReturn: false });
    try {
      while (!this.#isOver) {
        const { done, value } = await untilAborted<IteratorResult<unknown>>(chunks.next(), signal);
        if (done === true || this.#isOver) return;
        if (!this.stream.push(value)) await untilAborted(this.#room(), signal);
      }
    } finally {
      // a call of next() that is under way would have to settle first
      callGuarded(() => chunks.return?.(), ignoreFailure);
    }
  }

  get #isOver(): boolean {
    return this.#hasEnded || this.stream.destroyed;
  }

  async #room(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    await promise;
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }
}
