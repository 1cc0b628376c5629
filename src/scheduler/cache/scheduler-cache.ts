// Behaviour of pkg/scheduler/internal/cache, v1.22.17, and pkg/scheduler/backend/cache, v1.36.3.

import { goQuote } from '../../api/json/go-quote.ts';
import type { WireNode } from '../../api/json/types.ts';
import type { SteadyClock } from '../../base/clock.ts';
import { type NodeState, type Snapshot, zoneKeyOf } from '../nodes/node-info.ts';
import { PodIndex } from '../nodes/pod-index.ts';
import type { PodInfo } from '../nodes/pod-info.ts';
import { CachedNodes, CacheSnapshot } from './cached-nodes.ts';

export interface SchedulerCacheOptions {
  readonly clock: SteadyClock;
  /**
   * How long after its binding has finished an assumed pod is kept that no watch has brought, in milliseconds. Default: as long
   * as nothing else is known of it.
   */
  readonly assumedPodTTLMs?: number | undefined;
  /**
   * `v1.22`: as the classic scheduler. It counts images when their node comes or changes; it does not look at the version that
   * confirms an assumed pod; and it takes off the sums what the version says that it is given. Default `v1.36`: images count as
   * they are now, and what was added is taken off.
   */
  readonly version?: CacheVersion | undefined;
}

/** The Kubernetes version whose cache is followed. */
export type CacheVersion = 'v1.22' | 'v1.36';

interface CachedPod {
  readonly info: PodInfo;
  readonly nodeName: string;
  /** Of an assumed pod whose binding has finished: when it expires, by `elapsed` of the clock. */
  readonly deadline?: number;
  /** Of the same: when that was, in milliseconds since 1970. */
  readonly boundAt?: number;
  /** The same moment, by `elapsed` of the clock. */
  readonly boundElapsedMs?: number;
}

/**
 * The pods on nodes, and the nodes. A pod is assumed on a node while it is being bound; the watch confirms it. Methods that
 * change something return undefined, or in words why they have changed nothing.
 */
export class SchedulerCache {
  readonly #clock: SteadyClock;
  readonly #ttlMs: number;
  readonly #isClassic: boolean;
  readonly #nodes: CachedNodes;
  readonly #pods = new Map<string, CachedPod>();
  readonly #assumed = new Set<string>();
  readonly #grouped = new PodIndex();
  readonly #snapshot: CacheSnapshot;

  constructor({ clock, assumedPodTTLMs = Number.POSITIVE_INFINITY, version = 'v1.36' }: SchedulerCacheOptions) {
    this.#clock = clock;
    this.#ttlMs = assumedPodTTLMs;
    this.#isClassic = version === 'v1.22';
    this.#nodes = new CachedNodes(this.#isClassic ? 'when-set' : 'current');
    this.#snapshot = new CacheSnapshot(this.#grouped, this.#nodes.images, !this.#isClassic);
  }

  get nodeCount(): number {
    return this.#nodes.size;
  }

  /** The names of the nodes of now, in the order in which they are tried. The snapshot stays as it is. */
  get nodeNames(): readonly string[] {
    return this.#nodes.names();
  }

  /** Assumed ones included. */
  get podCount(): number {
    return this.#pods.size;
  }

  /** The uids of the assumed pods. */
  get assumedPods(): ReadonlySet<string> {
    return this.#assumed;
  }

  isAssumed(uid: string): boolean {
    return this.#assumed.has(uid);
  }

  /** True for a pod that the apiserver has put on its node: as the watch says, or the answer to its binding. */
  isBound(uid: string): boolean {
    const cached = this.#pods.get(uid);
    return cached !== undefined && (!this.#assumed.has(uid) || cached.deadline !== undefined);
  }

  /** The pods whose binding had finished before this time, in milliseconds since 1970, and that no watch has brought with their node. */
  unconfirmed(before: number): PodInfo[] {
    return [...this.#assumed].flatMap((uid) => {
      const cached = this.#pods.get(uid);
      return cached?.boundAt !== undefined && cached.boundAt < before ? [cached.info] : [];
    });
  }

  /** Since when a pod is bound without the watch bringing it with its node, by `elapsed` of the clock; undefined for any other pod. */
  unconfirmedSinceMs(uid: string): number | undefined {
    return this.#assumed.has(uid) ? this.#pods.get(uid)?.boundElapsedMs : undefined;
  }

  /** A pod on a node, assumed or not. */
  podOf(uid: string): PodInfo | undefined {
    return this.#pods.get(uid)?.info;
  }

  nodeNameOf(uid: string): string | undefined {
    return this.#pods.get(uid)?.nodeName;
  }

  /** A node as its object stands in the apiserver. */
  nodeOf(name: string): WireNode | undefined {
    const state = this.#nodes.get(name);
    return state?.hasNode ? state.node : undefined;
  }

  /** The state of now; also for a node that is not known, if there are pods of it. */
  stateOf(name: string): NodeState | undefined {
    return this.#nodes.get(name);
  }

  /** The pod takes its place on the node at once, although it is not bound yet. */
  assumePod(info: PodInfo, nodeName: string): string | undefined {
    if (this.#pods.has(info.uid)) return `pod ${info.uid} is in the cache, so can't be assumed`;
    this.#put(info, nodeName);
    this.#assumed.add(info.uid);
    return undefined;
  }

  /** The apiserver has bound the pod: from now on it may expire. Nothing for a pod that is not assumed. */
  finishBinding(uid: string): void {
    const cached = this.#pods.get(uid);
    if (cached === undefined || !this.#assumed.has(uid)) return;
    const boundElapsedMs = this.#clock.elapsed();
    const boundAt = this.#clock.now();
    this.#pods.set(uid, { ...cached, deadline: boundElapsedMs + this.#ttlMs, boundAt, boundElapsedMs });
  }

  /** The assumed pod was not bound: its place is free again. */
  forgetPod(info: PodInfo, nodeName: string): string | undefined {
    const { uid } = info;
    const cached = this.#pods.get(uid);
    if (cached !== undefined && cached.nodeName !== nodeName) {
      return `pod ${uid} was assumed on ${nodeName} but assigned to ${cached.nodeName}`;
    }
    if (cached === undefined || !this.#assumed.has(uid)) return `pod ${uid} wasn't assumed so cannot be forgotten`;
    this.#remove(cached, info);
    return undefined;
  }

  /** The watch brings a pod on a node. It confirms an assumed one, and moves one that was assumed elsewhere. */
  addPod(info: PodInfo): string | undefined {
    const cached = this.#pods.get(info.uid);
    if (cached !== undefined && !this.#assumed.has(info.uid)) return `pod ${info.uid} was already in added state`;
    const nodeName = nodeNameIn(info);
    if (this.#isClassic && cached?.nodeName === nodeName) {
      this.#grouped.remove(nodeName, cached.info);
      this.#grouped.add(nodeName, info);
      this.#pods.set(info.uid, { info, nodeName });
      this.#assumed.delete(info.uid);
      return undefined;
    }
    if (cached !== undefined) this.#remove(cached);
    this.#put(info, nodeName);
    return undefined;
  }

  /** Another version of a pod that was added. */
  updatePod(before: PodInfo, after: PodInfo): string | undefined {
    const cached = this.#pods.get(before.uid);
    if (cached === undefined || this.#assumed.has(before.uid)) {
      return `pod ${before.uid} is not added to scheduler cache, so cannot be updated`;
    }
    this.#remove(cached, before);
    this.#put(after, nodeNameIn(after));
    return undefined;
  }

  /** The pod is gone, or has ended: also where it was only assumed. */
  removePod({ uid }: Pick<PodInfo, 'uid'>): string | undefined {
    const cached = this.#pods.get(uid);
    if (cached === undefined) return `pod ${uid} is not found in scheduler cache, so cannot be removed from it`;
    this.#remove(cached);
    return undefined;
  }

  /** Throws ERR_INVALID_ARGUMENT for an allocatable that is no quantity; nothing is changed then. */
  addNode(node: WireNode): void {
    this.#nodes.set(node);
  }

  /** As {@link addNode}. */
  updateNode(_before: WireNode, after: WireNode): void {
    this.#nodes.set(after);
  }

  /** The node is in no snapshot any more. Its pods are kept until they are removed themselves: the watches may bring that later. */
  removeNode(node: WireNode): string | undefined {
    const name = node.metadata?.name ?? '';
    if (this.#nodes.delete(name)) return undefined;
    const hasPods = this.#nodes.get(name) !== undefined;
    return hasPods ? `node ${goQuote(name)} in group ${goQuote(zoneKeyOf(node))} was not found` : `node ${name} is not found`;
  }

  /** Gives up the assumed pods whose time is over, and returns them with the nodes that they were assumed on. */
  expireAssumedPods(): Pick<CachedPod, 'info' | 'nodeName'>[] {
    const now = this.#clock.elapsed();
    const expired: CachedPod[] = [];
    for (const uid of this.#assumed) {
      const cached = this.#pods.get(uid);
      if (cached?.deadline === undefined || now <= cached.deadline) continue;
      this.#remove(cached);
      expired.push(cached);
    }
    return expired;
  }

  /** Brings the snapshot up to date and returns it; it is always the same one. */
  updateSnapshot(): Snapshot {
    const { order, names } = this.#nodes.takeChanges();
    if (order === undefined) this.#snapshot.replace(names, this.#nodes);
    else this.#snapshot.rebuild(order, this.#nodes);
    return this.#snapshot;
  }

  #put(info: PodInfo, nodeName: string): void {
    this.#nodes.addPod(nodeName, info);
    this.#grouped.add(nodeName, info);
    this.#pods.set(info.uid, { info, nodeName });
  }

  /** `given`: the version that the caller has. */
  #remove({ info, nodeName }: CachedPod, given = info): void {
    this.#nodes.removePod(nodeName, info, this.#isClassic ? given : undefined);
    this.#grouped.remove(nodeName, info);
    this.#pods.delete(info.uid);
    this.#assumed.delete(info.uid);
  }
}

function nodeNameIn({ pod }: PodInfo): string {
  return pod.spec?.nodeName ?? '';
}
