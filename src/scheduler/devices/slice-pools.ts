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

/** All slices of a pool, of whatever generation and for whatever node. */
export class PoolSource {
  readonly driver: string;
  readonly name: string;
  readonly #slices: PooledSlice[] = [];
  readonly #everywhere: PooledSlice[] = [];
  /** What was built of slices that several nodes reach, by their places. */
  readonly #built = new Map<string, SlicePool | undefined>();
  readonly #generations = new Map<number, readonly PooledSlice[]>();
  /** Undefined for counters that are used or named wrongly. */
  readonly #counters = new Map<readonly PooledSlice[], PoolCounters | undefined>();

  constructor(driver: string, name: string) {
    this.driver = driver;
    this.name = name;
  }

  /** All are added before a pool is built. */
  add(slice: PooledSlice): void {
    this.#slices.push(slice);
    if (slice.isEverywhere) this.#everywhere.push(slice);
  }

  /** The slices that reach every node, in their order. */
  get everywhere(): readonly PooledSlice[] {
    return this.#everywhere;
  }

  /** The pool of the slices that a node reaches, in their order. Undefined where they are out of date. */
  poolOf(slices: readonly PooledSlice[]): SlicePool | undefined {
    if (slices.some(({ isOwn }) => isOwn)) return this.#build(slices);
    const key = slices.map(({ index }) => index).join(' ');
    if (!this.#built.has(key)) this.#built.set(key, this.#build(slices));
    return this.#built.get(key);
  }

  #build(reached: readonly PooledSlice[]): SlicePool | undefined {
    const generation = newestOf(reached);
    const slices = reached.filter((slice) => slice.generation === generation);
    const count = slices[0]?.spec.pool.resourceSliceCount ?? 0;
    let known: readonly PooledSlice[] = slices;
    if (slices.length !== count) {
      if (newestOf(this.#slices) > generation) return undefined;
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
    const found = this.#slices.filter((slice) => slice.generation === generation);
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

/** The pools of a cluster, and what each node reaches of them. */
export class SlicePools {
  readonly #sources = new Map<string, PoolSource>();
  /** Slices of one node each, by its name. */
  readonly #ofNode = new Map<string, [PoolSource, PooledSlice][]>();
  /** Slices whose selectors have to be asked for each node. */
  readonly #selective: [PoolSource, PooledSlice][] = [];
  #everywhere: readonly SlicePool[] | undefined;

  constructor(slices: readonly ResourceSlice[]) {
    for (const [index, given] of slices.entries()) {
      const slice = new PooledSlice(given, index);
      const source = this.#sourceOf(slice);
      source.add(slice);
      if (!slice.saysNodes || slice.isEverywhere) continue;
      if (slice.isOwn) listIn(this.#ofNode, slice.spec.nodeName ?? '').push([source, slice]);
      else this.#selective.push([source, slice]);
    }
  }

  /**
   * The pools that a node reaches, in the order in which they are looked through. What has neither devices nor faults is left out.
   * Throws DeviceAllocationError for a selector that breaks a rule.
   */
  reachedBy(node: WireNode): readonly SlicePool[] {
    const reached = new Map<PoolSource, PooledSlice[]>();
    const local = this.#ofNode.get(node.metadata?.name ?? '') ?? [];
    for (const [source, slice] of local) listIn(reached, source).push(slice);
    for (const [source, slice] of this.#selective) {
      if (isReached(slice, node)) listIn(reached, source).push(slice);
    }
    this.#everywhere ??= this.#poolsEverywhere();
    if (reached.size === 0) return this.#everywhere;
    const pools = this.#everywhere.filter(({ source }) => !reached.has(source));
    for (const [source, slices] of reached) {
      const pool = source.poolOf(inOrder([...slices, ...source.everywhere]));
      if (pool !== undefined && (pool.state !== 'whole' || pool.devices.length > 0)) pools.push(pool);
    }
    return pools.sort(comparePools);
  }

  #poolsEverywhere(): readonly SlicePool[] {
    const pools = [...this.#sources.values()].flatMap((source) => {
      const pool = source.everywhere.length === 0 ? undefined : source.poolOf(source.everywhere);
      return pool === undefined || (pool.state === 'whole' && pool.devices.length === 0) ? [] : [pool];
    });
    return pools.sort(comparePools);
  }

  #sourceOf({ spec: { driver, pool } }: PooledSlice): PoolSource {
    const id = `${driver}/${pool.name}`;
    const known = this.#sources.get(id);
    if (known !== undefined) return known;
    const made = new PoolSource(driver, pool.name);
    this.#sources.set(id, made);
    return made;
  }
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
