// Behaviour of pkg/kubelet/status/generate.go, v1.36.3: the conditions that follow from what the container runtime lists.
import { lookupByName } from '../../api/json/json.ts';
import type { Pod, PodStatus, WirePodCondition } from '../../api/json/types.ts';
import { type Container, findMatchingRestartRule } from '../../api/pod/pod-containers.ts';
import type { RuntimeContainer, RuntimeSandbox } from '../../api/pod/runtime-pod.ts';
import { requireList } from '../../base/options.ts';
import { allContainerStatuses, generatePodReadyCondition } from './generate-conditions.ts';
import { conditionReason, getPodCondition, newPodCondition, podConditionType } from './pod-conditions.ts';

/**
 * Has the pod the one sandbox it needs, with its network set up? `sandboxes`: the newest first.
 *
 * @example
 * ```ts
 * import { generatePodReadyToStartContainersCondition } from 'pod-status-manager';
 *
 * const sandboxes = [{ ready: true, network: { ip: '10.0.0.7' } }];
 * console.log(generatePodReadyToStartContainersCondition({}, undefined, sandboxes).status); // True
 * ```
 */
export function generatePodReadyToStartContainersCondition(
  pod: Pod,
  oldStatus: PodStatus | undefined,
  sandboxes: readonly RuntimeSandbox[],
): WirePodCondition {
  requireList('sandboxes', sandboxes);
  const status = hasUsableSandbox(pod, sandboxes) ? 'True' : 'False';
  return newPodCondition(pod, oldStatus, podConditionType.podReadyToStartContainers, { status });
}

/**
 * Are all containers being restarted in place, because one exited with a code its rules answer with RestartAllContainers?
 * True until the runtime lists none of the spec's containers any more. Wanted only for specs with such a rule.
 * Alone among the conditions it never carries an observedGeneration.
 *
 * @example
 * ```ts
 * import { generateAllContainersRestartingCondition } from 'pod-status-manager';
 *
 * const pod = { spec: { containers: [{ name: 'app' }] } };
 * console.log(generateAllContainersRestartingCondition(pod, undefined, [{ name: 'app', state: 'running' }], 'Running').status); // False
 * ```
 */
export function generateAllContainersRestartingCondition(
  pod: Pod,
  oldStatus: PodStatus | undefined,
  runtimeContainers: readonly RuntimeContainer[],
  phase: string | undefined,
): WirePodCondition {
  requireList('runtimeContainers', runtimeContainers);
  const type = podConditionType.allContainersRestarting;
  if (phase === 'Succeeded') return { type, status: 'False', reason: conditionReason.podCompleted };
  if (phase === 'Failed') return { type, status: 'False', reason: conditionReason.podFailed };
  const containers = [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])];
  const recordOf = lookupByName(runtimeContainers);
  const somethingLeft = containers.some(({ name }) => recordOf(name) !== undefined);
  if (!somethingLeft || !allContainersShouldRestart(containers, oldStatus, runtimeContainers)) return { type, status: 'False' };
  const message = 'container exited with restart policy rule';
  return { type, status: 'True', reason: conditionReason.restartAllContainersStarted, message };
}

function hasUsableSandbox(pod: Pod, sandboxes: readonly RuntimeSandbox[]): boolean {
  const newest = sandboxes[0];
  if (!newest?.ready || sandboxes.filter(({ ready }) => ready).length > 1) return false;
  const wantsHostNetwork = pod.spec?.hostNetwork === true;
  if ((newest.hostNetwork ?? false) !== wantsHostNetwork) return false;
  // A runtime that says nothing of the network is trusted; one that says "no address yet" is not ready.
  return wantsHostNetwork || newest.network === undefined || newest.network.ip !== '';
}

/**
 * Are all containers to be restarted in place? A restart that has begun stays wanted; else some exited container's code must
 * ask for it. Behaviour of pkg/kubelet/container ShouldAllContainersRestart, v1.36.3.
 *
 * @param containers the init and the regular containers of the spec
 */
export function allContainersShouldRestart(
  containers: readonly Container[],
  oldStatus: PodStatus | undefined,
  runtimeContainers: readonly RuntimeContainer[],
): boolean {
  if (getPodCondition(oldStatus?.conditions, podConditionType.allContainersRestarting)?.status === 'True') return true;
  const recordOf = lookupByName(runtimeContainers);
  const statusOf = lookupByName([...(oldStatus?.initContainerStatuses ?? []), ...(oldStatus?.containerStatuses ?? [])]);
  return containers.some((container) => {
    const record = recordOf(container.name);
    if (record?.state !== 'exited') return false;
    const reported = statusOf(container.name)?.state?.terminated?.exitCode;
    return [record.exitCode ?? 0, reported].some((exitCode) => asksForRestartOfAll(container, exitCode));
  });
}

function asksForRestartOfAll(container: Container, exitCode: number | undefined): boolean {
  return exitCode !== undefined && findMatchingRestartRule(container, exitCode)?.action === 'RestartAllContainers';
}

/**
 * True when a readiness gate's condition was changed and the pod's Ready condition has not followed yet.
 * Only status and message count, not the reason; a pod without gates or without a Ready condition needs nothing.
 *
 * Upstream looks at the regular container statuses alone, so that a pod with a sidecar looks unknown, and is synced
 * again, for ever. Here the init container statuses count too.
 *
 * @example
 * ```ts
 * import { needToReconcilePodReadiness } from 'pod-status-manager';
 *
 * const conditions = [{ type: 'Ready', status: 'True' }, { type: 'example.com/gate', status: 'False' }];
 * const spec = { containers: [], readinessGates: [{ conditionType: 'example.com/gate' }] };
 * console.log(needToReconcilePodReadiness({ spec, status: { phase: 'Running', conditions } })); // true
 * ```
 */
export function needToReconcilePodReadiness(pod: Pod): boolean {
  if (!pod.spec?.readinessGates?.length) return false;
  const { status } = pod;
  const current = getPodCondition(status?.conditions, podConditionType.ready);
  if (current === undefined) return false;
  const wanted = generatePodReadyCondition(pod, status, status?.conditions, allContainerStatuses(status), status?.phase);
  return current.status !== wanted.status || (current.message ?? '') !== (wanted.message ?? '');
}
