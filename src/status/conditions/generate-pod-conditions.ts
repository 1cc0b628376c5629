// Behaviour of pkg/kubelet/kubelet_pods.go generateAPIPodStatus, v1.36.3: all conditions of a status together.

import { containerStatusLists } from '../../api/json/status-members.ts';
import { canonicalTime } from '../../api/json/time.ts';
import type { Pod, PodCondition, PodStatus, WirePodCondition } from '../../api/json/types.ts';
import { hasRestartAllContainersRule } from '../../api/pod/pod-containers.ts';
import { isTerminalPhase } from '../../api/pod/pod-identity.ts';
import type { RuntimeContainer, RuntimeSandbox } from '../../api/pod/runtime-pod.ts';
import { iterableOption, requireKnownOptions, requireObject, requireObjects } from '../../base/options.ts';
import {
  allContainerStatuses,
  generateContainersReadyCondition,
  generatePodInitializedCondition,
  generatePodReadyCondition,
  generatePodScheduledCondition,
} from './generate-conditions.ts';
import {
  generateAllContainersRestartingCondition,
  generatePodReadyToStartContainersCondition,
} from './generate-runtime-conditions.ts';
import {
  getPodCondition,
  isOwnedConditionType,
  newPodCondition,
  ownedConditionTypesOf,
  podConditionType,
  putPodConditions,
  replaceOrAppendPodCondition,
} from './pod-conditions.ts';

/** What the runtime and the agent know beside the container statuses. */
export interface GenerateConditionsOptions {
  /**
   * The pod's sandboxes, the newest first. Without them PodReadyToStartContainers follows from the container statuses: true
   * while a container runs, and once one has run until the pod's phase is terminal.
   */
  readonly sandboxes?: readonly RuntimeSandbox[] | undefined;
  /** What the runtime lists of the pod's containers, the newest first. Default: nothing. */
  readonly runtimeContainers?: readonly RuntimeContainer[] | undefined;
  /** Those of `StatusManager.resizes`, which are put before the others. */
  readonly resizeConditions?: readonly PodCondition[] | undefined;
  /**
   * Condition types of the agent's own: the API copy's are not taken over, so that one which `status` does not bring goes.
   * Default: those of the status manager that `oldStatus` is from.
   */
  readonly ownedConditionTypes?: Iterable<string> | undefined;
}

const knownOptions = [
  'sandboxes',
  'runtimeContainers',
  'resizeConditions',
  'ownedConditionTypes',
] as const satisfies readonly (keyof GenerateConditionsOptions)[];

/**
 * All conditions of a pod's next status, readiness gates included:
 *
 * - the conditions of others stay as the API copy (`pod.status`) has them, and so do those that `status` brings with it,
 *   among them those of the agent's own types (`ownedConditionTypes`), of which the API copy's are not taken over;
 * - a DisruptionTarget of `oldStatus` stays;
 * - PodReadyToStartContainers, Initialized, Ready, ContainersReady and PodScheduled are generated, and for specs with such a
 *   rule AllContainersRestarting. Ready asks for every readiness gate of the spec among the conditions before it.
 *
 * They have no times yet: the status manager finds out when each has changed. No argument is changed. Throws
 * ERR_INVALID_ARGUMENT for a pod, a status or a list in them that is none, and ERR_INVALID_OPTION for a wrong option.
 *
 * @param oldStatus the status before, such as the status manager's; undefined where there has been none
 * @param status the next status: its phase and container statuses count, and its conditions of other types
 *
 * @example
 * ```ts
 * import { generateConditions } from 'pod-status-manager';
 *
 * const pod = { spec: { containers: [{ name: 'app' }] } };
 * const containerStatuses = [{ name: 'app', image: 'app:1', imageID: '', ready: true, restartCount: 0 }];
 * const conditions = generateConditions(pod, undefined, { phase: 'Running', containerStatuses });
 * console.log(conditions.find(({ type }) => type === 'Ready')?.status); // True
 * ```
 */
export function generateConditions(
  pod: Pod,
  oldStatus: PodStatus | undefined,
  status: PodStatus,
  options: GenerateConditionsOptions = {},
): WirePodCondition[] {
  requireArguments(pod, oldStatus, status, options);
  const { sandboxes, runtimeContainers, resizeConditions } = options;
  const { phase } = status;
  const statuses = allContainerStatuses(status) ?? [];
  let conditions = conditionsOfOthers(pod.status?.conditions, ownedTypes(oldStatus, options));
  putPodConditions(conditions, conditionsOfOthers(status.conditions));
  for (const condition of resizeConditions ?? []) conditions.push(wireCondition(condition));
  const disruption = getPodCondition(oldStatus?.conditions, podConditionType.disruptionTarget);
  if (disruption !== undefined) conditions = replaceOrAppendPodCondition(conditions, wireCondition(disruption));
  conditions.push(
    sandboxes === undefined
      ? readyToStartContainersByStatuses(pod, oldStatus, status)
      : generatePodReadyToStartContainersCondition(pod, oldStatus, sandboxes),
  );
  conditions.push(generatePodInitializedCondition(pod, oldStatus, statuses, phase));
  conditions.push(generatePodReadyCondition(pod, oldStatus, conditions, statuses, phase));
  conditions.push(generateContainersReadyCondition(pod, oldStatus, statuses, phase));
  conditions.push(generatePodScheduledCondition(pod, oldStatus));
  if (hasRestartAllContainersRule(pod.spec)) {
    conditions.push(generateAllContainersRestartingCondition(pod, oldStatus, runtimeContainers ?? [], phase));
  }
  return conditions;
}

function requireArguments(
  pod: Pod,
  oldStatus: PodStatus | undefined,
  status: PodStatus,
  options: GenerateConditionsOptions,
): void {
  requireObject('pod', pod);
  requireObject('status', status);
  if (oldStatus !== undefined && oldStatus !== null) requireObject('oldStatus', oldStatus);
  requireKnownOptions('options', options, knownOptions);
  for (const list of ['containers', 'initContainers', 'readinessGates'] as const)
    requireObjects(`pod.spec.${list}`, pod.spec?.[list]);
  requireObjects('pod.status.conditions', pod.status?.conditions);
  for (const list of statusLists) {
    requireObjects(`oldStatus.${list}`, oldStatus?.[list]);
    requireObjects(`status.${list}`, status[list]);
  }
  for (const list of ['sandboxes', 'runtimeContainers', 'resizeConditions'] as const) {
    requireObjects(`options.${list}`, options[list]);
  }
}

const statusLists = ['conditions', ...containerStatusLists] as const;

function ownedTypes(
  oldStatus: PodStatus | undefined,
  { ownedConditionTypes }: GenerateConditionsOptions,
): ReadonlySet<string> | undefined {
  if (ownedConditionTypes === undefined) return ownedConditionTypesOf(oldStatus);
  return new Set(iterableOption('options.ownedConditionTypes', ownedConditionTypes));
}

function conditionsOfOthers(
  conditions: readonly PodCondition[] | null | undefined,
  ownTypes?: ReadonlySet<string>,
): WirePodCondition[] {
  return (conditions ?? []).filter(({ type }) => !isOwnedConditionType(type, ownTypes)).map(wireCondition);
}

/** A copy with its times as text. */
function wireCondition(condition: PodCondition): WirePodCondition {
  const { lastProbeTime, lastTransitionTime, ...rest } = condition;
  const result: WirePodCondition = { ...(rest as WirePodCondition) };
  const probed = canonicalTime(lastProbeTime, 'lastProbeTime');
  const changed = canonicalTime(lastTransitionTime, 'lastTransitionTime');
  if (probed !== undefined) result.lastProbeTime = probed;
  if (changed !== undefined) result.lastTransitionTime = changed;
  return result;
}

function readyToStartContainersByStatuses(pod: Pod, oldStatus: PodStatus | undefined, status: PodStatus): WirePodCondition {
  const all = [...(allContainerStatuses(status) ?? []), ...(status.ephemeralContainerStatuses ?? [])];
  const runs = all.some(({ state }) => state?.running);
  const hasRun = all.some(({ state, lastState }) => state?.terminated || lastState?.terminated);
  const isReady = runs || (hasRun && !isTerminalPhase(status.phase));
  return newPodCondition(pod, oldStatus, podConditionType.podReadyToStartContainers, { status: isReady ? 'True' : 'False' });
}
