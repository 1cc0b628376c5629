// Checks of arguments. Each throws ERR_INVALID_ARGUMENT, which names the argument, the rule, the value and its type.
import { invalidArgument } from '../errors.ts';

export function requireText(path: string, value: unknown): asserts value is string {
  if (typeof value !== 'string' || value === '') throw invalidArgument(path, 'a non-empty string', value);
}

export function requireBoolean(path: string, value: unknown): asserts value is boolean {
  if (typeof value !== 'boolean') throw invalidArgument(path, 'a boolean', value);
}

/** Refuses null, an array, and what is no object at all. */
export function requireObject(path: string, value: unknown): asserts value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalidArgument(path, 'an object', value);
}

/** Refuses what is no list. Null and undefined count as an empty one. */
export function requireList(path: string, value: unknown): asserts value is readonly unknown[] | null | undefined {
  if (value !== undefined && value !== null && !Array.isArray(value)) throw invalidArgument(path, 'a list', value);
}

/** Refuses what is no list of objects. Null and undefined count as an empty one. */
export function requireObjects(path: string, value: unknown): void {
  requireList(path, value);
  for (let i = 0; value && i < value.length; i++) {
    const item = value[i];
    if (typeof item !== 'object' || item === null) throw invalidArgument(`${path}[${i}]`, 'an object', item);
  }
}

/** Refuses an object with a member that is not in `known`: it may be a misspelt one. */
export function requireKnownMembers(path: string, value: object, known: readonly string[]): void {
  for (const [key, member] of Object.entries(value)) {
    if (!known.includes(key))
      throw invalidArgument(`${path}.${key}`, `absent: the known members are ${known.join(', ')}`, member);
  }
}

const largestInt32 = 2 ** 31 - 1;

/** True for a whole number that the apiserver can store in an exit code or a restart count. */
export function isInt32(value: unknown, least = -largestInt32 - 1): boolean {
  return Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= largestInt32;
}

/** What {@link isPathSegment} asks of a text, as an error says it. */
export const pathSegmentRule = 'well-formed text without "/" and "%", neither "." nor ".."';

/** Checks a name that goes into the path of a request, as the apiserver does: any other name could name another resource. */
export function requirePathSegment(path: string, value: unknown): asserts value is string {
  requireText(path, value);
  if (!isPathSegment(value)) throw invalidArgument(path, pathSegmentRule, value);
}

/** True for text that is one segment of a path, and stays that one. */
export function isPathSegment(value: unknown): value is string {
  if (typeof value !== 'string' || value === '' || value === '.' || value === '..') return false;
  return !/[/%]/.test(value) && value.isWellFormed();
}
