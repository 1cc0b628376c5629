/**
 * Whom an error concerns. `node`: this node has to be left out. `claims`: the claims, their classes or the slices are such that no
 * node can be looked at. `time`: there is no time left.
 */
export type AllocationErrorScope = 'node' | 'claims' | 'time';

/** Devices could not be looked for. */
export class DeviceAllocationError extends Error {
  readonly scope: AllocationErrorScope;

  constructor(scope: AllocationErrorScope, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'DeviceAllocationError';
    this.scope = scope;
  }
}

/** Throws DeviceAllocationError once there is no time left. */
export function requireTime(isOverdue: () => boolean): void {
  if (isOverdue()) throw new DeviceAllocationError('time', 'timed out trying to allocate devices');
}
