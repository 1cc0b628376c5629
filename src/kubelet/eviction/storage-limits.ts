// Behaviour of pkg/kubelet/eviction/eviction_manager.go (localStorageEviction), v1.36.3.

import type { Pod } from '../../api/json/types.ts';
import { canonicalQuantity } from '../../api/quantity/quantity.ts';
import { podLimits } from '../../node/pod-status/pod-resources.ts';
import { wholeOf } from '../resize/resource-amounts.ts';
import { ephemeralStorageOf, type PodUsage } from './usage.ts';

/** Only such pods may have to go for what they keep on the disk alone. */
export function hasStorageLimit({ spec }: Pod): boolean {
  const isLimited = (limits: Readonly<Record<string, string>> | undefined) => limits?.['ephemeral-storage'] !== undefined;
  const containers = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])];
  return (
    containers.some(({ resources }) => isLimited(resources?.limits)) ||
    isLimited(spec?.resources?.limits) ||
    (spec?.volumes ?? []).some(({ emptyDir }) => (emptyDir?.sizeLimit ?? undefined) !== undefined)
  );
}

/** Why a pod is to go that keeps more on the node's disk than it may; undefined: it may stay. */
export function storageLimitMessage(pod: Pod, usage: PodUsage, hasDedicatedImagefs: boolean): string | undefined {
  return emptyDirMessage(pod, usage) ?? podMessage(pod, usage) ?? containerMessage(pod, usage, hasDedicatedImagefs);
}

function emptyDirMessage({ spec }: Pod, { volumes, memoryVolumes }: PodUsage): string | undefined {
  for (const { name, emptyDir } of spec?.volumes ?? []) {
    const limit = emptyDir?.sizeLimit;
    const used = (volumes[name] ?? memoryVolumes[name])?.bytes;
    if (limit === undefined || limit === null || used === undefined) continue;
    if (wholeOf(limit) > 0 && used > wholeOf(limit)) {
      return `Usage of EmptyDir volume "${name}" exceeds the limit "${canonicalQuantity(limit)}". `;
    }
  }
  return undefined;
}

function podMessage({ spec }: Pod, usage: PodUsage): string | undefined {
  const limit = podLimits(spec)['ephemeral-storage'];
  if (limit === undefined || ephemeralStorageOf(usage).bytes <= wholeOf(limit)) return undefined;
  return `Pod ephemeral local storage usage exceeds the total limit of containers ${limit}. `;
}

function containerMessage({ spec }: Pod, { containers }: PodUsage, hasDedicatedImagefs: boolean): string | undefined {
  for (const { name, resources } of spec?.containers ?? []) {
    const limit = resources?.limits?.['ephemeral-storage'];
    const { rootfs, logs } = containers[name] ?? {};
    const used = (logs?.bytes ?? 0) + (hasDedicatedImagefs ? 0 : (rootfs?.bytes ?? 0));
    if (wholeOf(limit) === 0 || used <= wholeOf(limit)) continue;
    return `Container ${name} exceeded its local ephemeral storage limit "${canonicalQuantity(String(limit))}". `;
  }
  return undefined;
}
