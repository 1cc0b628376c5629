import { isJsonObject } from '../../api/json/json.ts';
import type { SteadyClock } from '../../base/clock.ts';
import { untilAborted } from '../../base/concurrency/aborts.ts';
import type { LastFailure } from '../../base/concurrency/run-state.ts';
import { StatusManagerError } from '../../base/errors.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { MetricsSink } from '../../base/metrics/metrics.ts';
import { Reflector } from '../../client/reflector/reflector.ts';
import type { ApiObject, ApiResource } from '../../client/resources/api-resource.ts';
import type { ResourceTransport } from '../../client/resources/resource-client.ts';
import { SharedReader } from './shared-reader.ts';

/** What an event is about, read from its first bytes: most events of a shared watch are of objects that nobody here wants. */
export interface EventOutline {
  /** The resourceVersion of its object. */
  readonly version: string;
  /** Whose object it may be. Where it is one key alone, it is that one's for certain. */
  readonly keys: readonly string[];
}

export interface SharedWatchOptions {
  readonly transport: ResourceTransport;
  readonly resource: ApiResource<ApiObject>;
  /** Of the watch, not of lists. */
  readonly fieldSelector?: string;
  /** Undefined where the bytes are not as the apiserver writes them: then the event is read as a whole. */
  readonly outlineOf: (line: Buffer) => EventOutline | undefined;
  readonly keyOf: (object: ApiObject) => string | undefined;
  /** What the metrics call the watch. */
  readonly name: string;
  readonly random: () => number;
  readonly clock: SteadyClock;
  readonly logger: Logger;
  readonly metrics?: MetricsSink;
}

/** A watch that was not refused by then works. Readers have more patience. */
const refusedWithinMs = 3000;

/** So much is held for all readers together; beyond it the one that holds most lists again. */
const mostHeldBytes = 64 * 1024 * 1024;

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * One watch of a resource for many readers, each of which reads the objects of one key. It lists nothing: a list of its own would be
 * of all objects of the cluster, and each reader lists its few. It begins with the first reader that lists, and goes on until `stop()`.
 *
 * A reader gets the bytes of its objects' events, and reads them itself. Of every other event only the beginning is looked at.
 */
export class SharedWatch {
  readonly #options: SharedWatchOptions;
  readonly #reflector: Reflector;
  /** Lists are not changed: who goes through one may be in the middle of it. */
  readonly #readers = new Map<string, readonly SharedReader[]>();
  readonly #waiting = new Set<Waiter>();
  #heldBytes = 0;
  #hasStarted = false;
  /** Since when a request of the watch is under way, by `clock.elapsed()`. */
  #streamsSince: number | undefined;
  #isStopped = false;

  constructor(options: SharedWatchOptions) {
    this.#options = options;
    const { transport, resource, fieldSelector, name, random, clock, logger, metrics } = options;
    this.#reflector = new Reflector({
      transport: this.#noted(versionsOf(transport, fieldSelector)),
      resource,
      streamLists: false,
      readEvent: (line) => this.#read(line),
      handlers: { synced: () => this.#synced(), interrupted: (error) => this.#interrupted(error) },
      ...{ name, random, clock, logger },
      ...(metrics !== undefined && { metrics }),
    });
  }

  /** How many readers get events, or wait for them. */
  get readers(): number {
    let count = 0;
    for (const readers of this.#readers.values()) count += readers.length;
    return count;
  }

  /** The version up to which every event was handed on; undefined before the first `ready`. */
  get version(): string | undefined {
    return this.#reflector.resourceVersion;
  }

  /** Why the watch is down; undefined while it works, and before its first try. */
  lastFailure(): LastFailure | undefined {
    const since = this.#streamsSince;
    const isOpen = since !== undefined && this.#options.clock.elapsed() - since >= refusedWithinMs;
    return isOpen ? undefined : this.#reflector.lastFailure();
  }

  failure(): unknown {
    return this.lastFailure()?.error;
  }

  /** A transport for one reader of the objects of this key: its lists go over `transport`, and its watches are this one. */
  reader(key: string, transport: ResourceTransport): ResourceTransport {
    const { clock } = this.#options;
    return new SharedReader({ watch: this, key, transport, clock });
  }

  /**
   * Resolves once the watch has a version to go on from. Rejects with what the server says against that, with ERR_STOPPED, and with
   * the signal's reason.
   */
  async ready(signal: AbortSignal | undefined): Promise<void> {
    if (this.#isStopped) throw stopped();
    if (!this.#hasStarted) {
      this.#hasStarted = true;
      // rejects when the watch is stopped before its version is known
      this.#reflector.start().catch(() => {});
    }
    if (this.#reflector.hasSynced) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter = { resolve, reject };
    this.#waiting.add(waiter);
    try {
      await untilAborted(promise, signal);
    } finally {
      this.#waiting.delete(waiter);
    }
  }

  /** From now on the reader gets every event of its key. */
  add(key: string, reader: SharedReader): void {
    const readers = this.#readers.get(key) ?? [];
    if (!readers.includes(reader)) this.#readers.set(key, [...readers, reader]);
  }

  remove(key: string, reader: SharedReader): void {
    const rest = (this.#readers.get(key) ?? []).filter((each) => each !== reader);
    if (rest.length === 0) this.#readers.delete(key);
    else this.#readers.set(key, rest);
  }

  holds(bytes: number): void {
    this.#heldBytes += bytes;
    if (bytes < 0 || this.#heldBytes <= mostHeldBytes) return;
    const [largest] = this.#everyReader().toSorted((one, other) => other.heldBytes - one.heldBytes);
    largest?.lost(undefined);
  }

  /** Ends the watch, and those of its readers. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const { reject } of this.#waiting) reject(stopped());
    for (const reader of this.#everyReader()) reader.lost(stopped());
    await this.#reflector.stop();
  }

  /** The watch has a version to go on from. What happened before that, nobody was told of. */
  #synced(): void {
    for (const { resolve } of this.#waiting) resolve();
    // the list of a watch that is refused mends nothing
    for (const reader of this.#everyReader()) reader.lost(this.failure());
  }

  #interrupted(error: unknown): void {
    for (const { reject } of this.#waiting) reject(error);
    for (const reader of this.#everyReader()) reader.broken(error);
  }

  /** The same transport, and it is known since when its stream is under way. */
  #noted(transport: ResourceTransport): ResourceTransport {
    return {
      request: (request) => transport.request(request),
      stream: async (stream) => {
        this.#streamsSince = this.#options.clock.elapsed();
        try {
          await transport.stream(stream);
        } finally {
          this.#streamsSince = undefined;
        }
      },
    };
  }

  #everyReader(): readonly SharedReader[] {
    return [...this.#readers.values()].flat();
  }

  /** Hands the event on. To the reflector every event is a bookmark: it keeps no object. */
  #read(line: Buffer): unknown {
    const outline = this.#options.outlineOf(line);
    const [key, ...others] = outline?.keys ?? [];
    if (outline === undefined || key === undefined) return this.#readWhole(line);
    if (others.length > 0 && outline.keys.some((each) => this.#readers.has(each))) return this.#readWhole(line);
    if (others.length === 0) this.#handOn(key, outline.version, line);
    return bookmark(outline.version);
  }

  #readWhole(line: Buffer): unknown {
    const event: unknown = JSON.parse(line.toString('utf8'));
    if (!isJsonObject(event) || !isJsonObject(event.object)) return event;
    const { type, object } = event;
    const { metadata } = object;
    const version = isJsonObject(metadata) ? metadata.resourceVersion : undefined;
    if (typeof version !== 'string' || version === '' || type === 'ERROR') return event;
    if (type === 'BOOKMARK') {
      for (const reader of this.#everyReader()) reader.bookmark(version, line);
      return event;
    }
    const key = this.#options.keyOf(object);
    if (key !== undefined) this.#handOn(key, version, line);
    return bookmark(version);
  }

  #handOn(key: string, version: string, line: Buffer): void {
    for (const reader of this.#readers.get(key) ?? []) reader.take(version, line);
  }
}

function bookmark(resourceVersion: string): object {
  return { type: 'BOOKMARK', object: { metadata: { resourceVersion } } };
}

function stopped(): StatusManagerError {
  return new StatusManagerError('ERR_STOPPED', 'The shared watch is stopping or stopped');
}

/** The same transport. A list brings the version alone, and a watch is of the selection. */
function versionsOf(transport: ResourceTransport, fieldSelector: string | undefined): ResourceTransport {
  return {
    async request(request) {
      const query = new URLSearchParams(request.query);
      query.set('limit', '1');
      const { metadata } = await transport.request({ ...request, query });
      const resourceVersion = isJsonObject(metadata) ? metadata.resourceVersion : undefined;
      return { metadata: { resourceVersion }, items: [] };
    },
    stream(stream) {
      if (fieldSelector === undefined) return transport.stream(stream);
      const query = new URLSearchParams(stream.query);
      query.set('fieldSelector', fieldSelector);
      return transport.stream({ ...stream, query });
    },
  };
}
