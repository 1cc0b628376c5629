// Behaviour of one item of the object cache of pkg/kubelet/util/manager/watch_based_manager.go, v1.36.3.
import { objectFields } from '../../api/pod/pod-log-fields.ts';
import type { Clock, SteadyClock } from '../../base/clock.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { Reflector } from '../../client/reflector/reflector.ts';
import type { ApiObject, ApiResource } from '../../client/resources/api-resource.ts';
import type { ResourceTransport } from '../../client/resources/resource-client.ts';
import { type NamespacedName, notRegistered, notSynced, objectNotFound } from './object-errors.ts';
import { received } from './object-reader.ts';

/** A secret, a config map: an object that may say that it never changes. */
export interface MaybeImmutable extends ApiObject {
  immutable?: boolean;
}

export interface WatchedObjectOptions<T extends MaybeImmutable> {
  readonly transport: ResourceTransport;
  readonly resource: ApiResource<T>;
  readonly streamLists: boolean;
  /** How long a read waits for the first list, in milliseconds. */
  readonly syncTimeoutMs: number;
  readonly random: () => number;
  readonly clock: SteadyClock;
  readonly logger: Logger;
  /** Told when the watch is opened, and when it is closed. */
  readonly watching: (isWatching: boolean) => void;
  /** Asked for each copy that comes, and told when there is none any more. Of a copy that may not be kept nothing but its version is. */
  readonly mayKeep: (copy: T | undefined) => boolean;
}

/** The server ends each watch after this long at least. */
const watchTimeoutMs = 30 * 60_000;

/**
 * One object, watched. The watch is paused while nobody reads the object, and for good once an immutable one was read: that
 * one is served as it was.
 */
export class WatchedObject<T extends MaybeImmutable> {
  readonly #name: NamespacedName;
  readonly #options: WatchedObjectOptions<T>;
  readonly #reflector: Reflector<T>;
  readonly #waiters: SyncWaiters;
  readonly #asked = Promise.withResolvers<void>();
  #isWatching = false;
  /** The newest copy was not kept. */
  #isBare = false;
  #isImmutable = false;
  /** Before the first read the object counts as idle since ever. */
  #lastReadAt = Number.NEGATIVE_INFINITY;
  /** Why the last request failed, since the last full list. */
  #failure: unknown;

  /** Opens nothing. */
  constructor(name: NamespacedName, options: WatchedObjectOptions<T>) {
    const { transport, resource, streamLists, random, clock, logger } = options;
    this.#name = name;
    this.#options = options;
    this.#waiters = new SyncWaiters(clock);
    this.#reflector = new Reflector<T>({
      transport,
      resource,
      namespace: name.namespace,
      fieldSelector: `metadata.name=${escaped(name.name)}`,
      transform: (object) => this.#received(object),
      handlers: {
        synced: () => this.#synced(),
        deleted: () => void options.mayKeep(undefined),
        interrupted: (error) => this.#interrupted(error),
      },
      listFrom: 'cache',
      streamLists,
      watchTimeoutMs,
      random,
      clock,
      logger,
    });
  }

  /** Opens the watch, once. Resolves when its first list has come, or has failed, and at `stop`. */
  async open(): Promise<void> {
    if (this.#reflector.state !== 'idle') return;
    this.#setWatching(true);
    // it rejects when the last reference goes before the first list
    this.#reflector.start().catch(() => {});
    await this.#asked.promise;
  }

  /**
   * Undefined for an object whose newest copy was not kept. Rejects with ERR_NOT_FOUND, and with ERR_SYNC_TIMEOUT when the
   * first list does not come in time.
   */
  async get(): Promise<T | undefined> {
    this.#lastReadAt = this.#options.clock.elapsed();
    this.#watchAgain();
    if (!this.#canServe()) await this.#waitForList();
    if (this.#isBare) return undefined;
    const { namespace, name } = this.#name;
    const object = this.#reflector.store.get(namespace, name);
    if (object === undefined) throw objectNotFound(this.#options.resource.kind, this.#name);
    if (object.immutable === true) this.#keepAsItIs();
    return object;
  }

  /** Closes the watch when the object was not read for longer than this, in milliseconds. A first list under way is waited for. */
  pauseIfIdle(maxIdleMs: number): void {
    if (!this.#isWatching || !this.#reflector.hasSynced) return;
    if (this.#options.clock.elapsed() - this.#lastReadAt <= maxIdleMs) return;
    this.#options.logger.debug(
      objectFields(this.#options.resource.kind, this.#name),
      'an object was not read for long: it is not watched until it is read again',
    );
    this.#pause();
  }

  /**
   * Closes the watch for good. Reads under way fail with `reason`, by default ERR_NOT_REGISTERED; those of an object whose
   * copy was not kept end.
   */
  stop(reason = () => notRegistered(this.#name)): Promise<void> {
    this.#setWatching(false);
    this.#asked.resolve();
    if (this.#isBare) this.#waiters.succeed();
    else this.#waiters.fail(reason);
    return this.#reflector.stop();
  }

  #canServe(): boolean {
    return this.#isBare || this.#isImmutable || this.#reflector.hasSynced;
  }

  #watchAgain(): void {
    if (this.#isWatching || this.#isImmutable || this.#reflector.state !== 'running') return;
    this.#setWatching(true);
    this.#reflector.resume();
  }

  #keepAsItIs(): void {
    this.#isImmutable = true;
    if (!this.#isWatching) return;
    this.#options.logger.debug(
      objectFields(this.#options.resource.kind, this.#name),
      'an immutable object was read: it is watched no more',
    );
    this.#pause();
  }

  #pause(): void {
    this.#setWatching(false);
    this.#reflector.pause().catch(() => {});
  }

  #setWatching(isWatching: boolean): void {
    if (this.#isWatching === isWatching) return;
    this.#isWatching = isWatching;
    this.#options.watching(isWatching);
  }

  async #waitForList(): Promise<void> {
    const { syncTimeoutMs, resource } = this.#options;
    const hasSynced = await this.#waiters.wait(syncTimeoutMs);
    if (!hasSynced) throw notSynced(resource.kind, this.#name, syncTimeoutMs, this.#failure);
  }

  #received(object: T): T {
    const copy = received(object);
    this.#isBare = !this.#options.mayKeep(copy);
    return this.#isBare ? bare(copy) : copy;
  }

  #synced(): void {
    this.#failure = undefined;
    this.#asked.resolve();
    this.#waiters.succeed();
  }

  #interrupted(error: unknown): void {
    this.#failure = error;
    this.#asked.resolve();
  }
}

/** What a reflector has to know of an object, and nothing else. */
function bare<T extends ApiObject>({ apiVersion, kind, metadata }: T): T {
  const { name, namespace, uid, resourceVersion } = metadata ?? {};
  return { apiVersion, kind, metadata: { name, namespace, uid, resourceVersion } } as T;
}

/** A value in a field selector. */
function escaped(value: string): string {
  return value.replaceAll(/[\\,=]/g, '\\$&');
}

/** Those who wait for a full list, each with a limit of its own. */
class SyncWaiters {
  readonly #clock: Clock;
  readonly #waiters = new Set<{ readonly succeed: () => void; readonly fail: (reason: Error) => void }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Resolves to true after the next `succeed()`, and to false when that takes longer. Rejects at the next `fail()`. It resolves
   * a turn after `succeed()`: by then the reflector has opened its watch, as the kubelet's has when a read finds the list.
   */
  wait(limitMs: number): Promise<boolean> {
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    let cancel = (): void => {};
    const later = (hasSynced: boolean, delayMs: number): void => {
      cancel();
      const settle = (): void => {
        this.#waiters.delete(waiter);
        resolve(hasSynced);
      };
      cancel = this.#clock.setTimer(settle, delayMs, { keepAlive: true });
    };
    const waiter = {
      succeed: () => later(true, 0),
      fail: (reason: Error) => {
        cancel();
        this.#waiters.delete(waiter);
        reject(reason);
      },
    };
    this.#waiters.add(waiter);
    later(false, limitMs);
    return promise;
  }

  succeed(): void {
    for (const waiter of [...this.#waiters]) waiter.succeed();
  }

  /** The error is made only where somebody waits: it costs much more than the rest of an end. */
  fail(reason: () => Error): void {
    for (const waiter of [...this.#waiters]) waiter.fail(reason());
  }
}
