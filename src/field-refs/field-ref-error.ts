/** A reference to a field or to a resource of a pod that leads to no value. Its message says why, as the kubelet's does. */
export class FieldRefError extends Error {
  static {
    FieldRefError.prototype.name = 'FieldRefError';
  }
}
