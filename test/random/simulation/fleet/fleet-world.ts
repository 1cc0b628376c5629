import type { WireLease } from '../../../../src/api/json/types.ts';
import { shardOf } from '../../../../src/fleet/placement.ts';
import type { Prng } from '../../chaos/prng.ts';
import type { StoreEvent } from '../parts/simulated-objects.ts';
import type { SimulatedClock } from '../simulated-clock.ts';
import { epochMs } from '../simulated-server.ts';
import { ChangingPods } from './changing-pods.ts';
import { FleetObjects } from './fleet-objects.ts';
import { FleetPods } from './fleet-pods.ts';
import type { FleetFound } from './fleet-rules.ts';
import { FleetStorm, fairWeather } from './fleet-storm.ts';
import type { FleetBreakage } from './mutants.ts';
import { holds, OwnershipJudge } from './ownership-judge.ts';
import { PodStates } from './pod-states.ts';
import { SimulatedMember } from './simulated-member.ts';

export interface FleetWorldParts {
  readonly clock: SimulatedClock;
  readonly prng: Prng;
  readonly nodes: number;
  readonly podsPerNode: number;
  readonly shards: number;
  readonly found: FleetFound;
  readonly count: (what: string) => void;
  readonly countFault: (fault: string) => void;
  readonly breakage: FleetBreakage;
  readonly onLog: ((line: string) => void) | undefined;
}

export const fleetName = 'edge';
export const fleetNamespace = 'kube-system';
const lookEveryMs = 1000;
/** One pod of so many is not there when the run begins. */
const comesLater = 4;

/** A server with the Leases and the pods of a fleet, its members, the faults, and who judges them. */
export class FleetWorld {
  readonly #parts: FleetWorldParts;
  readonly #serverWeather = { ...fairWeather };
  readonly #objects: FleetObjects;
  readonly #judge: OwnershipJudge;
  readonly #table: FleetPods;
  readonly #states: PodStates;
  readonly pods: ChangingPods;
  readonly #nodesOf: readonly (readonly number[])[];
  readonly #holders = new Map<number, string>();
  readonly #unheldSince = new Map<number, number>();
  readonly #members = new Set<SimulatedMember>();
  #storm: FleetStorm | undefined;
  #ids = 0;
  #isLooking = true;
  /** How often the holder of a shard has changed. */
  #moves = 0;
  #leaseWrites = 0;

  constructor(parts: FleetWorldParts) {
    this.#parts = parts;
    const { clock, prng, nodes, podsPerNode, shards, found, count } = parts;
    this.#objects = new FleetObjects(clock, prng.fork('server'), this.#serverWeather);
    const shardOfNode = Array.from({ length: nodes }, (_, node) => shardOf(`node-${node}`, shards));
    const nodesOf: number[][] = Array.from({ length: shards }, () => []);
    for (const [node, shard] of shardOfNode.entries()) nodesOf[shard]?.push(node);
    this.#nodesOf = nodesOf;
    const isThere = (pod: number): boolean => pod % comesLater !== 0;
    this.#table = new FleetPods(nodes, podsPerNode, isThere);
    this.#states = new PodStates(podsPerNode, shardOfNode, isThere);
    const changes = { clock, prng: prng.fork('pods'), table: this.#table, states: this.#states, nodesOf, count };
    this.pods = new ChangingPods(changes);
    this.#judge = new OwnershipJudge({
      shards,
      found,
      nowMs: () => clock.elapsedMs,
      leaseOf: (shard) => this.leaseOf(shard),
      count,
    });
    this.#leases.watch((event) => this.#stored(event));
    this.#look();
  }

  /** The members whose processes live. */
  get living(): readonly SimulatedMember[] {
    return [...this.#members].filter(({ isDead }) => !isDead);
  }

  get moves(): number {
    return this.#moves;
  }

  /** Since when the Lease of a shard names nobody, by the number of the shard. */
  get unheld(): ReadonlyMap<number, number> {
    return this.#unheldSince;
  }

  get leaseWrites(): number {
    return this.#leaseWrites;
  }

  /** When the last write arrived that was long on its way, by true time. */
  get lateWriteAtMs(): number {
    return this.#objects.lateWriteAtMs;
  }

  leaseOf(shard: number): WireLease | undefined {
    const key = { namespace: fleetNamespace, name: `fleet-${fleetName}-shard-${String(shard).padStart(3, '0')}` };
    return this.#leases.has(key) ? (this.#leases.get(key) as WireLease) : undefined;
  }

  /** The id of the living member that holds the Lease of each shard; undefined where there is none. */
  owners(): readonly (string | undefined)[] {
    const { living } = this;
    return this.#nodesOf.map((_, shard) => living.find(({ id }) => holds(this.leaseOf(shard), id))?.id);
  }

  /** The shards that no living member serves. */
  unserved(): readonly number[] {
    const { living } = this;
    return this.#nodesOf.flatMap((_, shard) => (living.some((member) => member.serves(shard)) ? [] : [shard]));
  }

  /** A member begins; under an id that it had before, or under a new one. */
  begin(id = `m${++this.#ids}`, shards = this.#parts.shards): SimulatedMember {
    const { clock, prng, found, count, countFault, breakage, onLog } = this.#parts;
    count('member started');
    const random = prng.fork(`member ${id} at ${clock.elapsedMs}`);
    const member = new SimulatedMember({
      clock,
      prng: random,
      id,
      shards,
      wallMs: epochMs + random.between(-2000, 2000),
      objects: this.#objects,
      nodesOf: this.#nodesOf,
      table: this.#table,
      states: this.#states,
      judge: this.#judge,
      found,
      count,
      countFault,
      breakage,
      onLog,
    });
    this.#members.add(member);
    member.start();
    return member;
  }

  storm(): void {
    const { clock, prng, countFault } = this.#parts;
    this.#storm = new FleetStorm({
      clock,
      prng: prng.fork(`storm at ${clock.elapsedMs}`),
      members: () => this.living,
      serverWeather: this.#serverWeather,
      compact: () => this.#objects.compact(),
      count: countFault,
    });
  }

  calmDown(): void {
    this.#storm?.end();
  }

  end(): void {
    this.#isLooking = false;
    this.pods.end();
  }

  get #leases() {
    return this.#objects.target(`/apis/coordination.k8s.io/v1/namespaces/${fleetNamespace}/leases`).store;
  }

  #stored({ object }: StoreEvent): void {
    this.#leaseWrites++;
    const lease = object as WireLease;
    const shard = Number(/-shard-(\d+)$/.exec(lease.metadata?.name ?? '')?.[1] ?? Number.NaN);
    if (Number.isNaN(shard)) return;
    const holder = lease.spec?.holderIdentity ?? '';
    const before = this.#holders.get(shard) ?? '';
    if (holder === before) return;
    this.#holders.set(shard, holder);
    this.#moves++;
    if (holder === '') this.#unheldSince.set(shard, this.#parts.clock.elapsedMs);
    else this.#unheldSince.delete(shard);
    this.#parts.onLog?.(`${(this.#parts.clock.elapsedMs / 1000).toFixed(3)} Lease of shard ${shard}: "${before}" to "${holder}"`);
    const owner = [...this.#members].findLast(({ id }) => before === id || before.startsWith(`${id}_`));
    if (before !== '') this.#judge.holderChanged(shard, owner);
  }

  #look(): void {
    this.#parts.clock.schedule(() => {
      if (!this.#isLooking) return;
      this.#judge.look();
      this.#look();
    }, lookEveryMs);
  }
}
