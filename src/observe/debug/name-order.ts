import type { DebugPodRow } from './debug-api.ts';

/** Plain comparison by code unit: a hundred times faster than by locale, and names of pods are ASCII. */
export function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

export function byName(a: DebugPodRow, b: DebugPodRow): number {
  return compareTexts(a.namespace, b.namespace) || compareTexts(a.name, b.name) || compareTexts(a.podUID, b.podUID);
}
