/**
 * How many pods each topology domain has, by the value of the nodes' label. A clone costs only what was changed since the
 * counts were first shared: preemption makes one for each node that it tries.
 */
export class DomainCounts {
  /** Not written any more once it is shared with a clone. */
  readonly #base: Base;
  /** The counts that differ from the base, or are not in it. */
  readonly #changed: Map<string, number>;
  #isShared = false;
  #size = 0;
  #positive = 0;
  /** Known until something is counted. */
  #minimum: number | undefined;

  constructor(from?: DomainCounts) {
    if (from === undefined) {
      this.#base = new Base();
      this.#changed = new Map();
    } else {
      this.#base = from.#base;
      this.#changed = new Map(from.#changed);
      this.#isShared = true;
      this.#size = from.#size;
      this.#positive = from.#positive;
    }
  }

  /** The number of domains, those without pods among them. */
  get size(): number {
    return this.#size;
  }

  /** True where no domain has a pod. */
  get isEmpty(): boolean {
    return this.#positive === 0;
  }

  /** 0 for a domain that is not known. */
  get(domain: string): number {
    return this.#changed.get(domain) ?? this.#base.counts.get(domain) ?? 0;
  }

  /** Counts so many pods more; a domain that was not known is known from now on, even with 0. */
  add(domain: string, pods: number): void {
    const before = this.#changed.get(domain) ?? this.#base.counts.get(domain);
    const after = (before ?? 0) + pods;
    if (before === undefined) this.#size += 1;
    this.#minimum = undefined;
    this.#positive += Number(after > 0) - Number((before ?? 0) > 0);
    if (this.#isShared) this.#changed.set(domain, after);
    else this.#base.counts.set(domain, after);
  }

  /** The fewest pods of any domain; 0 where there is none. Asked after the first clone or filter, it costs what changed since. */
  minimum(): number {
    this.#minimum ??= this.#findMinimum();
    return this.#minimum;
  }

  clone(): DomainCounts {
    this.#isShared = true;
    return new DomainCounts(this);
  }

  #findMinimum(): number {
    this.#isShared = true;
    const unchanged = this.#base.ascending().find(([domain]) => !this.#changed.has(domain));
    let lowest = unchanged?.[1] ?? Number.POSITIVE_INFINITY;
    for (const count of this.#changed.values()) lowest = Math.min(lowest, count);
    return Number.isFinite(lowest) ? lowest : 0;
  }
}

class Base {
  readonly counts = new Map<string, number>();
  #ascending: readonly (readonly [string, number])[] | undefined;

  /** The domains by their counts, sorted once: nothing is written after the first call. */
  ascending(): readonly (readonly [string, number])[] {
    this.#ascending ??= [...this.counts].sort(([, first], [, second]) => first - second);
    return this.#ascending;
  }
}
