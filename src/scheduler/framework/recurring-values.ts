/** So many keys that came once are remembered at least, and twice as many at most. */
const mostSeen = 128;
/** A longer key is never kept. */
const longestKey = 2048;

interface Kept<Value> {
  readonly value: Value;
  usedAt: number;
}

/**
 * Keeps a value for keys that come back. A key that comes for the first time is only noted, so that keys which are all different cost next
 * to nothing. The value that was used longest ago makes room for another one, unless the new key was away even longer: then keys that take
 * turns would only push one another out.
 */
export class RecurringValues<Value> {
  readonly #kept = new Map<string, Kept<Value>>();
  /** When a key that has no value came last. */
  #seen = new Map<string, number>();
  /** The same of those that came before. */
  #seenBefore: ReadonlyMap<string, number> = new Map();
  #now = 0;

  /** How many values are kept. */
  get size(): number {
    return this.#kept.size;
  }

  /** Undefined where none is kept for this key yet. `most`: how many values may be kept. */
  get(key: string, most: number, make: () => Value): Value | undefined {
    this.#now += 1;
    const kept = this.#kept.get(key);
    if (kept !== undefined) {
      kept.usedAt = this.#now;
      this.#shrinkTo(most);
      return kept.value;
    }
    if (key.length > longestKey) return undefined;
    const before = this.#seen.get(key) ?? this.#seenBefore.get(key);
    if (before === undefined || !this.#hasRoom(most, before)) {
      this.#note(key);
      return undefined;
    }
    const value = make();
    this.#kept.set(key, { value, usedAt: this.#now });
    return value;
  }

  /** Fewer may be kept than before. */
  #shrinkTo(most: number): void {
    while (this.#kept.size > most) this.#kept.delete(this.#longestUnused()[0]);
  }

  #hasRoom(most: number, before: number): boolean {
    while (this.#kept.size >= most) {
      const [oldest, usedAt] = this.#longestUnused();
      if (usedAt > before) return false;
      this.#kept.delete(oldest);
    }
    return true;
  }

  #longestUnused(): readonly [key: string, usedAt: number] {
    let oldest = '';
    let oldestAt = Number.POSITIVE_INFINITY;
    for (const [key, { usedAt }] of this.#kept) {
      if (usedAt >= oldestAt) continue;
      oldest = key;
      oldestAt = usedAt;
    }
    return [oldest, oldestAt];
  }

  #note(key: string): void {
    if (this.#seen.size >= mostSeen) {
      this.#seenBefore = this.#seen;
      this.#seen = new Map();
    }
    this.#seen.set(key, this.#now);
  }
}

/** After so many questions without a value, only one of several is asked. */
const mostMisses = 32;
const oneOf = 8;

/** Whether it is worth while to ask for a value: where keys are all different for long, most are not even made. */
export class Patience {
  #misses = 0;

  /** False where the question is to be left out. */
  ask(): boolean {
    this.#misses += 1;
    return this.#misses <= mostMisses || this.#misses % oneOf === 0;
  }

  /** There was a value. */
  found(): void {
    this.#misses = 0;
  }
}
