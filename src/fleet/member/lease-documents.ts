import type { WireLease } from '../../api/json/types.ts';

// The Leases of a fleet, as they lie on the apiserver: one for the fleet, one for each member, one for each shard.

const fleetLabel = 'pod-status-manager/fleet';
const roleLabel = 'pod-status-manager/fleet-role';
const shardsAnnotation = 'pod-status-manager/fleet-shards';
const takenAnnotation = 'pod-status-manager/fleet-shards-taken';
const stateAnnotation = 'pod-status-manager/fleet-state';
const agentAnnotation = 'pod-status-manager/fleet-agent';

export type LeaseRole = 'fleet' | 'member' | 'shard';

/** No Lease of a fleet lasts longer: one that says so counts as one of a day. */
export const longestDurationMs = 86_400_000;

/** What a fleet is called, and where its Leases lie. */
export interface FleetNames {
  readonly name: string;
  readonly namespace: string;
  readonly shards: number;
}

export function settingsLeaseName({ name }: FleetNames): string {
  return `fleet-${name}`;
}

export function memberLeaseName({ name }: FleetNames, id: string): string {
  return `fleet-${name}-member-${id}`;
}

/** `fleet-edge-shard-017`: three digits, or more where there are more than a thousand shards. */
export function shardLeaseName({ name }: FleetNames, shard: number): string {
  return `fleet-${name}-shard-${String(shard).padStart(3, '0')}`;
}

/** What selects the Leases of the fleet. */
export function fleetSelector({ name }: FleetNames): string {
  return `${fleetLabel}=${name}`;
}

/** The number of the shard; undefined for a Lease of another name. */
export function shardOfLease(names: FleetNames, lease: WireLease): number | undefined {
  const prefix = `fleet-${names.name}-shard-`;
  const leaseName = lease.metadata?.name ?? '';
  if (!leaseName.startsWith(prefix)) return undefined;
  const shard = Number(leaseName.slice(prefix.length));
  return Number.isInteger(shard) && shard >= 0 && shardLeaseName(names, shard) === leaseName ? shard : undefined;
}

/** The id of the member; undefined for a Lease of another name. */
export function memberOfLease({ name }: FleetNames, lease: WireLease): string | undefined {
  const prefix = `fleet-${name}-member-`;
  const leaseName = lease.metadata?.name ?? '';
  return leaseName.startsWith(prefix) ? leaseName.slice(prefix.length) : undefined;
}

/** False for a name of a fleet with which one of its Leases could have the name of one of another fleet. */
export function isOwnFleetName(name: string): boolean {
  return !/.-(member|shard)(-|$)/.test(name);
}

/** False for a Lease that has the label of the fleet, and none of its names. */
export function isOfFleet(names: FleetNames, lease: WireLease): boolean {
  const isSettings = lease.metadata?.name === settingsLeaseName(names);
  return isSettings || shardOfLease(names, lease) !== undefined || memberOfLease(names, lease) !== undefined;
}

export function roleOf(lease: WireLease): string | undefined {
  return lease.metadata?.labels?.[roleLabel];
}

/** The Lease with the labels by which the members of the fleet find it. */
export function labelled(lease: WireLease, { name }: FleetNames, role: LeaseRole): WireLease {
  const { metadata } = lease;
  return { ...lease, metadata: { ...metadata, labels: { ...metadata?.labels, [fleetLabel]: name, [roleLabel]: role } } };
}

/** What a member says of itself in its Lease. */
export interface MemberMarks {
  readonly isLeaving: boolean;
  /** The process and its host. */
  readonly agent: string | undefined;
  /** How many shards the member counts with; undefined where the Lease does not say. */
  readonly shards: number | undefined;
}

export function withMemberMarks(lease: WireLease, { isLeaving, agent, shards }: MemberMarks): WireLease {
  const { metadata } = lease;
  const annotations = {
    ...metadata?.annotations,
    [stateAnnotation]: isLeaving ? 'leaving' : 'active',
    ...(agent !== undefined && { [agentAnnotation]: agent }),
    ...(shards !== undefined && { [shardsAnnotation]: String(shards) }),
  };
  return { ...lease, metadata: { ...metadata, annotations } };
}

export function memberMarks(lease: WireLease | undefined): MemberMarks {
  const annotations = lease?.metadata?.annotations ?? {};
  return {
    isLeaving: annotations[stateAnnotation] === 'leaving',
    agent: annotations[agentAnnotation]?.slice(0, longestAgent),
    shards: shardsOf(lease),
  };
}

/** So much of what a member says of its process is shown, in characters. */
const longestAgent = 256;

/** Of a shard: its owner has it, and its nodes do not run there yet. */
const startingState = 'starting';

/** The Lease of a shard whose nodes start, or run. */
export function withNodes(lease: WireLease, areStarting: boolean): WireLease {
  const { [stateAnnotation]: before, ...others } = lease.metadata?.annotations ?? {};
  if (!areStarting && before === undefined) return lease;
  return {
    ...lease,
    metadata: { ...lease.metadata, annotations: { ...others, ...(areStarting && { [stateAnnotation]: startingState }) } },
  };
}

/** True for the Lease of a shard whose owner says that its nodes still start. */
export function areNodesStarting(lease: WireLease | undefined): boolean {
  return lease?.metadata?.annotations?.[stateAnnotation] === startingState;
}

/** The number of shards of the fleet, and with `areAllTaken` that each of them has had a Lease. What it said of another number says nothing of this one. */
export function withShards(lease: WireLease, shards: number, areAllTaken = false): WireLease {
  const { metadata } = lease;
  const text = String(shards);
  const annotations = {
    ...metadata?.annotations,
    [shardsAnnotation]: text,
    ...(areAllTaken && { [takenAnnotation]: text }),
  };
  return { ...lease, metadata: { ...metadata, annotations } };
}

/** The number of shards that a Lease names; undefined where it names none. */
export function shardsOf(lease: WireLease | undefined): number | undefined {
  return countIn(lease, shardsAnnotation);
}

/** The number of shards of which each has had a Lease; undefined where none is named. */
export function takenShardsOf(lease: WireLease | undefined): number | undefined {
  return countIn(lease, takenAnnotation);
}

function countIn(lease: WireLease | undefined, annotation: string): number | undefined {
  const count = Number(lease?.metadata?.annotations?.[annotation] ?? Number.NaN);
  return Number.isInteger(count) && count > 0 ? count : undefined;
}

/**
 * Who holds a Lease is the id of a member and a part that no other process has: a process that was started again under an id is
 * another holder.
 */
export function identityOf(id: string, process: string): string {
  return `${id}_${process}`;
}

/** The id of the member in the name of a holder. */
export function idOf(identity: string): string {
  const end = identity.lastIndexOf('_');
  return end === -1 ? identity : identity.slice(0, end);
}

/** True for the Lease of a member that one of its processes holds. A copy under another name is none. */
export function isHeldByMember(lease: WireLease | undefined, id: string): boolean {
  return idOf(lease?.spec?.holderIdentity ?? '') === id;
}

/** How one came to a shard whose Lease was `base`. */
export function gainReason(base: WireLease | undefined, identity: string): 'free' | 'handed_over' | 'run_out' {
  const holder = base?.spec?.holderIdentity ?? '';
  if (base === undefined || holder === identity) return 'free';
  return holder === '' ? 'handed_over' : 'run_out';
}
