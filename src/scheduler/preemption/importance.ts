// Rules of MoreImportantPod and GetEarliestPodStartTime, pkg/scheduler/util, v1.36.3.
import type { PodInfo } from '../nodes/pod-info.ts';

/** Milliseconds since 1970. A pod that has not been started yet counts as started now. */
function startTime({ pod }: PodInfo, nowMs: number): number {
  const time = Date.parse(pod.status?.startTime ?? '');
  return Number.isNaN(time) ? nowMs : time;
}

/** The order of pods by importance: those of a higher priority first, then those that have run longer. */
export function byImportance(nowMs: number): (first: PodInfo, second: PodInfo) => number {
  return (first, second) => second.priority - first.priority || startTime(first, nowMs) - startTime(second, nowMs);
}

/** When the first of the pods with the highest priority was started. `victims` holds the most important first, and at least one. */
export function earliestStartOfHighest(victims: readonly PodInfo[], nowMs: number): number {
  const highest = Math.max(...victims.map(({ priority }) => priority));
  return Math.min(...victims.filter(({ priority }) => priority === highest).map((victim) => startTime(victim, nowMs)));
}
