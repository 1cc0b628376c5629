import type { Pod } from '../api/wire.ts';

/**
 * True when `pod` is certainly an older copy than `held`: both carry a resourceVersion, and both are numbers.
 * Anything else (a static pod has none) proves nothing, and is false.
 */
export function isOlderThan(pod: Pod, held: Pod): boolean {
  const [version, heldVersion] = [numericVersion(pod), numericVersion(held)];
  return version !== undefined && heldVersion !== undefined && version < heldVersion;
}

/** Resource versions are 64 bit, more than a number holds exactly. */
function numericVersion(pod: Pod): bigint | undefined {
  const version = pod.metadata?.resourceVersion;
  return version !== undefined && /^\d+$/.test(version) ? BigInt(version) : undefined;
}
