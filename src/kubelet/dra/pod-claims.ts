// Behaviour of k8s.io/dynamic-resource-allocation/resourceclaim, and of GetResources in pkg/kubelet/cm/dra, v1.36.3.

import type { ResourceV1ResourceClaim } from '@kubernetes/client-node';
import type { Pod, Wire } from '../../api/json/types.ts';
import type { Container } from '../../api/pod/pod-containers.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import { isDraResource } from '../../base/names.ts';

/** A ResourceClaim as it stands in JSON. */
export type WireResourceClaim = Wire<ResourceV1ResourceClaim>;

/** A claim that a pod uses, by the name of its object. */
export interface UsedClaim {
  readonly name: string;
  /** True: it was made for this pod from a template, and must belong to it. */
  readonly isOwn: boolean;
}

/** A pod has at most so many claims. */
export const mostPodClaims = 256;

type PodClaim = NonNullable<NonNullable<Pod['spec']>['resourceClaims']>[number];

/** True where the pod asks for claims, or was given some for its extended resources. */
export function asksForClaims({ spec, status }: Pod): boolean {
  return Boolean(spec?.resourceClaims?.length) || Boolean(status?.extendedResourceClaimStatus);
}

/** The claims that the pod uses, each once. Throws for one whose object is not known yet. */
export function claimsOfPod(pod: Pod): readonly UsedClaim[] {
  const found = new Map<string, UsedClaim>();
  for (const podClaim of pod.spec?.resourceClaims ?? []) {
    const name = nameOf(pod, podClaim);
    if (name === undefined) continue;
    const isOwn = podClaim.resourceClaimName == null || found.get(name)?.isOwn === true;
    found.set(name, { name, isOwn });
  }
  const extended = pod.status?.extendedResourceClaimStatus?.resourceClaimName;
  if (extended && !found.has(extended)) found.set(extended, { name: extended, isOwn: false });
  return [...found.values()];
}

/** The name of the claim's object; undefined where the pod needs none. */
function nameOf(pod: Pod, { name, resourceClaimName, resourceClaimTemplateName }: PodClaim): string | undefined {
  if (resourceClaimName != null) return resourceClaimName;
  const shown = `pod "${pod.metadata?.namespace}/${pod.metadata?.name}"`;
  if (resourceClaimTemplateName == null) {
    throw new Error(`${shown}, spec.resourceClaim ${JSON.stringify(name)}: none of the supported fields are set`);
  }
  const status = pod.status?.resourceClaimStatuses?.find((each) => each.name === name);
  if (status === undefined) throw new Error(`${shown}: ResourceClaim not created yet`);
  return status.resourceClaimName ?? undefined;
}

/** The name of the object of a claim that the pod has under this name; undefined where there is none, or none yet. */
export function claimObjectName({ spec, status }: Pod, name: string): string | undefined {
  const made = status?.resourceClaimStatuses?.find((each) => each.name === name)?.resourceClaimName;
  return made || (spec?.resourceClaims?.find((each) => each.name === name)?.resourceClaimName ?? undefined);
}

/** The requests that a container has of each claim, by the name of the claim's object. An empty text stands for all of them. */
export function requestsOfContainer(pod: Pod, container: Container): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  const add = (claimName: string, request: string): void => {
    found.set(claimName, [...(found.get(claimName) ?? []), request]);
  };
  const uses = container.resources?.claims ?? [];
  for (const podClaim of pod.spec?.resourceClaims ?? []) {
    const requests = uses.filter(({ name }) => name === podClaim.name).map(({ request }) => request ?? '');
    if (requests.length === 0) continue;
    const claimName = nameOf(pod, podClaim);
    if (claimName !== undefined) for (const request of requests) add(claimName, request);
  }
  const extended = pod.status?.extendedResourceClaimStatus;
  for (const { containerName, resourceName, requestName } of extended?.requestMappings ?? []) {
    const asked = container.resources?.requests?.[resourceName];
    if (containerName !== container.name || !isDraResource(resourceName) || !asked || Number(asked) === 0) continue;
    add(extended?.resourceClaimName ?? '', requestName);
  }
  return found;
}

/** Throws where the claim is not there for the pod to use, or nothing is given to it yet. */
export function requireUsable(pod: Pod, { name, isOwn }: UsedClaim, claim: WireResourceClaim): void {
  const { namespace, name: podName, uid } = pod.metadata ?? {};
  const controller = claim.metadata?.ownerReferences?.find((owner) => owner.controller === true);
  if (isOwn && controller?.uid !== podUIDOf(pod)) {
    const shown = `ResourceClaim ${claim.metadata?.namespace}/${name}`;
    throw new Error(`${shown} was not created for Pod ${namespace}/${podName} (Pod is not owner)`);
  }
  if (!claim.status?.reservedFor?.some((consumer) => consumer.uid === podUIDOf(pod))) {
    throw new Error(`pod ${podName} (${uid}) is not allowed to use ResourceClaim ${name} (${claim.metadata?.uid})`);
  }
  if (claim.status.allocation == null) throw new Error(`ResourceClaim ${name}: not allocated`);
}

/** The drivers that the claim has devices of. */
export function driversOf(claim: WireResourceClaim): ReadonlySet<string> {
  return new Set(claim.status?.allocation?.devices?.results?.map(({ driver }) => driver) ?? []);
}
