// The shape of `/stats/summary` (`k8s.io/kubelet/pkg/apis/stats/v1alpha1`). Times are RFC 3339, those of measurements to the
// millisecond; sizes are bytes.

/** What the node and its pods take. */
export interface StatsSummary {
  /** The node as a whole. */
  readonly node: NodeStats;
  /** Each pod that has a sandbox. */
  readonly pods: readonly PodStats[];
}

/** What the node as a whole takes. */
export interface NodeStats {
  /** The name of the node. */
  readonly nodeName: string;
  /** When the node was started. */
  readonly startTime: string;
  /** Processor time. */
  readonly cpu?: CPUStats;
  /** Memory. */
  readonly memory?: MemoryStats;
  /** Memory that is swapped out. */
  readonly swap?: SwapStats;
  /** The file system that holds the agent's folder. */
  readonly fs?: FileSystemStats;
  /** The file systems of the container runtime. */
  readonly runtime?: {
    /** That of the images. */
    readonly imageFs?: FileSystemStats;
    /** That of the containers' own files. */
    readonly containerFs?: FileSystemStats;
  };
  /** Processes. */
  readonly rlimit?: {
    /** When it was measured. */
    readonly time: string;
    /** The most processes. */
    readonly maxpid?: number;
    /** The processes that run. */
    readonly curproc?: number;
  };
}

/** What one pod takes. */
export interface PodStats {
  /** Which pod. */
  readonly podRef: {
    /** The pod's name. */
    readonly name: string;
    /** The pod's namespace. */
    readonly namespace: string;
    /** The pod's uid. */
    readonly uid: string;
  };
  /** When the pod was started. */
  readonly startTime: string;
  /** Each container that runs. */
  readonly containers: readonly ContainerStatsEntry[];
  /** Processor time. */
  readonly cpu?: CPUStats;
  /** Memory. */
  readonly memory?: MemoryStats;
  /** Memory that is swapped out, of all its containers. */
  readonly swap?: SwapStats;
  /** Traffic of the pod's network; absent in the node's network. */
  readonly network?: {
    /** When it was measured. */
    readonly time: string;
    /** The network interface. */
    readonly name: string;
    /** Bytes that came in. */
    readonly rxBytes?: number;
    /** Bytes that went out. */
    readonly txBytes?: number;
  };
  /** Its volumes whose files were counted, and claimed ones that were measured. */
  readonly volume?: readonly VolumeStats[];
  /** What the pod has on the node's disks: its containers' own file systems, its logs, and its volumes that are not in memory. */
  readonly 'ephemeral-storage'?: FileSystemStats;
  /** Processes of the pod. */
  readonly process_stats?: {
    /** How many. */
    readonly process_count: number;
  };
}

/** What one container takes. */
export interface ContainerStatsEntry {
  /** The container's name in the pod's spec. */
  readonly name: string;
  /** When the container was started. */
  readonly startTime: string;
  /** Processor time. */
  readonly cpu?: CPUStats;
  /** Memory. */
  readonly memory?: MemoryStats;
  /** Memory that is swapped out. */
  readonly swap?: SwapStats;
  /** What the container has written into its own file system. */
  readonly rootfs?: FileSystemStats;
  /** Its logs. */
  readonly logs?: FileSystemStats;
}

/** What one volume of a pod takes. */
export interface VolumeStats extends FileSystemStats {
  /** The volume's name in the pod's spec. */
  readonly name: string;
  /** Of a claimed volume: the PersistentVolumeClaim. */
  readonly pvcRef?: {
    /** Its name. */
    readonly name: string;
    /** Its namespace. */
    readonly namespace: string;
  };
}

/** Processor time. */
export interface CPUStats {
  /** When it was measured. */
  readonly time: string;
  /** Nanoseconds a second. */
  readonly usageNanoCores?: number;
  /** Nanoseconds since the start. */
  readonly usageCoreNanoSeconds?: number;
}

/** Memory. */
export interface MemoryStats {
  /** When it was measured. */
  readonly time: string;
  /** What is left; absent without a limit. */
  readonly availableBytes?: number;
  /** All of it. */
  readonly usageBytes?: number;
  /** What cannot be taken back. */
  readonly workingSetBytes?: number;
  /** Anonymous memory. */
  readonly rssBytes?: number;
}

/** Memory that is swapped out. */
export interface SwapStats {
  /** When it was measured. */
  readonly time: string;
  /** How much more may be swapped out; absent without a limit. */
  readonly swapAvailableBytes?: number;
  /** All of it. */
  readonly swapUsageBytes?: number;
}

/** A file system, or a part of one. */
export interface FileSystemStats {
  /** When it was measured. */
  readonly time: string;
  /** What is left of the file system. */
  readonly availableBytes?: number;
  /** All of the file system. */
  readonly capacityBytes?: number;
  /** What is used. */
  readonly usedBytes?: number;
  /** Inodes that are left. */
  readonly inodesFree?: number;
  /** All inodes. */
  readonly inodes?: number;
  /** Inodes that are used. */
  readonly inodesUsed?: number;
}
