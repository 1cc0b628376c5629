// Behaviour of k8s.io/component-helpers/apimachinery/lease newLease and pkg/kubelet/util SetNodeOwnerFunc, v0.36.3.
import type { WireLease } from '../../api/json/types.ts';

export const leaseNamespace = 'kube-node-lease';

export interface LeaseContents {
  readonly nodeName: string;
  readonly nodeUID: string | undefined;
  readonly holderIdentity: string;
  readonly leaseDurationSeconds: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** The Lease to write: a new one, or `base` renewed. What others put into it stays, owners but the node included. */
export function renewedLease(base: WireLease | undefined, contents: LeaseContents): WireLease {
  const { nodeName, nodeUID, holderIdentity, leaseDurationSeconds, now } = contents;
  const { metadata, spec } = base ?? {};
  return {
    ...base,
    metadata: {
      ...metadata,
      name: nodeName,
      namespace: leaseNamespace,
      ...ownerReferences(metadata?.ownerReferences ?? [], nodeName, nodeUID),
    },
    spec: { ...spec, holderIdentity, leaseDurationSeconds, renewTime: microTime(now) },
  };
}

/** A node that was created again is another owner: by the old one the garbage collector would remove the Lease. */
function ownerReferences(
  owners: NonNullable<WireLease['metadata']>['ownerReferences'] & object,
  nodeName: string,
  uid: string | undefined,
): Pick<NonNullable<WireLease['metadata']>, 'ownerReferences'> {
  if (uid === undefined) return {};
  const others = owners.filter(({ kind, name }) => kind !== 'Node' || name !== nodeName);
  return { ownerReferences: [...others, { apiVersion: 'v1', kind: 'Node', name: nodeName, uid }] };
}

/** RFC 3339 with six digits of a second, as Leases have it. */
function microTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z');
}
