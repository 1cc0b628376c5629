import type { WireContainerStatus } from '../../wire/types.ts';

/** The container of this name: the one at `index`, nearly always. */
export function withName(list: readonly WireContainerStatus[], name: unknown, index: number): WireContainerStatus | undefined {
  const guess = list[index];
  return guess?.name === name ? guess : list.find((container) => container.name === name);
}
