import type { DebugPodRow } from './debug-api.ts';

/** Which pods are shown. An empty list lets every value pass. */
export interface PodFilter {
  /** Words, all of which must be in the namespace, the name or the UID; capitals do not matter. */
  readonly text: string;
  readonly sync: readonly string[];
  readonly phase: readonly string[];
}

/** What the text of a filter is looked for in. */
export function searchTextOf({ namespace, name, podUID }: DebugPodRow): string {
  return `${namespace}/${name} ${podUID}`.toLowerCase();
}

/** A pod whose status says no phase counts as one of the phase `Unknown`. */
export function phaseOf({ phase }: DebugPodRow): string {
  return phase ?? 'Unknown';
}

/** The function that says whether a row, with its search text, is shown. */
export function matcherOf({ text, sync, phase }: PodFilter): (row: DebugPodRow, searchText: string) => boolean {
  const terms = text
    .toLowerCase()
    .split(/\s+/)
    .filter((term) => term !== '');
  return (row, searchText) =>
    (sync.length === 0 || sync.includes(row.sync)) &&
    (phase.length === 0 || phase.includes(phaseOf(row))) &&
    terms.every((term) => searchText.includes(term));
}
