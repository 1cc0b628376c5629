import type { WireNode, WirePod } from '../../api/json/types.ts';
import type { JsonMembers } from '../../client/transport/api-answer.ts';
import type { PodInfo } from '../nodes/pod-info.ts';
import {
  assignedPodAdd,
  assignedPodDelete,
  type ClusterEvent,
  nodeAdd,
  nodeDelete,
  nodeUpdateEvents,
  podUpdateEvents,
} from './cluster-event.ts';
import type { SchedulingQueue } from './scheduling-queue.ts';

/** The part of a cache that changes go into. */
export interface ChangedCache {
  /** A pod on a node, assumed or not. */
  podOf(uid: string): PodInfo | undefined;
  nodeNameOf(uid: string): string | undefined;
  isAssumed(uid: string): boolean;
  /** True for a pod that is on its node, though perhaps no watch has said so yet. */
  isBound(uid: string): boolean;
  finishBinding(uid: string): void;
  /** Also where it was assumed, there or elsewhere. */
  addPod(pod: PodInfo): void;
  updatePod(before: PodInfo, after: PodInfo): void;
  removePod(pod: PodInfo): void;
  nodeOf(name: string): WireNode | undefined;
  addNode(node: WireNode): void;
  updateNode(before: WireNode, after: WireNode): void;
  removeNode(node: WireNode): void;
}

/** The part of a nominator that changes go into. */
export interface ChangedNominator {
  /** Notes the node that the pod's status names; a pod without one is forgotten. */
  set(pod: PodInfo): void;
  /** The node that the pod was promised, whether its status says so yet or not. */
  nodeOf(uid: string): string | undefined;
  delete(uid: string): void;
}

export interface ClusterChangesOptions {
  readonly cache: ChangedCache;
  readonly queue: SchedulingQueue;
  readonly nominator: ChangedNominator;
  readonly createPodInfo: (pod: WirePod) => PodInfo;
  /** True for the name of one of the profiles. */
  readonly isResponsibleFor: (schedulerName: string) => boolean;
  /** A pod that was assumed is gone or being deleted: its place must be free afterwards, whatever becomes of its binding. */
  readonly onAssumedPodDeleted: (pod: PodInfo, nodeName: string) => void;
}

/**
 * Brings what happens in the cluster into the cache and the queue, and tells the queue which pods that may help. An object is given whole, as
 * often as its owner likes: what it was before is known here. Behaviour of pkg/scheduler/eventhandlers.go, v1.36.3.
 */
export class ClusterChanges {
  readonly #options: ClusterChangesOptions;

  constructor(options: ClusterChangesOptions) {
    this.#options = options;
  }

  /** A pod was added or has changed. A pod that has ended counts as deleted. */
  setPod(pod: WirePod): void {
    const uid = pod.metadata?.uid ?? '';
    if (hasEnded(pod)) {
      this.deletePod(uid);
      return;
    }
    const { cache } = this.#options;
    const known = cache.podOf(uid);
    const isAssigned = (pod.spec?.nodeName ?? '') !== '';
    if (known !== undefined && !cache.isAssumed(uid)) {
      // an older version, without its node, is no news
      if (isAssigned) this.#updateAssigned(known, this.#options.createPodInfo(pod));
    } else if (isAssigned) this.#addAssigned(this.#options.createPodInfo(pod));
    else if (this.#options.isResponsibleFor(pod.spec?.schedulerName ?? '')) {
      this.#setWaiting(this.#options.createPodInfo(pod), known);
    }
  }

  /** A pod is gone. Nothing for one that is not known. */
  deletePod(uid: string): void {
    const { cache, queue, nominator } = this.#options;
    const known = cache.podOf(uid);
    const waiting = queue.placeOf(uid)?.info.podInfo;
    const promised = nominator.nodeOf(uid);
    queue.delete(uid);
    nominator.delete(uid);
    if (known !== undefined && cache.isAssumed(uid)) this.#deleteAssumed(known);
    else if (known !== undefined) {
      cache.removePod(known);
      this.#see(assignedPodDelete, known.pod, undefined);
    } else if (waiting !== undefined) this.#freeNominated(waiting, nominatedNode(waiting) || promised);
  }

  /** An assumed pod is on its node now. Pods that want to be near it need not wait for the watch; without one they would for long. */
  podBound(pod: PodInfo, nodeName: string): void {
    const { cache } = this.#options;
    // the watch was faster, or the pod is gone
    if (!cache.isAssumed(pod.uid)) return;
    cache.finishBinding(pod.uid);
    this.#see(assignedPodAdd, undefined, onNode(pod, nodeName));
  }

  /** The place that an assumed pod had is free. With `concerns`, only pods for which it is true may be helped. */
  placeGivenBack(pod: PodInfo, nodeName: string, concerns?: (pod: PodInfo) => boolean): void {
    const before = asMembers(onNode(pod, nodeName));
    this.#options.queue.see({ event: assignedPodDelete, before, after: undefined }, concerns);
  }

  /** A node was added or has changed. */
  setNode(node: WireNode): void {
    const { cache } = this.#options;
    const before = cache.nodeOf(node.metadata?.name ?? '');
    if (before === undefined) {
      cache.addNode(node);
      this.#see(nodeAdd, undefined, node);
      return;
    }
    cache.updateNode(before, node);
    for (const event of nodeUpdateEvents(before, node)) this.#see(event, before, node);
  }

  /** A node is gone. Nothing for one that is not known. */
  deleteNode(name: string): void {
    const { cache } = this.#options;
    const before = cache.nodeOf(name);
    if (before === undefined) return;
    this.#see(nodeDelete, before, undefined);
    cache.removeNode(before);
  }

  #addAssigned(pod: PodInfo): void {
    const { cache, queue, nominator } = this.#options;
    const known = cache.isBound(pod.uid) ? cache.podOf(pod.uid) : undefined;
    const nodeName = cache.nodeNameOf(pod.uid);
    cache.addPod(pod);
    // a pod that was told when it was bound is news only as far as it has changed since
    if (known === undefined || nodeName === undefined || nodeName !== pod.pod.spec?.nodeName)
      this.#see(assignedPodAdd, undefined, pod.pod);
    else this.#seeUpdate(known, onNode(known, nodeName), pod);
    // it may have been bound by somebody else while it waited here
    queue.delete(pod.uid);
    nominator.delete(pod.uid);
  }

  #updateAssigned(before: PodInfo, after: PodInfo): void {
    this.#options.cache.updatePod(before, after);
    this.#seeUpdate(before, before.pod, after);
  }

  #seeUpdate(before: PodInfo, podBefore: WirePod, after: PodInfo): void {
    for (const event of podUpdateEvents(before, after)) this.#see(event, podBefore, after.pod);
  }

  #setWaiting(pod: PodInfo, assumed: PodInfo | undefined): void {
    const { queue, nominator } = this.#options;
    if (assumed !== undefined) {
      queue.keepLatest(pod);
      if (isBeingDeleted(pod) && !isBeingDeleted(assumed)) this.#deleteAssumed(assumed);
      return;
    }
    const before = queue.placeOf(pod.uid)?.info.podInfo;
    if (before === undefined) {
      if (queue.add(pod)) nominator.set(pod);
      return;
    }
    queue.update(pod);
    nominator.set(pod);
    if (nominatedNode(before) !== nominatedNode(pod)) this.#freeNominated(before, nominatedNode(before));
  }

  #deleteAssumed(pod: PodInfo): void {
    const { cache, onAssumedPodDeleted } = this.#options;
    const nodeName = cache.nodeNameOf(pod.uid) ?? '';
    onAssumedPodDeleted(pod, nodeName);
    this.placeGivenBack(pod, nodeName);
  }

  /** A pod gave up the node that it was nominated for: pods of higher priority had not respected it anyway. */
  #freeNominated({ pod, priority: least }: PodInfo, nominatedNodeName: string | undefined): void {
    if (!nominatedNodeName) return;
    const before = asMembers({ ...pod, status: { ...pod.status, nominatedNodeName } });
    this.#options.queue.see({ event: assignedPodDelete, before, after: undefined }, ({ priority }) => priority <= least);
  }

  #see(event: ClusterEvent, before: WirePod | WireNode | undefined, after: WirePod | WireNode | undefined): void {
    this.#options.queue.see({ event, before: asMembers(before), after: asMembers(after) });
  }
}

/** A pod that has ended takes nothing of a node, and needs none. */
export function hasEnded({ status }: WirePod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

function nominatedNode({ pod }: PodInfo): string {
  return pod.status?.nominatedNodeName ?? '';
}

/** The pod as it stands on the node. A pod without a node says nothing of a place, and wakes nobody. */
function onNode({ pod }: PodInfo, nodeName: string): WirePod {
  return { ...pod, spec: { ...pod.spec, nodeName } as NonNullable<WirePod['spec']> };
}

function isBeingDeleted({ pod }: PodInfo): boolean {
  return pod.metadata?.deletionTimestamp !== undefined;
}

function asMembers(object: WirePod | WireNode | undefined): JsonMembers | undefined {
  return object as JsonMembers | undefined;
}
