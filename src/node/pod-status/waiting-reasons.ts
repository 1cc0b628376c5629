// Behaviour of pkg/kubelet/kubelet_pods.go convertToAPIContainerStatuses (its last step), ShouldContainerBeRestarted of
// pkg/kubelet/container and HasAnyRegularContainerCreated of pkg/kubelet/kuberuntime, v1.36.3.

import { lookupByName } from '../../api/json/json.ts';
import type { Pod, WireContainerStatus } from '../../api/json/types.ts';
import { type Container, containerShouldRestart } from '../../api/pod/pod-containers.ts';
import type { RuntimeContainer } from '../../api/pod/runtime-pod.ts';
import { runtimeReason } from './runtime-reasons.ts';

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
