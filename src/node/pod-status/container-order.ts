import type { WireContainerStatus } from '../../api/json/types.ts';

/** Puts the list in order, and returns it. */
export function byName(statuses: WireContainerStatus[]): WireContainerStatus[] {
  return statuses.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}
