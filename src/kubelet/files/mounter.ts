/** How a path is shown at another one. */
export interface BindOptions {
  /** True: nothing can be written through the new path. */
  readonly readonly?: boolean;
}

/** A file system in memory. */
export interface TmpfsSettings {
  /** The most that fits in, in bytes. Default: as much as the kernel allows. */
  readonly sizeBytes?: number | undefined;
  /** The mode of its root. Default: `0o1777`, the kernel's own. */
  readonly mode?: number | undefined;
  /** The numeric group of its root. Default: that of the agent. */
  readonly gid?: number | undefined;
}

/** Who owns a file. What is absent stays as it is. */
export interface Ownership {
  /** The numeric user. */
  readonly uid?: number | undefined;
  /** The numeric group. */
  readonly gid?: number | undefined;
}

/**
 * What an agent needs a privileged user for: mounts, and the owners of files. Each method rejects with an error that names the
 * path; a mount that is there already, or gone, is no error.
 */
export interface Mounter {
  /** Mounts a file system in memory. Its mode and its group are there as soon as it is. */
  mountTmpfs(target: string, options: TmpfsSettings, signal?: AbortSignal): Promise<void>;
  /** True: a file system in memory is mounted at `target`. */
  isTmpfs(target: string): Promise<boolean>;
  /** Shows the file or folder `source` at `target`, which must exist. Only what is in `/proc/PID/fd` is followed as a link. */
  bind(source: string, target: string, options: BindOptions, signal?: AbortSignal): Promise<void>;
  /** Ends the topmost mount at `target`; lazily, where it is busy. */
  unmount(target: string, signal?: AbortSignal): Promise<void>;
  /** The mount points at and below `folder`, the deepest first; one that is mounted twice stands there twice. */
  mountsBelow(folder: string): Promise<readonly string[]>;
  /** Changes who owns the file, the folder, or the symbolic link itself. */
  changeOwner(path: string, owner: Ownership): Promise<void>;
}
