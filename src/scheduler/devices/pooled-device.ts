import type { WireNode } from '../../api/json/types.ts';
import { type NodeTest, parseNodeSelectorTerm } from '../../api/selectors/node-selector.ts';
import { capacityAmount, type ReadCapacity, readCapacity } from './capacity-rules.ts';
import {
  type DeviceNodeSelector,
  deviceKey,
  type ResourceSlice,
  type SelectableDevice,
  type SliceDevice,
  type SliceSpec,
} from './device-types.ts';

/** A device of a slice, read once for all nodes and requests. */
export class PooledDevice {
  readonly key: string;
  readonly given: SliceDevice;
  readonly slice: PooledSlice;
  readonly selectable: SelectableDevice;
  readonly capacities: readonly ReadCapacity[];
  /** How much it uses up of each counter. */
  readonly counters: ReadonlyMap<string, bigint>;
  /** True for a device of which several claims can have a share. */
  readonly isShared: boolean;
  /** Undefined where the whole slice says which nodes reach it. */
  readonly nodeTest: NodeTest | undefined;

  /** Throws ERR_INVALID_ARGUMENT for quantities that are none. */
  constructor(slice: PooledSlice, given: SliceDevice) {
    const { driver, pool } = slice.spec;
    this.given = given;
    this.slice = slice;
    this.key = deviceKey({ driver, pool: pool.name, device: given.name });
    this.isShared = given.allowMultipleAllocations === true;
    const shares = given.allowMultipleAllocations == null ? {} : { allowMultipleAllocations: given.allowMultipleAllocations };
    this.selectable = { driver, attributes: given.attributes ?? {}, capacity: given.capacity ?? {}, ...shares };
    this.capacities = Object.entries(given.capacity ?? {}).map(([name, capacity]) => readCapacity(name, capacity));
    this.counters = countersOf(given);
    this.nodeTest = slice.spec.perDeviceNodeSelection === true ? nodeTestOf(given) : undefined;
  }
}

/** A slice, whose devices are read when they are needed. */
export class PooledSlice {
  readonly name: string;
  readonly spec: SliceSpec;
  /** Its place among all slices. */
  readonly index: number;
  readonly generation: number;
  readonly hasCounters: boolean;
  /** True for a slice of one node. */
  readonly isOwn: boolean;
  #devices: readonly PooledDevice[] | 'wrong' | undefined;
  #nodeTest: NodeTest | undefined;

  constructor({ metadata, spec }: ResourceSlice, index: number) {
    this.name = metadata?.name ?? '';
    this.spec = spec;
    this.index = index;
    this.generation = spec.pool.generation ?? 0;
    this.hasCounters = (spec.sharedCounters?.length ?? 0) > 0;
    this.isOwn = !this.hasCounters && !!spec.nodeName;
  }

  /** Undefined where a quantity is none. */
  get devices(): readonly PooledDevice[] | undefined {
    this.#devices ??= this.#readDevices();
    return this.#devices === 'wrong' ? undefined : this.#devices;
  }

  #readDevices(): readonly PooledDevice[] | 'wrong' {
    try {
      return (this.spec.devices ?? []).map((device) => new PooledDevice(this, device));
    } catch {
      return 'wrong'; // no server keeps such a slice
    }
  }

  /** False where it is not known how the slice says which nodes reach it. */
  get saysNodes(): boolean {
    const { nodeName, allNodes, nodeSelector, perDeviceNodeSelection } = this.spec;
    return this.hasCounters || !!nodeName || allNodes === true || nodeSelector != null || perDeviceNodeSelection === true;
  }

  /** True where every node reaches it, or needs to know of its counters. */
  get isEverywhere(): boolean {
    return this.hasCounters || (!this.spec.nodeName && this.spec.allNodes === true);
  }

  /** Throws ERR_INVALID_ARGUMENT for a selector that breaks a rule. */
  isReachedBy(node: WireNode): boolean {
    this.#nodeTest ??= this.#readNodeTest();
    return this.#nodeTest(node);
  }

  #readNodeTest(): NodeTest {
    const { nodeName, allNodes, nodeSelector, perDeviceNodeSelection, devices } = this.spec;
    if (nodeName || allNodes === true || nodeSelector != null) return nodeTestOf(this.spec);
    if (perDeviceNodeSelection !== true) return () => false;
    const tests = (devices ?? []).map(nodeTestOf);
    const names = new Set((devices ?? []).map((device) => device.nodeName));
    // many devices with a name each are looked up at once
    if (devices?.every((device) => device.nodeName)) return ({ metadata }) => names.has(metadata?.name ?? '');
    return (node) => tests.some((test) => test(node));
  }
}

interface NodePlaces {
  readonly nodeName?: string;
  readonly allNodes?: boolean;
  readonly nodeSelector?: DeviceNodeSelector;
}

/** A selector is read when it is first asked: who is not asked about it is not bothered by its faults. */
function nodeTestOf({ nodeName, allNodes, nodeSelector }: NodePlaces): NodeTest {
  if (nodeName) return ({ metadata }) => metadata?.name === nodeName;
  if (allNodes === true) return () => true;
  if (nodeSelector == null) return () => false;
  let tests: readonly NodeTest[] | undefined;
  return (node) => {
    tests ??= (nodeSelector.nodeSelectorTerms ?? []).map((term, index) =>
      parseNodeSelectorTerm(`nodeSelector.nodeSelectorTerms[${index}]`, term),
    );
    return tests.some((test) => test(node));
  };
}

function countersOf({ consumesCounters }: SliceDevice): ReadonlyMap<string, bigint> {
  const uses = new Map<string, bigint>();
  for (const { counterSet, counters } of consumesCounters ?? []) {
    for (const [name, { value }] of Object.entries(counters ?? {})) {
      const key = counterKey(counterSet, name);
      uses.set(key, (uses.get(key) ?? 0n) + capacityAmount(value).nano);
    }
  }
  return uses;
}

/** One text for each counter of a pool. Neither part has a slash in it. */
export function counterKey(counterSet: string, counter: string): string {
  return `${counterSet}/${counter}`;
}
