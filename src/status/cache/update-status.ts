import { formatTime as formatAnyTime } from '../../api/json/time.ts';
import type { Pod, WirePodStatus } from '../../api/json/types.ts';
import { isStaticPod } from '../../api/pod/pod-identity.ts';
import type { Metrics } from '../../base/metrics/metrics.ts';
import { hasTransitionTimeRule, podConditionLookup, withLastTransitionTime } from '../conditions/pod-conditions.ts';
import { checkContainerStateTransition } from '../rules/container-state-transition.ts';
import { isPodStatusByKubeletEqual } from '../rules/pod-status-equality.ts';
import type { PodStatuses, VersionedPodStatus } from './pod-statuses.ts';

export interface UpdateRequest {
  readonly pod: Pod;
  readonly podUID: string;
  /** A canonical copy that belongs to the update: it is completed in place and stored. */
  readonly status: WirePodStatus;
  /** The status to compare with while none is cached: the mirror pod's, or the pod's own. */
  readonly fallback: () => WirePodStatus;
  /** Store a new version even when nothing changed. */
  readonly force: boolean;
  readonly podIsFinished: boolean;
  readonly finishedByManager?: boolean;
  /** The agent itself set this status, with the pod's deletionTimestamp set. */
  readonly deletionSeen?: boolean;
  /** True when everything up to the cached version is on the apiserver. Asked only for a status that is stored. */
  readonly isAcknowledged: () => boolean;
  readonly now: number;
  /** `Clock.elapsed`. Asked only for a status that is stored. */
  readonly elapsed: () => number;
  /** How `now` is written; one that remembers saves work. */
  readonly formatTime?: (ms: number) => string;
  readonly ownedConditionTypes?: ReadonlySet<string> | undefined;
}

export type UpdateOutcome =
  | { readonly kind: 'stored'; readonly entry: VersionedPodStatus; readonly isAdded: boolean; readonly previous: WirePodStatus }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'refused'; readonly reason: string };

/**
 * The one way a status gets into `podStatuses`: legal transition? -> times -> startTime kept -> equal to the cached
 * one? -> next version. A refused or unchanged update leaves everything as it was.
 *
 * Behaviour of pkg/kubelet/status updateStatusInternal, v1.36.3.
 */
export function updateStatusInternal(podStatuses: PodStatuses, request: UpdateRequest): UpdateOutcome {
  const { pod, podUID, status, now } = request;
  const cached = podStatuses.get(podUID);
  const previous = cached?.status ?? request.fallback();
  const finished = request.podIsFinished || (cached?.podIsFinished === true && !isStaticPod(pod));

  const illegal = checkContainerStateTransition(previous, status, pod.spec);
  if (illegal !== undefined) return { kind: 'refused', reason: illegal };

  completeFrom(previous, status, request);
  if (cached !== undefined && !request.force && isPodStatusByKubeletEqual(cached.status, status, request.ownedConditionTypes)) {
    return { kind: 'unchanged' };
  }
  const lacksOlder = cached !== undefined && !request.isAcknowledged() ? cached : undefined;
  const entry = podStatuses.store(podUID, {
    status,
    podName: String(pod.metadata?.name),
    podNamespace: String(pod.metadata?.namespace),
    at: lacksOlder?.at ?? now,
    agesFrom: lacksOlder?.agesFrom ?? request.elapsed(),
    setAt: now,
    podIsFinished: finished,
    finishedByManager: finished && (request.finishedByManager === true || cached?.finishedByManager === true),
    deletionSeenAt: cached?.deletionSeenAt ?? (request.deletionSeen ? (cached?.version ?? 0) + 1 : undefined),
  });
  return { kind: 'stored', entry, isAdded: cached === undefined && !pod.metadata?.deletionTimestamp, previous };
}

/** Carries over what only grows older or never goes back: transition times, start time, observed generation. */
function completeFrom(previous: WirePodStatus, status: WirePodStatus, request: UpdateRequest): void {
  const { now, formatTime = formatAnyTime, ownedConditionTypes } = request;
  const conditions = status.conditions;
  const [firstOf, previousOf] = [podConditionLookup(conditions), podConditionLookup(previous.conditions)];
  for (let i = 0; conditions !== undefined && i < conditions.length; i++) {
    const condition = conditions[i];
    if (condition === undefined || !(hasTransitionTimeRule(condition.type) || ownedConditionTypes?.has(condition.type))) continue;
    if (firstOf(condition.type) !== condition) continue;
    const before = previousOf(condition.type);
    if (condition !== before) conditions[i] = withLastTransitionTime(condition, before, formatTime(now));
  }
  if (previous.startTime !== undefined) status.startTime = previous.startTime;
  else status.startTime ??= formatTime(now);
  const generation = Math.max(previous.observedGeneration ?? 0, status.observedGeneration ?? 0);
  if (generation > 0) status.observedGeneration = generation;
}

const containerTypes = {
  initContainerStatuses: 'init_container',
  containerStatuses: 'container',
  ephemeralContainerStatuses: 'ephemeral_container',
} as const;

/** Counts every container that is terminated now and was not before, under the kubelet's metric name and labels. */
export function countTerminations(metrics: Metrics, previous: WirePodStatus, status: WirePodStatus): void {
  for (const list of Object.keys(containerTypes) as (keyof typeof containerTypes)[]) {
    if (status[list] === previous[list]) continue;
    let before: ReadonlyMap<string, boolean> | undefined;
    for (const { name, state } of status[list] ?? []) {
      const terminated = state?.terminated;
      if (!terminated) continue;
      before ??= wasTerminated(previous[list]);
      if (before.get(name)) continue;
      const labels = {
        container_type: containerTypes[list],
        exit_code: String(terminated.exitCode),
        reason: terminated.reason ?? '',
      };
      metrics.increment('kubelet_terminated_containers_total', labels);
    }
  }
}

/** By name; where a name comes twice, the first one counts. */
function wasTerminated(statuses: WirePodStatus['containerStatuses'] = []): ReadonlyMap<string, boolean> {
  return new Map(statuses.map(({ name, state }) => [name, state?.terminated !== undefined] as const).reverse());
}
