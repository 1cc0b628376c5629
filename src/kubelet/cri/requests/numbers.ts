/** A 64-bit integer of a message. Throws for what is no integer. */
export function int64(value: number): bigint {
  if (typeof value !== 'number' || !Number.isInteger(value)) throw new TypeError(`${String(value)} is no integer`);
  return BigInt(value);
}

/** The message around a number that may be absent; 0 is not absent. */
export function optionalInt64(value: number | undefined): { value: bigint } | undefined {
  return value === undefined ? undefined : { value: int64(value) };
}
