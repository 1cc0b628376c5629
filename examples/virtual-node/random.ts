/** Random numbers that depend only on the seeds, so that a run can be repeated. (The generator is mulberry32.) */
export class Random {
  #state: number;

  constructor(...seeds: readonly number[]) {
    this.#state = 0x9e3779b9;
    for (const seed of seeds) {
      this.#state = (this.#state ^ seed) >>> 0;
      this.#state = Math.floor(this.next() * 2 ** 32);
    }
  }

  /** From 0 up to 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  between(min: number, max: number): number {
    return min + this.next() * (max - min);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** Undefined for an empty list. */
  pick<T>(list: readonly T[]): T | undefined {
    return list[Math.floor(this.next() * list.length)];
  }

  seed(): number {
    return Math.floor(this.next() * 2 ** 31);
  }
}
