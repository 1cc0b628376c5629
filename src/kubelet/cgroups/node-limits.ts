import { readFile } from 'node:fs/promises';
import { integerOption, numberOption, optionOfType } from '../../base/options.ts';

/** What of the node decides over the limits of its pods. All of it is optional. */
export interface NodeLimits {
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
export type CheckedNodeLimits = Required<NodeLimits>;

/** How many processes the kernel lets there be at once; undefined where it does not say. */
export async function machineProcesses(): Promise<number | undefined> {
  const most = Number(await readFile('/proc/sys/kernel/pid_max', 'utf8').catch(() => ''));
  return Number.isSafeInteger(most) && most > 0 ? most : undefined;
}

/** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
export function checkedNodeLimits(limits: NodeLimits, memoryCapacityBytes: number): CheckedNodeLimits {
  const period = limits.cpuCFSQuotaPeriodUs ?? 100_000;
  return {
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
