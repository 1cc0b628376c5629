// Behaviour of pkg/apis/core/v1/defaults.go and conversion.go for the status of a pod, v1.36.3.
import type { WirePodStatus } from '../../json/types.ts';
import { roundList, roundResources } from './resource-defaults.ts';

/** A manifest may hold a status, though nothing reads it: it is made as the apiserver would hand it back. */
export function setStatusDefaults(status: WirePodStatus): void {
  const { podIP, podIPs = [] } = status;
  if (podIP !== undefined && podIPs[0]?.ip !== podIP) status.podIPs = [{ ip: podIP }];
  else if (podIPs[0] !== undefined && podIPs[0].ip !== '') status.podIP = podIPs[0].ip;
  const { initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = [] } = status;
  for (const { allocatedResources, resources } of [
    ...initContainerStatuses,
    ...containerStatuses,
    ...ephemeralContainerStatuses,
  ]) {
    roundList(allocatedResources);
    if (resources) roundResources(resources);
  }
  roundList(status.allocatedResources);
  if (status.resources) roundResources(status.resources);
}
