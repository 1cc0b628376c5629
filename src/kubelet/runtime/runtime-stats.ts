/** What a group of processes takes. Absent numbers are not known. */
export interface ResourceUsage {
  /** When it was measured, in milliseconds since the epoch. */
  readonly at: number;
  /** Processor time since the start, in nanoseconds. */
  readonly cpuNanoseconds?: number;
  /** Processor time a second, in nanoseconds. */
  readonly cpuNanocores?: number;
  /** Memory that cannot be taken back, in bytes. */
  readonly memoryWorkingSetBytes?: number;
  /** All memory, in bytes. */
  readonly memoryUsageBytes?: number;
  /** Anonymous memory, in bytes. */
  readonly memoryRssBytes?: number;
  /** Memory that is swapped out, in bytes. */
  readonly swapUsageBytes?: number;
  /** How much more of it may be swapped out, in bytes. */
  readonly swapAvailableBytes?: number;
}

/** What one container takes. */
export interface ContainerStats extends ResourceUsage {
  /** The runtime's id of the container. */
  readonly containerID: string;
  /** The container's name in the pod's spec. */
  readonly name: string;
  /** Its labels. */
  readonly labels: Readonly<Record<string, string>>;
  /** What it has written into its own file system, in bytes. */
  readonly writableLayerBytes?: number;
  /** The inodes of its own file system. */
  readonly writableLayerInodes?: number;
}

/** What one pod takes. */
export interface PodSandboxStats extends ResourceUsage {
  /** The runtime's id of the sandbox. */
  readonly sandboxID: string;
  /** Its labels. */
  readonly labels: Readonly<Record<string, string>>;
  /** Bytes that came in over the network. */
  readonly receivedBytes?: number;
  /** Bytes that went out over the network. */
  readonly sentBytes?: number;
  /** Processes of the pod. */
  readonly processes?: number;
  /** What each container of the pod takes. */
  readonly containers: readonly ContainerStats[];
}
