// Behaviour of k8s.io/dynamic-resource-allocation/structured/internal/incubating/pools_incubating.go, v0.36.3.
import type { WireNode } from '../../api/json/types.ts';
import { errorText } from '../../base/errors.ts';
import { amountOrNone } from './capacity-rules.ts';
import { DeviceAllocationError } from './device-allocation-error.ts';
import type { ResourceSlice } from './device-types.ts';
import { counterKey, type PooledDevice, PooledSlice } from './pooled-device.ts';

/** What one node reaches of a pool. */
export interface SlicePool {
  readonly source: PoolSource;
  /** `incomplete`: a slice is still missing. `invalid`: the slices contradict each other. Neither has devices. */
  readonly state: 'whole' | 'incomplete' | 'invalid';
  /** Slice by slice, in the order of their names. */
  readonly devices: readonly PooledDevice[];
  readonly hasBindingConditions: boolean;
  readonly counters: PoolCounters | undefined;
}

/** The counters that the devices of a pool share, on all nodes together. */
export interface PoolCounters {
  /** How much there is of each while no device is taken. */
  readonly sizes: ReadonlyMap<string, bigint>;
  /** The slices of which devices use them. */
  readonly users: readonly PooledSlice[];
}

/** So many times its slices and devices a pool may hold in what was built of it: whoever changes nodes could make each reach other slices. */
const mostTimesBuilt = 16;

/** All slices of a pool, of whatever generation and for whatever node. What was built of them is kept until one of them changes. */
export class PoolSource {
  readonly driver: string;
  readonly name: string;
  readonly #slices = new Set<PooledSlice>();
  #everywhere: readonly PooledSlice[] | undefined;
  /** By the places of the slices that a node reaches. */
  readonly #built = new Map<string, SlicePool | undefined>();
  readonly #generations = new Map<number, readonly PooledSlice[]>();
  /** Undefined for counters that are used or named wrongly. */
  readonly #counters = new WeakMap<readonly PooledSlice[], PoolCounters | undefined>();
  #countEverywhere = 0;
  /** Slices and devices: of the pool, and in what was built. */
  #size = 0;
  #builtSize = 0;

  constructor(driver: string, name: string) {
    this.driver = driver;
    this.name = name;
  }

  /** How often it is kept as built, each time for the nodes that reach the same slices. */
  get kept(): number {
    return this.#built.size;
  }

  get isEmpty(): boolean {
    return this.#slices.size === 0;
  }

  add(slice: PooledSlice): void {
    this.#slices.add(slice);
    if (slice.isEverywhere) this.#countEverywhere++;
    this.#size += sizeOf(slice);
    this.#forget();
  }

  delete(slice: PooledSlice): void {
    this.#slices.delete(slice);
    if (slice.isEverywhere) this.#countEverywhere--;
    this.#size -= sizeOf(slice);
    this.#forget();
  }

  /** Whether some of its slices reach every node. */
  get isEverywhere(): boolean {
    return this.#countEverywhere > 0;
  }

  /** The slices that reach every node, in their order. */
  get everywhere(): readonly PooledSlice[] {
    this.#everywhere ??= [...this.#slices].filter(({ isEverywhere }) => isEverywhere).sort((a, b) => a.index - b.index);
    return this.#everywhere;
  }

  /** The pool of the slices that a node reaches, in their order. Undefined where they are out of date. */
  poolOf(slices: readonly PooledSlice[]): SlicePool | undefined {
    const key = slices.map(({ index }) => index).join(' ');
    if (this.#built.has(key)) return this.#built.get(key);
    const pool = this.#build(slices);
    const size = slices.length + (pool?.devices.length ?? 0);
    if (this.#builtSize + size > mostTimesBuilt * this.#size) this.#forgetBuilt();
    this.#built.set(key, pool);
    this.#builtSize += size;
    return pool;
  }

  #forget(): void {
    this.#everywhere = undefined;
    this.#generations.clear();
    this.#forgetBuilt();
  }

  #forgetBuilt(): void {
    this.#built.clear();
    this.#builtSize = 0;
  }

  #build(reached: readonly PooledSlice[]): SlicePool | undefined {
    const generation = newestOf(reached);
    const slices = reached.filter((slice) => slice.generation === generation);
    const count = slices[0]?.spec.pool.resourceSliceCount ?? 0;
    let known: readonly PooledSlice[] = slices;
    if (slices.length !== count) {
      if (newestOf([...this.#slices]) > generation) return undefined;
      known = this.#ofGeneration(generation);
    }
    const none = { source: this, devices: [], hasBindingConditions: false, counters: undefined };
    if (known.length !== count) return { ...none, state: 'incomplete' };
    const counters = this.#countersOf(slices, known);
    const devices = counters && devicesOf(slices);
    if (devices === undefined) return { ...none, state: 'invalid' };
    const hasBindingConditions = devices.some(({ given }) => given.bindingConditions != null);
    return { source: this, state: 'whole', devices, hasBindingConditions, counters };
  }

  #ofGeneration(generation: number): readonly PooledSlice[] {
    const known = this.#generations.get(generation);
    if (known !== undefined) return known;
    const found = [...this.#slices].filter((slice) => slice.generation === generation);
    this.#generations.set(generation, found);
    return found;
  }

  /** Every node reaches all slices with counters, so that what one node finds of known slices holds for the others. */
  #countersOf(reached: readonly PooledSlice[], known: readonly PooledSlice[]): PoolCounters | undefined {
    if (known === reached) return readCounters(reached, known);
    if (!this.#counters.has(known)) this.#counters.set(known, readCounters(reached, known));
    return this.#counters.get(known);
  }
}

function sizeOf({ spec }: PooledSlice): number {
  return 1 + (spec.devices?.length ?? 0);
}

function newestOf(slices: readonly PooledSlice[]): number {
  return slices.reduce((most, { generation }) => Math.max(most, generation), Number.NEGATIVE_INFINITY);
}

/** Undefined for devices of one name, and for those with quantities that are none. */
function devicesOf(slices: readonly PooledSlice[]): readonly PooledDevice[] | undefined {
  const sorted = slices.filter(({ hasCounters }) => !hasCounters).sort((a, b) => compareTexts(a.name, b.name));
  const devices: PooledDevice[] = [];
  for (const slice of sorted) {
    if (slice.devices === undefined) return undefined;
    devices.push(...slice.devices);
  }
  return new Set(devices.map(({ given }) => given.name)).size === devices.length ? devices : undefined;
}

/** Undefined for two sets of one name, and for devices that use counters which are not there. */
function readCounters(reached: readonly PooledSlice[], known: readonly PooledSlice[]): PoolCounters | undefined {
  const sets = new Set<string>();
  const sizes = new Map<string, bigint>();
  for (const { name: set, counters } of reached.flatMap(({ spec }) => spec.sharedCounters ?? [])) {
    if (sets.has(set)) return undefined;
    sets.add(set);
    for (const [name, { value }] of Object.entries(counters ?? {})) {
      const size = amountOrNone(value);
      if (size === undefined) return undefined;
      sizes.set(counterKey(set, name), size.nano);
    }
  }
  const uses = known.flatMap(({ spec }) => spec.devices ?? []).flatMap(({ consumesCounters }) => consumesCounters ?? []);
  for (const { counterSet, counters } of uses) {
    if (!sets.has(counterSet)) return undefined;
    if (!Object.keys(counters ?? {}).every((name) => sizes.has(counterKey(counterSet, name)))) return undefined;
  }
  return { sizes, users: known.filter(({ hasCounters }) => !hasCounters) };
}

/** A slice with the pool that it is of. */
type PlacedSlice = readonly [source: PoolSource, slice: PooledSlice];

/**
 * The pools of a cluster, and what each node reaches of them. What was built is kept: a slice that changes, comes or goes makes its own pool
 * be built anew, and no other.
 */
export class SlicePools {
  readonly #sources = new Map<string, PoolSource>();
  readonly #placed = new Map<ResourceSlice, PlacedSlice>();
  /** Slices of one node each, by its name. */
  readonly #ofNode = new Map<string, Set<PlacedSlice>>();
  /** Slices whose selectors have to be asked for each node. */
  readonly #selective = new Set<PlacedSlice>();
  #sortedSelective: readonly PlacedSlice[] | undefined;
  readonly #everywhere = new Map<PoolSource, SlicePool>();
  #sortedEverywhere: readonly SlicePool[] | undefined;
  /** Pools of which it is not known any more what every node reaches. */
  readonly #changed = new Set<PoolSource>();
  #nextIndex = 0;

  constructor(slices: readonly ResourceSlice[]) {
    for (const slice of slices) this.change(undefined, slice);
  }

  /** How much is kept: the pools, and for each what was built for the nodes that reach the same slices. */
  get kept(): number {
    return Array.from(this.#sources.values(), ({ kept }) => 1 + kept).reduce((sum, kept) => sum + kept, 0);
  }

  /**
   * A slice was added, is gone, or has changed: then the new one has the place of the other among all slices. Throws Error for a slice that was
   * not there, and for one that cannot be read: what it knows is of no use then.
   */
  change(before: ResourceSlice | undefined, after: ResourceSlice | undefined): void {
    const index = before === undefined ? this.#nextIndex++ : this.#remove(before);
    if (after !== undefined) this.#add(after, new PooledSlice(after, index));
  }

  #add(given: ResourceSlice, slice: PooledSlice): void {
    const source = this.#sourceOf(slice);
    const placed: PlacedSlice = [source, slice];
    this.#placed.set(given, placed);
    source.add(slice);
    this.#noteChange(source);
    if (!slice.saysNodes || slice.isEverywhere) return;
    if (slice.isOwn) {
      const { nodeName = '' } = slice.spec;
      const ofNode = this.#ofNode.get(nodeName) ?? new Set();
      this.#ofNode.set(nodeName, ofNode.add(placed));
      return;
    }
    this.#selective.add(placed);
    this.#sortedSelective = undefined;
  }

  /** Answers with the place that the slice had. */
  #remove(given: ResourceSlice): number {
    const placed = this.#placed.get(given);
    if (placed === undefined) throw new RangeError('a slice that is not there');
    const [source, slice] = placed;
    this.#placed.delete(given);
    source.delete(slice);
    if (source.isEmpty) this.#sources.delete(sourceKey(slice));
    this.#noteChange(source);
    if (this.#selective.delete(placed)) this.#sortedSelective = undefined;
    const { nodeName = '' } = slice.spec;
    const ofNode = this.#ofNode.get(nodeName);
    ofNode?.delete(placed);
    if (ofNode?.size === 0) this.#ofNode.delete(nodeName);
    return slice.index;
  }

  /** The pool has changed: what every node reaches of it is found out anew. */
  #noteChange(source: PoolSource): void {
    this.#everywhere.delete(source);
    this.#sortedEverywhere = undefined;
    if (source.isEverywhere) this.#changed.add(source);
    else this.#changed.delete(source);
  }

  /**
   * The pools that a node reaches, in the order in which they are looked through. What has neither devices nor faults is left out.
   * Throws DeviceAllocationError for a selector that breaks a rule.
   */
  reachedBy(node: WireNode): readonly SlicePool[] {
    const reached = new Map<PoolSource, PooledSlice[]>();
    const local = this.#ofNode.get(node.metadata?.name ?? '') ?? [];
    for (const [source, slice] of local) listIn(reached, source).push(slice);
    this.#sortedSelective ??= [...this.#selective].sort(([, a], [, b]) => a.index - b.index);
    for (const [source, slice] of this.#sortedSelective) {
      if (isReached(slice, node)) listIn(reached, source).push(slice);
    }
    const everywhere = this.#poolsEverywhere();
    if (reached.size === 0) return everywhere;
    const pools = everywhere.filter(({ source }) => !reached.has(source));
    for (const [source, slices] of reached) {
      const pool = source.poolOf(inOrder([...slices, ...source.everywhere]));
      if (isOfUse(pool)) pools.push(pool);
    }
    return pools.sort(comparePools);
  }

  #poolsEverywhere(): readonly SlicePool[] {
    for (const source of this.#changed) {
      const pool = source.poolOf(source.everywhere);
      if (isOfUse(pool)) this.#everywhere.set(source, pool);
    }
    this.#changed.clear();
    this.#sortedEverywhere ??= [...this.#everywhere.values()].sort(comparePools);
    return this.#sortedEverywhere;
  }

  #sourceOf(slice: PooledSlice): PoolSource {
    const key = sourceKey(slice);
    const known = this.#sources.get(key);
    if (known !== undefined) return known;
    const { driver, pool } = slice.spec;
    const made = new PoolSource(driver, pool.name);
    this.#sources.set(key, made);
    return made;
  }
}

function sourceKey({ spec: { driver, pool } }: PooledSlice): string {
  return `${driver}/${pool.name}`;
}

function isOfUse(pool: SlicePool | undefined): pool is SlicePool {
  return pool !== undefined && (pool.state !== 'whole' || pool.devices.length > 0);
}

function listIn<Key, Item>(lists: Map<Key, Item[]>, key: Key): Item[] {
  const known = lists.get(key);
  if (known !== undefined) return known;
  const made: Item[] = [];
  lists.set(key, made);
  return made;
}

/** The node's own slices come first, then all others as they are given. */
function inOrder(slices: readonly PooledSlice[]): readonly PooledSlice[] {
  return slices.toSorted((a, b) => Number(b.isOwn) - Number(a.isOwn) || a.index - b.index);
}

function isReached(slice: PooledSlice, node: WireNode): boolean {
  try {
    return slice.isReachedBy(node);
  } catch (error) {
    const message = `gather pool information: failed to perform node selection for slice ${slice.name}: ${errorText(error)}`;
    throw new DeviceAllocationError('claims', message, { cause: error });
  }
}

/** Pools with binding conditions come last: what needs no waiting is taken first. */
function comparePools(a: SlicePool, b: SlicePool): number {
  const [first, second] = [a.source, b.source];
  const byConditions = Number(a.hasBindingConditions) - Number(b.hasBindingConditions);
  return byConditions || compareTexts(first.driver, second.driver) || compareTexts(first.name, second.name);
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
