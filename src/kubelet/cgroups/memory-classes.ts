// Behaviour of pkg/kubelet/kuberuntime/kuberuntime_container_linux.go, cm/helpers_linux.go and cm/qos_container_manager_linux.go,
// v1.36.3: the feature MemoryQoS, and swap.

import type { Pod } from '../../api/json/types.ts';
import type { Container } from '../../api/pod/pod-containers.ts';
import { isMirrorPod, isStaticPod } from '../../api/pod/pod-identity.ts';
import { podRequests } from '../../api/pod/pod-requests.ts';
import { wholeUnits } from '../../api/quantity/quantity-arithmetic.ts';
import { numberOption, oneOfOption } from '../../base/options.ts';
import type { LinuxContainerResources } from '../runtime/runtime-containers.ts';
import { qosClassOf, systemCritical } from './cgroup-names.ts';

/** How the kernel shares out memory by what pods ask for: the feature MemoryQoS. It needs cgroups of version 2. */
export interface MemoryQOS {
  /** `TieredReservation`: what pods ask for is kept for them, from guaranteed ones always, from burstable ones as long as it can be. */
  readonly reservationPolicy: 'None' | 'TieredReservation';
  /**
   * How much of what a container may take beyond what it asks for it gets before the kernel slows it down: above 0, at most 1.
   */
  readonly throttlingFactor: number;
  /** What all pods together may take, in bytes: the limit of a container that has none. */
  readonly allocatableBytes: number;
  /** The size of a page of memory, in bytes. */
  readonly pageSizeBytes: number;
}

/** What the kernel may move to disk of the memory of containers. */
export interface NodeSwap {
  /** `LimitedSwap`: burstable containers get swap in proportion to the memory that they ask for. It needs cgroups of version 2. */
  readonly behavior: 'NoSwap' | 'LimitedSwap';
  /** How much swap the machine has, in bytes. */
  readonly capacityBytes: number;
}

/** The parts of a node's limits that stand here. */
export interface MemoryLimits {
  /** Absent: memory is not shared out so. */
  readonly memoryQOS?: MemoryQOS;
  /** Absent: the kernel cannot limit swap. */
  readonly swap?: NodeSwap;
}

interface MemoryNode extends MemoryLimits {
  readonly cgroupVersion: 1 | 2;
  readonly memoryCapacityBytes: number;
}

type Unified = Readonly<Record<string, string>>;
type MemoryResources = Pick<LinuxContainerResources, 'unified' | 'memorySwapLimitInBytes'>;

/** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
export function checkedMemoryLimits({ memoryQOS, swap }: MemoryLimits): MemoryLimits {
  if (memoryQOS !== undefined) {
    oneOfOption('limits.memoryQOS.reservationPolicy', memoryQOS.reservationPolicy, ['None', 'TieredReservation']);
    numberOption('limits.memoryQOS.throttlingFactor', memoryQOS.throttlingFactor, Number.MIN_VALUE, 1);
    numberOption('limits.memoryQOS.allocatableBytes', memoryQOS.allocatableBytes, 0, Number.MAX_SAFE_INTEGER);
    numberOption('limits.memoryQOS.pageSizeBytes', memoryQOS.pageSizeBytes, 1, 2 ** 30);
  }
  if (swap !== undefined) {
    oneOfOption('limits.swap.behavior', swap.behavior, ['NoSwap', 'LimitedSwap']);
    numberOption('limits.swap.capacityBytes', swap.capacityBytes, 0, Number.MAX_SAFE_INTEGER);
  }
  return { ...(memoryQOS && { memoryQOS }), ...(swap && { swap }) };
}

/** What the kernel keeps for a pod as a whole. */
export function podMemory(pod: Pod, node: MemoryNode): MemoryResources {
  if (node.cgroupVersion !== 2 || node.memoryQOS?.reservationPolicy !== 'TieredReservation') return {};
  const requested = wholeUnits(podRequests(pod.spec).memory);
  return requested > 0 ? { unified: { [reservationFile(pod)]: String(requested) } } : {};
}

/** What the kernel keeps for a container, when it slows it down, and how much of it may be moved to disk. `limitInBytes`: its limit; 0: none. */
export function containerMemory(pod: Pod, container: Container, limitInBytes: number, node: MemoryNode): MemoryResources {
  const { swap } = node;
  if (node.cgroupVersion === 2) {
    const unified = {
      ...(swap && { 'memory.swap.max': String(swapBytes(pod, container, swap, node.memoryCapacityBytes)) }),
      ...(node.memoryQOS && containerReservation(pod, container, node.memoryQOS)),
    };
    return Object.keys(unified).length > 0 ? { unified } : {};
  }
  // memory and swap together: as much as memory alone, so nothing beyond the limit goes to disk
  return swap && limitInBytes > 0 ? { memorySwapLimitInBytes: limitInBytes } : {};
}

/** What the kernel keeps for all pods together, and for all burstable ones; undefined where memory is not shared out so. */
export function classMemory(
  pods: readonly Pod[],
  { cgroupVersion, memoryQOS }: MemoryNode,
): { readonly all: Unified; readonly burstable: Unified } | undefined {
  if (cgroupVersion !== 2 || memoryQOS === undefined) return undefined;
  const isKept = memoryQOS.reservationPolicy === 'TieredReservation';
  const sumOf = (qosClass: string) =>
    pods.reduce((sum, pod) => sum + (qosClassOf(pod) === qosClass ? wholeUnits(podRequests(pod.spec).memory) : 0), 0);
  const burstable = isKept ? sumOf('Burstable') : 0;
  const guaranteed = isKept ? sumOf('Guaranteed') : 0;
  // what is kept for a group counts only as far as its parent's does
  return { all: { 'memory.min': String(guaranteed + burstable) }, burstable: { 'memory.low': String(burstable) } };
}

function containerReservation(pod: Pod, { resources }: Container, memoryQOS: MemoryQOS): Record<string, string> {
  const requested = wholeUnits(resources?.requests?.memory);
  const limit = wholeUnits(resources?.limits?.memory);
  const isKept = requested > 0 && memoryQOS.reservationPolicy === 'TieredReservation';
  const kept = isKept ? { [reservationFile(pod)]: String(requested) } : { 'memory.min': '0', 'memory.low': '0' };
  if (requested === limit) return kept;
  const most = limit > 0 ? limit : memoryQOS.allocatableBytes;
  const { pageSizeBytes } = memoryQOS;
  const high = Math.floor((requested + (most - requested) * memoryQOS.throttlingFactor) / pageSizeBytes) * pageSizeBytes;
  return most > 0 && high > requested ? { ...kept, 'memory.high': String(high) } : kept;
}

function reservationFile(pod: Pod): 'memory.min' | 'memory.low' {
  return qosClassOf(pod) === 'Guaranteed' ? 'memory.min' : 'memory.low';
}

function swapBytes(
  pod: Pod,
  { resources }: Container,
  { behavior, capacityBytes }: NodeSwap,
  memoryCapacityBytes: number,
): number {
  if (behavior !== 'LimitedSwap' || isSystemCritical(pod) || qosClassOf(pod) !== 'Burstable') return 0;
  const [requested, limit] = [wholeUnits(resources?.requests?.memory), wholeUnits(resources?.limits?.memory)];
  // one that asks for all that it may take needs no more, and one that asks for nothing has no share
  if (requested === limit || requested > memoryCapacityBytes) return 0;
  return Math.trunc((requested / memoryCapacityBytes) * capacityBytes);
}

/** pkg/kubelet/types IsCriticalPod. */
function isSystemCritical(pod: Pod): boolean {
  return isStaticPod(pod) || isMirrorPod(pod) || (pod.spec?.priority ?? 0) >= systemCritical;
}
