// Behaviour of component-helpers/storage/ephemeral, v0.36.3.

import type { Pod, WirePersistentVolumeClaim } from '../json/types.ts';
import type { SpecVolume } from './pod-containers.ts';
import { podUIDOf } from './pod-identity.ts';

/** The name of the claim that a pod's volume needs, in the pod's namespace; undefined for a volume that needs none. */
export function claimNameOf({ metadata }: Pod, { name, persistentVolumeClaim, ephemeral }: SpecVolume): string | undefined {
  if (persistentVolumeClaim != null) return persistentVolumeClaim.claimName;
  return ephemeral == null ? undefined : `${metadata?.name}-${name}`;
}

/** Why a claim is not the one that was made for an ephemeral volume of this pod; undefined where it is. */
export function whyNotOwnClaim(pod: Pod, { metadata: claim }: WirePersistentVolumeClaim): string | undefined {
  const { namespace, name } = pod.metadata ?? {};
  const owner = claim?.ownerReferences?.find(({ controller }) => controller === true);
  if (claim?.namespace === namespace && owner?.uid === podUIDOf(pod)) return undefined;
  return `PVC ${claim?.namespace}/${claim?.name} was not created for pod ${namespace}/${name} (pod is not owner)`;
}
