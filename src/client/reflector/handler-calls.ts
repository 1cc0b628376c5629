import { LateMap } from '../../base/concurrency/late-collections.ts';
import { callGuarded, isThenable } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { ApiObject } from '../resources/api-resource.ts';
import { isSameObject, objectKeyOf } from './object-store.ts';

/**
 * Called with each change. What a handler throws, or rejects with, is logged and goes no further. The calls for one object
 * are one at a time and in order: while the promise of one is pending, the changes of that object are joined into one, and
 * no other object waits.
 */
export interface ReflectorHandlers<T> {
  /** An object is new. */
  added?(object: T): unknown;
  /** An object has changed; `previous` is the copy that was told of last. */
  updated?(object: T, previous: T): unknown;
  /** `object` is as it was last seen. */
  deleted?(object: T): unknown;
  /** A full list is in the store, and its changes were told. */
  synced?(): unknown;
  /** A list or watch failed; the next try comes after `delayMs`. */
  interrupted?(error: unknown, delayMs: number): unknown;
}

/** One listener of a reflector's changes. */
export interface ChangeListener<T> {
  /** Called with what has happened to one object. */
  changed(net: NetChange<T>): void;
}

/** Calls handlers; keeps of an object whose handler is busy what there is to tell it next. */
export class HandlerCalls<T extends ApiObject> implements ChangeListener<T> {
  readonly #handlers: ReflectorHandlers<T>;
  readonly #logger: Logger;
  /** By key, the objects whose handler is busy. */
  readonly #busy = new LateMap<string, NetChange<T> | undefined>();
  #isClosed = false;

  constructor(handlers: ReflectorHandlers<T>, logger: Logger) {
    this.#handlers = handlers;
    this.#logger = logger;
  }

  changed(net: NetChange<T>): void {
    if (this.#busy.size === 0) {
      this.#tell(net);
      return;
    }
    const key = keyOfChange(net);
    if (!this.#busy.has(key)) {
      this.#tell(net);
      return;
    }
    const waiting = this.#busy.get(key);
    this.#busy.set(key, waiting === undefined ? net : joinChanges(waiting, net));
  }

  synced(): void {
    if (!this.#isClosed) this.#guard('synced', () => this.#handlers.synced?.());
  }

  interrupted(error: unknown, delayMs: number): void {
    if (!this.#isClosed) this.#guard('interrupted', () => this.#handlers.interrupted?.(error, delayMs));
  }

  /** No handler is called any more. */
  close(): void {
    this.#isClosed = true;
    this.#busy.clear();
  }

  #tell(net: NetChange<T>): void {
    let left: NetChange<T> | undefined = net;
    while (left !== undefined && !this.#isClosed) {
      const first: ReturnType<typeof firstChange<T>> = firstChange(left);
      if (first === undefined) return;
      left = first.rest;
      if (this.#call(first.change, left)) return;
    }
  }

  /** True when the handler answered with a promise; `rest` is told when that has settled. */
  #call(change: ObjectChange<T>, rest: NetChange<T> | undefined): boolean {
    const answer = this.#answer(change);
    if (answer === undefined) return false;
    const key = objectKeyOf(change.object);
    const settled = (): void => {
      const waiting = this.#busy.get(key);
      this.#busy.delete(key);
      if (waiting !== undefined) this.#tell(waiting);
    };
    this.#busy.set(key, rest);
    answer.then(settled, (error: unknown) => {
      this.#failed(change.type, error);
      settled();
    });
    return true;
  }

  /** The handler's promise; undefined when it gave none, or threw. */
  #answer(change: ObjectChange<T>): Promise<unknown> | undefined {
    try {
      const answer: unknown =
        change.type === 'updated'
          ? this.#handlers.updated?.(change.object, change.previous)
          : this.#handlers[change.type]?.(change.object);
      return isThenable(answer) ? Promise.resolve(answer) : undefined;
    } catch (error) {
      this.#failed(change.type, error);
      return undefined;
    }
  }

  #guard(callback: string, call: () => unknown): void {
    callGuarded(call, (error) => this.#failed(callback, error));
  }

  #failed(callback: string, error: unknown): void {
    this.#logger.error({ method: callback, err: error }, 'a callback of the reflector failed');
  }
}

function keyOfChange<T extends ApiObject>({ told, now, last }: NetChange<T>): string {
  const object = now ?? told ?? last;
  return object === undefined ? '' : objectKeyOf(object);
}

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
