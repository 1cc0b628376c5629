/** Counts work instead of time: how often members of objects were read. */
export class Counter {
  count = 0;

  /** A copy of the object of which each read of the member `key` counts. */
  reading<T extends object>(object: T, key: keyof T): T {
    const value = object[key];
    const get = (): unknown => {
      this.count++;
      return value;
    };
    return Object.defineProperty({ ...object }, key, { enumerable: true, get });
  }

  /** {@link reading} of each item of a list. */
  readingAll<T extends object>(list: readonly T[], key: keyof T): T[] {
    return list.map((item) => this.reading(item, key));
  }

  /** What `act` counts. */
  during(act: () => unknown): number {
    const before = this.count;
    act();
    return this.count - before;
  }
}

/** `count` items, made from their numbers. */
export function numbered<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}
