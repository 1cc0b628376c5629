// Behaviour of GetContainerClaimInfos in pkg/kubelet/cm/dra/manager.go, v1.36.3.

import type { Pod } from '../../api/json/types.ts';
import type { Container } from '../../api/pod/pod-containers.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import type { ContainerClaim } from '../devices/device-plugin.ts';
import type { KeptClaim } from './claim-checkpoint.ts';
import { claimObjectName, mostPodClaims } from './pod-claims.ts';

/** Finds a claim of this node by namespace and name; undefined where the node has none of that name. */
type FindClaim = (namespace: string, name: string) => KeptClaim | undefined;

/** The claims of a container that were made ready for its pod, each one whole, in the order of the pod's spec. */
export function* listedClaims(pod: Pod, container: Container, find: FindClaim): Generator<ContainerClaim, void> {
  const podClaims = pod.spec?.resourceClaims ?? [];
  // one with more, for which something could be made ready, names its claims twice
  if (podClaims.length > mostPodClaims) return;
  const used = new Set(container.resources?.claims?.map(({ name }) => name));
  if (used.size > 0) {
    for (const { name } of podClaims) if (used.has(name)) yield* listed(pod, claimObjectName(pod, name), find);
  }
  const extended = pod.status?.extendedResourceClaimStatus;
  const isGiven = extended?.requestMappings?.some(({ containerName }) => containerName === container.name);
  if (isGiven) yield* listed(pod, extended?.resourceClaimName, find);
}

function* listed(pod: Pod, name: string | undefined, find: FindClaim): Generator<ContainerClaim, void> {
  const claim = name ? find(pod.metadata?.namespace ?? '', name) : undefined;
  if (claim?.podUIDs.has(podUIDOf(pod)) !== true) return;
  const devices = Array.from(claim.drivers, ([driverName, all]) =>
    all.map(({ poolName, deviceName, shareID, cdiDeviceIDs }) => ({
      ...{ driverName, poolName, deviceName, cdiDeviceIDs },
      ...(shareID !== undefined && { shareID }),
    })),
  );
  yield { namespace: claim.namespace, name: claim.name, devices: devices.flat() };
}
