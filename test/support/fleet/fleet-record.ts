import type { WireLease, WireNode, WirePod, WirePodStatus } from '../../../src/api/json/types.ts';
import type { AuditedWrite } from './audit-log.ts';
import type { CloudCall, CloudPod } from './cloud.ts';
import { cloudVersionOf } from './cloud-provider.ts';
import type { EtcdVersion } from './etcd-versions.ts';

export interface ContainerRecord {
  readonly restartCount: number;
  /** RFC 3339; of the run that runs, or has ended. */
  readonly startedAt: string | undefined;
}

/** What is wanted of a pod's status. */
export interface PodRecord {
  readonly uid: string;
  readonly nodeName: string;
  readonly phase: string;
  readonly startTime: string | undefined;
  /** The version of the cloud's pod that the status was made from. */
  readonly cloudVersion: number | undefined;
  readonly isDeleting: boolean;
  readonly containers: Readonly<Record<string, ContainerRecord>>;
}

interface VersionOf<Kind extends string> {
  readonly kind: Kind;
  readonly revision: number;
  readonly namespace: string;
  readonly name: string;
}

/** One version of an object of the fleet, as etcd has it. */
export type FleetVersion =
  | (VersionOf<'pod'> & { readonly pod: PodRecord | undefined })
  /** `ready`: the status of the Ready condition; undefined where there is none. */
  | (VersionOf<'node'> & { readonly ready: string | undefined; readonly isThere: boolean })
  | (VersionOf<'node lease'> & { readonly isThere: boolean })
  /** `holder`: the id of a member; empty where it is held by nobody. */
  | (VersionOf<'shard lease'> & { readonly shard: number; readonly holder: string })
  /** `about`: the name of the node, or the uid of the pod. */
  | (VersionOf<'event'> & { readonly about: string });

/** How a member left, or was hindered, as whoever did it says. */
export interface Departure {
  readonly member: string;
  readonly how: 'stopped' | 'killed' | 'paused' | 'cut off';
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Everything that the judge looks at. */
export interface FleetRecord {
  readonly fleet: string;
  readonly shards: number;
  readonly leaseDurationMs: number;
  /** In the order in which etcd took them. */
  readonly versions: readonly FleetVersion[];
  readonly writes: readonly AuditedWrite[];
  readonly departures: readonly Departure[];
  readonly ledger: readonly CloudCall[];
  /** The cloud's pods at the end, when all was calm. */
  readonly cloudPods: readonly Readonly<CloudPod>[];
}

const nodeLeases = 'kube-node-lease';
export const recordedKeys = ['pods/', 'minions/', 'leases/', 'events/'];

/** What of a version matters; undefined for an object that is not the fleet's. */
export function fleetVersion(fleet: string, { revision, key, object }: EtcdVersion): FleetVersion | undefined {
  const [kind = '', ...path] = key.split('/');
  const name = path.at(-1) ?? '';
  const place = { revision, name, namespace: path.length > 1 ? (path[0] ?? '') : '' };
  switch (kind) {
    case 'pods':
      return { kind: 'pod', ...place, pod: object === undefined ? undefined : podRecord(object as WirePod) };
    case 'minions': {
      const { status } = (object ?? {}) as WireNode;
      const ready = status?.conditions?.find(({ type }) => type === 'Ready')?.status;
      return { kind: 'node', ...place, ready, isThere: object !== undefined };
    }
    case 'leases': {
      if (place.namespace === nodeLeases) return { kind: 'node lease', ...place, isThere: object !== undefined };
      const shard = name.startsWith(`fleet-${fleet}-shard-`) ? Number(name.split('-').at(-1)) : undefined;
      const identity = (object as WireLease | undefined)?.spec?.holderIdentity ?? '';
      return shard === undefined ? undefined : { kind: 'shard lease', ...place, shard, holder: memberOf(identity) };
    }
    case 'events':
      return { kind: 'event', ...place, about: subjectOf(object) };
    default:
      return undefined;
  }
}

/** A holder is the id of a member, and what tells processes of one id apart. */
function memberOf(identity: string): string {
  return identity.replace(/_[^_]*$/, '');
}

function podRecord({ metadata, spec, status }: WirePod): PodRecord {
  return {
    uid: metadata?.uid ?? '',
    nodeName: spec?.nodeName ?? '',
    phase: status?.phase ?? '',
    startTime: status?.startTime,
    cloudVersion: cloudVersionOf(status?.message),
    isDeleting: metadata?.deletionTimestamp !== undefined,
    containers: containersOf(status),
  };
}

function containersOf(status: WirePodStatus | undefined): Record<string, ContainerRecord> {
  const records = (status?.containerStatuses ?? []).map(({ name, restartCount, state }) => {
    const startedAt = state?.running?.startedAt ?? state?.terminated?.startedAt;
    return [name, { restartCount, startedAt }] as const;
  });
  return Object.fromEntries(records);
}

function subjectOf(object: unknown): string {
  const { involvedObject, regarding } = (object ?? {}) as Record<string, { kind?: string; name?: string; uid?: string }>;
  const subject = involvedObject ?? regarding;
  return (subject?.kind === 'Node' ? subject.name : subject?.uid) ?? '';
}
