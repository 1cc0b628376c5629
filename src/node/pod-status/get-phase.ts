// Behaviour of pkg/kubelet/kubelet_pods.go getPhase, v1.36.3, with its default feature gates.
import { lookupByName } from '../../api/json/json.ts';
import type { ContainerStatus, Pod, WireContainerStatus } from '../../api/json/types.ts';
import { type Container, containerShouldRestart, isRestartableInitContainer } from '../../api/pod/pod-containers.ts';
import { isStaticPod } from '../../api/pod/pod-identity.ts';
import type { RuntimeContainer } from '../../api/pod/runtime-pod.ts';

/** The phases that follow from container statuses. `Unknown`, which the apiserver knows too, never does. */
export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed';

/** What container statuses do not tell of a pod. */
export interface GetPhaseOptions {
  /** No container of the pod will be started again, whatever its restart policy says. */
  readonly podIsTerminal: boolean;
  /** A regular container was made in the sandbox in use: a sidecar that starts anew then does not make the pod Pending. */
  readonly podHasInitialized: boolean;
}

/**
 * The phase that follows from container statuses alone.
 *
 * @param containerStatuses those of regular and init containers, in any order; of two with one name the first counts
 *
 * @example
 * ```ts
 * import { getPhase } from 'pod-status-manager/node';
 * import { buildContainerStatus, buildPod, buildTerminatedState } from 'pod-status-manager/testing';
 *
 * const ended = buildContainerStatus({ name: 'app', state: buildTerminatedState(0) });
 * const runs = { podIsTerminal: false, podHasInitialized: true };
 * console.log(getPhase(buildPod({ spec: { restartPolicy: 'Never' } }), [ended], runs)); // Succeeded
 * console.log(getPhase(buildPod({ spec: { restartPolicy: 'Always' } }), [ended], runs)); // Running
 * ```
 */
export function getPhase(
  pod: Pod,
  containerStatuses: readonly ContainerStatus[],
  { podIsTerminal, podHasInitialized }: GetPhaseOptions,
): PodPhase {
  const tally = countContainers(pod, containerStatuses);
  if (tally.failedForGood > 0) return 'Failed';
  if (tally.pendingInit > 0 || (tally.pendingSidecars > 0 && !podHasInitialized) || tally.waiting > 0) return 'Pending';
  if (tally.unknown > 0) return 'Pending';
  if (tally.running > 0) return 'Running';
  if (tally.stopped === 0) return 'Pending';
  // a static pod is started again from its manifest, and so never ends here
  const isOver = (podIsTerminal && !isStaticPod(pod)) || tally.stopped === tally.stoppedForGood;
  if (!isOver) return 'Running';
  return tally.stopped === tally.succeeded ? 'Succeeded' : 'Failed';
}

interface Tally {
  /** Init containers that have not ended, sidecars aside. */
  pendingInit: number;
  pendingSidecars: number;
  /** Init containers that have failed and may not run again. */
  failedForGood: number;
  unknown: number;
  running: number;
  waiting: number;
  /** Regular containers whose last run is over. */
  stopped: number;
  stoppedForGood: number;
  succeeded: number;
}

function countContainers({ spec }: Pod, statuses: readonly ContainerStatus[]): Tally {
  const tally: Tally = {
    pendingInit: 0,
    pendingSidecars: 0,
    failedForGood: 0,
    unknown: 0,
    running: 0,
    waiting: 0,
    stopped: 0,
    stoppedForGood: 0,
    succeeded: 0,
  };
  const statusOf = lookupByName(statuses);
  for (const container of spec?.initContainers ?? []) {
    const status = statusOf(container.name);
    if (isRestartableInitContainer(container)) countSidecar(tally, status);
    else countInit(tally, container, status, spec?.restartPolicy);
  }
  for (const container of spec?.containers ?? []) {
    const status = statusOf(container.name);
    countRegular(tally, container, status, spec?.restartPolicy);
  }
  return tally;
}

function countInit(tally: Tally, container: Container, status: ContainerStatus | undefined, podPolicy: string | undefined): void {
  const end = status && lastEnd(status);
  if (end === undefined) tally.pendingInit++;
  else if (end.exitCode !== 0 && !mayRunAgain(container, podPolicy, end)) tally.failedForGood++;
}

/** A sidecar that has ended counts for nothing. */
function countSidecar(tally: Tally, status: ContainerStatus | undefined): void {
  if (status === undefined) {
    tally.unknown++;
  } else if (status.state?.running) {
    tally.running++;
    if (status.started !== true) tally.pendingSidecars++;
  } else if (lastEnd(status) === undefined) {
    tally.pendingSidecars++;
    if (status.state?.waiting) tally.waiting++;
    else tally.unknown++;
  }
}

function countRegular(
  tally: Tally,
  container: Container,
  status: ContainerStatus | undefined,
  podPolicy: string | undefined,
): void {
  const end = status && lastEnd(status);
  if (end !== undefined) {
    tally.stopped++;
    if (!mayRunAgain(container, podPolicy, end)) tally.stoppedForGood++;
    // one that waits to run again has not succeeded, whatever its last exit code
    if (status?.state?.terminated?.exitCode === 0) tally.succeeded++;
  } else if (status?.state?.running) tally.running++;
  else if (status?.state?.waiting) tally.waiting++;
  else tally.unknown++;
}

type Terminated = NonNullable<NonNullable<ContainerStatus['state']>['terminated']>;

/** How a container that does not run now has ended last; undefined for one that runs, has never run, or says nothing. */
function lastEnd({ state, lastState }: ContainerStatus): Terminated | undefined {
  if (state?.running) return undefined;
  return state?.terminated ?? (state?.waiting ? (lastState?.terminated ?? undefined) : undefined);
}

function mayRunAgain(container: Container, podPolicy: string | undefined, { exitCode, reason }: Terminated): boolean {
  return reason === runtimeReason.restartingAllContainers || containerShouldRestart(container, podPolicy, exitCode);
}

// Behaviour of pkg/kubelet/kubelet_pods.go convertToAPIContainerStatuses (its last step), ShouldContainerBeRestarted of
// pkg/kubelet/container and HasAnyRegularContainerCreated of pkg/kubelet/kuberuntime, v1.36.3.

/** Why a container could not be started last. */
export interface WaitingReason {
  /** One word, such as `CrashLoopBackOff` or `ImagePullBackOff`. */
  readonly reason: string;
  /** The same for people. */
  readonly message?: string | undefined;
}

const completedMessage =
  'Unable to get init container status from container runtime and pod has been initialized, treat it as exited normally';

/** Has any regular container been made, and not merely lost? */
export function hasAnyRegularContainerCreated({ spec }: Pod, records: readonly RuntimeContainer[]): boolean {
  const newestOf = lookupByName(records);
  return (spec?.containers ?? []).some(({ name }) => {
    const state = newestOf(name)?.state;
    return state !== undefined && state !== 'unknown';
  });
}

/** The end of an init container that must have succeeded, since a regular container was made after it. */
export function asCompleted(status: WireContainerStatus): WireContainerStatus {
  const terminated = { exitCode: 0, reason: runtimeReason.completed, message: completedMessage };
  return { ...status, state: { terminated } };
}

/** True for a container that the next sync starts: there is none, it never got to run, or it ended and may run again. */
export function shouldContainerBeRestarted(pod: Pod, container: Container, newest: RuntimeContainer | undefined): boolean {
  if (pod.metadata?.deletionTimestamp) return false;
  if (newest === undefined) return true;
  if (newest.state !== 'exited') return newest.state !== 'running';
  return containerShouldRestart(container, pod.spec?.restartPolicy, newest.exitCode ?? 0);
}

/** The container waits for that reason; an end that it had before becomes its last state. */
export function waitingFor(status: WireContainerStatus, { reason, message }: WaitingReason): WireContainerStatus {
  const lastState = status.state?.terminated ? status.state : status.lastState;
  const waiting = { ...(reason && { reason }), ...(message && { message }) };
  return { ...status, state: { waiting }, ...(lastState !== undefined && { lastState }) };
}

/** The reasons that a status from a runtime's view gives by itself. */
export const runtimeReason = {
  containerCreating: 'ContainerCreating',
  podInitializing: 'PodInitializing',
  restartingAllContainers: 'RestartingAllContainers',
  containerStatusUnknown: 'ContainerStatusUnknown',
  completed: 'Completed',
  error: 'Error',
} as const;

/** The exit code of a container whose end nobody saw. */
export const unseenExitCode = 137;
