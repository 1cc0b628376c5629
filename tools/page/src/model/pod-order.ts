import type { DebugPodRow } from '../../../../src/observe/debug/debug-api.ts';
import { byPodName, compareTexts, compareTrouble } from '../../../../src/observe/debug/pod-table.ts';
import { rankOf } from '../text/sync-words.ts';

/** What the table can be sorted by, with what the column is called. */
export const sortKeys = {
  name: 'Pod',
  trouble: 'Trouble',
  phase: 'Agent phase',
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

/** Pods in trouble first. */
export const firstOrder: PodOrder = { key: 'trouble', descending: false };

/** `restarts`, or `-restarts` for the other way round. */
export function orderText({ key, descending }: PodOrder): string {
  return `${descending ? '-' : ''}${key}`;
}

/** Whatever the text, an order comes out. */
export function parseOrder(text: string): PodOrder {
  const key = text.replace(/^-/, '');
  return Object.hasOwn(sortKeys, key) ? { key: key as SortKey, descending: text.startsWith('-') } : firstOrder;
}

type Compare = (a: DebugPodRow, b: DebugPodRow) => number;

const comparisons: Readonly<Record<SortKey, Compare>> = {
  name: byPodName,
  trouble: compareTrouble,
  phase: (a, b) => compareTexts(a.phase ?? '', b.phase ?? ''),
  ready: (a, b) => Number(a.ready) - Number(b.ready),
  restarts: (a, b) => a.restarts - b.restarts,
  sync: (a, b) => rankOf(a.sync) - rankOf(b.sync) || b.attempt - a.attempt,
  version: (a, b) => a.version - b.version,
  // the younger change first is what one expects of an age that ascends
  changed: (a, b) => b.changedAt - a.changedAt,
};

/** Equal rows are in the order of their names, whichever way the rest is sorted. */
export function compareBy({ key, descending }: PodOrder): Compare {
  const compare = comparisons[key];
  return descending ? (a, b) => compare(b, a) || byPodName(a, b) : (a, b) => compare(a, b) || byPodName(a, b);
}

/** True when a row that has changed can stand elsewhere than before. */
export function movesBy({ key }: PodOrder, before: DebugPodRow, after: DebugPodRow): boolean {
  return comparisons[key](before, after) !== 0;
}
