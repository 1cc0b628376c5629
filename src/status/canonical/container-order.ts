import type { WireContainerStatus } from '../../wire/types.ts';

type Named = { readonly name: string };

/** By name, in the order of its bytes; the list itself where it is in order already. */
export function sortedByName(statuses: WireContainerStatus[]): WireContainerStatus[] {
  const inOrder = statuses.every((status, index) => index === 0 || (statuses[index - 1]?.name ?? '') <= status.name);
  return inOrder ? statuses : statuses.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

/**
 * In the order of the spec; statuses that the spec does not name end up behind, as upstream's swaps leave them. The list
 * itself where it is in order already.
 */
export function inSpecOrder(statuses: WireContainerStatus[], spec: readonly Named[]): WireContainerStatus[] {
  const ordered = [...statuses];
  let next = 0;
  for (const { name } of spec) {
    const found = ordered.findIndex((status, index) => index >= next && status.name === name);
    const other = ordered[next];
    const match = ordered[found];
    if (match === undefined || other === undefined) continue;
    ordered[next] = match;
    ordered[found] = other;
    next++;
  }
  return ordered.every((status, index) => status === statuses[index]) ? statuses : ordered;
}
