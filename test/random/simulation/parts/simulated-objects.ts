import type { JsonObject } from '../../../../src/api/json/types.ts';
import type { ApiObject } from '../../../../src/client/resources/api-resource.ts';
import { ApiError } from '../../../../src/client/transport/api-error.ts';
import type { KubeRequest } from '../../../../src/client/transport/kube-transport.ts';
import { renderObject } from '../../../../src/testing/apiserver/answer.ts';
import { patchTypeOf } from '../../../../src/testing/apiserver/object-handlers.ts';
import { ServedResources } from '../../../../src/testing/apiserver/served-resources.ts';
import type { ServedStore } from '../../../../src/testing/objects/resource-store.ts';
import { type ObjectEvent, PodStore, type Selection, StoreError } from '../../../../src/testing.ts';
import type { Prng } from '../../chaos/prng.ts';
import type { SimulatedClock } from '../simulated-clock.ts';
import { epochMs } from '../simulated-server.ts';
import type { ApiWeather } from './api-weather.ts';

/** What a request's URL names. */
export interface ObjectTarget {
  readonly store: ServedStore;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: 'status' | undefined;
}

const objectPath = /^\/(?:api|apis\/([^/]+))\/([^/]+)(?:\/namespaces\/([^/]+))?\/([^/]+)(?:\/([^/]+)(\/status)?)?$/;
const versionEveryMs = 700;
const versionsKept = 8;

/** The objects of a server, and of caches before it that may lag behind. Each call takes effect at once. */
export class SimulatedObjects {
  readonly served: ServedResources;
  readonly #prng: Prng;
  readonly #weather: Readonly<ApiWeather>;
  /** The newest versions at the last few moments: a cache that lags behind is at one of them. */
  readonly #versions: string[] = [];

  constructor(clock: SimulatedClock, prng: Prng, weather: Readonly<ApiWeather>) {
    this.#prng = prng;
    this.#weather = weather;
    const wall = { now: () => epochMs + clock.elapsedMs, setTimer: () => () => {} };
    this.served = new ServedResources(new PodStore({ clock: wall }), wall);
    const note = (): void => {
      this.#versions.push(this.newest);
      if (this.#versions.length > versionsKept) this.#versions.shift();
      clock.schedule(note, versionEveryMs);
    };
    note();
  }

  get newest(): string {
    return this.served.all[0]?.resourceVersion ?? '';
  }

  compact(): void {
    for (const store of this.served.all) store.compact();
  }

  target(path: string): ObjectTarget {
    const [, group = '', version = '', namespace, resource = '', name, status] = objectPath.exec(path) ?? [];
    const store = this.served.find({ group, version, resource });
    if (store === undefined) throw new ApiError({ status: 404, reason: 'NotFound', message: `no ${path} is simulated` });
    return { store, namespace, name, subresource: status === undefined ? undefined : 'status' };
  }

  /** The JSON of the answer. Throws the `StoreError` of a refusal. */
  answer({ method, path, query = new URLSearchParams(), body, contentType }: KubeRequest): JsonObject {
    const { store, namespace, name, subresource } = this.target(path);
    const version = query.get('resourceVersion') ?? undefined;
    if (method === 'POST') return shown(store, store.create(copy(body as object)));
    if (method === 'PUT') return shown(store, store.update(copy(body as object)));
    if (name === undefined && method === 'DELETE') {
      for (const { metadata } of store.list(selectionOf(namespace, query)))
        store.delete({ namespace, name: metadata?.name ?? '' }, {});
      return {};
    }
    if (name === undefined) return this.#list(store, selectionOf(namespace, query), version);
    if (method === 'GET') return shown(store, this.#get(store, { namespace, name }, version));
    if (method === 'PATCH') {
      const patch = { type: patchTypeOf(contentType), body: copy(body as object), subresource };
      return shown(store, store.patch({ namespace, name }, patch));
    }
    if (method !== 'DELETE') throw new ApiError({ status: 405, reason: 'MethodNotAllowed', message: method });
    return shown(store, store.delete({ namespace, name }, copy(body as object)).object);
  }

  /** The version at which a watch, or a list that must not be older than `version`, begins. */
  viewFrom(version: string | undefined): string {
    if (version === undefined || version === '' || !this.#prng.chance(this.#weather.staleCaches)) return this.newest;
    const view = this.#prng.pick(this.#versions) ?? this.newest;
    if (Number(view) >= Number(version)) return view;
    // a server that has not reached the version waits for a while, and gives up
    if (this.#prng.chance(0.3)) throw tooLarge(version, view);
    return this.newest;
  }

  /** The objects as they were at a version; as they are where those are forgotten. */
  listAt(store: ServedStore, selection: Selection, version: string): { objects: readonly ApiObject[]; version: string } {
    try {
      return { objects: store.list(selection, version), version };
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      return { objects: store.list(selection), version: this.newest };
    }
  }

  #list(store: ServedStore, selection: Selection, from: string | undefined): JsonObject {
    const { objects, version } = this.listAt(store, selection, this.viewFrom(from));
    return { metadata: { resourceVersion: version }, items: objects.map((object) => copy(object)) };
  }

  #get(store: ServedStore, key: { namespace: string | undefined; name: string }, from: string | undefined): ApiObject {
    if (from === undefined) return store.get(key);
    const { namespace, name } = key;
    const [object] = this.listAt(store, { namespace, fieldSelector: `metadata.name=${name}` }, this.viewFrom(from)).objects;
    if (object !== undefined) return object;
    throw new ApiError({ status: 404, reason: 'NotFound', message: `${name} is not in the cache` });
  }
}

export function selectionOf(namespace: string | undefined, query: URLSearchParams): Selection {
  const [fieldSelector, labelSelector] = [query.get('fieldSelector') ?? '', query.get('labelSelector') ?? ''];
  return { namespace, fieldSelector, labelSelector };
}

/** A copy of its own for each client, with kind and version. */
export function shown(store: ServedStore, object: object): JsonObject {
  return copy(renderObject(object, store.resource, 'whole'));
}

export type StoreEvent = ObjectEvent<ApiObject>;

function copy(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value));
}

function tooLarge(version: string, view: string): ApiError {
  const message = `Timeout: Too large resource version: ${version}, current: ${view}`;
  return new ApiError({ status: 504, reason: 'Timeout', message });
}
