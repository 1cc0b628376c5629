/**
 * A cgroup could not be made, changed or removed. The message names the folder or the file; `cause` is what the kernel said.
 *
 * @example
 * ```ts
 * import { CgroupError } from 'pod-status-manager/node';
 *
 * const error = new CgroupError('cannot write 1024 to /sys/fs/cgroup/cpu/kubepods/cpu.shares: EINVAL');
 * console.log(error.name); // CgroupError
 * ```
 */
export class CgroupError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CgroupError';
  }
}
