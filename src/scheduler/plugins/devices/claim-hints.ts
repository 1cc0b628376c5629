// Behaviour of EventsToRegister and its hints, dynamicresources.go, v1.36.3.
import { isDeepStrictEqual } from 'node:util';
import type { WirePod } from '../../../api/json/types.ts';
import type { ResourceClaim } from '../../devices/device-types.ts';
import type { ClusterEventWithHint, QueueingHint } from '../../framework/plugin.ts';
import { type ClaimsByName, usableClaimsOf } from './usable-claims.ts';

/** The changes that may help a pod which waits for its claims, or for devices. */
export function claimEvents(claims: ClaimsByName): readonly ClusterEventWithHint[] {
  return [
    { resource: 'Node', actions: ['Add', 'UpdateNodeLabel', 'UpdateNodeAllocatable'] },
    {
      resource: 'ResourceClaim',
      actions: ['Add', 'Update'],
      hint: (pod, before, after) =>
        claimHint(pod, before as ResourceClaim | undefined, after as unknown as ResourceClaim, claims),
    },
    {
      resource: 'Pod',
      actions: ['UpdatePodGeneratedResourceClaim'],
      hint: (pod, _before, after) => podHint(pod, after as WirePod | undefined, claims),
    },
    // a pod that gives its node back gives back the devices that it was to have
    { resource: 'Pod', actions: ['Delete'], hint: (_pod, before) => (hasClaims(before as WirePod) ? 'Queue' : 'Skip') },
    { resource: 'DeviceClass', actions: ['Add', 'Update'] },
    { resource: 'ResourceSlice', actions: ['Add', 'Update'] },
  ];
}

function hasClaims(pod: WirePod | undefined): boolean {
  return (pod?.spec?.resourceClaims ?? []).length > 0;
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
