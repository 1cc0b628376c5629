import { isObject } from './source.ts';

/**
 * A deep copy for handing out: no reader can change it. Each `Date` becomes an accessor that gives a fresh one at every
 * read: `Object.freeze` does not keep a Date from being set.
 */
export function frozenCopy<T>(value: T): T {
  return copyOf(value) as T;
}

function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) return Object.freeze(value.map((item) => copyOf(item)));
  if (!isObject(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const member = value[key];
    if (member instanceof Date) defineTime(copy, key, member.getTime());
    else copy[key] = copyOf(member);
  }
  return Object.freeze(copy);
}

/** A member that gives a fresh `Date` at every read. */
function defineTime(target: Record<string, unknown>, key: string, ms: number): void {
  Object.defineProperty(target, key, { enumerable: true, get: () => new Date(ms) });
}
