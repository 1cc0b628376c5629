// Behaviour of pkg/kubelet/prober/prober_manager.go (UpdatePodStatus), v1.36.3, with its default feature gates.

import type { Pod, WireContainerStatus, WirePodStatus } from '../../api/json/types.ts';
import { type Container, isRestartableInitContainer, namedContainers } from '../../api/pod/pod-containers.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import { isPodReady } from '../../status/conditions/pod-conditions.ts';
import { ranBeforeAgent } from './agent-start.ts';
import type { ProbeResults, ProbeType } from './probe-types.ts';

/** What the probes say of one container. */
export interface ProbedState {
  /** True for a container that runs and whose startup probe, if it has one, has succeeded. */
  readonly started: boolean;
  /**
   * True for a container that has started and whose readiness probe, if it has one, has succeeded, and for an init container
   * that has ended with code 0.
   */
  readonly ready: boolean;
}

export interface ProbedStateContext {
  readonly results: ProbeResults;
  readonly agentStartedAt: number;
  /** True while a probe of this type is being made of the container, or will be. */
  readonly hasWorker: (podUID: string, containerName: string, type: ProbeType) => boolean;
  /** Asks for the container's readiness probe at once. */
  readonly triggerReadiness: (podUID: string, containerName: string) => void;
}

/**
 * The status with `started` and `ready` of its regular and init containers. Asks for the readiness probe of those that are
 * not ready yet. `pod.status`: the apiserver's copy, whose Ready counts for containers that ran before the agent.
 */
export function withProbedStates(pod: Pod, status: WirePodStatus, context: ProbedStateContext): WirePodStatus {
  const { initContainers, containers } = pod.spec ?? {};
  const { initContainerStatuses, containerStatuses } = status;
  const next = { ...status };
  if (containerStatuses !== undefined) {
    const specs = new Map(containers?.toReversed().map((container) => [container.name, container]));
    next.containerStatuses = containerStatuses.map((one) => {
      const spec = specs.get(one.name);
      const { started, ready } = probedState(pod, one, spec, context);
      // nobody has asked whether a container is ready that has not started
      return started ? { ...one, started, ready } : { ...one, started };
    });
  }
  if (initContainerStatuses !== undefined) {
    next.initContainerStatuses = initContainerStatuses.map((one, index) => {
      const spec = initContainers?.[index];
      if (spec !== undefined && spec.name === one.name && isRestartableInitContainer(spec)) {
        const { started, ready } = probedState(pod, one, spec, context);
        return started ? { ...one, started, ready } : { ...one, started };
      }
      const started = isStarted(pod, one, context);
      const isDone = spec?.name === one.name && one.state?.terminated?.exitCode === 0;
      return isDone ? { ...one, started, ready: true } : { ...one, started };
    });
  }
  return next;
}

/** Of any container of the pod: an init container that is no sidecar is ready once it has ended well. */
export function stateOfContainer(
  pod: Pod,
  container: WireContainerStatus,
  context: ProbedStateContext,
  { regular: regularOf, init: initOf } = namedContainers(pod),
): ProbedState {
  const regular = regularOf(container.name);
  const init = regular === undefined ? initOf(container.name) : undefined;
  if (init === undefined || isRestartableInitContainer(init)) return probedState(pod, container, regular ?? init, context);
  return { started: isStarted(pod, container, context), ready: container.state?.terminated?.exitCode === 0 };
}

/** Of a regular container or a sidecar. `spec`: undefined where the pod's spec does not name it. */
function probedState(
  pod: Pod,
  container: WireContainerStatus,
  spec: Container | undefined,
  context: ProbedStateContext,
): ProbedState {
  const started = isStarted(pod, container, context);
  return { started, ready: started && isReady(pod, container, spec, context) };
}

function isStarted(pod: Pod, container: WireContainerStatus, { results, hasWorker }: ProbedStateContext): boolean {
  if (!container.state?.running) return false;
  const result = results.get('startup', container.containerID);
  if (result !== undefined) return result === 'Success';
  return container.started === true || !hasWorker(podUIDOf(pod), container.name, 'startup');
}

function isReady(
  pod: Pod,
  container: WireContainerStatus,
  spec: Container | undefined,
  { results, hasWorker, triggerReadiness, agentStartedAt }: ProbedStateContext,
): boolean {
  if (!container.state?.running) return false;
  const result = results.get('readiness', container.containerID);
  if (result === 'Success') return true;
  const podUID = podUIDOf(pod);
  const isProbed = hasWorker(podUID, container.name, 'readiness');
  if (isProbed) triggerReadiness(podUID, container.name);
  if (spec === undefined || !ranBeforeAgent(container, agentStartedAt)) return !isProbed;
  // it was ready before the agent began, if its pod was
  const isTrusted = !isProbed || result === undefined;
  return isTrusted && (!spec.readinessProbe || isPodReady(pod.status));
}
