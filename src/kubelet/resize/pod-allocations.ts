// Behaviour of pkg/kubelet/allocation/allocation_manager.go, v1.36.3.

import { isDeepStrictEqual } from 'node:util';
import type { Pod } from '../../api/json/types.ts';
import type { Container } from '../../api/pod/pod-containers.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import { podFields } from '../../api/pod/pod-log-fields.ts';
import { computePodQOSClass } from '../../api/pod/pod-qos-class.ts';
import { podRequests } from '../../api/pod/pod-requests.ts';
import { compareQuantities } from '../../api/quantity/quantity-arithmetic.ts';
import { callGuarded } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import { type GivenResources, wireResources } from '../../node/pod-status/pod-resources.ts';
import { type Admission, isAdmission } from '../../node/workers/pod-admissions.ts';
import type { PodResizes } from '../../status/resize/pod-resizes.ts';
import { AllocationFiles } from './allocation-files.ts';
import { allocationOf, type PodAllocation, withAllocation } from './pod-allocation.ts';

export interface PodAllocationsOptions {
  /** The folder of the records, below the agent's root directory. It is made where it is missing. */
  readonly folder: string;
  /** The status manager's conditions of resizes. */
  readonly resizes: PodResizes;
  /** The newest version of a pod; undefined for one that is not known. */
  readonly getPodByUID: (podUID: string) => Pod | undefined;
  /** The pods that are not over. */
  readonly activePods: () => readonly Pod[];
  /** May the pod have what its spec asks for beside the others, whose specs are what they have? Default: yes. */
  readonly admitResize?: (pod: Pod, others: readonly Pod[]) => Admission;
  /** Called for a pod that is to be synced: it has been given other resources, or its conditions have changed. */
  readonly requestSync: (pod: Pod) => void;
  readonly eventRecorder: EventRecorder;
  readonly logger: Logger;
}

/**
 * What the node has given each pod, which is what its spec asked for when the pod was admitted, until a resize is admitted.
 * Everybody who runs containers works with {@link allocated}. Records outlive the process.
 */
export class PodAllocations {
  readonly #options: PodAllocationsOptions;
  readonly #files: AllocationFiles;
  readonly #pending = new Set<string>();

  constructor(options: PodAllocationsOptions) {
    this.#options = options;
    this.#files = new AllocationFiles(options.folder, options.logger);
  }

  /** The pod with the resources that it has been given; the same object where that is what its spec asks for. */
  allocated(pod: Pod): Pod {
    const record = this.#files.get(podUIDOf(pod));
    return record === undefined ? pod : withAllocation(pod, record.allocated);
  }

  /** What the runtime was last told of the pod's containers. */
  actuated(podUID: string): PodAllocation {
    return this.#files.get(podUID)?.actuated ?? { containers: {} };
  }

  /** The pod may run: it gets what it asks for, unless it was admitted before. */
  add(pod: Pod): void {
    const podUID = podUIDOf(pod);
    if (this.#files.get(podUID) !== undefined) return;
    const allocated = allocationOf(pod);
    this.#files.save(
      { ...pod.metadata, uid: podUID },
      { allocated, actuated: { containers: {}, ...(allocated.pod && { pod: allocated.pod }) } },
    );
  }

  /** The pod's spec may have changed: a resize is looked at, with all that wait. Call it for pods that were added. */
  update(pod: Pod): void {
    if (this.#files.get(podUIDOf(pod)) === undefined) return;
    if (this.allocated(pod) === pod) {
      this.#pending.delete(podUIDOf(pod));
      this.#options.resizes.clearPodResizePendingCondition(podUIDOf(pod));
      return;
    }
    this.#pending.add(podUIDOf(pod));
    this.retry();
  }

  /** Looks again at all resizes that wait. Call it when there may be more room: a pod has ended or has been made smaller. */
  retry(): void {
    for (const { pod, allocated } of this.#inOrder()) {
      const podUID = podUIDOf(pod);
      const before = this.#options.resizes.getPodResizeConditions(podUID);
      const isResized = allocated !== pod && this.#resize(pod);
      if (!this.#options.resizes.isPodResizeDeferred(podUID)) this.#pending.delete(podUID);
      const isTold = isDeepStrictEqual(before, this.#options.resizes.getPodResizeConditions(podUID));
      if (isResized || !isTold) this.#options.requestSync(pod);
    }
  }

  /** True while a resize waits for room. */
  get hasPending(): boolean {
    return this.#pending.size > 0;
  }

  /** The runtime has made or changed a container with these resources. */
  setActuated(podUID: string, containerName: string, resources: GivenResources): void {
    const record = this.#files.get(podUID);
    if (record === undefined) return;
    const own = wireResources(resources);
    if (isDeepStrictEqual(record.actuated.containers[containerName], own)) return;
    this.#files.setActuated(podUID, containerName, own);
  }

  /** The pod's cgroup has what the pod as a whole was given. */
  setPodActuated(podUID: string): void {
    const record = this.#files.get(podUID);
    if (record === undefined || record.allocated.pod === undefined) return;
    this.#files.save({ uid: podUID }, { ...record, actuated: { ...record.actuated, pod: record.allocated.pod } });
  }

  /** Forgets a pod that is gone. */
  remove(podUID: string): void {
    this.#pending.delete(podUID);
    this.#files.delete(podUID);
  }

  /** Forgets every pod that is not in the set, also of an earlier process. */
  retain(podUIDs: ReadonlySet<string>): void {
    for (const podUID of this.#files.podUIDs) if (!podUIDs.has(podUID)) this.remove(podUID);
  }

  /** Pods that are gone leave the waiting ones. */
  #inOrder() {
    const waiting = [...this.#pending].map((podUID) => ({ podUID, pod: this.#options.getPodByUID(podUID) }));
    for (const { podUID, pod } of waiting) if (pod === undefined) this.#pending.delete(podUID);
    return waiting
      .flatMap(({ pod }) => (pod === undefined ? [] : [pod]))
      .map((pod) => ({ pod, allocated: this.allocated(pod), waitingSince: this.#waitingSince(podUIDOf(pod)) }))
      .sort(byUrgency);
  }

  #waitingSince(podUID: string): number | undefined {
    const conditions = this.#options.resizes.getPodResizeConditions(podUID);
    const since = conditions.find(({ type }) => type === 'PodResizePending')?.lastTransitionTime;
    return since === undefined || since === null ? undefined : new Date(since).getTime();
  }

  /** True when the pod has been given what it asks for. */
  #resize(pod: Pod): boolean {
    const { resizes } = this.#options;
    const [podUID, generation] = [podUIDOf(pod), pod.metadata?.generation ?? 0];
    const answer = this.#admission(pod);
    if (!answer.admit) {
      if (resizes.setPodResizePendingCondition(podUID, answer.reason, answer.message, generation)) {
        const reason = answer.reason === 'Infeasible' ? resizeEvent.infeasible : resizeEvent.deferred;
        this.#options.eventRecorder.event(
          pod,
          'Warning',
          reason,
          resizeMessage(`Pod resize ${answer.reason}`, pod, generation, answer.message),
        );
      }
      return false;
    }
    const { allocated, actuated } = this.#files.get(podUID) ?? { allocated: allocationOf(pod), actuated: { containers: {} } };
    // a container that this agent has not made has what the pod was given so far
    const known = { ...actuated, containers: { ...allocated.containers, ...actuated.containers } };
    // without a record on the disk a restart would take the resize back
    if (!this.#files.save({ ...pod.metadata, uid: podUID }, { allocated: allocationOf(pod), actuated: known })) return false;
    resizes.clearPodResizePendingCondition(podUID);
    resizes.clearPodResizeInProgressCondition(podUID);
    resizes.setPodResizeInProgressCondition(podUID, '', '', generation);
    this.#options.eventRecorder.event(pod, 'Normal', resizeEvent.started, resizeMessage('Pod resize started', pod, generation));
    return true;
  }

  /** While nobody answers rightly, the resize waits. */
  #admission(pod: Pod): Admission {
    const { admitResize, activePods } = this.#options;
    if (admitResize === undefined) return { admit: true };
    const answer: unknown = callGuarded(
      () => {
        const others = activePods().filter((other) => podUIDOf(other) !== podUIDOf(pod));
        return admitResize(
          pod,
          others.map((other) => this.allocated(other)),
        );
      },
      (error) => this.#options.logger.error({ err: error, ...podFields(pod.metadata) }, 'the admission of a resize failed'),
    );
    return isAdmission(answer) ? answer : { admit: false, reason: 'Deferred', message: 'The resize could not be looked at' };
  }
}

// Behaviour of pkg/kubelet/allocation/allocation_manager.go (sortPendingResizes), v1.36.3.

/** A pod that wants other resources than it has. */
export interface PendingResize {
  readonly pod: Pod;
  /** The same pod with the resources that it has. */
  readonly allocated: Pod;
  /** Since when it waits, in milliseconds since the epoch; undefined: it has not been looked at yet. */
  readonly waitingSince: number | undefined;
}

/** Who is looked at first: who asks for no more than before, then by priority, Guaranteed pods, and who waits longest. */
function byUrgency(a: PendingResize, b: PendingResize): number {
  return (
    Number(asksForMore(a)) - Number(asksForMore(b)) ||
    priorityOf(b) - priorityOf(a) ||
    Number(isGuaranteed(b)) - Number(isGuaranteed(a)) ||
    (a.waitingSince ?? Number.MAX_SAFE_INTEGER) - (b.waitingSince ?? Number.MAX_SAFE_INTEGER)
  );
}

function asksForMore({ pod, allocated }: PendingResize): boolean {
  const [wanted, has] = [podRequests(pod.spec), podRequests(allocated.spec)];
  return ['cpu', 'memory'].some((name) => compareQuantities(wanted[name] ?? '0', has[name] ?? '0') > 0);
}

function priorityOf({ pod }: PendingResize): number {
  return pod.spec?.priority ?? 0;
}

function isGuaranteed({ pod }: PendingResize): boolean {
  return computePodQOSClass(pod.spec) === 'Guaranteed';
}

// Behaviour of pkg/kubelet/events/resize.go, v1.36.3.

/** Reasons of events about a resize. */
export const resizeEvent = {
  started: 'ResizeStarted',
  completed: 'ResizeCompleted',
  deferred: 'ResizeDeferred',
  infeasible: 'ResizeInfeasible',
  error: 'ResizeError',
} as const;

/** A sentence and, as JSON, what the pod's containers are to have. */
export function resizeMessage(what: string, { spec }: Pod, generation: number, error = ''): string {
  const summary = {
    ...(spec?.initContainers?.length && { initContainers: spec.initContainers.map(summaryOf) }),
    ...(spec?.containers?.length && { containers: spec.containers.map(summaryOf) }),
    generation,
    ...(error && { error }),
  };
  return `${what}: ${JSON.stringify(summary)}`;
}

function summaryOf({ name, resources }: Container): object {
  const { limits, requests, claims } = wireResources(resources);
  return {
    name,
    resources: {
      ...(limits && { limits: sorted(limits) }),
      ...(requests && { requests: sorted(requests) }),
      ...(claims && { claims }),
    },
  };
}

function sorted(quantities: Readonly<Record<string, string>>): object {
  return Object.fromEntries(Object.entries(quantities).sort(([a], [b]) => (a < b ? -1 : 1)));
}
