// Behaviour of computePodActions in pkg/kubelet/kuberuntime, v1.36.3, with its default feature gates.

import { type Container, findMatchingRestartRule } from '../../api/pod/pod-containers.ts';
import { hasAnyRegularContainerCreated, shouldContainerBeRestarted } from '../../node/pod-status/get-phase.ts';
import { isContainerChanged } from './container-changed.ts';
import { type ContainerEntry, containerEntries, type NewestEntries, newestEntries } from './container-entries.ts';
import { addInitContainerActions } from './init-container-actions.ts';
import type { ContainerToKill, ContainerToReset, KillReason, PodActions, PodActionsInput } from './pod-actions.ts';
import { sandboxChange } from './sandbox-changed.ts';

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

/** A pod without a usable sandbox begins anew, unless it is over. */
function addActionsOfNewSandbox({ pod, status }: PodActionsInput, newest: NewestEntries, actions: PodActions): void {
  const { restartPolicy, containers = [], initContainers = [] } = pod.spec ?? {};
  if (restartPolicy === 'Never' && actions.attempt !== 0 && containerEntries(status).length > 0) {
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
