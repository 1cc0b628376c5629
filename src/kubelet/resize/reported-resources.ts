// Behaviour of pkg/kubelet/kubelet_pods.go (convertToAPIContainerStatuses) and kuberuntime (toKubeContainerResources), v1.36.3.

import { lookupBy, lookupByName } from '../../api/json/json.ts';
import type { Pod, WireContainerStatus, WirePodStatus } from '../../api/json/types.ts';
import { bytesText, canonicalQuantity } from '../../api/quantity/quantity.ts';
import { compareQuantities } from '../../api/quantity/quantity-arithmetic.ts';
import { type Resources, wireResources } from '../../node/pod-status/pod-resources.ts';
import { milliCPUOfQuota, milliCPUOfShares } from '../cgroups/cgroup-files.ts';
import type { ContainerDetails, LinuxContainerResources } from '../runtime/runtime-containers.ts';
import { milliOf, type PodAllocation } from './pod-allocation.ts';

/** Up to here the kernel rounds up, so that what it has says nothing. */
const smallest = { limitMilli: 10, requestMilli: 2 };

/**
 * The status with the resources that its running containers really have, by the runtime and, of requested memory, which no kernel
 * keeps, by what it was told. `pod` has its allocated resources, and `status` was generated from it.
 */
export function withReportedResources(
  pod: Pod,
  status: WirePodStatus,
  details: readonly ContainerDetails[],
  actuated: PodAllocation,
): WirePodStatus {
  const containerOf = lookupByName([...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])]);
  const newestOf = lookupBy(details, ({ metadata }) => metadata.name);
  const report = (statuses: WireContainerStatus[]): WireContainerStatus[] =>
    statuses.map((one) => {
      const newest = newestOf(one.name);
      if (newest?.state !== 'running' || one.state?.running === undefined || one.resources === undefined) return one;
      const allocated = wireResources(containerOf(one.name)?.resources);
      return { ...one, resources: reported(one.resources, allocated, newest.resources, actuated.containers[one.name]) };
    });
  const { containerStatuses, initContainerStatuses } = status;
  return {
    ...status,
    ...(containerStatuses !== undefined && { containerStatuses: report(containerStatuses) }),
    ...(initContainerStatuses !== undefined && { initContainerStatuses: report(initContainerStatuses) }),
  };
}

/** What the kernel has rounded up says nothing: then what was allocated counts. */
function reported(
  resources: Resources,
  allocated: Resources,
  runtime: LinuxContainerResources | undefined,
  actuated: Resources | undefined,
): Resources {
  const { cpuPeriod = 0, cpuQuota = 0, cpuShares = 0, memoryLimitInBytes = 0 } = runtime ?? {};
  const limits = resources.limits && { ...resources.limits };
  const requests = resources.requests && { ...resources.requests };
  if (limits !== undefined) {
    setMilli(limits, milliCPUOfQuota(cpuQuota, cpuPeriod), allocated.limits?.cpu, smallest.limitMilli);
    if (memoryLimitInBytes > 0) set(limits, 'memory', bytesText(memoryLimitInBytes));
  }
  if (requests !== undefined) {
    setMilli(requests, milliCPUOfShares(cpuShares), allocated.requests?.cpu, smallest.requestMilli);
    const memory = actuated?.requests?.memory;
    if (memory !== undefined) set(requests, 'memory', memory);
  }
  return { ...resources, ...(limits !== undefined && { limits }), ...(requests !== undefined && { requests }) };
}

/** `milli`: 0 where the runtime does not say. */
function setMilli(quantities: Record<string, string>, milli: number, allocated: string | undefined, least: number): void {
  if (milli === 0) return;
  if (Math.max(milli, milliOf(allocated)) > least) set(quantities, 'cpu', `${milli}m`);
  else if (allocated !== undefined) set(quantities, 'cpu', allocated);
}

/** An equal quantity keeps its way of writing. */
function set(quantities: Record<string, string>, name: string, given: string): void {
  const quantity = canonicalQuantity(given);
  const before = quantities[name];
  if (before === undefined || compareQuantities(before, quantity) !== 0) quantities[name] = quantity;
}
