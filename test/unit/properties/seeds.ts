/** Two fixed seeds, so that each run does the same; with PROPERTY_SEED the second is another. */
export function seeds(): number[] {
  return [20_260_101, Number(process.env.PROPERTY_SEED ?? 20_260_102)];
}

/** How often a property is tried; PROPERTY_SCALE=20 makes it twenty times as often. */
export function runs(count: number): number {
  return count * Number(process.env.PROPERTY_SCALE ?? 1);
}
