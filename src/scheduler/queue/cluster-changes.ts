import type { JsonMembers } from '../../client/transport/api-answer.ts';
import type { WireNode } from '../../wire/node-types.ts';
import type { WirePod } from '../../wire/types.ts';
import type { PodInfo } from '../nodes/pod-info.ts';
import { assignedPodAdd, assignedPodDelete, type ClusterEvent, nodeAdd, nodeDelete } from './cluster-event.ts';
import { nodeUpdateEvents } from './node-update-events.ts';
import { podUpdateEvents } from './pod-update-events.ts';
import type { SchedulingQueue } from './scheduling-queue.ts';

/** The part of a cache that changes go into. */
export interface ChangedCache {
  /** A pod on a node, assumed or not. */
  podOf(uid: string): PodInfo | undefined;
  isAssumed(uid: string): boolean;
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
  delete(uid: string): void;
}

export interface ClusterChangesOptions {
  readonly cache: ChangedCache;
  readonly queue: SchedulingQueue;
  readonly nominator: ChangedNominator;
  readonly createPodInfo: (pod: WirePod) => PodInfo;
  /** True for the name of one of the profiles. */
  readonly isResponsibleFor: (schedulerName: string) => boolean;
  /** A pod that was assumed is being deleted: its place must be given up at once, whatever has become of its binding. */
  readonly onAssumedPodDeleted: (pod: PodInfo) => void;
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
    if (pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed') {
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
    queue.delete(uid);
    nominator.delete(uid);
    if (known !== undefined && cache.isAssumed(uid)) this.#deleteAssumed(known);
    else if (known !== undefined) {
      cache.removePod(known);
      this.#see(assignedPodDelete, known.pod, undefined);
    } else if (waiting !== undefined && nominatedNode(waiting) !== '') this.#freeNominated(waiting);
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
    cache.addPod(pod);
    this.#see(assignedPodAdd, undefined, pod.pod);
    // it may have been bound by somebody else while it waited here
    queue.delete(pod.uid);
    nominator.delete(pod.uid);
  }

  #updateAssigned(before: PodInfo, after: PodInfo): void {
    this.#options.cache.updatePod(before, after);
    for (const event of podUpdateEvents(before, after)) this.#see(event, before.pod, after.pod);
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
    if (nominatedNode(before) !== '' && nominatedNode(before) !== nominatedNode(pod)) this.#freeNominated(before);
  }

  #deleteAssumed(pod: PodInfo): void {
    this.#options.onAssumedPodDeleted(pod);
    this.#see(assignedPodDelete, pod.pod, undefined);
  }

  /** A pod gave up the node that it was nominated for: pods of higher priority had not respected it anyway. */
  #freeNominated(before: PodInfo): void {
    const seen = { event: assignedPodDelete, before: asMembers(before.pod), after: undefined };
    this.#options.queue.see(seen, ({ priority }) => priority <= before.priority);
  }

  #see(event: ClusterEvent, before: WirePod | WireNode | undefined, after: WirePod | WireNode | undefined): void {
    this.#options.queue.see({ event, before: asMembers(before), after: asMembers(after) });
  }
}

function nominatedNode({ pod }: PodInfo): string {
  return pod.status?.nominatedNodeName ?? '';
}

function isBeingDeleted({ pod }: PodInfo): boolean {
  return pod.metadata?.deletionTimestamp !== undefined;
}

function asMembers(object: WirePod | WireNode | undefined): JsonMembers | undefined {
  return object as JsonMembers | undefined;
}
