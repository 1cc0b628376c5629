/** What there is of something that can run out, in bytes or in pieces. */
export interface Supply {
  readonly available: number;
  readonly capacity: number;
}

/** What the node has. What is absent is not known, and nothing follows from it. */
export interface NodeUsage {
  readonly memory?: Supply | undefined;
  /** The file system of the agent's root directory and of logs. */
  readonly nodefs?: Supply | undefined;
  readonly nodefsInodes?: Supply | undefined;
  /** The file system of images and of what containers write. */
  readonly imagefs?: Supply | undefined;
  readonly imagefsInodes?: Supply | undefined;
  readonly pids?: Supply | undefined;
  /** True: images lie on another file system than the root directory. */
  readonly hasDedicatedImagefs: boolean;
}

/** What one container takes, in bytes. */
export interface ContainerUsage {
  readonly memory?: number | undefined;
  /** What it has written into its own file system. */
  readonly rootfs?: number | undefined;
  readonly rootfsInodes?: number | undefined;
  readonly logs?: number | undefined;
}

/** What one pod takes, in bytes. */
export interface PodUsage {
  /** Memory that cannot be taken back. */
  readonly memory?: number | undefined;
  readonly processes?: number | undefined;
  /** By the container's name. */
  readonly containers: Readonly<Record<string, ContainerUsage>>;
  /** Volumes on the node's disk (emptyDir that is not memory, configMap and the like), by name. */
  readonly volumes: Readonly<Record<string, number>>;
  /** Of volumes in memory, by name; they have a size limit like the others. */
  readonly memoryVolumes: Readonly<Record<string, number>>;
}

/** All that the pod has on disks of the node. */
export function ephemeralStorageOf({ containers, volumes }: PodUsage): number {
  const parts = Object.values(containers).flatMap(({ rootfs = 0, logs = 0 }) => [rootfs, logs]);
  return [...parts, ...Object.values(volumes)].reduce((sum, bytes) => sum + bytes, 0);
}

/** What its containers have on one of the two file systems, volumes and logs with the node's. */
export function diskUsageOf(usage: PodUsage, disk: 'nodefs' | 'imagefs' | 'both'): number {
  if (disk === 'both') return ephemeralStorageOf(usage);
  const rootfs = Object.values(usage.containers).reduce((sum, one) => sum + (one.rootfs ?? 0), 0);
  return disk === 'imagefs' ? rootfs : ephemeralStorageOf(usage) - rootfs;
}
