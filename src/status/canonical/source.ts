import { invalidArgument } from '../../base/errors.ts';

const maxDepth = 24;

/** What callers hand in, before anything is known of its members. */
export type Source = { readonly [key: string]: unknown };

/** True for anything that holds named members, client-node's classes included. */
export function isObject(value: unknown): value is Source {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/** Text the apiserver gives back unchanged: its JSON decoder replaces lone surrogates, so we do it first. */
export function canonicalText(text: string): string {
  return text.isWellFormed() ? text : text.toWellFormed();
}

/** Refuses what is nested deeper than any status is: it may go round in circles. */
export function requireDepth(value: unknown, path: string, depth: number): void {
  if (depth > maxDepth) throw invalidArgument(path, `nested at most ${maxDepth} deep`, value);
}

/** `convert` of every object of a list. Undefined for an empty list. Throws ERR_INVALID_ARGUMENT for what is no list of objects. */
export function mapObjects<T>(path: string, value: unknown, convert: (source: Source, index: number) => T): T[] | undefined {
  if (!Array.isArray(value)) throw invalidArgument(path, 'a list', value);
  if (value.length === 0) return undefined;
  return value.map((item: unknown, index) => {
    if (!isObject(item)) throw invalidArgument(`${path}[${index}]`, 'an object', item);
    return convert(item, index);
  });
}
