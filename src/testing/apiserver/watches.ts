import type { ServerResponse } from 'node:http';
import type { Json, JsonObject } from '../../api/json/types.ts';
import type { CancelTimer, Clock } from '../../base/clock.ts';
import type { ApiObject } from '../../client/resources/api-resource.ts';
import { expired, StoreError, statusJson } from '../objects/api-status.ts';
import type { ObjectEvent } from '../objects/object-history.ts';
import type { ServedStore } from '../objects/resource-store.ts';
import { type ObjectFilter, objectFilter } from '../objects/selectors.ts';
import { type Rendering, renderObject } from './answer.ts';
import { initialEventsEnd, readWatchQuery, type WatchQuery } from './object-lists.ts';
import { isNamed, type ResourceRoute } from './served-resources.ts';

/** How long before its timeout a watch sends its last bookmark. */
const lastBookmarkMs = 2000;

/** How a watch ends: by a reset of the connection, with a 410 event, or as a timeout ends it. */
export type WatchEnd = 'reset' | '410' | 'end';

type Event = ObjectEvent<ApiObject>;

/** One client's stream of events: one JSON object a line. */
class WatchStream {
  readonly store: ServedStore;
  readonly #response: ServerResponse;
  readonly #rendering: Rendering;
  readonly #matches: ObjectFilter;

  constructor(store: ServedStore, response: ServerResponse, rendering: Rendering, matches: ObjectFilter) {
    this.store = store;
    this.#response = response;
    this.#rendering = rendering;
    this.#matches = matches;
    response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-cache, private' });
    response.flushHeaders();
  }

  /** An object that begins to match the selection is ADDED for this client; one that no longer matches is DELETED. */
  pass({ type, object, previous }: Event): void {
    const isIn = type !== 'DELETED' && this.#matches(asJson(object));
    const wasIn = previous !== undefined && this.#matches(asJson(previous));
    if (isIn) this.write(wasIn ? 'MODIFIED' : 'ADDED', this.#rendered(object));
    else if (wasIn) this.write('DELETED', this.#rendered(lastSeen(type, object, previous)));
  }

  bookmark(resourceVersion: string, annotations?: JsonObject): void {
    const metadata: JsonObject = {
      resourceVersion,
      ...(annotations === undefined ? {} : { annotations }),
    };
    this.write('BOOKMARK', this.#rendered({ metadata, ...this.store.rules.blank }));
  }

  #rendered(object: object): JsonObject {
    return renderObject(object, this.store.resource, this.#rendering);
  }

  write(type: string, object: Json): void {
    if (!this.#response.writableEnded) this.#response.write(`${JSON.stringify({ type, object })}\n`);
  }

  end(how: WatchEnd): void {
    if (how === 'reset') {
      this.#response.socket?.resetAndDestroy();
      return;
    }
    if (how === '410') this.write('ERROR', statusJson(expired('0', '1').body));
    this.#response.end();
  }
}

/** The open watches of a server. */
export class Watches {
  readonly #clock: Clock;
  readonly #bookmarkIntervalMs: number;
  readonly #open = new Set<WatchStream>();

  constructor(clock: Clock, bookmarkIntervalMs: number) {
    this.#clock = clock;
    this.#bookmarkIntervalMs = bookmarkIntervalMs;
  }

  /** The number of open watches of a resource; `*` stands for every resource. */
  count(resource: string): number {
    return this.#openOf(resource).length;
  }

  /** Ends every open watch of a resource; returns how many there were. */
  drop(how: WatchEnd, resource: string): number {
    const streams = this.#openOf(resource);
    for (const stream of streams) stream.end(how);
    return streams.length;
  }

  /** Streams until the client leaves, the timeout passes, or {@link drop} ends it. Throws a `StoreError` for a bad query. */
  serve(route: ResourceRoute, response: ServerResponse, rendering: Rendering): void {
    const query = readWatchQuery(route);
    const { store } = route;
    const matches = objectFilter(query.selection, store.rules.fields);
    const stream = new WatchStream(store, response, rendering, matches);
    if (!this.#catchUp(stream, query)) return;
    const since = Number(query.since ?? 0);
    // a kube-apiserver sends only events after the resourceVersion of the watch, which may lie in the future
    const pass = (event: Event): void => {
      if (Number(event.resourceVersion) > since) stream.pass(event);
    };
    const bookmark = (): void => {
      if (Number(store.resourceVersion) >= since) stream.bookmark(store.resourceVersion);
    };
    const stops: CancelTimer[] = [store.watch(pass, () => stream.end('reset'))];
    if (query.bookmarks) stops.push(this.#repeat(bookmark));
    if (query.timeoutMs !== undefined) {
      stops.push(this.#clock.setTimer(() => stream.end('end'), query.timeoutMs));
      // With it, a client of a quiet selection need not begin again from an old resourceVersion.
      const lastMs = query.timeoutMs - lastBookmarkMs;
      if (query.bookmarks && lastMs > 0) stops.push(this.#clock.setTimer(bookmark, lastMs));
    }
    this.#open.add(stream);
    response.once('close', () => {
      this.#open.delete(stream);
      for (const stop of stops) stop();
    });
  }

  /** Sends what the client has missed. False when the store no longer has it: the stream ends with an ERROR event. */
  #catchUp(stream: WatchStream, { selection, since, initialEvents, bookmarks }: WatchQuery): boolean {
    const { store } = stream;
    if (initialEvents) {
      for (const object of store.list(selection)) {
        const { resourceVersion = '' } = object.metadata ?? {};
        stream.pass({ type: 'ADDED', object, resourceVersion, previous: undefined });
      }
      if (bookmarks) stream.bookmark(store.resourceVersion, initialEventsEnd);
      return true;
    }
    if (since === undefined) return true;
    try {
      for (const event of store.eventsSince(since)) stream.pass(event);
      return true;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      stream.write('ERROR', statusJson(error.body));
      stream.end('end');
      return false;
    }
  }

  #openOf(resource: string): WatchStream[] {
    return [...this.#open].filter(({ store }) => isNamed(resource, store.resource));
  }

  #repeat(callback: () => void): CancelTimer {
    let cancel: CancelTimer = () => {};
    const arm = (): void => {
      cancel = this.#clock.setTimer(() => {
        callback();
        arm();
      }, this.#bookmarkIntervalMs);
    };
    arm();
    return () => cancel();
  }
}

function asJson(object: object): JsonObject {
  return object as JsonObject;
}

/** An object that left the selection is shown as it was while it matched, with the resourceVersion of the change. */
function lastSeen(type: Event['type'], object: ApiObject, previous: ApiObject | undefined): object {
  if (type === 'DELETED' || previous === undefined) return object;
  return { ...previous, metadata: { ...previous.metadata, resourceVersion: object.metadata?.resourceVersion } };
}
