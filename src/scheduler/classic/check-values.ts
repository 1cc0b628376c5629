import { invalidOption } from '../../base/errors.ts';
import { isLabelKey, labelKeyRule } from '../../base/names.ts';

export type Members = Readonly<Record<string, unknown>>;

/**
 * The object's members. A member that is null is as good as absent, as it is for Go. Throws for anything but an object, and for a
 * member with a name that is not known.
 */
export function objectAt(path: string, value: unknown, known: readonly string[]): Members {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalidOption(path, 'an object', value);
  const members = Object.entries(value).filter(([, member]) => member !== null && member !== undefined);
  const strange = members.find(([key]) => !known.includes(key));
  if (strange !== undefined) {
    const [key, member] = strange;
    throw invalidOption(`${path}.${key}`, `absent: the known members are ${known.join(', ')}`, member);
  }
  return Object.fromEntries(members);
}

/** The items of a list, each checked with its place. */
export function listAt<Item>(path: string, value: unknown, check: (path: string, item: unknown) => Item): Item[] {
  if (!Array.isArray(value)) throw invalidOption(path, 'a list', value);
  return value.map((item: unknown, index) => check(`${path}[${index}]`, item));
}

export function wholeAt(path: string, value: unknown, min: number, max: number): number {
  if (Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max) return Number(value);
  throw invalidOption(path, `a whole number from ${min} to ${max}`, value);
}

export function booleanAt(path: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  throw invalidOption(path, 'true or false', value);
}

export function textAt(path: string, value: unknown): string {
  if (typeof value === 'string' && value !== '') return value;
  throw invalidOption(path, 'a non-empty text', value);
}

export function labelAt(path: string, value: unknown): string {
  if (isLabelKey(value)) return value;
  throw invalidOption(path, `the key of a label: ${labelKeyRule}`, value);
}
