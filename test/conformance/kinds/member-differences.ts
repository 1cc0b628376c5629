import { isDeepStrictEqual } from 'node:util';

type Members = Readonly<Record<string, unknown>>;

/** What differs between two outcomes, member by member. */
export function memberDifferences(expected: Members, got: Members): string[] {
  const members = [...new Set([...Object.keys(expected), ...Object.keys(got)])];
  return members
    .filter((member) => !isDeepStrictEqual(expected[member], got[member]))
    .map((member) => `${member}: expected ${JSON.stringify(expected[member])}, got ${JSON.stringify(got[member])}`);
}

/** The members that a recording does not leave out. */
export function membersUnless(isLeftOut: (value: unknown) => boolean, outcome: object): Members {
  return Object.fromEntries(Object.entries(outcome).filter(([, value]) => !isLeftOut(value)));
}

/** True for undefined, an empty text, an empty list and an empty object. */
export function isEmpty(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return value === undefined || value === '';
  return Object.keys(value).length === 0;
}
