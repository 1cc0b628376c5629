/** Nanoseconds since the epoch as milliseconds; 0 for what is no time, such as the zero time of Go. */
export function msOf(nanoseconds: bigint): number {
  return nanoseconds > 0n ? Number(nanoseconds / 1_000_000n) : 0;
}

/** The number in a message that may be absent. */
export function numberIn(message: { readonly value: bigint } | undefined): number | undefined {
  return message === undefined ? undefined : Number(message.value);
}
