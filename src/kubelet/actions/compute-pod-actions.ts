// Behaviour of computePodActions in pkg/kubelet/kuberuntime, v1.36.3, with its default feature gates.

import type { Pod } from '../../api/json/types.ts';
import { type Container, findMatchingRestartRule, isRestartableInitContainer } from '../../api/pod/pod-containers.ts';
import { hasAnyRegularContainerCreated, shouldContainerBeRestarted } from '../../node/pod-status/get-phase.ts';
import type { AgentPodStatus } from '../pleg/agent-status.ts';
import { runtimeAnnotations } from '../runtime/runtime-sandboxes.ts';
import {
  type ContainerEntry,
  type ContainerToKill,
  type ContainerToReset,
  containerEntries,
  type KillReason,
  type NewestEntries,
  newestEntries,
  type PodActions,
  type PodActionsInput,
} from './pod-actions.ts';

/** What is to be done with a pod now, that its containers are as its spec says. Changes nothing, and asks nobody. */
export function computePodActions(input: PodActionsInput): PodActions {
  const { pod, status } = input;
  const entries = containerEntries(status);
  const newest = newestEntries(entries);
  const { changed, attempt, sandboxID } = sandboxChange(pod, status);
  const actions: PodActions = {
    killPod: changed,
    createSandbox: changed,
    sandboxID,
    attempt,
    initContainersToStart: [],
    containersToStart: [],
    ephemeralContainersToStart: [],
    containersToKill: [],
    containersToReset: [],
  };
  if (input.restartsAll) {
    actions.containersToReset = containersToReset(input, entries);
    return actions;
  }
  if (changed) {
    addActionsOfNewSandbox(input, newest, actions);
    return actions;
  }
  for (const container of pod.spec?.ephemeralContainers ?? []) {
    if (newest(container.name) === undefined) actions.ephemeralContainersToStart.push(container);
  }
  const isInitialized = addInitContainerActions(input, newest, actions);
  if (!actions.killPod && isInitialized) addRegularContainerActions(input, newest, actions);
  return actions;
}

/**
 * A pod without a usable sandbox begins anew, unless it is over. Containers that were made and never started are none of a run: a pod
 * that has no others would wait for ever.
 */
function addActionsOfNewSandbox({ pod, status }: PodActionsInput, newest: NewestEntries, actions: PodActions): void {
  const { restartPolicy, containers = [], initContainers = [] } = pod.spec ?? {};
  const hasRun = containerEntries(status).some((entry) => entry.status.state !== 'created');
  if (restartPolicy === 'Never' && actions.attempt !== 0 && hasRun) {
    actions.createSandbox = false;
    return;
  }
  const toStart = containers.filter((container) => {
    const runsOnce = (container.restartPolicy ?? restartPolicy) === 'OnFailure';
    return !(runsOnce && hasSucceeded(newest(container.name)));
  });
  if (toStart.length === 0 && hasAnyRegularContainerCreated(pod, status.containers)) {
    actions.createSandbox = false;
    return;
  }
  const [first] = initContainers;
  if (first === undefined) actions.containersToStart = toStart;
  else actions.initContainersToStart = [first];
}

function addRegularContainerActions(input: PodActionsInput, newest: NewestEntries, actions: PodActions): void {
  const { pod } = input;
  let kept = 0;
  for (const container of pod.spec?.containers ?? []) {
    const entry = newest(container.name);
    if (entry?.status.state !== 'running') {
      if (!shouldContainerBeRestarted(pod, container, entry?.status)) continue;
      actions.containersToStart.push(container);
      if (entry?.status.state === 'unknown') {
        const message = 'Container is in "unknown" state, try killing it before restart';
        actions.containersToKill.push({ entry, container, message, reason: 'other' });
      }
      continue;
    }
    const kill = killOfRunning(input, container, entry);
    if (kill === undefined) {
      kept += 1;
      continue;
    }
    const { restarts, ...toKill } = kill;
    if (restarts) actions.containersToStart.push(container);
    actions.containersToKill.push(toKill);
  }
  if (kept === 0 && actions.containersToStart.length === 0) {
    actions.killPod = true;
    // a sidecar must not keep a pod alive whose other containers are over
    actions.initContainersToStart = [];
  }
}

/** Why a running container is to be ended; undefined where it is to go on. */
function killOfRunning(
  input: PodActionsInput,
  container: Container,
  entry: ContainerEntry,
): (ContainerToKill & { readonly restarts: boolean }) | undefined {
  const { id } = entry.status;
  const mayRestart = (container.restartPolicy ?? input.pod.spec?.restartPolicy) !== 'Never';
  const killed = (says: string, reason: KillReason, restarts: boolean) => {
    const text = `Container ${container.name} ${says}`;
    return { entry, container, reason, restarts, message: restarts ? `${text}, will be restarted` : text };
  };
  if (isContainerChanged(input, container, entry)) return killed('definition changed', 'other', true);
  if (input.probeResult('liveness', id) === 'Failure') return killed('failed liveness probe', 'livenessProbe', mayRestart);
  if (input.probeResult('startup', id) === 'Failure') return killed('failed startup probe', 'startupProbe', mayRestart);
  if (input.resizeRestarts?.(container, entry) !== true) return undefined;
  return { entry, container, reason: 'other', restarts: true, message: `Container ${container.name} resize requires restart` };
}

/** All containers of the spec that the runtime lists. Those whose exit asked for the restart come last. */
function containersToReset({ pod }: PodActionsInput, entries: readonly ContainerEntry[]): ContainerToReset[] {
  const { containers = [], initContainers = [] } = pod.spec ?? {};
  const byName = Map.groupBy(entries, ({ status }) => status.name);
  const regular = resetsOf(containers, byName);
  const init = resetsOf(initContainers, byName);
  return [...regular.others, ...init.others, ...regular.causes, ...init.causes];
}

function resetsOf(containers: readonly Container[], entries: ReadonlyMap<string, readonly ContainerEntry[]>) {
  const causes: ContainerToReset[] = [];
  const others: ContainerToReset[] = [];
  for (const container of containers) {
    for (const entry of entries.get(container.name) ?? []) {
      const { state, exitCode = 0 } = entry.status;
      const kill = state !== 'exited';
      const isCause = !kill && findMatchingRestartRule(container, exitCode)?.action === 'RestartAllContainers';
      (isCause ? causes : others).push({ entry, container, kill });
    }
  }
  return { causes, others };
}

function hasSucceeded(entry: ContainerEntry | undefined): boolean {
  return entry?.status.state === 'exited' && (entry.status.exitCode ?? 0) === 0;
}

// Behaviour of computeInitContainerActions in pkg/kubelet/kuberuntime, v1.36.3, with its default feature gates.

/** What one init container adds to the actions. */
interface Step {
  readonly startsItself?: boolean;
  /** The container is done, or runs as a sidecar: the next one may start. */
  readonly isInitialized?: boolean;
  readonly failsPod?: boolean;
}

/**
 * Adds to `actions` the init containers to start and to end. True once the pod is initialised, so that regular containers may
 * start. The last init container that the runtime has a record of decides: those before it must be done.
 */
function addInitContainerActions(input: PodActionsInput, newest: NewestEntries, actions: PodActions): boolean {
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

// Behaviour of PodSandboxChanged in pkg/kubelet/kuberuntime/util, v1.36.3.

/** Whether the pod needs a sandbox, and which attempt the sandbox in use, or the next one, is. */
export interface SandboxChange {
  readonly changed: boolean;
  readonly attempt: number;
  /** The sandbox in use, or the newest one; undefined where there is none, or the newest one is in another network. */
  readonly sandboxID: string | undefined;
}

/** A pod needs a sandbox when its newest one is not ready, is not the only ready one, or has the wrong network or none. */
function sandboxChange(pod: Pod, { sandboxes, sandboxDetails }: AgentPodStatus): SandboxChange {
  const [newest] = sandboxes;
  const [details] = sandboxDetails;
  if (newest === undefined || details === undefined) return { changed: true, attempt: 0, sandboxID: undefined };
  const next = details.metadata.attempt + 1;
  const readyOnes = sandboxes.filter(({ ready }) => ready).length;
  if (readyOnes > 1 || !newest.ready) return { changed: true, attempt: next, sandboxID: details.id };
  const wantsHostNetwork = pod.spec?.hostNetwork === true;
  if ((newest.hostNetwork ?? false) !== wantsHostNetwork) return { changed: true, attempt: next, sandboxID: undefined };
  if (!wantsHostNetwork && newest.network?.ip === '') return { changed: true, attempt: next, sandboxID: details.id };
  return { changed: false, attempt: details.metadata.attempt, sandboxID: details.id };
}

/** True when the container was made from another image or under another name. One that does not say what it was made from stays. */
function isContainerChanged({ containerHash }: PodActionsInput, container: Container, { details }: ContainerEntry): boolean {
  const madeFrom = details.annotations[runtimeAnnotations.containerHash];
  return madeFrom !== undefined && madeFrom !== containerHash(container);
}
