// Behaviour of EventsToRegister and its hints, dynamicresources.go, v1.36.3.
import { isDeepStrictEqual } from 'node:util';
import type { WirePod } from '../../../api/json/types.ts';
import type { ResourceClaim } from '../../devices/device-types.ts';
import type { ClusterEventWithHint, QueueingHint } from '../../framework/plugin.ts';
import type { ResourceClasses } from '../resource-classes.ts';
import { extendedOwnerKey, extendedOwners } from './extended-needs.ts';
import { type ClaimsByName, usableClaimsOf } from './usable-claims.ts';

/** The changes that may help a pod which waits for its claims, or for devices. */
export function claimEvents(claims: ClaimsByName, classes: ResourceClasses): readonly ClusterEventWithHint[] {
  return [
    { resource: 'Node', actions: ['Add', 'UpdateNodeLabel', 'UpdateNodeAllocatable'] },
    {
      resource: 'ResourceClaim',
      actions: ['Add', 'Update'],
      hint: (pod, before, after) =>
        claimHint(pod, before as ResourceClaim | undefined, after as unknown as ResourceClaim, claims),
    },
    // a claim for extended resources goes with the devices that it has
    {
      resource: 'ResourceClaim',
      actions: ['Delete'],
      hint: (pod, before) => (isFreed(before as ResourceClaim | undefined, pod) ? 'Queue' : 'Skip'),
    },
    {
      resource: 'Pod',
      actions: ['UpdatePodGeneratedResourceClaim'],
      hint: (pod, _before, after) => podHint(pod, after as WirePod | undefined, claims),
    },
    // a pod that gives its node back gives back the devices that it was to have
    { resource: 'Pod', actions: ['Delete'], hint: (_pod, before) => (hasDevices(before as WirePod, classes) ? 'Queue' : 'Skip') },
    { resource: 'DeviceClass', actions: ['Add', 'Update'] },
    { resource: 'ResourceSlice', actions: ['Add', 'Update'] },
  ];
}

function hasDevices(pod: WirePod | undefined, classes: ResourceClasses): boolean {
  return (pod?.spec?.resourceClaims ?? []).length > 0 || (pod !== undefined && classes.areAskedBy(pod));
}

function isFreed(claim: ResourceClaim | undefined, pod: WirePod): boolean {
  if (claim === undefined) return false;
  return claim.status?.allocation != null || extendedOwners(claim).includes(extendedOwnerKey(pod));
}

function claimHint(pod: WirePod, before: ResourceClaim | undefined, after: ResourceClaim, claims: ClaimsByName): QueueingHint {
  const letsGo = before?.status?.allocation != null && after.status?.allocation == null;
  // every pod that waits is asked of every change: most are of claims that it cannot have
  if (!letsGo && after.metadata?.namespace !== pod.metadata?.namespace) return 'Skip';
  const usable = usableClaimsOf(pod, claims);
  if (typeof usable === 'string') return 'Skip';
  if (letsGo) return 'Queue';
  if (!usable.some(({ metadata }) => metadata?.uid === after.metadata?.uid)) return 'Skip';
  if (before === undefined) return 'Queue';
  return isDeepStrictEqual(before.status ?? {}, after.status ?? {}) ? 'Skip' : 'Queue';
}

function podHint(pod: WirePod, after: WirePod | undefined, claims: ClaimsByName): QueueingHint {
  if (after === undefined || after.metadata?.uid !== pod.metadata?.uid) return 'Skip';
  return typeof usableClaimsOf(after, claims) === 'string' ? 'Skip' : 'Queue';
}
