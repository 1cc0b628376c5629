import { median, rounded } from '../support/statistics.ts';

/** The median of each member. */
export function medians<T extends object>(runs: readonly T[]): T {
  const names = Object.keys(runs[0] ?? {}) as (keyof T)[];
  const entries = names.map((name) => [name, rounded(median(runs.map((run) => Number(run[name]))))]);
  return Object.fromEntries(entries) as T;
}
