// Behaviour of pkg/kubelet/cm/helpers_linux.go ResourceConfigForPod, v1.36.3.

import { readFileSync } from 'node:fs';
import type { Pod } from '../../api/json/types.ts';
import { type Container, isRestartableInitContainer } from '../../api/pod/pod-containers.ts';
import type { ResourceQuantities } from '../../api/pod/pod-fields.ts';
import { containerRequests, podLimits, podRequests } from '../../api/pod/pod-requests.ts';
import { thousandths, wholeUnits } from '../../api/quantity/quantity-arithmetic.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import { integerOption, numberOption, optionOfType } from '../../base/options.ts';
import type { HugepageLimit, LinuxContainerResources } from '../runtime/runtime-containers.ts';
import { minShares, quotaOf, sharesOf } from './cgroup-files.ts';
import { type GroupResources, isNodeCritical, qosClassOf } from './cgroup-names.ts';
import { checkedMemoryLimits, containerMemory, type MemoryLimits, podMemory } from './memory-classes.ts';

/** The limits of a pod's own cgroup: those of all its containers together, where each of them has one, with its overhead. */
export function podCgroupResources(pod: Pod, limits: CheckedNodeLimits): LinuxContainerResources {
  const [requested, limited] = [podRequests(pod.spec), podLimits(pod.spec)];
  const pages = hugepageLimits(limits.hugePageSizes, requested);
  const hugePages = pages.length > 0 ? { hugepageLimits: pages } : {};
  const qosClass = qosClassOf(pod);
  const memory = podMemory(pod, limits);
  if (qosClass === 'BestEffort') return { cpuShares: minShares, ...hugePages, ...memory };
  const cpuPeriod = limits.cpuCFSQuotaPeriodUs;
  const cpuQuota = limits.cpuCFSQuota ? quotaOf(thousandths(limited.cpu), cpuPeriod) : -1;
  const isGuaranteed = qosClass === 'Guaranteed';
  return {
    cpuShares: sharesOf(thousandths(requested.cpu)),
    ...((isGuaranteed || isLimited(pod, 'cpu')) && { cpuQuota, cpuPeriod }),
    ...((isGuaranteed || isLimited(pod, 'memory')) && { memoryLimitInBytes: wholeUnits(limited.memory) }),
    ...hugePages,
    ...memory,
  };
}

/**
 * True where the pod itself or each of its containers has such a limit. An init container that runs beside a limited sidecar
 * counts as limited, as for the kubelet.
 */
function isLimited({ spec }: Pod, name: 'cpu' | 'memory'): boolean {
  const hasLimit = ({ resources }: Pick<Container, 'resources'>) => thousandths(resources?.limits?.[name]) !== 0;
  if (thousandths(spec?.resources?.limits?.[name]) !== 0) return true;
  let besideLimited = false;
  const isInitLimited = (container: Container) => {
    const own = hasLimit(container);
    if (own && isRestartableInitContainer(container)) besideLimited = true;
    return own || besideLimited;
  };
  return (spec?.containers ?? []).every(hasLimit) && (spec?.initContainers ?? []).every(isInitLimited);
}

// Behaviour of pkg/kubelet/kuberuntime/kuberuntime_container_linux.go and kuberuntime_sandbox_linux.go, v1.36.3.

/** The kernel's limits of one container: its own, or else those of its pod. */
export function containerCgroupResources(pod: Pod, container: Container, limits: CheckedNodeLimits): LinuxContainerResources {
  const podLevel = pod.spec?.resources;
  const limit = (name: 'cpu' | 'memory') => {
    const own = container.resources?.limits?.[name];
    return thousandths(own) === 0 && podLevel ? podLevel.limits?.[name] : own;
  };
  const amounts = { cpuRequest: container.resources?.requests?.cpu, cpuLimit: limit('cpu'), memoryLimit: limit('memory') };
  const own = linuxResources(amounts, limits);
  const { unified, ...swap } = containerMemory(pod, container, own.memoryLimitInBytes ?? 0, limits);
  return {
    ...own,
    ...swap,
    ...((own.unified || unified) && { unified: { ...own.unified, ...unified } }),
    oomScoreAdj: oomScoreAdj(pod, container, limits.memoryCapacityBytes),
    hugepageLimits: hugepageLimits(limits.hugePageSizes, container.resources?.limits, podLevel?.limits),
  };
}

/** What all containers of the pod take together, without its overhead. */
export function sandboxResources({ spec }: Pod, limits: CheckedNodeLimits): LinuxContainerResources {
  const withoutOverhead = spec && { ...spec, overhead: {} };
  const [requested, limited] = [podRequests(withoutOverhead), podLimits(withoutOverhead)];
  return linuxResources({ cpuRequest: requested.cpu, cpuLimit: limited.cpu, memoryLimit: limited.memory }, limits);
}

/** What the sandbox itself takes; undefined where its runtime class says nothing of it. */
export function sandboxOverhead({ spec }: Pod, limits: CheckedNodeLimits): LinuxContainerResources | undefined {
  if (!spec?.overhead) return undefined;
  const { cpu, memory } = spec.overhead;
  return linuxResources({ cpuRequest: cpu, cpuLimit: cpu, memoryLimit: memory }, limits);
}

interface Amounts {
  readonly cpuRequest: string | undefined;
  readonly cpuLimit: string | undefined;
  readonly memoryLimit: string | undefined;
}

function linuxResources({ cpuRequest, cpuLimit, memoryLimit }: Amounts, limits: CheckedNodeLimits): LinuxContainerResources {
  const memoryLimitInBytes = wholeUnits(memoryLimit);
  const cpuPeriod = limits.cpuCFSQuotaPeriodUs;
  return {
    // a container that has a limit and no request asks for its limit
    cpuShares: sharesOf(thousandths(cpuRequest ?? cpuLimit)),
    ...(memoryLimitInBytes !== 0 && { memoryLimitInBytes }),
    ...(limits.cpuCFSQuota && { cpuQuota: quotaOf(thousandths(cpuLimit), cpuPeriod), cpuPeriod }),
    ...(limits.cgroupVersion === 2 && !limits.singleProcessOOMKill && { unified: { 'memory.oom.group': '1' } }),
  };
}

// Behaviour of pkg/kubelet/kuberuntime GetHugepageLimitsFromResources and pkg/apis/core/v1/helper, v1.36.3.

type Quantities = Readonly<Record<string, string>> | null | undefined;

const units = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'] as const;
const prefix = 'hugepages-';

/** A page size as the kernel names it: 2097152 is `2MB`. Undefined for a size that no unit fits. */
export function pageSizeName(bytes: number): string | undefined {
  let [size, unit] = [bytes, 0];
  for (; size > 0 && size % 1024 === 0 && unit < units.length - 1; unit++) size /= 1024;
  return size <= 0 || (size > 1024 && unit < units.length - 1) ? undefined : `${size}${units[unit]}`;
}

/**
 * The limit of each page size that the node has: what the first list that names the size says, or else 0. `lists` begins with
 * the one that counts most.
 */
export function hugepageLimits(pageSizes: readonly string[], ...lists: readonly Quantities[]): readonly HugepageLimit[] {
  const asked = new Map<string, number>();
  for (const quantities of [...lists].reverse()) {
    for (const [name, quantity] of Object.entries(quantities ?? {})) {
      const pageSize = name.startsWith(prefix) ? pageSizeName(wholeUnits(name.slice(prefix.length))) : undefined;
      if (pageSize !== undefined) asked.set(pageSize, wholeUnits(quantity));
    }
  }
  return pageSizes.map((pageSize) => ({ pageSize, limit: asked.get(pageSize) ?? 0 }));
}

// Behaviour of pkg/kubelet/qos/policy.go, v1.36.3.

const guaranteed = -997;
const bestEffort = 1000;
/** What a burstable container has at least, so that it goes before a guaranteed one that fills the memory. */
const leastOfBurstable = 3;

/**
 * Which container the kernel ends first when memory is short: -997 for guaranteed pods and those that the node cannot do
 * without, 1000 for best-effort ones. In between the container goes the later the more memory it asked for; a sidecar goes no
 * sooner than the regular containers.
 */
export function oomScoreAdj(pod: Pod, container: Container, memoryCapacityBytes: number): number {
  if (isNodeCritical(pod)) return guaranteed;
  const qosClass = qosClassOf(pod);
  if (qosClass !== 'Burstable') return qosClass === 'Guaranteed' ? guaranteed : bestEffort;
  const extra = unusedPodRequest(pod);
  const scoreOf = (bytes: number) => 1000 - Math.trunc((1000 * (bytes + extra)) / memoryCapacityBytes);
  const own = scoreOf(memoryRequest(container));
  const score = isSidecarOf(pod, container)
    ? Math.min(own, scoreOf(Math.min(...(pod.spec?.containers ?? []).map(memoryRequest))))
    : own;
  return score < leastOfBurstable ? leastOfBurstable : score === bestEffort ? bestEffort - 1 : score;
}

function memoryRequest({ resources }: Container): number {
  return wholeUnits(resources?.requests?.memory);
}

/** What the pod itself asks for beyond its containers, in equal parts for each of them. */
function unusedPodRequest({ spec }: Pod): number {
  const asked = wholeUnits(spec?.resources?.requests?.memory);
  if (asked === 0) return 0;
  const containers = (spec?.containers?.length ?? 0) + (spec?.initContainers?.length ?? 0);
  return Math.trunc((asked - wholeUnits(containerRequests(spec).memory)) / Math.max(1, containers));
}

function isSidecarOf({ spec }: Pod, container: Container): boolean {
  return isRestartableInitContainer(container) && spec?.initContainers?.some(({ name }) => name === container.name) === true;
}

/** What of the node decides over the limits of its pods. All of it is optional. */
export interface NodeLimits extends MemoryLimits {
  /** False: no processor limit is given to the kernel. Default true. */
  readonly cpuCFSQuota?: boolean;
  /** The length of a CFS period in microseconds, from 1,000 to 1,000,000. Default 100,000. */
  readonly cpuCFSQuotaPeriodUs?: number;
  /** The node's memory in bytes, from which the OOM scores are reckoned. Default: the machine's. */
  readonly memoryCapacityBytes?: number;
  /** The sizes of huge pages that the kernel has, as it names them, such as `2MB`. Default none. */
  readonly hugePageSizes?: readonly string[];
  /** True: with cgroup v2 the kernel kills one process of a container that has no memory left, not all. Default: all. */
  readonly singleProcessOOMKill?: boolean;
  /** The most processes of a pod; -1: as many as the node has. Default -1. */
  readonly podPidsLimit?: number;
  /** Which version the node's cgroups have. Default 1. */
  readonly cgroupVersion?: 1 | 2;
}

/** Checked, with nothing left out. */
export type CheckedNodeLimits = Required<Omit<NodeLimits, keyof MemoryLimits>> & MemoryLimits;

/** What a group as a whole is limited to: `cpu` as a weight, `memory`, processes as `pid`, and huge pages, or processor time alone. */
export function amountsAsLimits(
  amounts: ResourceQuantities,
  hugePageSizes: readonly string[],
  onlyCompressible = false,
): GroupResources {
  const { cpu, memory, pid } = amounts;
  const weight = cpu === undefined ? {} : { cpuShares: sharesOf(thousandths(cpu)) };
  if (onlyCompressible) return weight;
  return {
    ...weight,
    ...(memory !== undefined && { memoryLimitInBytes: wholeUnits(memory) }),
    ...(pid !== undefined && { pidsLimit: wholeUnits(pid) }),
    hugepageLimits: hugepageLimits(hugePageSizes, amounts),
  };
}

// Behaviour of pkg/kubelet/stats/pidlimit, v1.36.3.

const processLimits = ['/proc/sys/kernel/pid_max', '/proc/sys/kernel/threads-max'];

/** How many processes the kernel lets there be at once; undefined where it does not say. */
export function machineProcesses(read: (path: string) => string = kernelTextOf): number | undefined {
  const limits = processLimits.map((path) => Number(read(path).trim() || Number.NaN));
  const known = limits.filter((limit) => Number.isSafeInteger(limit) && limit > 0);
  return known.length === 0 ? undefined : Math.min(...known);
}

function kernelTextOf(path: string): string {
  return callGuarded(() => readFileSync(path, 'utf8'), ignoreFailure) ?? '';
}

/** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
export function checkedNodeLimits(limits: NodeLimits, memoryCapacityBytes: number): CheckedNodeLimits {
  const period = limits.cpuCFSQuotaPeriodUs ?? 100_000;
  return {
    ...checkedMemoryLimits(limits),
    cpuCFSQuota: optionOfType('limits.cpuCFSQuota', limits.cpuCFSQuota ?? true, 'boolean'),
    cpuCFSQuotaPeriodUs: numberOption('limits.cpuCFSQuotaPeriodUs', period, 1000, 1_000_000),
    memoryCapacityBytes: numberOption(
      'limits.memoryCapacityBytes',
      limits.memoryCapacityBytes ?? memoryCapacityBytes,
      1,
      Number.MAX_SAFE_INTEGER,
    ),
    hugePageSizes: limits.hugePageSizes ?? [],
    singleProcessOOMKill: limits.singleProcessOOMKill ?? (limits.cgroupVersion ?? 1) === 1,
    podPidsLimit: integerOption('limits.podPidsLimit', limits.podPidsLimit ?? -1, -1),
    cgroupVersion: limits.cgroupVersion ?? 1,
  };
}
