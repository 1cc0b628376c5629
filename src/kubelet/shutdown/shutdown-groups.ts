// Behaviour of pkg/kubelet/nodeshutdown/nodeshutdown_manager.go (migrateConfig, groupByPriority), v1.36.3.

import type { Pod } from '../../api/json/types.ts';
import { invalidOption } from '../../base/errors.ts';
import { integerOption, longestTimerMs, numberOption, requireKnownOptions } from '../../base/options.ts';

/** How long pods of one priority, and of those up to the next one, may take to end when the machine is shut down. */
export interface ShutdownGracePeriod {
  /** The lowest priority of the pods. Pods below the lowest of all groups are in that group, too. */
  readonly priority: number;
  /** In seconds. A pod whose own grace period is shorter has only that. */
  readonly shutdownGracePeriodSeconds: number;
}

/** The settings about the shutdown of the machine. */
export interface ShutdownSettings {
  readonly shutdownGracePeriodMs: number;
  readonly shutdownGracePeriodCriticalPodsMs: number;
  readonly shutdownGracePeriodByPodPriority: readonly ShutdownGracePeriod[];
}

/** No timer waits longer, the time for statuses included. */
const longestPeriodMs = Math.trunc(longestTimerMs / 2000) * 1000;
/** Priorities have 32 bits. */
const lowestPriority = -(2 ** 31);
/** The priority of a pod that names none. */
const ordinaryPriority = 0;
/** The priority of the class `system-cluster-critical`. */
const criticalPriority = 2_000_000_000;

// Behaviour of ValidateKubeletConfiguration in pkg/kubelet/apis/config/validation/validation.go, v1.36.3.

/** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
export function requireShutdownPeriods(settings: ShutdownSettings): void {
  const { shutdownGracePeriodMs: allMs, shutdownGracePeriodCriticalPodsMs: criticalMs } = settings;
  const byPriority: unknown = settings.shutdownGracePeriodByPodPriority;
  for (const name of ['shutdownGracePeriodMs', 'shutdownGracePeriodCriticalPodsMs'] as const) {
    const ms = settings[name];
    numberOption(name, ms, 0, longestPeriodMs);
    if (ms > 0 && ms < 1000) throw invalidOption(name, '0, or at least 1000', ms);
  }
  if (criticalMs > allMs) throw invalidOption('shutdownGracePeriodCriticalPodsMs', 'at most shutdownGracePeriodMs', criticalMs);
  const name = 'shutdownGracePeriodByPodPriority';
  if (!Array.isArray(byPriority)) throw invalidOption(name, 'a list', byPriority);
  if (byPriority.length > 0 && allMs > 0) throw invalidOption(name, 'left out where shutdownGracePeriodMs is given', byPriority);
  for (const [index, period] of byPriority.entries()) {
    requireKnownOptions(`${name}[${index}]`, period, ['priority', 'shutdownGracePeriodSeconds']);
    const ofPriority = `${name}[${index}].priority`;
    numberOption(ofPriority, integerOption(ofPriority, period.priority, lowestPriority), lowestPriority, -lowestPriority - 1);
    integerOption(`${name}[${index}].shutdownGracePeriodSeconds`, period.shutdownGracePeriodSeconds, 0);
  }
  const wholeMs = wholePeriodMs(settings.shutdownGracePeriodByPodPriority);
  if (wholeMs > longestPeriodMs) throw invalidOption(name, `at most ${longestPeriodMs / 1000} s in all`, wholeMs / 1000);
}

/** The groups in which pods end, the lowest priority first; none: pods are not ended in order. */
export function shutdownPeriods(settings: ShutdownSettings): readonly ShutdownGracePeriod[] {
  const { shutdownGracePeriodMs: allMs, shutdownGracePeriodCriticalPodsMs: criticalMs } = settings;
  const byPriority = settings.shutdownGracePeriodByPodPriority;
  if (byPriority.length > 0) return byPriority.toSorted((a, b) => a.priority - b.priority);
  if (allMs === 0) return [];
  return [
    { priority: ordinaryPriority, shutdownGracePeriodSeconds: Math.trunc((allMs - criticalMs) / 1000) },
    { priority: criticalPriority, shutdownGracePeriodSeconds: Math.trunc(criticalMs / 1000) },
  ];
}

/** How long all groups take at most, in milliseconds. */
export function wholePeriodMs(periods: readonly ShutdownGracePeriod[]): number {
  return periods.reduce((sum, { shutdownGracePeriodSeconds }) => sum + shutdownGracePeriodSeconds, 0) * 1000;
}

/**
 * The same groups with less time each, so that all of them end within `atMostMs`: in proportion, in whole seconds. What that leaves over goes
 * to the groups with the highest priorities: where there is a second at all, critical pods have it.
 */
export function shortened(periods: readonly ShutdownGracePeriod[], atMostMs: number): readonly ShutdownGracePeriod[] {
  const wholeMs = wholePeriodMs(periods);
  if (wholeMs <= atMostMs) return periods;
  const share = atMostMs / wholeMs;
  const exact = periods.map(({ shutdownGracePeriodSeconds: seconds }) => seconds * share);
  let left = Math.trunc(atMostMs / 1000) - exact.reduce((sum, seconds) => sum + Math.trunc(seconds), 0);
  return periods
    .toReversed()
    .map(({ priority }, index) => {
      const seconds = exact.at(-1 - index) ?? 0;
      const more = left > 0 && !Number.isInteger(seconds) ? 1 : 0;
      left -= more;
      return { priority, shutdownGracePeriodSeconds: Math.trunc(seconds) + more };
    })
    .toReversed();
}

/** Pods that end together. */
export interface ShutdownGroup extends ShutdownGracePeriod {
  readonly pods: readonly Pod[];
}

/** Puts each pod into the group with the highest priority that is not above its own; without one, into the lowest. */
export function shutdownGroups(periods: readonly ShutdownGracePeriod[], pods: readonly Pod[]): ShutdownGroup[] {
  const ofPod = ({ spec }: Pod): number => {
    const priority = spec?.priority ?? ordinaryPriority;
    const same = periods.findIndex((period) => period.priority === priority);
    return same === -1
      ? Math.max(
          0,
          periods.findLastIndex((period) => period.priority < priority),
        )
      : same;
  };
  const groups = Map.groupBy(pods, ofPod);
  return periods.map((period, index) => ({ ...period, pods: groups.get(index) ?? [] }));
}

/** How long a pod of the group may take, in seconds: its own grace period, where that is shorter. */
export function gracePeriodSeconds({ spec }: Pod, { shutdownGracePeriodSeconds }: ShutdownGracePeriod): number {
  return Math.min(spec?.terminationGracePeriodSeconds ?? shutdownGracePeriodSeconds, shutdownGracePeriodSeconds);
}
