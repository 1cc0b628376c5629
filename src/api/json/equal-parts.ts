import { deepestCompared } from './json.ts';

// JSON values as JSON.parse made them: own members only, no Date, no undefined.

type Members = { [key: string]: unknown };
type Part = Members | unknown[];

function isPart(value: unknown): value is Part {
  return typeof value === 'object' && value !== null;
}

/** The own member; undefined where there is none. */
function ownMember(part: Members, key: string): unknown {
  const value = part[key];
  // only objects are inherited, and functions, which no JSON value equals
  return typeof value === 'object' && !Object.hasOwn(part, key) ? undefined : value;
}

/**
 * Lets `now` share with `like` every part, and every text, that is equal in both at the same place. Changes `now` in place
 * and returns it. Shared parts are frozen, so that nobody changes two objects by changing one. A part of `now` that is
 * frozen already stays as it is.
 */
export function shareEqualParts<T extends object>(now: T, like: object): T {
  shareWithin(now as Part, like as Part, 0);
  return now;
}

/** True when the two are equal. */
function shareWithin(now: Part, like: Part, depth: number): boolean {
  if (depth > deepestCompared || Object.isFrozen(now)) return false;
  if (Array.isArray(now)) return Array.isArray(like) && shareItems(now, like, depth);
  return !Array.isArray(like) && shareMembers(now, like, depth);
}

function shareItems(now: unknown[], like: readonly unknown[], depth: number): boolean {
  const shared = Math.min(now.length, like.length);
  let isEqual = now.length === like.length;
  for (let index = 0; index < shared; index += 1) {
    const part = sharedPart(now[index], like[index], depth);
    if (part === undefined) isEqual = false;
    else now[index] = part;
  }
  return isEqual;
}

function shareMembers(now: Members, like: Members, depth: number): boolean {
  let isEqual = true;
  let left = Object.keys(like).length;
  for (const key in now) {
    left -= 1;
    const part = sharedPart(now[key], ownMember(like, key), depth);
    if (part === undefined) isEqual = false;
    else now[key] = part;
  }
  return isEqual && left === 0;
}

/** What stands for both values from now on: `theirs`, where the two are equal; undefined where they are not. */
function sharedPart(mine: unknown, theirs: unknown, depth: number): unknown {
  if (mine === theirs) return theirs;
  if (!isPart(mine) || !isPart(theirs) || !shareWithin(mine, theirs, depth + 1)) return undefined;
  return Object.freeze(theirs);
}
