import type { WirePod } from '../../../src/api/json/types.ts';
import { deviceKey, type ResourceClaim } from '../../../src/scheduler/devices/device-types.ts';
import type { EtcdVersion } from '../fleet/etcd-versions.ts';

export interface StoredDeviceClaim {
  readonly uid: string;
  readonly isAllocated: boolean;
  /** The devices that are its own: none of admin access. */
  readonly devices: readonly string[];
  /** The only node where they can be had; empty: everywhere. */
  readonly nodeName: string;
  /** The uids of pods. */
  readonly reservedFor: readonly string[];
}

export interface StoredClaimingPod {
  readonly uid: string;
  readonly nodeName: string;
  readonly phase: string;
  /** The names of its claims, those from templates too, as `NAMESPACE/NAME`. */
  readonly claims: readonly string[];
  /** How many it has: one from a template has no name until it is made. */
  readonly claimCount: number;
}

interface VersionOf<Kind extends string, Stored> {
  readonly kind: Kind;
  readonly revision: number;
  /** `NAMESPACE/NAME`. */
  readonly name: string;
  /** Undefined where it was deleted. */
  readonly object: Stored | undefined;
}

/** One version of an object, as etcd has it. */
export type DeviceClaimVersion = VersionOf<'claim', StoredDeviceClaim> | VersionOf<'pod', StoredClaimingPod>;

export const deviceClaimKeys: readonly string[] = ['resourceclaims/', 'pods/'];

/** What of a version matters. */
export function deviceClaimVersion({ revision, key, object }: EtcdVersion): DeviceClaimVersion {
  const [resource = '', ...path] = key.split('/');
  const place = { revision, name: path.join('/') };
  if (resource === 'pods') return { kind: 'pod', ...place, object: object === undefined ? undefined : podOf(object as WirePod) };
  return { kind: 'claim', ...place, object: object === undefined ? undefined : storedDeviceClaim(object as ResourceClaim) };
}

export function storedDeviceClaim({ metadata, status }: ResourceClaim): StoredDeviceClaim {
  const { allocation } = status ?? {};
  const own = (allocation?.devices?.results ?? []).filter(({ adminAccess }) => adminAccess !== true);
  const fields = allocation?.nodeSelector?.nodeSelectorTerms?.flatMap(({ matchFields = [] }) => matchFields) ?? [];
  return {
    uid: metadata?.uid ?? '',
    isAllocated: allocation != null,
    devices: own.map(deviceKey),
    nodeName: fields.find(({ key }) => key === 'metadata.name')?.values?.[0] ?? '',
    reservedFor: (status?.reservedFor ?? []).map(({ uid }) => uid),
  };
}

function podOf({ metadata, spec, status }: WirePod): StoredClaimingPod {
  const made = new Map((status?.resourceClaimStatuses ?? []).map((one) => [one.name, one.resourceClaimName]));
  const claims = spec?.resourceClaims ?? [];
  const names = claims.flatMap(({ name, resourceClaimName }) => resourceClaimName ?? made.get(name) ?? []);
  return {
    uid: metadata?.uid ?? '',
    nodeName: spec?.nodeName ?? '',
    phase: status?.phase ?? '',
    claims: names.map((name) => `${metadata?.namespace}/${name}`),
    claimCount: claims.length,
  };
}
