// Behaviour of pkg/kubelet/allocation/allocation_manager.go, v1.36.3.

import type { Pod } from '../../api/json/types.ts';
import { isTerminalPhase } from '../../api/pod/pod-identity.ts';
import { podFields } from '../../api/pod/pod-log-fields.ts';
import { callGuarded } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import type { Admission, AdmissionLater } from '../../node/workers/pod-admissions.ts';
import type { LoopPodWorkers } from '../../node/workers/sync-loop-options.ts';
import type { UpdatePodOptions } from '../../node/workers/workers-options.ts';
import type { StatusManager } from '../../status/status-manager.ts';
import type { PodCgroups } from '../cgroups/cgroup-manager.ts';
import {
  type CheckedNodeLimits,
  checkedNodeLimits,
  containerCgroupResources,
  type NodeLimits,
  podCgroupResources,
} from '../cgroups/cgroup-resources.ts';
import type { ContainerRuntime } from '../runtime/container-runtime.ts';
import { PodAllocations } from './pod-allocations.ts';
import { PodResizer } from './pod-resizer.ts';

export interface AllocationManagerOptions {
  readonly rootDirectory: string;
  readonly runtime: Pick<ContainerRuntime, 'updateContainerResources' | 'listContainerStats'>;
  readonly cgroups: PodCgroups;
  readonly limits: Omit<NodeLimits, 'cgroupVersion'> & { readonly memoryCapacityBytes: number };
  readonly statusManager: StatusManager;
  /** All pods of the node. */
  readonly podManager: { getPods(): Pod[]; getPodByUID(podUID: string): Pod | undefined };
  /** Whether a pod that runs may run beside others with other resources. */
  readonly admit: (pod: Pod, others: readonly Pod[]) => Admission;
  /** The same of a pod that is new. */
  readonly admitNew: (pod: Pod, others: readonly Pod[]) => Admission | AdmissionLater;
  /** Called when a pod is to be synced soon. */
  readonly podChanged: (podUID: string) => void;
  readonly eventRecorder: EventRecorder;
  readonly logger: Logger;
}

/** What pods have been given, who may have more, and who tells the runtime. */
export class AllocationManager {
  readonly resizer: PodResizer;
  readonly #options: AllocationManagerOptions;
  readonly #allocations: PodAllocations;

  constructor(options: AllocationManagerOptions) {
    this.#options = options;
    const { rootDirectory, statusManager, podManager, podChanged, runtime, cgroups, eventRecorder, logger } = options;
    const { resizes } = statusManager;
    this.#allocations = new PodAllocations({
      folder: `${rootDirectory}/allocations`,
      resizes,
      eventRecorder,
      logger,
      getPodByUID: (podUID) => podManager.getPodByUID(podUID),
      activePods: () => podManager.getPods().filter((pod) => !this.#isOver(pod)),
      admitResize: options.admit,
      requestSync: ({ metadata }) => podChanged(metadata?.uid ?? ''),
    });
    this.resizer = new PodResizer({
      runtime,
      cgroups,
      allocations: this.#allocations,
      resizes,
      eventRecorder,
      podResources: (pod) => podCgroupResources(pod, this.#limits()),
      containerResources: (pod, container) => containerCgroupResources(pod, container, this.#limits()),
    });
  }

  /** Asked for a pod that is new: it is compared with what it and the others have been given, and then has it. */
  admit(pod: Pod, others: readonly Pod[]): Admission | AdmissionLater {
    const answer = this.#options.admitNew(
      this.#allocations.allocated(pod),
      others.map((other) => this.#allocations.allocated(other)),
    );
    if (answer.admit === true) this.#allocations.add(pod);
    return answer;
  }

  /** Gives of a pod the most memory that the kernel lets it have, or one of its containers, in bytes, where there is a limit. */
  memoryLimitsOf(pod: Pod): (container: string | undefined) => number | undefined {
    const given = this.#allocations.allocated(pod);
    const limits = this.#limits();
    const { containers, initContainers } = given.spec ?? {};
    const byName = new Map([...(initContainers ?? []), ...(containers ?? [])].map((container) => [container.name, container]));
    return (name) => {
      const container = name === undefined ? undefined : byName.get(name);
      if (name !== undefined && container === undefined) return undefined;
      const resources = container ? containerCgroupResources(given, container, limits) : podCgroupResources(given, limits);
      return (resources.memoryLimitInBytes ?? 0) > 0 ? resources.memoryLimitInBytes : undefined;
    };
  }

  /** The same workers; what they are told of a pod has the resources that it has been given. */
  workers(workers: LoopPodWorkers): LoopPodWorkers {
    return {
      updatePod: (options) => workers.updatePod(this.#given(options)),
      syncKnownPods: (desired) => workers.syncKnownPods(desired),
      isPodTerminationRequested: (podUID) => workers.isPodTerminationRequested(podUID),
      isPodKnownTerminated: (podUID) => workers.isPodKnownTerminated(podUID),
    };
  }

  /** Forgets pods that are gone, and looks again at resizes that wait for room. */
  housekeep(known: ReadonlySet<string>): void {
    this.#allocations.retain(known);
    if (this.#allocations.hasPending) this.#allocations.retry();
  }

  #limits(): CheckedNodeLimits {
    const { limits, cgroups } = this.#options;
    return checkedNodeLimits({ ...limits, cgroupVersion: cgroups.version }, limits.memoryCapacityBytes);
  }

  #given(options: UpdatePodOptions): UpdatePodOptions {
    const { pod, updateType } = options;
    if (pod === undefined) return options;
    const { statusManager, logger } = this.#options;
    const given = callGuarded(
      () => {
        if (updateType === 'create') statusManager.resizes.backfillPodResizeConditions([pod]);
        if (updateType === 'create' || updateType === 'update') this.#allocations.update(pod);
        return this.#allocations.allocated(pod);
      },
      (err) => logger.error({ err, ...podFields(pod.metadata) }, 'a resize of a pod could not be looked at'),
    );
    return { ...options, pod: given ?? pod };
  }

  #isOver({ metadata, status }: Pod): boolean {
    const told = this.#options.statusManager.getPodStatus(metadata?.uid ?? '');
    return isTerminalPhase(status?.phase) || isTerminalPhase(told?.phase);
  }
}
