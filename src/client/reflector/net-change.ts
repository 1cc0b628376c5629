import type { ApiObject } from '../resources/api-resource.ts';
import { isSameObject } from './object-identity.ts';

/** What happened to one object. */
export type ObjectChange<T> =
  | { readonly type: 'added'; readonly object: T }
  | { readonly type: 'updated'; readonly object: T; readonly previous: T }
  /** `object` is as it was last seen. */
  | { readonly type: 'deleted'; readonly object: T };

/** All that has happened under one name since a listener was told of it last. */
export interface NetChange<T> {
  /** The object that the listener was told of last; undefined when it knows none, or knows it deleted. */
  readonly told: T | undefined;
  /** The object that there is now. */
  readonly now: T | undefined;
  /** `told`, as it was when it was deleted. */
  readonly last: T | undefined;
}

/** The first change to tell of, and what is left to tell afterwards. Undefined when nothing has changed on balance. */
export function firstChange<T extends ApiObject>(
  net: NetChange<T>,
): { readonly change: ObjectChange<T>; readonly rest: NetChange<T> | undefined } | undefined {
  const { told, now, last } = net;
  if (told === undefined) return now === undefined ? undefined : { change: { type: 'added', object: now }, rest: undefined };
  if (now !== undefined && isSameObject(told, now)) {
    return { change: { type: 'updated', object: now, previous: told }, rest: undefined };
  }
  const rest = now === undefined ? undefined : { told: undefined, now, last: undefined };
  return { change: { type: 'deleted', object: last ?? told }, rest };
}

/** Two changes one after the other, as one. */
export function joinChanges<T extends ApiObject>(before: NetChange<T>, after: NetChange<T>): NetChange<T> {
  const { told } = before;
  const seen = after.last ?? before.last;
  const last = told !== undefined && seen !== undefined && isSameObject(told, seen) ? seen : before.last;
  return { told, now: after.now, last };
}
