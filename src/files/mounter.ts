/** How a path is shown at another one. */
export interface BindOptions {
  /** True: nothing can be written through the new path. */
  readonly readonly?: boolean;
}

/** Makes and ends mounts. Each method rejects with an error that names the path; a mount that is there already, or gone, is no error. */
export interface Mounter {
  /** Mounts a file system in memory; `sizeBytes` absent: as large as the kernel allows. */
  mountTmpfs(
    target: string,
    options: { readonly sizeBytes?: number; readonly mode?: number },
    signal?: AbortSignal,
  ): Promise<void>;
  /** Shows the file or folder `source` at `target`, which must exist. No part of `source` may be a symbolic link. */
  bind(source: string, target: string, options: BindOptions, signal?: AbortSignal): Promise<void>;
  /** Ends the mount at `target`; lazily, where it is busy. */
  unmount(target: string, signal?: AbortSignal): Promise<void>;
  /** The mount points at and below `folder`, the deepest first. */
  mountsBelow(folder: string): Promise<readonly string[]>;
}
