/** A fixed seed, and a new one in each run; PROPERTY_SEED replays a seed that failed. */
export function seeds(): number[] {
  const given = process.env.PROPERTY_SEED;
  const fresh = given === undefined ? Date.now() % 2 ** 31 : Number(given);
  console.info(`property seeds: 20260101 and ${fresh}; again with PROPERTY_SEED=${fresh}`);
  return [20_260_101, fresh];
}

/** How often a property is tried; PROPERTY_SCALE=20 makes it twenty times as often. */
export function runs(count: number): number {
  return count * Number(process.env.PROPERTY_SCALE ?? 1);
}
