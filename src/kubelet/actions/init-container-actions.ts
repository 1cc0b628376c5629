// Behaviour of computeInitContainerActions in pkg/kubelet/kuberuntime, v1.36.3, with its default feature gates.

import { type Container, isRestartableInitContainer } from '../../api/pod/pod-containers.ts';
import { shouldContainerBeRestarted } from '../../node/pod-status/get-phase.ts';
import { isContainerChanged } from './container-changed.ts';
import type { ContainerEntry, NewestEntries } from './container-entries.ts';
import type { PodActions, PodActionsInput } from './pod-actions.ts';

/** What one init container adds to the actions. */
interface Step {
  /** The container itself is to be started. */
  readonly startsItself?: boolean;
  /** The container is done, or runs as a sidecar: the next one may start. */
  readonly isInitialized?: boolean;
  /** The pod has failed. */
  readonly failsPod?: boolean;
}

/**
 * Adds to `actions` the init containers to start and to end. True once the pod is initialised, so that regular containers may
 * start. The last init container that the runtime has a record of decides: those before it must be done.
 */
export function addInitContainerActions(input: PodActionsInput, newest: NewestEntries, actions: PodActions): boolean {
  const { pod } = input;
  const initContainers = pod.spec?.initContainers ?? [];
  if (initContainers.length === 0) return true;
  let isPodInitialized = runsRegularContainer(input, newest);
  let isInitializedAbove = isPodInitialized;
  const toStart: Container[] = [];
  for (let index = initContainers.length - 1; index >= 0; index -= 1) {
    const container = initContainers[index] as Container;
    const entry = newest(container.name);
    const isSidecar = isRestartableInitContainer(container);
    if (entry === undefined) {
      if (isInitializedAbove && isSidecar) toStart.push(container);
      continue;
    }
    if (isInitializedAbove && !isSidecar) continue;
    const step = isSidecar ? sidecarStep(input, container, entry, actions) : initStep(input, container, entry, actions);
    if (step.failsPod === true) {
      actions.killPod = true;
      actions.initContainersToStart = [];
      return false;
    }
    const next = initContainers[index + 1];
    if (step.isInitialized === true && next === undefined) isPodInitialized = true;
    else if (step.isInitialized === true && !isInitializedAbove) toStart.push(next as Container);
    if (step.startsItself === true) toStart.push(container);
    isInitializedAbove = true;
  }
  if (!isInitializedAbove) toStart.push(initContainers[0] as Container);
  actions.initContainersToStart = toStart.reverse();
  return isPodInitialized;
}

/** A regular container that was made shows that all init containers were done, also where their records are gone. */
function runsRegularContainer({ pod }: PodActionsInput, newest: NewestEntries): boolean {
  return (pod.spec?.containers ?? []).some(({ name }) => {
    const state = newest(name)?.status.state;
    return state === 'created' || state === 'running';
  });
}

function sidecarStep(input: PodActionsInput, container: Container, entry: ContainerEntry, actions: PodActions): Step {
  const { state, id } = entry.status;
  if (state === 'created' || state === 'exited') return { startsItself: true };
  const kill = (message: string, reason: 'startupProbe' | 'livenessProbe' | 'other'): void => {
    actions.containersToKill.push({ entry, container, message, reason });
  };
  if (state === 'unknown') {
    kill('Init container is in "unknown" state, try killing it before restart', 'other');
    return { startsItself: true };
  }
  if (container.startupProbe) {
    const startup = input.probeResult('startup', id);
    if (startup === 'Failure') {
      kill(`Init container ${container.name} failed startup probe`, 'startupProbe');
      return { startsItself: true };
    }
    if (startup !== 'Success') return {};
  }
  if (isContainerChanged(input, container, entry)) {
    kill(`Init container ${container.name} definition changed`, 'other');
    return { isInitialized: true, startsItself: true };
  }
  if (container.livenessProbe && input.probeResult('liveness', id) === 'Failure') {
    kill(`Init container ${container.name} failed liveness probe`, 'livenessProbe');
    return { isInitialized: true, startsItself: true };
  }
  if (input.resizeRestarts?.(container, entry) === true) {
    kill(`Container ${container.name} resize requires restart`, 'other');
    return { isInitialized: true, startsItself: true };
  }
  return { isInitialized: true };
}

function initStep({ pod }: PodActionsInput, container: Container, entry: ContainerEntry, actions: PodActions): Step {
  const { status } = entry;
  if (status.state === 'created') return { startsItself: true };
  if (status.state === 'running') return {};
  if (status.state === 'exited') {
    if (!hasFailed(entry)) return { isInitialized: true };
    return shouldContainerBeRestarted(pod, container, status) ? { startsItself: true } : { failsPod: true };
  }
  // nobody knows how it has ended, so rules about exit codes say nothing
  const policy = container.restartPolicy ?? pod.spec?.restartPolicy;
  if (policy === 'Never') return { failsPod: true };
  const message = 'Init container is in "unknown" state, try killing it before restart';
  actions.containersToKill.push({ entry, container, message, reason: 'other' });
  return { startsItself: true };
}

/** A container that the kernel ended for want of memory has failed, whatever its exit code. */
function hasFailed({ status }: ContainerEntry): boolean {
  return status.reason === 'OOMKilled' || (status.exitCode ?? 0) !== 0;
}
