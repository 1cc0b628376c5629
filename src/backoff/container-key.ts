// Behaviour of GetBackoffKey in pkg/kubelet/kuberuntime and of fieldPath in pkg/kubelet/container, v1.36.3.

import type { Pod } from '../wire/types.ts';

/** What tells one container of a pod from another, and from itself after a change that makes its restarts count anew. */
export interface ContainerToStart {
  /** The container's name in the pod's spec. */
  readonly name: string;
  /** The image of the spec. Another image begins a new count of restarts. */
  readonly image?: string | undefined;
  /** The resources of the spec. Other resources begin a new count of restarts. */
  readonly resources?: object | null | undefined;
}

/** A text that is the same as long as the pod, the container, its image and its resources are. */
export function containerKey({ metadata }: Pod, { name, image, resources }: ContainerToStart): string {
  return JSON.stringify([metadata?.uid, metadata?.namespace, metadata?.name, name, image ?? '', sorted(resources ?? {})]);
}

/** Where the container stands in its pod, as events name it. */
export function containerFieldPath({ spec }: Pod, containerName: string): string {
  for (const list of ['containers', 'initContainers', 'ephemeralContainers'] as const) {
    if (spec?.[list]?.some(({ name }) => name === containerName)) return `spec.${list}{${containerName}}`;
  }
  return `implicitly required container ${containerName}`;
}

/** The same value with the members of its objects in the order of their names. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return members.filter(([, member]) => member != null).map(([key, member]) => [key, sorted(member)]);
}
