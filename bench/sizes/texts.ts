/** Items made from their numbers. */
export function listOf<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

export function textOf(length: number): string {
  return 'x'.repeat(length);
}

/** What it takes as JSON. */
export function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** The same value with no part shared, as it comes from a server. */
export function received<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}
