// Behaviour of pkg/kubelet/kuberuntime/kuberuntime_manager.go (resourceRequirements) and pkg/kubelet/util (GetLimits), v1.36.3.

import type { Container, PodSpec } from '../../api/pod/pod-containers.ts';
import { canonicalQuantity } from '../../api/quantity/quantity.ts';
import { quantityInNano } from '../../api/quantity/quantity-arithmetic.ts';

/** What a spec asks for; also what an allocation keeps. */
export type GivenResources = Container['resources'];
export type ResourceName = 'cpu' | 'memory';

/** Processor in thousandths of a core, memory in bytes; 0 where nothing is said. */
export interface ResourceAmounts {
  readonly cpuRequest: number;
  readonly cpuLimit: number;
  readonly memoryRequest: number;
  readonly memoryLimit: number;
}

const nanoInMilli = 10n ** 6n;
const nanoInOne = 10n ** 9n;

/** Thousandths of a quantity, rounded up; 0 for none. Throws ERR_INVALID_ARGUMENT for what is no quantity. */
export function milliOf(quantity: string | undefined): number {
  return quantity === undefined ? 0 : roundedUp(quantity, nanoInMilli);
}

/** A quantity as a whole number, rounded up; 0 for none. Throws ERR_INVALID_ARGUMENT for what is no quantity. */
export function wholeOf(quantity: string | undefined): number {
  return quantity === undefined ? 0 : roundedUp(quantity, nanoInOne);
}

/** Bytes as the kubelet writes them: `20Mi`, `1500`. */
export function bytesText(bytes: number): string {
  return canonicalQuantity(bytes % 1024 === 0 ? `${bytes / 1024}Ki` : String(bytes));
}

function roundedUp(quantity: string, unit: bigint): number {
  const nano = quantityInNano(canonicalQuantity(quantity));
  return Number(nano > 0n ? (nano + unit - 1n) / unit : nano / unit);
}

/** What a container gets: a limit that it does not have itself is the pod's. */
export function amountsOf(podLevel: PodSpec['resources'], own: GivenResources): ResourceAmounts {
  const { requests, limits } = own ?? {};
  return {
    cpuRequest: milliOf(requests?.cpu),
    cpuLimit: milliOf(limits?.cpu) || milliOf(podLevel?.limits?.cpu),
    memoryRequest: wholeOf(requests?.memory),
    memoryLimit: wholeOf(limits?.memory) || wholeOf(podLevel?.limits?.memory),
  };
}

export function sameAmounts(a: ResourceAmounts, b: ResourceAmounts): boolean {
  return sameOf('cpu', a, b) && sameOf('memory', a, b);
}

/** Request and limit of one resource are the same. */
export function sameOf(name: ResourceName, a: ResourceAmounts, b: ResourceAmounts): boolean {
  return a[`${name}Request`] === b[`${name}Request`] && a[`${name}Limit`] === b[`${name}Limit`];
}

/** The amounts as a spec would ask for them. */
export function resourcesOf({ cpuRequest, cpuLimit, memoryRequest, memoryLimit }: ResourceAmounts): NonNullable<GivenResources> {
  return {
    limits: { ...(cpuLimit && { cpu: `${cpuLimit}m` }), ...(memoryLimit && { memory: `${memoryLimit}` }) },
    requests: { ...(cpuRequest && { cpu: `${cpuRequest}m` }), ...(memoryRequest && { memory: `${memoryRequest}` }) },
  };
}
