// Behaviour of UpdateAllocatedResourcesStatus in pkg/kubelet/cm/dra/manager.go, v1.36.3.

import type { Pod, WireContainerStatus, WirePodStatus } from '../../api/json/types.ts';
import type { Container } from '../../api/pod/pod-containers.ts';
import type { KeptClaim } from './claim-checkpoint.ts';
import type { DeviceHealth } from './device-health.ts';
import type { DraDevice } from './dra-driver.ts';
import { claimObjectName } from './pod-claims.ts';

export interface ClaimHealthSources {
  readonly claimOf: (namespace: string, name: string) => KeptClaim | undefined;
  readonly health: Pick<DeviceHealth, 'of'>;
}

type AllocatedStatuses = NonNullable<WireContainerStatus['allocatedResourcesStatus']>;
type DeviceStatuses = NonNullable<AllocatedStatuses[number]['resources']>;

/** The status with how the devices are that its containers have by claims. Init containers have no such status. */
export function withClaimHealth(pod: Pod, status: WirePodStatus, sources: ClaimHealthSources): WirePodStatus {
  const containers = (pod.spec?.containers ?? []).filter(({ resources }) => resources?.claims?.length);
  if (containers.length === 0) return status;
  const containerStatuses = status.containerStatuses?.map((each) => {
    const container = containers.find(({ name }) => name === each.name);
    const found = container === undefined ? [] : healthOfContainer(pod, container, sources);
    return found.length === 0
      ? each
      : { ...each, allocatedResourcesStatus: [...(each.allocatedResourcesStatus ?? []), ...found] };
  });
  return containerStatuses === undefined ? status : { ...status, containerStatuses };
}

function healthOfContainer(pod: Pod, container: Container, sources: ClaimHealthSources): AllocatedStatuses {
  const found = new Map<string, DeviceStatuses>();
  for (const { name, request } of container.resources?.claims ?? []) {
    const objectName = claimObjectName(pod, name);
    const claim = objectName === undefined ? undefined : sources.claimOf(pod.metadata?.namespace ?? '', objectName);
    if (claim === undefined) continue;
    const resources = healthOfClaim(claim, request ?? '', sources.health);
    if (resources.length > 0) found.set(request ? `claim:${name}/${request}` : `claim:${name}`, resources);
  }
  return Array.from(found, ([name, resources]) => ({ name, resources }));
}

/** A request of a list of alternatives stands for the whole list. */
function healthOfClaim({ drivers }: KeptClaim, request: string, health: Pick<DeviceHealth, 'of'>): DeviceStatuses {
  const [base = ''] = request.split('/', 1);
  const found = new Map<string, DeviceStatuses[number]>();
  for (const [driver, devices] of drivers) {
    for (const device of devices) {
      if (request !== '' && device.requestNames.length > 0 && !device.requestNames.includes(base)) continue;
      const resourceID = idOf(driver, device);
      if (found.has(resourceID)) continue;
      const { health: word, message } = health.of(driver, device.poolName, device.deviceName);
      found.set(resourceID, { resourceID, health: word, ...(message !== '' && { message }) });
    }
  }
  return [...found.values()];
}

function idOf(driver: string, { cdiDeviceIDs: [first], poolName, deviceName }: DraDevice): string {
  return first ?? `${driver}/${poolName}/${deviceName}`;
}
