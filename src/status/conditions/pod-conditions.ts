// Behaviour of pkg/kubelet/types/pod_status.go, pkg/api/v1/pod and pkg/kubelet/status updateLastTransitionTime, v1.36.3.
import { lookupBy } from '../../api/json/json.ts';
import type { Pod, PodStatus, WirePodCondition } from '../../api/json/types.ts';

/** The condition types the kubelet knows. */
export const podConditionType = {
  podScheduled: 'PodScheduled',
  ready: 'Ready',
  initialized: 'Initialized',
  containersReady: 'ContainersReady',
  podReadyToStartContainers: 'PodReadyToStartContainers',
  allContainersRestarting: 'AllContainersRestarting',
  podResizePending: 'PodResizePending',
  podResizeInProgress: 'PodResizeInProgress',
  disruptionTarget: 'DisruptionTarget',
} as const;

const ownedConditionTypes: ReadonlySet<string> = new Set<string>([
  podConditionType.podScheduled,
  podConditionType.ready,
  podConditionType.initialized,
  podConditionType.containersReady,
  podConditionType.podResizeInProgress,
  podConditionType.podResizePending,
  podConditionType.podReadyToStartContainers,
  podConditionType.allContainersRestarting,
]);

/**
 * The types whose `lastTransitionTime` follows from the old status on every update, in the order the rule is applied.
 * Resize conditions are not among them: they carry times of their own.
 */
export const transitionTimeConditionTypes: readonly string[] = [
  podConditionType.containersReady,
  podConditionType.ready,
  podConditionType.initialized,
  podConditionType.podReadyToStartContainers,
  podConditionType.podScheduled,
  podConditionType.disruptionTarget,
  podConditionType.allContainersRestarting,
];

const transitionTimeTypes: ReadonlySet<string> = new Set(transitionTimeConditionTypes);

/** True for a type in {@link transitionTimeConditionTypes}. */
export function hasTransitionTimeRule(type: string): boolean {
  return transitionTimeTypes.has(type);
}

/** True for a condition this node writes alone: the kubelet's own types and `extra`, the agent's. */
export function isOwnedConditionType(type: string, extra?: ReadonlySet<string>): boolean {
  return ownedConditionTypes.has(type) || extra?.has(type) === true;
}

const ownedTypes: unique symbol = Symbol('ownedConditionTypes');

/** Says which condition types are the agent's own, of a status that is handed out. No copy, comparison or JSON sees it. */
export function tellOwnedConditionTypes(status: object, types: ReadonlySet<string>): void {
  Object.defineProperty(status, ownedTypes, { value: types });
}

/** What {@link tellOwnedConditionTypes} has said of the status; undefined for any other. */
export function ownedConditionTypesOf(status: object | null | undefined): ReadonlySet<string> | undefined {
  return (status as { readonly [ownedTypes]?: ReadonlySet<string> } | null | undefined)?.[ownedTypes];
}

/** True for a condition that this node and others write. */
export function isSharedConditionType(type: string): boolean {
  return type === podConditionType.disruptionTarget;
}

/** The first condition of the type. Where a list names a type twice, the first is the one every rule looks at. */
export function getPodCondition<C extends { readonly type: string }>(
  conditions: readonly C[] | null | undefined,
  type: string,
): C | undefined {
  for (let i = 0; conditions && i < conditions.length; i++) {
    if (conditions[i]?.type === type) return conditions[i];
  }
  return undefined;
}

export function isPodReady(status: PodStatus | null | undefined): boolean {
  return getPodCondition(status?.conditions, podConditionType.ready)?.status === 'True';
}

/** {@link getPodCondition} for many types of one list. */
export function podConditionLookup<C extends { readonly type: string }>(
  conditions: readonly C[] | null | undefined,
): (type: string, guess?: number) => C | undefined {
  return lookupBy(conditions, ({ type }) => type);
}

/** Puts each of `more` in the place of the first condition of its type, or at the end. Changes the list. */
export function putPodConditions(conditions: WirePodCondition[], more: readonly WirePodCondition[]): void {
  if (more.length === 0) return;
  const places = new Map<string, number>();
  conditions.forEach(({ type }, index) => {
    if (!places.has(type)) places.set(type, index);
  });
  for (const condition of more) {
    const place = places.get(condition.type) ?? conditions.length;
    places.set(condition.type, place);
    conditions[place] = condition;
  }
}

/** A new list with `condition` in the place of the first one of its type, or at the end. */
export function replaceOrAppendPodCondition(
  conditions: readonly WirePodCondition[] | undefined,
  condition: WirePodCondition,
): WirePodCondition[] {
  const list = conditions ?? [];
  const index = list.findIndex(({ type }) => type === condition.type);
  return index < 0 ? [...list, condition] : list.with(index, condition);
}

/**
 * `condition` with the right `lastTransitionTime`: the previous one's (or none, if that had none) while `status` is the
 * same, else `now`. A changed reason or message is no transition.
 */
export function withLastTransitionTime(
  condition: WirePodCondition,
  previous: WirePodCondition | undefined,
  now: string,
): WirePodCondition {
  const time = previous?.status === condition.status ? previous.lastTransitionTime : now;
  if (time === condition.lastTransitionTime) return condition;
  if (time !== undefined) return { ...condition, lastTransitionTime: time };
  const { lastTransitionTime: _, ...rest } = condition;
  return rest;
}

/** The reasons the kubelet's generators give. */
export const conditionReason = {
  unknownContainerStatuses: 'UnknownContainerStatuses',
  podCompleted: 'PodCompleted',
  podFailed: 'PodFailed',
  containersNotReady: 'ContainersNotReady',
  containersNotInitialized: 'ContainersNotInitialized',
  readinessGatesNotReady: 'ReadinessGatesNotReady',
  restartAllContainersStarted: 'RestartAllContainersStarted',
} as const;

/** What a generator decides; type and observedGeneration come from {@link newPodCondition}. */
export interface ConditionVerdict {
  readonly status: 'True' | 'False';
  readonly reason?: string;
  readonly message?: string;
}

/**
 * A condition without times: when it last changed is decided against the old status, later. It carries the pod's
 * generation, unless there is no old status at all, or the pod has no generation: then there is none to report.
 */
export function newPodCondition(
  pod: Pod,
  oldStatus: PodStatus | undefined,
  type: string,
  { status, reason, message }: ConditionVerdict,
): WirePodCondition {
  const generation = oldStatus == null ? undefined : pod.metadata?.generation;
  const condition: WirePodCondition = { type, status };
  if (generation) condition.observedGeneration = generation;
  if (reason) condition.reason = reason;
  if (message) condition.message = message;
  return condition;
}
