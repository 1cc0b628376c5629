/** Ends an evaluation at once: unlike a failure, nothing in the expression can catch it. */
export class CelAbort extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CelAbort';
  }
}

/** Steps of our own that upstream does not count, such as elements that are copied. */
const mostWork = 10_000_000;
/** How many letters or bytes count as one step of our own. */
const lettersInWork = 8;

/** What the evaluation of an expression has cost, in upstream's units; beyond the limit it ends. */
export class CelMeter {
  readonly #limit: number;
  #cost = 0;
  #work = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get cost(): number {
    return this.#cost;
  }

  spend(cost: number): void {
    this.#cost += cost;
    // Upstream counts without a sign: what would be less than nothing is beyond every limit.
    if (this.#cost > this.#limit || this.#cost < 0) throw new CelAbort(`it costs more than ${this.#limit} steps to evaluate`);
  }

  /** What it takes to go through these texts and bytes once, before it is done: upstream's steps count little or nothing of it. */
  workOn(...values: readonly unknown[]): void {
    let length = 0;
    for (const value of values) if (typeof value === 'string' || value instanceof Uint8Array) length += value.length;
    if (length >= lettersInWork) this.work(Math.ceil(length / lettersInWork));
  }

  work(steps: number): void {
    this.#work += steps;
    if (this.#work > mostWork) throw new CelAbort('it takes too long to evaluate');
  }
}
