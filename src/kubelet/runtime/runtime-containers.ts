import type { KeyValue } from '../../node/environment/start-texts.ts';
import type { ContainerSecurityContext, IDMapping } from './security.ts';

/** How mounts that are made later show on the other side. */
export type MountPropagation = 'private' | 'hostToContainer' | 'bidirectional';

/** A file, a folder or an image that a container sees. */
export interface Mount {
  /** The absolute path inside the container. */
  readonly containerPath: string;
  /** The absolute path on the node; empty with `image`. */
  readonly hostPath: string;
  /** True: the container cannot write. */
  readonly readonly: boolean;
  /** True: the runtime gives the files the container's SELinux label. */
  readonly selinuxRelabel: boolean;
  /** How mounts that are made later show on the other side. */
  readonly propagation: MountPropagation;
  /** True: mounts below the path cannot be written either. */
  readonly recursiveReadOnly?: boolean;
  /** The image whose files are shown, by the reference that pulling it gave. */
  readonly image?: string;
  /** The path inside the image; absent: all of it. */
  readonly imageSubPath?: string;
  /** Whose ids the files have, of users and of groups: those of the pod's own user namespace. Absent: the machine's. */
  readonly users?: IDMapping;
}

/** A device of the node that a container may use. */
export interface Device {
  /** The path inside the container. */
  readonly containerPath: string;
  /** The path on the node. */
  readonly hostPath: string;
  /** What is allowed: `r`, `w`, `m` in any combination. */
  readonly permissions: string;
}

/** What names a container in its sandbox. */
export interface ContainerMetadata {
  /** The container's name in the pod's spec. */
  readonly name: string;
  /** How often the container had been made before. */
  readonly attempt: number;
}

/** The image of a container. */
export interface ContainerImage {
  /** The reference that pulling gave, such as an id. */
  readonly image: string;
  /** The image as the pod's spec names it. */
  readonly userSpecifiedImage?: string;
  /** The runtime handler that the image was pulled for. */
  readonly runtimeHandler?: string;
}

/** What a container is made from. */
export interface ContainerConfig {
  /** What names the container. */
  readonly metadata: ContainerMetadata;
  /** The image. */
  readonly image: ContainerImage;
  /** In place of the image's entrypoint; empty: the image's own. */
  readonly command: readonly string[];
  /** In place of the image's arguments; empty: the image's own. */
  readonly args: readonly string[];
  /** The working folder; empty: the image's own. */
  readonly workingDir: string;
  /** Environment variables. */
  readonly envs: readonly KeyValue[];
  /** What the container sees of the node. */
  readonly mounts: readonly Mount[];
  /** Devices of the node. */
  readonly devices: readonly Device[];
  /** Devices by their names of the Container Device Interface, such as `vendor.example/class=name`. Absent: none. */
  readonly cdiDevices?: readonly string[];
  /** Labels, for finding the container again. */
  readonly labels: Readonly<Record<string, string>>;
  /** Annotations, which the runtime keeps. */
  readonly annotations: Readonly<Record<string, string>>;
  /** The log file, relative to the sandbox's `logDirectory`. */
  readonly logPath: string;
  /** True: the container reads its standard input. */
  readonly stdin: boolean;
  /** True: standard input ends with the first one who attaches. */
  readonly stdinOnce: boolean;
  /** True: the container has a terminal. */
  readonly tty: boolean;
  /** The signal that asks the container to end, such as `SIGTERM`; absent: the image's own. */
  readonly stopSignal?: string;
  /** Limits of the kernel. */
  readonly resources: LinuxContainerResources;
  /** The rights of the container. */
  readonly securityContext: ContainerSecurityContext;
}

/** `created`: exists but has not been started; `unknown`: the runtime could not say. */
export type ContainerState = 'created' | 'running' | 'exited' | 'unknown';

/** A container as the runtime lists it. */
export interface ContainerRecord {
  /** The runtime's id of the container. */
  readonly id: string;
  /** The runtime's id of the sandbox that it is in. */
  readonly sandboxID: string;
  /** What names the container. */
  readonly metadata: ContainerMetadata;
  /** The image as it was asked for. */
  readonly image: string;
  /** What the image name led to. */
  readonly imageRef: string;
  /** What the container does. */
  readonly state: ContainerState;
  /** When the container was made, in milliseconds since the epoch. */
  readonly createdAt: number;
  /** Its labels. */
  readonly labels: Readonly<Record<string, string>>;
  /** Its annotations. */
  readonly annotations: Readonly<Record<string, string>>;
}

/** The user and the groups that a container's first process began with. */
export interface ContainerUser {
  /** The numeric user. */
  readonly uid: number;
  /** The numeric group. */
  readonly gid: number;
  /** Further numeric groups. */
  readonly supplementalGroups: readonly number[];
}

/** All that the runtime says of a container. Times are milliseconds since the epoch, 0 while there is none. */
export interface ContainerDetails extends ContainerRecord {
  /** When it was started. */
  readonly startedAt: number;
  /** When it ended. */
  readonly finishedAt: number;
  /** The exit code of a container that has ended. */
  readonly exitCode: number;
  /** Why it is in this state, in one word, such as `OOMKilled`. */
  readonly reason: string;
  /** The same for people. */
  readonly message: string;
  /** The image's id. */
  readonly imageID: string;
  /** The absolute path of the log file. */
  readonly logPath: string;
  /** What the container sees of the node. */
  readonly mounts: readonly Mount[];
  /** The limits that are in force; absent where the runtime does not say. */
  readonly resources?: LinuxContainerResources;
  /** The user; absent where the runtime does not say. */
  readonly user?: ContainerUser;
  /** The signal that asks it to end; absent where the runtime does not say. */
  readonly stopSignal?: string;
}

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
