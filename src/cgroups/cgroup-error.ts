/** A cgroup could not be made, changed or removed. The message names the file; `cause` is what the kernel said. */
export class CgroupError extends Error {
  static {
    CgroupError.prototype.name = 'CgroupError';
  }
}
