import type { Prng } from '../../random/chaos/prng.ts';

/** The list in an order that depends on the seed alone. */
export function shuffled<T>(list: readonly T[], random: Prng): T[] {
  const keyed = list.map((item) => ({ item, key: random.next() }));
  return keyed.sort((a, b) => a.key - b.key).map(({ item }) => item);
}
