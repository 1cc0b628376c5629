import type { WirePersistentVolume, WirePersistentVolumeClaim, WirePod } from '../../../src/api/json/types.ts';
import type { EtcdVersion } from '../fleet/etcd-versions.ts';

/** The label of nodes, and of the nodes that a volume reaches. */
export const zoneLabel = 'topology.kubernetes.io/zone';

export interface StoredVolume {
  /** Of the claim that it belongs to; empty where it belongs to none. */
  readonly claimUid: string;
  readonly phase: string;
  /** Where it can be used; undefined: everywhere. */
  readonly zone: string | undefined;
}

export interface StoredClaim {
  readonly uid: string;
  readonly volumeName: string;
  /** True once who binds volumes has finished. */
  readonly isBound: boolean;
  readonly phase: string;
  /** For which its volume is to be made; empty where none was chosen. */
  readonly selectedNode: string;
}

export interface StoredPod {
  readonly uid: string;
  readonly nodeName: string;
  readonly phase: string;
  /** The names of its claims. */
  readonly claims: readonly string[];
}

interface VersionOf<Kind extends string, Stored> {
  readonly kind: Kind;
  readonly revision: number;
  /** `NAMESPACE/NAME`, or the name of a volume. */
  readonly name: string;
  /** Undefined where it was deleted. */
  readonly object: Stored | undefined;
}

/** One version of an object, as etcd has it. */
export type StorageVersion = VersionOf<'volume', StoredVolume> | VersionOf<'claim', StoredClaim> | VersionOf<'pod', StoredPod>;

/** Everything that the judge looks at. */
export interface StorageRecord {
  /** In the order in which etcd took them. */
  readonly versions: readonly StorageVersion[];
  readonly zoneOfNode: ReadonlyMap<string, string>;
  /** How many there are at the end. */
  readonly wanted: { readonly pods: number; readonly claims: number };
  /** The pods that the agent of each node has created, as `NAMESPACE/NAME`. */
  readonly created: ReadonlyMap<string, readonly string[]>;
}

export const storedKeys: readonly string[] = ['persistentvolumes/', 'persistentvolumeclaims/', 'pods/'];

/** What of a version matters. */
export function storageVersion({ revision, key, object }: EtcdVersion): StorageVersion {
  const [resource = '', ...path] = key.split('/');
  const place = { revision, name: path.join('/') };
  if (resource === 'pods') return { kind: 'pod', ...place, object: object === undefined ? undefined : podOf(object as WirePod) };
  if (resource === 'persistentvolumes') {
    return { kind: 'volume', ...place, object: object === undefined ? undefined : volumeOf(object as WirePersistentVolume) };
  }
  return { kind: 'claim', ...place, object: object === undefined ? undefined : claimOf(object as WirePersistentVolumeClaim) };
}

function volumeOf({ spec, status }: WirePersistentVolume): StoredVolume {
  const terms = spec?.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  const zone = terms.flatMap(({ matchExpressions = [] }) => matchExpressions).find(({ key }) => key === zoneLabel);
  return { claimUid: spec?.claimRef?.uid ?? '', phase: status?.phase ?? '', zone: zone?.values?.[0] };
}

function claimOf({ metadata, spec, status }: WirePersistentVolumeClaim): StoredClaim {
  const notes = metadata?.annotations ?? {};
  return {
    uid: metadata?.uid ?? '',
    volumeName: spec?.volumeName ?? '',
    isBound: 'pv.kubernetes.io/bind-completed' in notes,
    phase: status?.phase ?? '',
    selectedNode: notes['volume.kubernetes.io/selected-node'] ?? '',
  };
}

function podOf({ metadata, spec, status }: WirePod): StoredPod {
  const names = (spec?.volumes ?? []).flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? []);
  return {
    uid: metadata?.uid ?? '',
    nodeName: spec?.nodeName ?? '',
    phase: status?.phase ?? '',
    claims: names.map((name) => `${metadata?.namespace}/${name}`),
  };
}
