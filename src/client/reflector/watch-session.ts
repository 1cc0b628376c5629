import { isOlderVersion } from '../../api/json/resource-version.ts';
import type { CancelTimer, SteadyClock } from '../../base/clock.ts';
import { LinkedAbort } from '../../base/concurrency/aborts.ts';
import type { ApiObject } from '../resources/api-resource.ts';
import type { WatchEvent } from '../resources/watch-line.ts';
import { ApiError, maxMessageLength } from '../transport/api-error.ts';
import { namespaceOf, objectKeyOf, objectNameOf } from './object-store.ts';
import type { ReceivedObjects } from './received-objects.ts';

/** The annotation of the bookmark that follows the last object of a streamed list. */
const initialEventsEnd = 'k8s.io/initial-events-end';

/** A full list, from pages or from a stream. */
export interface CompleteList<T> {
  readonly objects: readonly T[];
  readonly resourceVersion: string;
  /** The keys of the objects of which the transform failed. */
  readonly failedKeys: ReadonlySet<string>;
}

export interface WatchSessionHost<T extends ApiObject> {
  readonly path: string;
  readonly received: ReceivedObjects<T>;
  /** The time that has passed, in milliseconds. */
  elapsed(): number;
  /** The copy that is held of this object. */
  held(object: T): T | undefined;
  /** Takes the list that a stream began with. */
  list(list: CompleteList<T>): void;
  set(object: T): void;
  remove(namespace: string, name: string, last: T | undefined): void;
  /** Every change up to this version has been handed on, or is handed on now. */
  reached(resourceVersion: string): void;
}

/** By key. */
interface CollectedObjects<T> {
  readonly objects: Map<string, T>;
  readonly failedKeys: Set<string>;
  latest: T | undefined;
}

/**
 * The events of one watch, in order. A streamed list is collected until its end is marked, and handed on as a whole. An
 * event whose resourceVersion is older than that of the event before it ends the watch: the history of the server went back.
 */
export class WatchSession<T extends ApiObject> {
  readonly #host: WatchSessionHost<T>;
  #collected: CollectedObjects<T> | undefined;
  #reached: string;
  #startedAt: number;
  #hasBroughtSomething = false;

  /** `from` is the version after which changes are told; undefined for a streamed list. */
  constructor(host: WatchSessionHost<T>, from: string | undefined) {
    this.#host = host;
    this.#reached = from ?? '';
    this.#startedAt = host.elapsed();
    if (from === undefined) this.#collected = { objects: new Map(), failedKeys: new Set(), latest: undefined };
  }

  /** True before the end of a streamed list. */
  get isFilling(): boolean {
    return this.#collected !== undefined;
  }

  /** True when an event or a bookmark came, after the list if the watch began with one. */
  get hasBroughtSomething(): boolean {
    return this.#hasBroughtSomething;
  }

  /** How long ago the watch began, or its list ended, in milliseconds. */
  get lastedMs(): number {
    return this.#host.elapsed() - this.#startedAt;
  }

  readonly take = (event: WatchEvent<T>): void => {
    if (this.#collected !== undefined) {
      this.#collect(event, this.#collected);
      return;
    }
    const { resourceVersion } = event.object.metadata;
    this.#refuseOlder(resourceVersion);
    this.#hasBroughtSomething = true;
    const before = this.#reached;
    // whoever is told of the change sees the version that it has led to
    this.#host.reached(resourceVersion);
    try {
      if (event.type !== 'BOOKMARK') this.#handOn(event);
      this.#reached = resourceVersion;
    } catch (error) {
      this.#host.reached(before);
      throw error;
    }
  };

  #handOn({ type, object }: WatchEvent<T>): void {
    // the transform may change the object in place
    const namespace = namespaceOf(object);
    const name = objectNameOf(object);
    const received = this.#host.received.receive(object, this.#host.held(object));
    if (type === 'DELETED' || received === 'left out') {
      const last = type === 'DELETED' && typeof received === 'object' ? received.object : undefined;
      this.#host.remove(namespace, name, last);
    } else if (received !== 'failed') {
      this.#host.set(received.object);
    }
  }

  /** The objects of a streamed list come in no order of their versions, and real changes may come between them. */
  #collect({ type, object }: WatchEvent<T>, collected: CollectedObjects<T>): void {
    const { objects, failedKeys } = collected;
    if (type === 'BOOKMARK') {
      this.#endOfList(object, { objects: [...objects.values()], failedKeys });
      return;
    }
    const key = objectKeyOf(object);
    const received = this.#host.received.receive(object, collected.latest);
    objects.delete(key);
    failedKeys.delete(key);
    if (type === 'DELETED' || received === 'left out') return;
    if (received === 'failed') failedKeys.add(key);
    else {
      objects.set(key, received.object);
      collected.latest = received.object;
    }
  }

  #endOfList(bookmark: WatchEvent<T>['object'], collected: Pick<CompleteList<T>, 'objects' | 'failedKeys'>): void {
    const { resourceVersion, annotations }: { resourceVersion: string; annotations?: unknown } = bookmark.metadata;
    // a server that streams lists marks their end before it sends any other bookmark
    const isEnd = { ...(annotations as object | undefined) }[initialEventsEnd as never] === 'true';
    if (!isEnd) throw this.#broken('a bookmark came before the end of the streamed list');
    this.#host.list({ ...collected, resourceVersion });
    this.#collected = undefined;
    this.#reached = resourceVersion;
    this.#startedAt = this.#host.elapsed();
  }

  #refuseOlder(resourceVersion: string): void {
    if (!isOlderVersion(resourceVersion, this.#reached)) return;
    throw this.#broken(`the watch went back from resourceVersion ${this.#reached} to ${resourceVersion}`);
  }

  #broken(what: string): ApiError {
    return new ApiError({ reason: 'BrokenAnswer', message: `GET ${this.#host.path}: ${what}`.slice(0, maxMessageLength) });
  }
}

/** Ends a streamed list that is silent for too long before its end. */
export class StreamPatience {
  readonly #abort: LinkedAbort;
  readonly #clock: SteadyClock;
  readonly #limitMs: number;
  #heardAt: number;
  #cancelTimer: CancelTimer;
  #hasExpired = false;

  /** `stop` ends the stream, too. */
  constructor(clock: SteadyClock, limitMs: number, stop: AbortSignal) {
    this.#clock = clock;
    this.#limitMs = limitMs;
    this.#abort = new LinkedAbort(stop);
    this.#heardAt = clock.elapsed();
    this.#cancelTimer = clock.setTimer(this.#onTimer, limitMs);
  }

  /** The signal of the stream. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** What ended the stream, if this has. */
  failure(path: string): ApiError | undefined {
    if (!this.#hasExpired) return undefined;
    return new ApiError({ reason: 'Timeout', message: `GET ${path}: the streamed list was silent for ${this.#limitMs} ms` });
  }

  heard(): void {
    this.#heardAt = this.#clock.elapsed();
  }

  /** The list is complete: its silence is limited no more. */
  rest(): void {
    this.#cancelTimer();
  }

  /** The stream has ended. */
  end(): void {
    this.#cancelTimer();
    this.#abort.release();
  }

  readonly #onTimer = (): void => {
    const leftMs = this.#heardAt + this.#limitMs - this.#clock.elapsed();
    if (leftMs > 0) {
      this.#cancelTimer = this.#clock.setTimer(this.#onTimer, leftMs);
      return;
    }
    this.#hasExpired = true;
    this.#abort.abort();
  };
}
