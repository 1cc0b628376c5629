import type { LabelSelector } from '../../../api/selectors/label-selector.ts';
import type { GroupedPods, PodGroup } from '../../nodes/pod-index.ts';
import type { PodInfo } from '../../nodes/pod-info.ts';

/** The groups of pods that count: see {@link countMatching}. */
export function* matchingGroups(grouped: GroupedPods, selector: LabelSelector, namespace: string): Generator<PodGroup> {
  if (selector.matchesAll) return;
  for (const group of grouped.groups()) {
    const { pod, namespace: own } = group.sample;
    if (own !== namespace || pod.metadata?.deletionTimestamp != null) continue;
    if (selector.matches(pod.metadata?.labels)) yield group;
  }
}

/** How many pods of the namespace match. Pods that are being deleted do not count, and for a selector that matches all none does. */
export function countMatching(pods: readonly PodInfo[], selector: LabelSelector, namespace: string): number {
  if (selector.matchesAll) return 0;
  let count = 0;
  for (const other of pods) {
    const { metadata } = other.pod;
    if (other.namespace !== namespace || metadata?.deletionTimestamp != null) continue;
    if (selector.matches(metadata?.labels)) count += 1;
  }
  return count;
}
