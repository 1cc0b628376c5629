import { untilAborted } from '../../base/concurrency/aborts.ts';
import { errorText } from '../../base/errors.ts';
import { PluginCallError } from '../registration/plugin-registration.ts';
import type { CsiDriverOnNode, CsiDrivers } from './csi-drivers.ts';
import type { CsiNodeCapability } from './csi-node.ts';

/** Throws in the kubelet's words where no such driver is registered. */
export function registeredDriver(drivers: Pick<CsiDrivers, 'driver'>, name: string): CsiDriverOnNode {
  try {
    return drivers.driver(name);
  } catch (cause) {
    throw new Error(`kubernetes.io/csi: failed to get CSI client: ${errorText(cause)}`, { cause });
  }
}

/** Nothing follows from this question: nobody waits for its answer longer than for the pod. */
export async function capabilitiesOf(
  driver: CsiDriverOnNode,
  name: string,
  signal: AbortSignal,
): Promise<ReadonlySet<CsiNodeCapability>> {
  try {
    return await untilAborted(driver.capabilities(), signal);
  } catch (error) {
    signal.throwIfAborted();
    throw driverError(name, error);
  }
}

export function driverError(name: string, cause: unknown): Error {
  return new Error(`the driver ${name} says: ${errorText(cause)}`, { cause });
}

/** The error of the driver; undefined for one that the driver did not give. */
export function callErrorOf(error: unknown): PluginCallError | undefined {
  if (error instanceof PluginCallError) return error;
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof PluginCallError ? cause : undefined;
}

/** The driver has no such volume: what is not mounted is gone. */
export function isUnknownVolume(error: unknown): boolean {
  return error instanceof PluginCallError && error.grpcCode === 'NotFound';
}
