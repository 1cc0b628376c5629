// Behaviour of pkg/kubelet/kubelet_pods.go convertToAPIContainerStatuses, v1.36.3.

import { lookupByName } from '../../api/json/json.ts';
import type { Pod, WireContainerStatus } from '../../api/json/types.ts';
import { type Container, isRestartableInitContainer } from '../../api/pod/pod-containers.ts';
import type { RuntimeContainerStatus } from '../../api/pod/runtime-pod.ts';
import { containerResources } from './container-resources.ts';
import { statusOfRecord } from './runtime-container-state.ts';
import { statusWithoutRecord } from './unstarted-container.ts';
import {
  asCompleted,
  hasAnyRegularContainerCreated,
  shouldContainerBeRestarted,
  type WaitingReason,
  waitingFor,
} from './waiting-reasons.ts';

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
