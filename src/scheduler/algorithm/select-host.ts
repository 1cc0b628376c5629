/**
 * The index of the highest total; of several equal ones `random` (from 0 up to, but not including, 1) picks one. -1 where there is
 * none.
 */
export function selectHost(totals: readonly number[], random: () => number): number {
  const [first, ...others] = bestHosts(totals);
  if (first === undefined) return -1;
  if (others.length === 0) return first;
  const best = [first, ...others];
  return best[Math.trunc(random() * best.length)] ?? first;
}

/** The indexes of all nodes with the highest total. */
export function bestHosts(totals: readonly number[]): number[] {
  let best: number[] = [];
  let highest = Number.NEGATIVE_INFINITY;
  for (const [index, total] of totals.entries()) {
    if (total > highest) {
      highest = total;
      best = [index];
    } else if (total === highest) {
      best.push(index);
    }
  }
  return best;
}
