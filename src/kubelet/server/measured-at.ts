/** The time of a measurement, to the millisecond: rates are made from the difference of two. */
export function measuredAt(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z');
}
