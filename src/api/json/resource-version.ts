import { compareNumbers } from '../quantity/quantity.ts';

const decimal = /^\d+$/;

/**
 * Negative, zero or positive as `a` is older, the same or newer; undefined when the two cannot be ordered.
 * Resource versions are 64 bit, more than a number holds exactly: they are compared as digits.
 */
export function compareResourceVersions(a: string, b: string): number | undefined {
  if (a === b) return 0;
  return decimal.test(a) && decimal.test(b) ? compareNumbers(a, b) : undefined;
}

/** True when version `a` is certainly older than `b`: both are numbers. */
export function isOlderVersion(a: string, b: string): boolean {
  const order = compareResourceVersions(a, b);
  return order !== undefined && order < 0;
}

/** Any object of the API. */
interface Versioned {
  readonly metadata?: { readonly resourceVersion?: string | undefined } | undefined;
}

/**
 * True when `object` is certainly an older copy than `held`: both carry a resourceVersion, and both are numbers.
 * Anything else (a static pod has none) proves nothing, and is false.
 */
export function isOlderThan(object: Versioned, held: Versioned): boolean {
  return isOlderVersion(object.metadata?.resourceVersion ?? '', held.metadata?.resourceVersion ?? '');
}
