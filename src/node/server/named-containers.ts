import type { Pod } from '../../api/json/types.ts';

/** True where the pod's spec has a container of this name, of whatever sort. */
export function hasContainer(pod: Pod, name: string): boolean {
  return specOf(pod, name) !== undefined;
}

/** True where the container has a terminal. */
export function hasTerminal(pod: Pod, name: string): boolean {
  return specOf(pod, name)?.tty === true;
}

function specOf({ spec }: Pod, name: string): { readonly name: string; readonly tty?: boolean | undefined } | undefined {
  const all = [spec?.containers, spec?.initContainers, spec?.ephemeralContainers];
  return all.flatMap((containers) => containers ?? []).find((container) => container.name === name);
}
