// Behaviour of pkg/kubelet/status/generate.go, v1.36.3: the conditions that follow from container statuses.

import { lookupByName } from '../../api/json/json.ts';
import type { ContainerStatus, Pod, PodCondition, PodStatus, WirePodCondition } from '../../api/json/types.ts';
import { type Container, isRestartableInitContainer } from '../../api/pod/pod-containers.ts';
import { requireList } from '../../base/options.ts';
import {
  type ConditionVerdict,
  conditionReason,
  getPodCondition,
  newPodCondition,
  podConditionLookup,
  podConditionType,
} from './pod-conditions.ts';

/** What is known of a pod's containers. Undefined or null: nothing is known. An empty list: there are none. */
export type ContainerStatuses = readonly ContainerStatus[] | null | undefined;

const isTrue: ConditionVerdict = { status: 'True' };
const unknownStatuses: ConditionVerdict = { status: 'False', reason: conditionReason.unknownContainerStatuses };

/** The init and the regular container statuses as one list, as the generators want them; undefined when the pod has neither. */
export function allContainerStatuses(status: PodStatus | undefined): ContainerStatus[] | undefined {
  const { initContainerStatuses: init, containerStatuses: regular } = status ?? {};
  return init || regular ? [...(init ?? []), ...(regular ?? [])] : undefined;
}

/**
 * Are all sidecars and regular containers ready? A completed or failed pod never is.
 *
 * @example
 * ```ts
 * import { generateContainersReadyCondition } from 'pod-status-manager';
 *
 * const pod = { spec: { containers: [{ name: 'app', image: 'app:1' }] } };
 * const containerStatuses = [{ name: 'app', image: 'app:1', imageID: '', ready: true, restartCount: 0 }];
 * console.log(generateContainersReadyCondition(pod, undefined, containerStatuses, 'Running').status); // True
 * ```
 */
export function generateContainersReadyCondition(
  pod: Pod,
  oldStatus: PodStatus | undefined,
  containerStatuses: ContainerStatuses,
  phase: string | undefined,
): WirePodCondition {
  const verdict = containersReadyVerdict(pod, containerStatuses, phase);
  return newPodCondition(pod, oldStatus, podConditionType.containersReady, verdict);
}

/**
 * Is the pod ready: its containers, and every readiness gate of its spec, looked up in `conditions`?
 *
 * @example
 * ```ts
 * import { generatePodReadyCondition } from 'pod-status-manager';
 *
 * const pod = { spec: { containers: [{ name: 'app' }], readinessGates: [{ conditionType: 'example.com/gate' }] } };
 * const containerStatuses = [{ name: 'app', image: 'app:1', imageID: '', ready: true, restartCount: 0 }];
 * const gate = { type: 'example.com/gate', status: 'False' };
 * console.log(generatePodReadyCondition(pod, undefined, [gate], containerStatuses, 'Running').reason); // ReadinessGatesNotReady
 * ```
 */
export function generatePodReadyCondition(
  pod: Pod,
  oldStatus: PodStatus | undefined,
  conditions: readonly PodCondition[] | null | undefined,
  containerStatuses: ContainerStatuses,
  phase: string | undefined,
): WirePodCondition {
  const containersReady = containersReadyVerdict(pod, containerStatuses, phase);
  const verdict = containersReady.status === 'True' ? readinessGatesVerdict(pod, conditions) : containersReady;
  return newPodCondition(pod, oldStatus, podConditionType.ready, verdict);
}

/** Ready and ContainersReady of `status`, as {@link generatePodReadyCondition} and {@link generateContainersReadyCondition} have them. */
export function generateReadinessConditions(
  pod: Pod,
  oldStatus: PodStatus,
  status: PodStatus,
): [WirePodCondition, WirePodCondition] {
  const { initContainerStatuses: init, containerStatuses: regular = [], phase } = status;
  const verdict = containersReadyVerdict(pod, init?.length ? [...init, ...regular] : regular, phase);
  const ready = verdict.status === 'True' ? readinessGatesVerdict(pod, status.conditions) : verdict;
  return [
    newPodCondition(pod, oldStatus, podConditionType.ready, ready),
    newPodCondition(pod, oldStatus, podConditionType.containersReady, verdict),
  ];
}

/**
 * True when the init containers have done their work. Once a regular container has run, they have, even if a sidecar fails now.
 *
 * @example
 * ```ts
 * import { generatePodInitializedCondition } from 'pod-status-manager';
 *
 * const pod = { spec: { initContainers: [{ name: 'prepare' }], containers: [{ name: 'app' }] } };
 * console.log(generatePodInitializedCondition(pod, undefined, [], 'Pending').status); // False
 * ```
 */
export function generatePodInitializedCondition(
  pod: Pod,
  oldStatus: PodStatus | undefined,
  containerStatuses: ContainerStatuses,
  phase: string | undefined,
): WirePodCondition {
  const verdict = initializedVerdict(pod, oldStatus, containerStatuses, phase);
  return newPodCondition(pod, oldStatus, podConditionType.initialized, verdict);
}

/**
 * A pod that is on this node has been scheduled.
 *
 * @example
 * ```ts
 * import { generatePodScheduledCondition } from 'pod-status-manager';
 *
 * console.log(generatePodScheduledCondition({ metadata: { generation: 2 } }, undefined).status); // True
 * ```
 */
export function generatePodScheduledCondition(pod: Pod, oldStatus: PodStatus | undefined): WirePodCondition {
  return newPodCondition(pod, oldStatus, podConditionType.podScheduled, isTrue);
}

/** ContainersReady and Ready of a pod whose phase is Succeeded or Failed: both False, with no look at its containers. */
export function generateTerminalConditions(
  pod: Pod,
  oldStatus: PodStatus | undefined,
  phase: string | undefined,
): [WirePodCondition, WirePodCondition] {
  const verdict = terminalVerdict(phase);
  return [
    newPodCondition(pod, oldStatus, podConditionType.containersReady, verdict),
    newPodCondition(pod, oldStatus, podConditionType.ready, verdict),
  ];
}

function terminalVerdict(phase: string | undefined): ConditionVerdict {
  if (phase === 'Failed') return { status: 'False', reason: conditionReason.podFailed };
  return phase === 'Succeeded' ? { status: 'False', reason: conditionReason.podCompleted } : { status: 'False' };
}

function containersReadyVerdict(pod: Pod, statuses: ContainerStatuses, phase: string | undefined): ConditionVerdict {
  requireList('containerStatuses', statuses);
  if (!statuses) return unknownStatuses;
  const { initContainers, containers = [] } = pod.spec ?? {};
  const all = initContainers?.length ? [...initContainers.filter(isRestartableInitContainer), ...containers] : containers;
  const survey = surveyContainers(all, statuses, (_, status) => status.ready);
  if (phase === 'Failed' || (phase === 'Succeeded' && survey.unknown.length === 0)) return terminalVerdict(phase);
  const message = surveyMessage(survey, 'unready');
  return message ? { status: 'False', reason: conditionReason.containersNotReady, message } : isTrue;
}

function readinessGatesVerdict(pod: Pod, conditions: readonly PodCondition[] | null | undefined): ConditionVerdict {
  if (!pod.spec?.readinessGates?.length) return isTrue;
  requireList('conditions', conditions);
  const conditionOf = podConditionLookup(conditions);
  const messages = (pod.spec?.readinessGates ?? []).flatMap(({ conditionType }) => {
    const type = JSON.stringify(conditionType);
    const condition = conditionOf(conditionType);
    if (condition === undefined) return [`corresponding condition of pod readiness gate ${type} does not exist.`];
    if (condition.status === 'True') return [];
    return [`the status of pod readiness gate ${type} is not "True", but ${condition.status}`];
  });
  if (messages.length === 0) return isTrue;
  return { status: 'False', reason: conditionReason.readinessGatesNotReady, message: messages.join(', ') };
}

function initializedVerdict(
  pod: Pod,
  oldStatus: PodStatus | undefined,
  statuses: ContainerStatuses,
  phase: string | undefined,
): ConditionVerdict {
  requireList('containerStatuses', statuses);
  const initContainers = pod.spec?.initContainers ?? [];
  if (!statuses && initContainers.length > 0) return unknownStatuses;
  const survey = surveyContainers(initContainers, statuses ?? [], (container, status) =>
    isRestartableInitContainer(container) ? status.started === true : status.ready,
  );
  if (phase === 'Succeeded' && survey.unknown.length === 0) return { status: 'True', reason: conditionReason.podCompleted };
  if (hasAnyRegularContainerStarted(pod, statuses ?? [])) return isTrue;
  const message = surveyMessage(survey, 'incomplete');
  // While all containers are restarted in place init containers run again, but the pod stays initialised.
  if (!message || getPodCondition(oldStatus?.conditions, podConditionType.initialized)?.status === 'True') return isTrue;
  return { status: 'False', reason: conditionReason.containersNotInitialized, message };
}

function hasAnyRegularContainerStarted(pod: Pod, statuses: readonly ContainerStatus[]): boolean {
  const regular = new Set(pod.spec?.containers?.map(({ name }) => name));
  return statuses.some(({ name, state }) => regular.has(name) && (state?.running != null || state?.terminated != null));
}

/** Names, in the order of the spec: containers without a status, and containers whose status falls short. */
interface Survey {
  readonly unknown: readonly string[];
  readonly lacking: readonly string[];
}

function surveyContainers(
  containers: readonly Container[],
  statuses: readonly ContainerStatus[],
  suffices: (container: Container, status: ContainerStatus) => boolean,
): Survey {
  const unknown: string[] = [];
  const lacking: string[] = [];
  const statusOf = lookupByName(statuses);
  for (const container of containers) {
    const status = statusOf(container.name);
    if (status === undefined) unknown.push(container.name);
    else if (!suffices(container, status)) lacking.push(container.name);
  }
  return { unknown, lacking };
}

/** Empty when every container suffices. */
function surveyMessage({ unknown, lacking }: Survey, word: 'unready' | 'incomplete'): string {
  const parts: string[] = [];
  if (unknown.length > 0) parts.push(`containers with unknown status: [${unknown.join(' ')}]`);
  if (lacking.length > 0) parts.push(`containers with ${word} status: [${lacking.join(' ')}]`);
  return parts.join(', ');
}
