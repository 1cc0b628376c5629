import type { PodFilter } from '../../../../src/observe/debug/pod-table.ts';

export const noFilter: PodFilter = { text: '', sync: [], phase: [], trouble: false };

export function isEmpty({ text, sync, phase, trouble }: PodFilter): boolean {
  return text.trim() === '' && sync.length === 0 && phase.length === 0 && !trouble;
}

/** The list with the value, or without it when it was there. */
export function toggled(values: readonly string[], value: string): readonly string[] {
  return values.includes(value) ? values.filter((other) => other !== value) : [...values, value];
}
