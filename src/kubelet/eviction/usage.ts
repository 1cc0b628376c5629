import { added, nothing, type TreeSize } from '../../node/files/tree-size.ts';

/** What there is of something that can run out, in bytes or in pieces. */
export interface Supply {
  readonly available: number;
  readonly capacity: number;
}

/** Which file systems are on disks of their own. */
export interface DiskLayout {
  /** True: images, or what containers write, lie on another file system than the root directory. */
  readonly hasDedicatedImagefs: boolean;
  /** True: what containers write lies on another file system than images. Default false. */
  readonly hasSplitContainerfs?: boolean;
}

/** What the node has. What is absent is not known, and nothing follows from it. */
export interface NodeUsage extends DiskLayout {
  readonly memory?: Supply | undefined;
  /** Of what all pods together may have. */
  readonly podsMemory?: Supply | undefined;
  /** The file system of the agent's root directory and of logs. */
  readonly nodefs?: Supply | undefined;
  readonly nodefsInodes?: Supply | undefined;
  /** The file system of images. */
  readonly imagefs?: Supply | undefined;
  readonly imagefsInodes?: Supply | undefined;
  /** The file system of what containers write. */
  readonly containerfs?: Supply | undefined;
  readonly containerfsInodes?: Supply | undefined;
  readonly pids?: Supply | undefined;
}

/** What one container takes. */
export interface ContainerUsage {
  /** In bytes. */
  readonly memory?: number | undefined;
  /** What it has written into its own file system. */
  readonly rootfs?: TreeSize | undefined;
  readonly logs?: TreeSize | undefined;
}

/** What a pod's own files take on the node's disk. What is absent was not counted yet. */
export interface PodFiles {
  /** Volumes on the node's disk: emptyDir that is not memory, and configMap; by name. */
  readonly volumes: Readonly<Record<string, TreeSize>>;
  /** Of volumes in memory, by name; they have a size limit like the others. */
  readonly memoryVolumes: Readonly<Record<string, TreeSize>>;
  /** By the container's name. */
  readonly logs: Readonly<Record<string, TreeSize>>;
  /** Files that the agent has made for the pod and that its containers can write: the hosts file, termination messages. */
  readonly others: TreeSize;
}

/** What one pod takes. */
export interface PodUsage extends Omit<PodFiles, 'logs'> {
  /** Memory that cannot be taken back, in bytes. */
  readonly memory?: number | undefined;
  readonly processes?: number | undefined;
  /** By the container's name. */
  readonly containers: Readonly<Record<string, ContainerUsage>>;
}

export function ephemeralStorageOf(usage: PodUsage): TreeSize {
  return added(ownLayersOf(usage), nodeFilesOf(usage));
}

/** What of a pod counts: what its containers write into their own layers; volumes, logs and the agent's files for it. */
export interface DiskParts {
  readonly layers: boolean;
  readonly nodeFiles: boolean;
}

export function diskUsageOf(usage: PodUsage, { layers, nodeFiles }: DiskParts): TreeSize {
  return added(layers ? ownLayersOf(usage) : nothing, nodeFiles ? nodeFilesOf(usage) : nothing);
}

function ownLayersOf({ containers }: PodUsage): TreeSize {
  return sumOf(Object.values(containers).map(({ rootfs }) => rootfs));
}

function nodeFilesOf({ containers, volumes, others }: PodUsage): TreeSize {
  return sumOf([...Object.values(containers).map(({ logs }) => logs), ...Object.values(volumes), others]);
}

function sumOf(sizes: readonly (TreeSize | undefined)[]): TreeSize {
  return sizes.reduce<TreeSize>((sum, size) => added(sum, size ?? nothing), nothing);
}
