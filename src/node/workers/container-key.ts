// Behaviour of GetBackoffKey in pkg/kubelet/kuberuntime and of fieldPath in pkg/kubelet/container, v1.36.3.

import { createHash } from 'node:crypto';
import type { Pod } from '../../api/json/types.ts';

/** What tells one container of a pod from another, and from itself after a change that makes its restarts count anew. */
export interface ContainerToStart {
  /** The container's name in the pod's spec. */
  readonly name: string;
  /** The image of the spec. Another image begins a new count of restarts. */
  readonly image?: string | undefined;
  /** The resources of the spec. Other resources begin a new count of restarts. */
  readonly resources?: object | null | undefined;
}

/** A short text that is the same as long as the pod, the container, its image and its resources are. */
export function containerKey({ metadata }: Pod, { name, image, resources }: ContainerToStart): string {
  const { uid, namespace, name: podName } = metadata ?? {};
  // a hash, as it is kept for long, and image and resources are as long as the pod's author likes
  const hash = createHash('sha256').update(JSON.stringify([name, image ?? '', sorted(resources ?? {})]));
  return JSON.stringify([uid, namespace, podName, hash.digest('hex')]);
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
