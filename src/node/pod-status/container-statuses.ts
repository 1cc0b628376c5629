// Behaviour of pkg/kubelet/kubelet_pods.go convertToAPIContainerStatuses, v1.36.3.
import { lookupByName } from '../../api/json/json.ts';
import { formatTime } from '../../api/json/time.ts';
import type { Pod, WireContainerState, WireContainerStatus } from '../../api/json/types.ts';
import { type Container, isRestartableInitContainer, shownImage } from '../../api/pod/pod-containers.ts';
import type { RuntimeContainerStatus } from '../../api/pod/runtime-pod.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import {
  asCompleted,
  hasAnyRegularContainerCreated,
  runtimeReason,
  shouldContainerBeRestarted,
  unseenExitCode,
  type WaitingReason,
  waitingFor,
} from './get-phase.ts';
import { containerResources } from './pod-resources.ts';

/** Why containers could not be started last, by the container's name. A `Map` is one. */
export interface WaitingReasons {
  /** The reason; undefined where the last start of the container did not fail. */
  get(containerName: string): WaitingReason | undefined;
}

/** What the container statuses of a pod follow from. */
export interface ContainerView {
  readonly pod: Pod;
  /** As the runtime lists them. */
  readonly records: readonly RuntimeContainerStatus[];
  /** The first record of a container, as the runtime lists them; undefined where it lists none. */
  readonly firstListed: (name: string) => RuntimeContainerStatus | undefined;
  /** The two newest records of a container by the time they were made, the newest first. */
  readonly newest: (name: string) => readonly RuntimeContainerStatus[];
  /** All containers are being restarted in place. */
  readonly podIsRestarting: boolean;
  readonly reasons: WaitingReasons | undefined;
}

/** The statuses of `containers`, one each, in their order. `old`: the statuses before. */
export function containerStatuses(
  view: ContainerView,
  containers: readonly Container[],
  old: readonly WireContainerStatus[] | undefined,
): WireContainerStatus[] {
  const oldOf = lookupByName(old);
  return containers.map((container, index) => containerStatus(view, container, oldOf(container.name, index)));
}

/** The same of init containers: one that is gone has completed, once a regular container was made. */
export function initContainerStatuses(
  view: ContainerView,
  containers: readonly Container[],
  old: readonly WireContainerStatus[] | undefined,
): WireContainerStatus[] {
  const initialised = hasAnyRegularContainerCreated(view.pod, view.records);
  const oldOf = lookupByName(old);
  return containers.map((container, index) => {
    const before = oldOf(container.name, index);
    const newest = view.firstListed(container.name);
    if (newest?.state === 'exited' && (newest.exitCode ?? 0) === 0) return statusOf(view, container, before);
    if (newest === undefined && initialised && !isRestartableInitContainer(container)) {
      const status = statusOf(view, container, before);
      if (status.state?.waiting) return asCompleted(status);
    }
    return containerStatus(view, container, before);
  });
}

/** A container that the next sync starts, but that could not be started last, waits for that reason. */
function containerStatus(view: ContainerView, container: Container, old: WireContainerStatus | undefined): WireContainerStatus {
  const status = statusOf(view, container, old);
  const { pod, firstListed, reasons } = view;
  const reason = reasons?.get(container.name);
  if (reason === undefined || !shouldContainerBeRestarted(pod, container, firstListed(container.name))) return status;
  return waitingFor(status, reason);
}

function statusOf(view: ContainerView, container: Container, old: WireContainerStatus | undefined): WireContainerStatus {
  const { pod, podIsRestarting } = view;
  const [newest, before] = view.newest(container.name);
  if (newest === undefined) return statusWithoutRecord(pod, container, old, podIsRestarting);
  const status = statusOfRecord(newest, old, podIsRestarting);
  if (before !== undefined) status.lastState = statusOfRecord(before, old, podIsRestarting).state ?? {};
  const runsOn = newest.state === 'running' && old?.state?.running && (old.containerID ?? '') === newest.id;
  return { ...status, ...containerResources(container, runsOn ? old.resources : undefined) };
}

// Behaviour of pkg/kubelet/kubelet_pods.go convertToAPIContainerStatuses (one record of the runtime), v1.36.3.

export type WireTerminated = NonNullable<WireContainerState['terminated']>;

/**
 * The status that one record of the runtime stands for. `old`: the container's status before.
 *
 * - No restart count goes back, and a container that runs after an end that was reported counts one more.
 * - The last state is the end that was reported, when this is another container by now, or else the last state that was.
 * - A container that ran, and of which the runtime says nothing any more, has ended with exit code 137.
 */
function statusOfRecord(
  record: RuntimeContainerStatus,
  old: WireContainerStatus | undefined,
  podIsRestarting: boolean,
): WireContainerStatus {
  const status: WireContainerStatus = {
    name: record.name,
    state: {},
    lastState: lastStateOf(record, old),
    ready: false,
    restartCount: Math.max(record.restartCount ?? 0, old?.restartCount ?? 0),
    image: record.image ?? '',
    imageID: record.imageRef ?? '',
  };
  if (record.id !== '') status.containerID = record.id;
  if (old?.volumeMounts !== undefined) status.volumeMounts = old.volumeMounts;
  if (record.state === 'running') {
    status.state = { running: timeMember('startedAt', record.startedAt) };
    if (old?.state?.terminated && old.restartCount >= (record.restartCount ?? 0)) status.restartCount = old.restartCount + 1;
    if (old?.started !== undefined) status.started = old.started;
  } else if (record.state === 'exited') {
    status.state = { terminated: endOfRecord(record) };
  } else if (record.state === 'unknown' && old?.state?.running) {
    status.state = { terminated: unseenEnd('The container could not be located when the pod was terminated', podIsRestarting) };
    status.restartCount = old.restartCount + 1;
  } else {
    status.state = { waiting: {} };
  }
  return status;
}

/** The end of a container that nobody saw. */
export function unseenEnd(message: string, podIsRestarting = false): WireTerminated {
  const reason = podIsRestarting ? runtimeReason.restartingAllContainers : runtimeReason.containerStatusUnknown;
  return { exitCode: unseenExitCode, reason, message };
}

function endOfRecord({ id, exitCode = 0, reason, message, startedAt, finishedAt }: RuntimeContainerStatus): WireTerminated {
  const end: WireTerminated = { exitCode };
  if (reason) end.reason = reason;
  if (message) end.message = message;
  if (id) end.containerID = id;
  return { ...end, ...timeMember('startedAt', startedAt), ...timeMember('finishedAt', finishedAt) };
}

/** The runtime forgets containers that were removed for a restart in place, so that only the old status knows of their end. */
function lastStateOf({ id }: RuntimeContainerStatus, old: WireContainerStatus | undefined): WireContainerState {
  const reported = old?.state?.terminated;
  const terminated = reported && (old.containerID ?? '') !== id ? reported : old?.lastState?.terminated;
  return terminated === undefined ? {} : { terminated: { ...terminated } };
}

function timeMember<K extends string>(key: K, ms: number | undefined): { [P in K]?: string } {
  return ms === undefined ? {} : ({ [key]: formatTime(ms) } as { [P in K]: string });
}

// Behaviour of pkg/kubelet/kubelet_pods.go convertToAPIContainerStatuses (containers without a record), v1.36.3.

const removedForRestart = 'The container is removed because RestartAllContainers in place';
const wasRunning = 'The container could not be located when the pod was deleted.  The container used to be Running';

/**
 * The status of a container that the runtime does not list: it waits to be created, unless it has ended before. One that ran
 * has a last state of exit code 137, and counts one more, since it will be started again, unless the pod is being deleted.
 */
export function statusWithoutRecord(
  pod: Pod,
  container: Container,
  old: WireContainerStatus | undefined,
  podIsRestarting: boolean,
): WireContainerStatus {
  const status = old?.state?.terminated ? oldStatusOf(old) : waitingStatus(pod, container, old);
  if (old === undefined) return status;
  if (podIsRestarting && !old.state?.waiting) return removedStatus(status, old);
  if (!old.state?.running || status.lastState?.terminated) return status;
  status.lastState = { terminated: unseenEnd(wasRunning) };
  if (!pod.metadata?.deletionTimestamp) status.restartCount++;
  return status;
}

/** Why a container waits that is not there yet: a pod with init containers is initialising. */
export function waitingReasonOf({ spec }: Pod): string {
  return (spec?.initContainers?.length ?? 0) > 0 ? runtimeReason.podInitializing : runtimeReason.containerCreating;
}

function waitingStatus(pod: Pod, container: Container, old: WireContainerStatus | undefined): WireContainerStatus {
  const status: WireContainerStatus = {
    name: container.name,
    state: { waiting: { reason: waitingReasonOf(pod) } },
    lastState: { ...old?.lastState },
    ready: false,
    restartCount: old?.restartCount ?? 0,
    image: shownImage(container.image ?? ''),
    imageID: '',
  };
  const mounts = volumeMountStatuses(container);
  if (mounts !== undefined) status.volumeMounts = mounts;
  return status;
}

/** All containers are being restarted in place, and this one is gone for it. */
function removedStatus(status: WireContainerStatus, old: WireContainerStatus): WireContainerStatus {
  const says = { reason: runtimeReason.restartingAllContainers, message: removedForRestart };
  return {
    ...status,
    state: { waiting: { ...says } },
    lastState: { terminated: { ...says, exitCode: unseenExitCode } },
    restartCount: old.restartCount + 1,
  };
}

function oldStatusOf(old: WireContainerStatus): WireContainerStatus {
  return { ...old, state: { ...old.state }, lastState: { ...old.lastState } };
}

// Behaviour of pkg/kubelet/prober/prober_manager.go UpdatePodStatus, v1.36.3: which containers the probes are asked of.

/** What the probes say of containers, such as a `ProbeManager`. */
export interface ContainerProbeStates {
  /**
   * Asked of running containers only; `container.started` is what was reported before. `started`: it has passed its startup
   * probe, or has none. `ready`: it has passed its readiness probe as well, or has none. What this throws, and any answer but
   * true, counts as false.
   */
  containerState(pod: Pod, container: WireContainerStatus): { readonly started: boolean; readonly ready: boolean };
}

const nothing = { started: false, ready: false };

/** Nobody probes: what runs is started and ready. */
export const withoutProbes: ContainerProbeStates = { containerState: () => ({ started: true, ready: true }) };

/** `statuses` with `started` and `ready` in them. What does not run keeps the `ready` it has. */
export function withProbeStates(
  pod: Pod,
  statuses: readonly WireContainerStatus[],
  probes: ContainerProbeStates,
): WireContainerStatus[] {
  return statuses.map((status) => withProbeState(pod, status, probes));
}

/** The same of init containers: of those that are no sidecars none is ready until it has succeeded. */
export function withInitProbeStates(
  pod: Pod,
  containers: readonly Container[],
  statuses: readonly WireContainerStatus[],
  probes: ContainerProbeStates,
): WireContainerStatus[] {
  return statuses.map((status, index) => {
    const container = containers[index];
    if (container !== undefined && isRestartableInitContainer(container)) return withProbeState(pod, status, probes);
    const { started } = stateOf(pod, status, probes);
    return { ...status, started, ready: status.ready || status.state?.terminated?.exitCode === 0 };
  });
}

function withProbeState(pod: Pod, status: WireContainerStatus, probes: ContainerProbeStates): WireContainerStatus {
  const { started, ready } = stateOf(pod, status, probes);
  return started ? { ...status, started, ready } : { ...status, started };
}

function stateOf(pod: Pod, status: WireContainerStatus, probes: ContainerProbeStates): typeof nothing {
  if (!status.state?.running) return nothing;
  const answer = callGuarded(() => probes.containerState(pod, status), ignoreFailure);
  return { started: answer?.started === true, ready: answer?.ready === true };
}

/** Puts the list in order, and returns it. */
export function byName(statuses: WireContainerStatus[]): WireContainerStatus[] {
  return statuses.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

/**
 * What a status says of the volume mounts of a container that is not there yet. Recursive read-only mounts are never said to
 * be had: whether the runtime can make them is not known here. Undefined for a container without mounts.
 */
export function volumeMountStatuses({ volumeMounts }: Container): WireContainerStatus['volumeMounts'] {
  if (!volumeMounts?.length) return undefined;
  return volumeMounts.map(({ name, mountPath, readOnly }) =>
    readOnly ? { name, mountPath, readOnly, recursiveReadOnly: 'Disabled' } : { name, mountPath },
  );
}
