import type { Pod, PodStatus, WirePodStatus } from '../../api/json/types.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import type { RuntimePodStatus } from '../../api/pod/runtime-pod.ts';
import type { WaitingReasons } from '../../node/pod-status/container-statuses.ts';
import { generatePodStatus } from '../../node/pod-status/generate-pod-status.ts';
import type { PodStatusFn } from '../../node/workers/pod-syncer.ts';
import type { PodManager } from '../../status/pods/pod-manager.ts';
import type { AgentPodStatus } from '../pleg/agent-status.ts';
import type { PodResizer } from '../resize/pod-resizer.ts';
import type { ActiveDeadlines } from './active-deadlines.ts';
import type { ResourceStatuses, SyncClaims, SyncProbeManager, SyncStatusManager } from './agent-pod-syncer-options.ts';
import type { StartFailures } from './start-failures.ts';
import type { ProgressView } from './start-progress.ts';

export interface PodStatusesOptions {
  readonly statusManager: SyncStatusManager;
  readonly probes: SyncProbeManager;
  readonly failures: StartFailures;
  readonly deadlines: Pick<ActiveDeadlines, 'eviction'>;
  readonly hostIPs: () => readonly string[];
  readonly nodeIPs: () => readonly string[];
  readonly claims: Pick<SyncClaims, 'withHealth'> | undefined;
  readonly resizer: Pick<PodResizer, 'report'> | undefined;
  /** How the devices of a container are, by resource; undefined where no container has any. */
  readonly resourceStatuses?: ResourceStatuses | undefined;
  readonly resizeConditions: (podUID: string) => PodStatus['conditions'] | undefined;
}

/** Generates the statuses of pods, and tells them to the status manager. */
export class AgentPodStatuses {
  readonly #options: PodStatusesOptions;
  /** The first statuses that have not been told yet, by the pod's uid. */
  readonly #waiting = new Map<string, { readonly pod: Pod; readonly status: WirePodStatus }>();

  constructor(options: PodStatusesOptions) {
    this.#options = options;
  }

  /** The status that follows from what the runtime has. `isOver`: no container of the pod will be started again. */
  generate(pod: Pod, runtimeStatus: AgentPodStatus, isOver = false): WirePodStatus {
    return this.#generate(pod, runtimeStatus, isOver, this.#options.failures.of(podUIDOf(pod)));
  }

  /** The status while a sync goes on. A container whose start has failed says why, and any other what it waits for. */
  generateProgress(pod: Pod, { status, reasons }: ProgressView): WirePodStatus {
    const failures = this.#options.failures.of(podUIDOf(pod)) ?? [];
    return this.#generate(pod, status, false, new Map([...reasons, ...failures]));
  }

  #generate(pod: Pod, runtimeStatus: AgentPodStatus, isOver: boolean, reasons: WaitingReasons | undefined): WirePodStatus {
    const { statusManager, probes, deadlines, hostIPs, nodeIPs, resizeConditions, resizer, claims } = this.#options;
    const podUID = podUIDOf(pod);
    const previous = statusManager.getPodStatus(podUID) ?? pod.status;
    const status = generatePodStatus({
      pod,
      runtimeStatus: withKeptMessages(runtimeStatus, previous),
      previous,
      podIsTerminal: isOver,
      hostIPs: hostIPs(),
      nodeIPs: nodeIPs(),
      reasons,
      probes,
      eviction: deadlines.eviction(pod),
      resizeConditions: resizeConditions(podUID),
    });
    const reported = this.#withDevices(podUID, resizer?.report(pod, status, runtimeStatus) ?? status);
    return claims?.withHealth(pod, reported) ?? reported;
  }

  /** Behaviour of UpdateAllocatedResourcesStatus in pkg/kubelet/cm/devicemanager/manager.go, v1.36.3. */
  #withDevices(podUID: string, status: WirePodStatus): WirePodStatus {
    const { resourceStatuses } = this.#options;
    if (resourceStatuses === undefined || status.containerStatuses === undefined) return status;
    const containerStatuses = status.containerStatuses.map((container) => {
      const allocatedResourcesStatus = resourceStatuses(podUID, container.name);
      return allocatedResourcesStatus.length === 0 ? container : { ...container, allocatedResourcesStatus };
    });
    return { ...status, containerStatuses };
  }

  /** Tells the status now. A status that waits is not told any more. */
  tell(pod: Pod, status: WirePodStatus, podStatusFn?: PodStatusFn): void {
    this.forget(podUIDOf(pod));
    podStatusFn?.(status);
    this.#options.statusManager.setPodStatus(pod, status);
  }

  /** Tells the first status of a pod with the next one, or with `tellNow`; a later status is told now. */
  tellSoon(pod: Pod, status: WirePodStatus): void {
    const podUID = podUIDOf(pod);
    if (this.#options.statusManager.getPodStatus(podUID) !== undefined || pod.status?.startTime) this.tell(pod, status);
    else this.#waiting.set(podUID, { pod, status });
  }

  tellNow(podUID: string): void {
    const waiting = this.#waiting.get(podUID);
    if (waiting !== undefined) this.tell(waiting.pod, waiting.status);
  }

  /** What waits of the pod is told by nobody. */
  forget(podUID: string): void {
    this.#waiting.delete(podUID);
  }
}

/**
 * The status manager for pods that end. A pod that its source has dropped still has to end on the node, and nobody is to be told of
 * it any more: the apiserver has no such pod, and answers Forbidden to the node that asks for it.
 */
export function statusesOfKnownPods(
  statusManager: SyncStatusManager,
  podManager: Pick<PodManager, 'getPodByUID'>,
): SyncStatusManager {
  const isKnown = ({ metadata }: Pod): boolean => podManager.getPodByUID(metadata?.uid ?? '') !== undefined;
  return {
    getPodStatus: (podUID) => statusManager.getPodStatus(podUID),
    setPodStatus: (pod, status) => isKnown(pod) && statusManager.setPodStatus(pod, status),
    terminatePod: (pod) => isKnown(pod) && statusManager.terminatePod(pod),
  };
}

/**
 * The runtime's status, with the termination messages that the pod's status has already for ends of which no message can be read any more: the
 * files are gone once the pod has been cleaned up after, but an agent that begins anew still sees its containers.
 */
function withKeptMessages<Status extends RuntimePodStatus>(status: Status, told: PodStatus | undefined): Status {
  const messages = new Map<string, string>();
  const lists = [told?.containerStatuses, told?.initContainerStatuses, told?.ephemeralContainerStatuses];
  for (const { state, lastState } of lists.flatMap((list) => list ?? [])) {
    for (const end of [state?.terminated, lastState?.terminated]) {
      if (end?.containerID && end.message) messages.set(end.containerID, end.message);
    }
  }
  if (messages.size === 0) return status;
  const containers = status.containers.map((container) => {
    const message = container.state === 'exited' && !container.message ? messages.get(container.id) : undefined;
    return message === undefined ? container : { ...container, message };
  });
  return { ...status, containers };
}
