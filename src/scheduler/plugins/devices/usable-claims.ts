// Behaviour of k8s.io/dynamic-resource-allocation/resourceclaim, v0.36.3, and of foreachPodResourceClaim, v1.36.3.
import type { WirePod } from '../../../api/json/types.ts';
import type { ResourceClaim } from '../../devices/device-types.ts';

/** Where claims are looked up. */
export interface ClaimsByName {
  get(namespace: string | undefined, name: string): ResourceClaim | undefined;
}

type PodClaim = NonNullable<NonNullable<WirePod['spec']>['resourceClaims']>[number];

/** The name of a claim's object; undefined where none was made, and none is needed. */
interface ClaimName {
  readonly name: string | undefined;
  /** True: it was made for this pod from a template, and must belong to it. */
  readonly isOwn: boolean;
}

/** No server bounds them, and each is looked at for each node. */
const mostClaims = 256;

/** The claims of a pod, each once, in the order of its spec; a text says why one of them cannot be used. */
export function usableClaimsOf(pod: WirePod, claims: ClaimsByName): readonly ResourceClaim[] | string {
  const podClaims = pod.spec?.resourceClaims ?? [];
  if (podClaims.length > mostClaims)
    return `pod ${JSON.stringify(podKey(pod))} has ${podClaims.length} claims, and no more than ${mostClaims} are looked at`;
  const found = new Map<string, ResourceClaim>();
  for (const podClaim of podClaims) {
    const named = claimNameOfPod(pod, podClaim);
    if (typeof named === 'string') return named;
    if (named.name === undefined) continue;
    const namespace = pod.metadata?.namespace;
    const claim = claims.get(namespace, named.name);
    if (claim === undefined) return `could not find ResourceClaim ${JSON.stringify(`${namespace ?? ''}/${named.name}`)}`;
    if (claim.metadata?.deletionTimestamp != null) return `resourceclaim ${JSON.stringify(named.name)} is being deleted`;
    if (named.isOwn && !isOwnedBy(claim, pod)) {
      const names = `ResourceClaim ${claimKey(claim)} was not created for Pod ${podKey(pod)}`;
      return `${names} (Pod is not owner)`;
    }
    found.set(named.name, claim);
  }
  return [...found.values()];
}

/** A text says why there is no name. */
function claimNameOfPod(pod: WirePod, podClaim: PodClaim): ClaimName | string {
  const { name, resourceClaimName, resourceClaimTemplateName } = podClaim;
  if (resourceClaimName != null) return { name: resourceClaimName, isOwn: false };
  const shown = `pod ${JSON.stringify(podKey(pod))}`;
  if (resourceClaimTemplateName == null)
    return `${shown}, spec.resourceClaim ${JSON.stringify(name)}: none of the supported fields are set`;
  const status = pod.status?.resourceClaimStatuses?.find((each) => each.name === name);
  if (status === undefined) return `${shown}: ResourceClaim not created yet`;
  return { name: status.resourceClaimName ?? undefined, isOwn: true };
}

function isOwnedBy({ metadata }: ResourceClaim, pod: WirePod): boolean {
  const controller = metadata?.ownerReferences?.find((owner) => owner.controller === true);
  return controller !== undefined && controller.uid === pod.metadata?.uid;
}

/** True where the claim names the pod among those that it is reserved for. */
export function isReservedFor({ status }: ResourceClaim, podUID: string): boolean {
  return (status?.reservedFor ?? []).some(({ uid }) => uid === podUID);
}

/** `namespace/name`. */
export function claimKey({ metadata }: ResourceClaim): string {
  return `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`;
}

/** So many are named in a message. */
const mostNamed = 3;

/** `d/a, d/b and 2 more`. */
export function namesOfClaims(claims: readonly ResourceClaim[]): string {
  const shown = claims.slice(0, mostNamed).map(claimKey).join(', ');
  return claims.length > mostNamed ? `${shown} and ${claims.length - mostNamed} more` : shown;
}

function podKey({ metadata }: WirePod): string {
  return `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`;
}
