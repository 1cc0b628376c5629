/** Limits of the kernel. What is absent is not set. */
export interface LinuxContainerResources {
  /** The length of a CFS period in microseconds. */
  readonly cpuPeriod?: number;
  /** Microseconds of processor time in a period; -1: no limit. */
  readonly cpuQuota?: number;
  /** The relative weight of the processor time. */
  readonly cpuShares?: number;
  /** The most memory, in bytes; 0 or -1: no limit. */
  readonly memoryLimitInBytes?: number;
  /** The most memory and swap together, in bytes. */
  readonly memorySwapLimitInBytes?: number;
  /** Which process the kernel ends first when memory is short: from -1000 (never) to 1000 (first). */
  readonly oomScoreAdj?: number;
  /** The processors that may be used, such as `0-2,4`. */
  readonly cpusetCpus?: string;
  /** The memory nodes that may be used. */
  readonly cpusetMems?: string;
  /** The most huge pages, by page size. */
  readonly hugepageLimits?: readonly HugepageLimit[];
  /** Files of cgroup v2 and what is written into them. */
  readonly unified?: Readonly<Record<string, string>>;
}

/** The most memory in huge pages of one size. */
export interface HugepageLimit {
  /** As the kernel names the size, such as `2MB`. */
  readonly pageSize: string;
  /** The most memory in such pages, in bytes. */
  readonly limit: number;
}
