/**
 * Counts the sync requests that a channel of this capacity must have dropped: those of one turn of the event loop, in which
 * nothing is taken out, beyond what it holds.
 */
export class HintCount {
  readonly #capacity: number;
  readonly #turn: () => number;
  readonly #onOverflow: () => void;
  readonly #held = new Set<string>();
  #lastTurn = -1;

  constructor(capacity: number, turn: () => number, onOverflow: () => void) {
    this.#capacity = capacity;
    this.#turn = turn;
    this.#onOverflow = onOverflow;
  }

  sent(podUID: string): void {
    if (this.#lastTurn !== this.#turn()) this.#held.clear();
    this.#lastTurn = this.#turn();
    if (this.#held.has(podUID)) return;
    if (this.#held.size < this.#capacity) this.#held.add(podUID);
    else this.#onOverflow();
  }
}
