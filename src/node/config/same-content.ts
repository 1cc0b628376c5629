import { formatTime, hasFourDigitYear } from '../../api/json/time.ts';

/** Deeper parts count as different: no pod of the API comes near it, and none may exhaust the stack. */
const deepest = 200;

/**
 * True when both values say the same in JSON: a member that is null or undefined counts as absent, a `Date` as its whole
 * second. Parts that are one object cost nothing.
 */
export function sameContent(a: unknown, b: unknown, depth = 0): boolean {
  if (a === b) return true;
  if (a === null || a === undefined || b === null || b === undefined) return (a ?? null) === (b ?? null);
  if (a instanceof Date || b instanceof Date) return textOfTime(a) === textOfTime(b);
  if (typeof a !== 'object' || typeof b !== 'object' || depth > deepest) return false;
  if (Array.isArray(a) || Array.isArray(b)) return sameItems(a, b, depth);
  return sameMembers(a as Members, b as Members, depth);
}

type Members = Readonly<Record<string, unknown>>;

function sameItems(a: object, b: object, depth: number): boolean {
  if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
  return a.every((item, index) => sameContent(item, b[index], depth + 1));
}

function sameMembers(a: Members, b: Members, depth: number): boolean {
  for (const key of Object.keys(a)) {
    if (!sameContent(a[key], Object.hasOwn(b, key) ? b[key] : undefined, depth + 1)) return false;
  }
  for (const key of Object.keys(b)) {
    if (!Object.hasOwn(a, key) && b[key] !== null && b[key] !== undefined) return false;
  }
  return true;
}

function textOfTime(value: unknown): unknown {
  if (!(value instanceof Date)) return value;
  return hasFourDigitYear(value.getTime()) ? formatTime(value.getTime()) : undefined;
}
