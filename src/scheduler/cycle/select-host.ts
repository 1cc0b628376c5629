/**
 * The index of the highest total; of several equal ones `random` (from 0 up to, but not including, 1) picks one. -1 where there is
 * none.
 */
export function selectHost(totals: readonly number[], random: () => number): number {
  const best = bestHosts(totals);
  const [first = -1] = best;
  return best.length < 2 ? first : (best[Math.trunc(random() * best.length)] ?? first);
}

/** The indexes of all nodes with the highest total. */
export function bestHosts(totals: readonly number[]): number[] {
  let best: number[] = [];
  let highest = Number.NEGATIVE_INFINITY;
  for (let index = 0; index < totals.length; index += 1) {
    const total = totals[index] as number;
    if (total > highest) {
      highest = total;
      best = [index];
    } else if (total === highest) {
      best.push(index);
    }
  }
  return best;
}
