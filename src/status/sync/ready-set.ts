import { FifoSet } from '../../base/concurrency/fifo-set.ts';

/** Every so many turns the longest waiting pod goes first, urgent or not, so that nothing starves. */
const ageingTurn = 4;

/**
 * The pods that wait for a free slot, each once: urgent pods first, both kinds in order of arrival. At least every fourth
 * turn belongs to the pods that are not urgent: a stream of urgent pods slows them and never stops them.
 */
export class ReadySet {
  readonly #urgent = new FifoSet<string>();
  readonly #normal = new FifoSet<string>();
  #turns = 0;

  get size(): number {
    return this.#urgent.size + this.#normal.size;
  }

  has(podUID: string): boolean {
    return this.#urgent.has(podUID) || this.#normal.has(podUID);
  }

  /** A pod already waiting keeps its place, unless it has become urgent. */
  add(podUID: string, urgent: boolean): void {
    if (this.#urgent.has(podUID)) return;
    if (!urgent) {
      this.#normal.add(podUID);
      return;
    }
    this.#normal.delete(podUID);
    this.#urgent.add(podUID);
  }

  delete(podUID: string): void {
    this.#urgent.delete(podUID);
    this.#normal.delete(podUID);
  }

  take(): string | undefined {
    this.#turns = this.#urgent.size > 0 && this.#normal.size > 0 ? this.#turns + 1 : 0;
    const normalFirst = this.#turns >= ageingTurn;
    if (normalFirst) this.#turns = 0;
    return (normalFirst ? this.#normal.take() : this.#urgent.take()) ?? this.#normal.take();
  }
}
