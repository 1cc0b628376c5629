import { Random } from '../../../examples/virtual-node/random.ts';

/**
 * A seeded generator: the same seeds give the same run on every machine. Each part of a run draws from a stream of its
 * own, so that one more draw in one part does not change what the others do.
 */
export class Prng {
  readonly #seeds: readonly number[];
  readonly #random: Random;

  constructor(...seeds: readonly number[]) {
    this.#seeds = seeds;
    this.#random = new Random(...seeds);
  }

  /** A stream of its own. Its numbers depend on the seeds and on its name, not on what was drawn before. */
  fork(name: string): Prng {
    return new Prng(...this.#seeds, hashOf(name));
  }

  /** Uniform in [0, 1). */
  next(): number {
    return this.#random.next();
  }

  /** Uniform in [min, max). */
  between(min: number, max: number): number {
    return this.#random.between(min, max);
  }

  /** A whole number from min to max, both included. */
  int(min: number, max: number): number {
    return Math.floor(this.between(min, max + 1));
  }

  chance(probability: number): boolean {
    return this.#random.chance(probability);
  }

  /** Undefined for an empty list. */
  pick<T>(list: readonly T[]): T | undefined {
    return this.#random.pick(list);
  }

  /** One of the names, each as likely as its weight says. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K {
    const entries = Object.entries<number>(weights) as [K, number][];
    let left = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [name, weight] of entries) {
      left -= weight;
      if (left < 0) return name;
    }
    return entries[entries.length - 1]?.[0] as K;
  }

  shuffled<T>(list: readonly T[]): T[] {
    const keyed = list.map((item) => ({ item, key: this.next() }));
    return keyed.sort((a, b) => a.key - b.key).map(({ item }) => item);
  }
}

/** A number that depends on every character of the text (FNV-1a). */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
