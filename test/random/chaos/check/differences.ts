import { isDeepStrictEqual } from 'node:util';

const atMost = 4;

/** Where two plain values differ, in words; empty where they are equal. */
export function differences(expected: unknown, found: unknown, path = ''): string[] {
  if (isDeepStrictEqual(expected, found)) return [];
  if (!isObject(expected) || !isObject(found) || Array.isArray(expected) !== Array.isArray(found)) {
    return [`${path} is ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`];
  }
  const keys = new Set([...Object.keys(expected), ...Object.keys(found)]);
  return [...keys].flatMap((key) => differences(expected[key], found[key], `${path}/${key}`)).slice(0, atMost);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
