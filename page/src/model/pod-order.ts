import type { DebugPodRow } from '../../../src/debug/debug-api.ts';
import { rankOf } from '../text/sync-words.ts';

/** What the table can be sorted by, with what the column is called. */
export const sortKeys = {
  name: 'Pod',
  phase: 'Phase',
  ready: 'Ready',
  restarts: 'Restarts',
  sync: 'Sync',
  version: 'Version',
  changed: 'Changed',
} as const;
export type SortKey = keyof typeof sortKeys;

export interface PodOrder {
  readonly key: SortKey;
  readonly descending: boolean;
}

type Compare = (a: DebugPodRow, b: DebugPodRow) => number;

/** Plain comparison by code unit: a hundred times faster than by locale, and names of pods are ASCII. */
function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

const byName: Compare = (a, b) =>
  compareTexts(a.namespace, b.namespace) || compareTexts(a.name, b.name) || compareTexts(a.podUID, b.podUID);

const comparisons: Readonly<Record<SortKey, Compare>> = {
  name: byName,
  phase: (a, b) => compareTexts(a.phase ?? '', b.phase ?? ''),
  ready: (a, b) => Number(a.ready) - Number(b.ready),
  restarts: (a, b) => a.restarts - b.restarts,
  sync: (a, b) => rankOf(a.sync) - rankOf(b.sync) || b.failures - a.failures,
  version: (a, b) => a.version - b.version,
  // the younger change first is what one expects of an age that ascends
  changed: (a, b) => b.changedAt - a.changedAt,
};

/** Equal rows are in the order of their names, whichever way the rest is sorted. */
export function compareBy({ key, descending }: PodOrder): Compare {
  const compare = comparisons[key];
  return descending ? (a, b) => compare(b, a) || byName(a, b) : (a, b) => compare(a, b) || byName(a, b);
}

/** True when a row that has changed can stand elsewhere than before. */
export function movesBy({ key }: PodOrder, before: DebugPodRow, after: DebugPodRow): boolean {
  return comparisons[key](before, after) !== 0;
}
