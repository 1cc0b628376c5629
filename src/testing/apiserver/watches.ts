import type { ServerResponse } from 'node:http';
import type { CancelTimer, Clock } from '../../seams/clock.ts';
import type { Json, JsonObject } from '../../wire/types.ts';
import { expired, StoreError, statusJson } from '../pods-api/api-status.ts';
import type { PodEvent } from '../pods-api/pod-history.ts';
import { type PodFilter, podFilter } from '../pods-api/pod-selectors.ts';
import type { PodStore } from '../pods-api/pod-store.ts';
import { type Rendering, renderPod } from './answer.ts';
import type { Route } from './route.ts';
import { initialEventsEnd, readWatchQuery, type WatchQuery } from './watch-query.ts';

/** How long before its timeout a watch sends its last bookmark. */
const lastBookmarkMs = 2000;

export type WatchEnd = 'reset' | '410' | 'end';

/** One client's stream of events: one JSON object a line. */
class WatchStream {
  readonly #response: ServerResponse;
  readonly #rendering: Rendering;
  readonly #matches: PodFilter;

  constructor(response: ServerResponse, rendering: Rendering, matches: PodFilter) {
    this.#response = response;
    this.#rendering = rendering;
    this.#matches = matches;
    response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-cache, private' });
    response.flushHeaders();
  }

  /** A pod that begins to match the selection is ADDED for this client; one that no longer matches is DELETED. */
  pass({ type, object, previous }: PodEvent): void {
    const isIn = type !== 'DELETED' && this.#matches(asJson(object));
    const wasIn = previous !== undefined && this.#matches(asJson(previous));
    if (isIn) this.write(wasIn ? 'MODIFIED' : 'ADDED', renderPod(object, this.#rendering));
    else if (wasIn) this.write('DELETED', renderPod(lastSeen(type, object, previous), this.#rendering));
  }

  bookmark(resourceVersion: string, annotations?: JsonObject): void {
    const metadata: JsonObject = {
      resourceVersion,
      ...(annotations === undefined ? {} : { annotations }),
    };
    const pod = { metadata, spec: { containers: null }, status: {} };
    this.write('BOOKMARK', renderPod(pod, this.#rendering));
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
  readonly #store: PodStore;
  readonly #clock: Clock;
  readonly #bookmarkIntervalMs: number;
  readonly #open = new Set<WatchStream>();

  constructor(store: PodStore, clock: Clock, bookmarkIntervalMs: number) {
    this.#store = store;
    this.#clock = clock;
    this.#bookmarkIntervalMs = bookmarkIntervalMs;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Ends every open watch; returns how many there were. */
  drop(how: WatchEnd): number {
    const streams = [...this.#open];
    for (const stream of streams) stream.end(how);
    return streams.length;
  }

  /** Streams until the client leaves, the timeout passes, or {@link drop} ends it. Throws a `StoreError` for a bad query. */
  serve(route: Route, response: ServerResponse, rendering: Rendering): void {
    const query = readWatchQuery(route);
    const matches = podFilter(query.selection);
    const stream = new WatchStream(response, rendering, matches);
    if (!this.#catchUp(stream, query)) return;
    const since = Number(query.since ?? 0);
    // a kube-apiserver sends only events after the resourceVersion of the watch, which may lie in the future
    const pass = (event: PodEvent): void => {
      if (Number(event.resourceVersion) > since) stream.pass(event);
    };
    const bookmark = (): void => {
      if (Number(this.#store.resourceVersion) >= since) stream.bookmark(this.#store.resourceVersion);
    };
    const stops: CancelTimer[] = [this.#store.watch(pass, () => stream.end('reset'))];
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
    if (initialEvents) {
      for (const pod of this.#store.list(selection)) {
        stream.pass({ type: 'ADDED', object: pod, resourceVersion: pod.metadata?.resourceVersion ?? '', previous: undefined });
      }
      if (bookmarks) stream.bookmark(this.#store.resourceVersion, initialEventsEnd);
      return true;
    }
    if (since === undefined) return true;
    try {
      for (const event of this.#store.eventsSince(since)) stream.pass(event);
      return true;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      stream.write('ERROR', statusJson(error.body));
      stream.end('end');
      return false;
    }
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

function asJson(pod: object): JsonObject {
  return pod as JsonObject;
}

/** A pod that left the selection is shown as it was while it matched, with the resourceVersion of the change. */
function lastSeen(type: PodEvent['type'], object: PodEvent['object'], previous: PodEvent['previous']): object {
  if (type === 'DELETED' || previous === undefined) return object;
  return { ...previous, metadata: { ...previous.metadata, resourceVersion: object.metadata?.resourceVersion } };
}
