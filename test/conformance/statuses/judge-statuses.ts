import { isDeepStrictEqual } from 'node:util';
import type { StatusesCase } from './statuses-case.ts';

/** What differs between the recording and our status, member by member. There is no exemption. */
export function judgeStatuses({ out }: StatusesCase, got: object): string[] {
  return differences('status', withoutNulls(out.status), got);
}

/** Goes into objects and lists, so that each line names the place. */
function differences(path: string, expected: unknown, got: unknown): string[] {
  if (isDeepStrictEqual(expected, got)) return [];
  if (!isHolder(expected) || !isHolder(got) || Array.isArray(expected) !== Array.isArray(got)) {
    return [`${path}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(got)}`];
  }
  const members = new Set([...Object.keys(expected), ...Object.keys(got)]);
  const found = [...members].flatMap((member) => differences(`${path}.${member}`, expected[member], got[member]));
  return found.length > 0 ? found : [`${path}: other members`];
}

function isHolder(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/** Go writes an absent time as null. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isHolder(value)) return value;
  const entries = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(entries.map(([key, member]) => [key, withoutNulls(member)]));
}
