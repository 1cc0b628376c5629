import isEqual from 'lodash.isequal';

/** An object of a canonical status: it holds no undefined and no null. */
export type Members = { readonly [key: string]: unknown };

/** Which members count: all, or only those that Kubernetes 1.36 knows. */
export type ComparedMembers = 'all' | 'known';

/** True when `equal` holds for every member that either side has; each member is looked at once. */
export function membersEqual(a: Members, b: Members, equal: (key: string, x: unknown, y: unknown) => boolean): boolean {
  for (const key in a) if (!equal(key, a[key], b[key])) return false;
  for (const key in b) if (a[key] === undefined && !equal(key, undefined, b[key])) return false;
  return true;
}

/** Deep equality of two canonical values. lodash.isequal sees only what the cheap comparisons leave. */
export function valueEqual(a: unknown, b: unknown): boolean {
  return a === b || (isObject(a) && isObject(b) && isEqual(a, b));
}

export function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null;
}
