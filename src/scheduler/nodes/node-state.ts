// Behaviour of pkg/scheduler/framework NodeInfo, v1.36.3.

import type { WireNode } from '../../api/json/types.ts';
import type { HostPort } from '../../api/pod/host-ports.ts';
import type { ImageState, TrialNodeInfo } from './node-info.ts';
import type { PodInfo } from './pod-info.ts';
import type { AllocatableAmounts, NonZeroAmounts, ResourceAmounts } from './resource.ts';
import { allocatableAmounts } from './resource-amounts.ts';
import { isTaken, type UsedPorts, withoutPorts, withPorts } from './used-ports.ts';

type Writable<T> = { -readonly [K in keyof T]: T[K] };

const noPods: readonly PodInfo[] = [];

/** A node, the pods on it and their sums, which are kept by adding and subtracting. */
export class NodeState implements TrialNodeInfo {
  readonly name: string;
  #node: WireNode | undefined;
  #pods: PodInfo[] = [];
  #podsWithAffinity: readonly PodInfo[] = noPods;
  #podsWithRequiredAntiAffinity: readonly PodInfo[] = noPods;
  #requested: Writable<ResourceAmounts> = { milliCPU: 0, memory: 0, ephemeralStorage: 0, scalar: new Map() };
  #nonZeroRequested: Writable<NonZeroAmounts> = { milliCPU: 0, memory: 0 };
  #allocatable: AllocatableAmounts = allocatableAmounts(undefined);
  #images: ReadonlyMap<string, ImageState> = new Map();
  #usedPorts: UsedPorts = new Map();
  #generation = 0;

  /** Without a node there are only pods: the node is not known yet, or not any more. */
  constructor(name: string) {
    this.name = name;
  }

  /** Throws TypeError for a node that is not known: see {@link hasNode}. */
  get node(): WireNode {
    if (this.#node === undefined) throw new TypeError(`the node ${this.name} is not known`);
    return this.#node;
  }

  get hasNode(): boolean {
    return this.#node !== undefined;
  }

  get pods(): readonly PodInfo[] {
    return this.#pods;
  }

  get podsWithAffinity(): readonly PodInfo[] {
    return this.#podsWithAffinity;
  }

  get podsWithRequiredAntiAffinity(): readonly PodInfo[] {
    return this.#podsWithRequiredAntiAffinity;
  }

  get requested(): ResourceAmounts {
    return this.#requested;
  }

  get nonZeroRequested(): NonZeroAmounts {
    return this.#nonZeroRequested;
  }

  get allocatable(): AllocatableAmounts {
    return this.#allocatable;
  }

  get images(): ReadonlyMap<string, ImageState> {
    return this.#images;
  }

  get usedPorts(): UsedPorts {
    return this.#usedPorts;
  }

  get generation(): number {
    return this.#generation;
  }

  /** Throws ERR_INVALID_ARGUMENT for an allocatable that is no quantity; nothing is changed then. */
  setNode(node: WireNode, images: ReadonlyMap<string, ImageState>): void {
    this.#allocatable = allocatableAmounts(node.status?.allocatable);
    this.#node = node;
    this.#images = images;
    this.#generation++;
  }

  /** The pods stay. */
  removeNode(): void {
    this.#node = undefined;
    this.#generation++;
  }

  addPod(pod: PodInfo): void {
    this.#pods.push(pod);
    if (pod.hasAffinity) this.#podsWithAffinity = [...this.#podsWithAffinity, pod];
    if (pod.requiredAntiAffinityTerms.length > 0) {
      this.#podsWithRequiredAntiAffinity = [...this.#podsWithRequiredAntiAffinity, pod];
    }
    this.#usedPorts = withPorts(this.#usedPorts, pod.hostPorts);
    this.#count(pod, 1);
  }

  /** `counted`: the version whose amounts and ports are taken off; by default the one that was added. */
  removePod({ uid }: PodInfo, counted?: PodInfo): boolean {
    const index = this.#pods.findIndex((each) => each.uid === uid);
    const added = this.#pods[index];
    if (added === undefined) return false;
    removeAt(this.#pods, index);
    const pod = counted ?? added;
    if (pod.hasAffinity) this.#podsWithAffinity = without(this.#podsWithAffinity, uid);
    if (pod.requiredAntiAffinityTerms.length > 0) {
      this.#podsWithRequiredAntiAffinity = without(this.#podsWithRequiredAntiAffinity, uid);
    }
    this.#usedPorts = withoutPorts(this.#usedPorts, pod.hostPorts);
    this.#count(pod, -1);
    return true;
  }

  hasConflict(port: HostPort): boolean {
    return isTaken(this.#usedPorts, port);
  }

  clone(): NodeState {
    const copy = new NodeState(this.name);
    copy.#node = this.#node;
    copy.#pods = this.#pods.slice();
    copy.#podsWithAffinity = this.#podsWithAffinity;
    copy.#podsWithRequiredAntiAffinity = this.#podsWithRequiredAntiAffinity;
    copy.#requested = { ...this.#requested };
    copy.#nonZeroRequested = { ...this.#nonZeroRequested };
    copy.#allocatable = this.#allocatable;
    copy.#images = this.#images;
    copy.#usedPorts = this.#usedPorts;
    copy.#generation = this.#generation;
    return copy;
  }

  #count({ requests, nonZeroRequests }: PodInfo, sign: 1 | -1): void {
    const requested = this.#requested;
    requested.milliCPU += sign * requests.milliCPU;
    requested.memory += sign * requests.memory;
    requested.ephemeralStorage += sign * requests.ephemeralStorage;
    if (requests.scalar.size > 0) requested.scalar = sumOf(requested.scalar, requests.scalar, sign);
    this.#nonZeroRequested.milliCPU += sign * nonZeroRequests.milliCPU;
    this.#nonZeroRequested.memory += sign * nonZeroRequests.memory;
    this.#generation++;
  }
}

/** A new map, because clones share the old one. */
function sumOf(amounts: ReadonlyMap<string, number>, more: ReadonlyMap<string, number>, sign: 1 | -1): Map<string, number> {
  const sum = new Map(amounts);
  for (const [name, amount] of more) sum.set(name, (sum.get(name) ?? 0) + sign * amount);
  return sum;
}

function without(pods: readonly PodInfo[], uid: string): readonly PodInfo[] {
  const index = pods.findIndex((each) => each.uid === uid);
  if (index === -1) return pods;
  const left = pods.slice();
  removeAt(left, index);
  return left;
}

/** The last one takes the place of the one that goes. */
function removeAt(pods: PodInfo[], index: number): void {
  const last = pods.pop();
  if (last !== undefined && index < pods.length) pods[index] = last;
}
