import { isJsonObject } from '../../api/json/json.ts';
import type { AwaitedStart, LastFailure } from '../../base/concurrency/run-state.ts';
import { requireMethods, requireObject, requireText } from '../../base/options.ts';
import type { JsonMembers } from '../transport/api-answer.ts';
import { ApiError } from '../transport/api-error.ts';
import { LineSplitter } from '../transport/http-exchange.ts';
import type { KubeRequest, KubeTransport } from '../transport/kube-transport.ts';
import { type ApiObject, type ApiResource, type ResourceTarget, resourcePath } from './api-resource.ts';
import { readApiFailure } from './error-class.ts';
import type {
  CallOptions,
  DeleteOptions,
  GetOptions,
  ListOptions,
  ObjectName,
  ObjectPage,
  ResourcePatch,
  SelectionOptions,
  WatchOptions,
  WriteOptions,
} from './resource-requests.ts';
import { isVersionedObject, readWatchLine } from './watch-line.ts';

/** What a {@link ResourceClient} needs of a transport. */
export type ResourceTransport = Pick<KubeTransport, 'request' | 'stream'>;

/** An object of the API has at most 1.5 MiB in etcd; its JSON can be several times as long. */
const maxLineBytes = 16 * 1024 * 1024;
/** The apiserver sends a bookmark a minute after about two. */
const defaultIdleTimeoutMs = 150_000;

/**
 * Every verb on one resource. Each method is one request, never repeated; it rejects with an `ApiError`, and with
 * ERR_INVALID_ARGUMENT for a name that fits in no path and for what is no object. Objects are the server's JSON: times are
 * RFC 3339 strings.
 *
 * @example
 * ```ts with-server
 * import { KubeTransport } from 'pod-status-manager';
 * import { ResourceClient, resources } from 'pod-status-manager/reflector';
 *
 * const transport = new KubeTransport(kubeConfig);
 * const configMaps = new ResourceClient(transport, resources.configMaps);
 * await configMaps.create({ metadata: { name: 'settings', namespace: 'default' }, data: { colour: 'green' } });
 * const { data } = await configMaps.get({ namespace: 'default', name: 'settings' });
 * console.log(data?.colour); // green
 * await transport.close();
 * ```
 */
export class ResourceClient<T extends ApiObject = ApiObject> {
  /** The resource of all its requests. */
  readonly resource: ApiResource<T>;
  readonly #transport: ResourceTransport;

  /** Closing the transport is left to its owner. Throws ERR_INVALID_OPTION for anything that is no transport. */
  constructor(transport: ResourceTransport, resource: ApiResource<T>) {
    requireMethods('transport', transport, ['request', 'stream']);
    this.#transport = transport;
    this.resource = resource;
  }

  /** GET of one object. With a `resourceVersion` it may come from the server's cache. */
  async get(target: ObjectName, { resourceVersion, ...call }: GetOptions = {}): Promise<T> {
    return this.#object('GET', this.#one(target), { query: queryOf({ resourceVersion }), call });
  }

  /** One page: without a `limit` all there is. */
  async list({ namespace, signal, timeoutMs, ...selection }: ListOptions = {}): Promise<ObjectPage<T>> {
    const path = resourcePath(this.resource, { namespace });
    const { items, metadata } = await this.#transport.request({
      method: 'GET',
      path,
      query: queryOf(selection),
      signal,
      timeoutMs,
    });
    if (!isJsonObject(metadata) || typeof metadata.resourceVersion !== 'string') throw brokenAnswer('GET', path, 'a list');
    // Go writes an empty list as null
    if (items !== null && items !== undefined && !Array.isArray(items)) throw brokenAnswer('GET', path, 'a list');
    if (!(items ?? []).every(isVersionedObject)) throw brokenAnswer('GET', path, `a list of ${this.resource.resource}`);
    const { resourceVersion, continue: next, remainingItemCount } = metadata;
    return {
      items: (items ?? []) as T[],
      resourceVersion,
      continue: typeof next === 'string' && next !== '' ? next : undefined,
      remainingItemCount: typeof remainingItemCount === 'number' ? remainingItemCount : undefined,
    };
  }

  /**
   * Calls `onEvent` with each event. Resolves when the server ends the watch in good order; rejects with the `ApiError` that
   * ended it otherwise, also for an ERROR event and for a line that is no event. What `onEvent` throws ends the watch. No event
   * is told once the promise has settled.
   */
  async watch(options: WatchOptions<T>): Promise<void> {
    requireObject('options', options);
    const { namespace, signal, idleTimeoutMs = defaultIdleTimeoutMs, readEvent, onEvent, ...selection } = options;
    const path = resourcePath(this.resource, { namespace });
    const lines = new LineSplitter({ maxLineBytes });
    let isOver = false;
    const onChunk = (chunk: Buffer): void => {
      // a transport may bring bytes of a stream that it has ended
      if (isOver) return;
      for (const line of lines.push(chunk)) {
        // one chunk may hold many events, and what hears of the first may have ended the watch
        if (signal?.aborted) return;
        onEvent(readWatchLine<T>(line, `GET ${path}`, readEvent));
      }
    };
    const query = queryOf({ ...selection, watch: true });
    try {
      await this.#transport.stream({ method: 'GET', path, query, signal, idleTimeoutMs, onChunk });
    } finally {
      isOver = true;
    }
  }

  /** The namespace is that of the options, or else the object's own. */
  async create(object: T, options: WriteOptions & ObjectNamespace = {}): Promise<T> {
    requireObject('object', object);
    const { namespace = object.metadata?.namespace, ...write } = options;
    if (this.resource.namespaced) requireText('namespace', namespace);
    return this.#write('POST', resourcePath(this.resource, { namespace }), object, write);
  }

  /** A POST to a subresource, such as `binding`, `eviction` and `token`. Resolves to what the server answers. */
  async createSubresource(
    target: ObjectName,
    subresource: string,
    body: ApiObject,
    options: WriteOptions = {},
  ): Promise<JsonMembers> {
    const { dryRun, fieldManager, fieldValidation, ...call } = options;
    const query = queryOf({ dryRun: dryRun ? 'All' : undefined, fieldManager, fieldValidation });
    return this.#transport.request({
      method: 'POST',
      path: this.#one(target, subresource),
      query,
      body: this.#body(body),
      ...call,
    });
  }

  /** Replaces the object, or with `subresource` its status or the like. The server refuses (409) a stale resourceVersion. */
  async update(object: T, { subresource, ...options }: WriteOptions & { readonly subresource?: string } = {}): Promise<T> {
    requireObject('object', object);
    const { namespace, name } = object.metadata ?? {};
    requireText('metadata.name', name);
    return this.#write('PUT', this.#one({ namespace, name }, subresource), object, options);
  }

  /** PATCH of one object, or with `subresource` of its status or the like. Resolves to the object after the patch. */
  async patch(
    target: ObjectName & Pick<ResourceTarget, 'subresource'>,
    patch: ResourcePatch,
    options: WriteOptions = {},
  ): Promise<T> {
    requireObject('target', target);
    requireObject('patch', patch);
    return this.#write('PATCH', this.#one(target, target.subresource), patch.body, options, patch.type);
  }

  /** Resolves to what the server answers: the object while finalizers or a grace period hold it, else a Status. */
  async delete(target: ObjectName, options: DeleteOptions = {}): Promise<JsonMembers> {
    return this.#delete(this.#one(target), options);
  }

  /** Deletes every object of the selection. */
  async deleteCollection(selection: SelectionOptions & DeleteOptions): Promise<JsonMembers> {
    requireObject('selection', selection);
    const { namespace, fieldSelector, labelSelector, ...options } = selection;
    if (this.resource.namespaced) requireText('namespace', namespace);
    return this.#delete(resourcePath(this.resource, { namespace }), options, queryOf({ fieldSelector, labelSelector }));
  }

  #one(target: ObjectName, subresource?: string): string {
    requireObject('target', target);
    const { namespace, name } = target;
    requireText('name', name);
    return resourcePath(this.resource, { namespace, name, subresource });
  }

  #delete(path: string, options: DeleteOptions, query?: URLSearchParams): Promise<JsonMembers> {
    const { gracePeriodSeconds, uid, resourceVersion, propagationPolicy, dryRun, ...call } = options;
    const preconditions = uid === undefined && resourceVersion === undefined ? undefined : { uid, resourceVersion };
    const body = {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      gracePeriodSeconds,
      preconditions,
      propagationPolicy,
      dryRun: dryRun ? ['All'] : undefined,
    };
    return this.#transport.request({ method: 'DELETE', path, query, body, ...call });
  }

  #write(method: 'POST' | 'PUT' | 'PATCH', path: string, body: unknown, options: WriteOptions, contentType?: string): Promise<T> {
    const { dryRun, fieldManager, fieldValidation, force, ...call } = options;
    const query = queryOf({ dryRun: dryRun ? 'All' : undefined, fieldManager, fieldValidation, force });
    return this.#object(method, path, { query, body: method === 'PATCH' ? body : this.#body(body), contentType, call });
  }

  /** A server needs kind and apiVersion in a body. */
  #body(object: unknown): unknown {
    requireObject('object', object);
    const { group, version, kind } = this.resource;
    return { apiVersion: group === '' ? version : `${group}/${version}`, kind, ...object };
  }

  async #object(method: KubeRequest['method'], path: string, { call, ...request }: ObjectRequest): Promise<T> {
    const answer = await this.#transport.request({ method, path, ...request, ...call });
    if (!isVersionedObject(answer)) throw brokenAnswer(method, path, `an object of ${this.resource.resource}`);
    return answer as unknown as T;
  }
}

/** The namespace of an object that is created. */
export interface ObjectNamespace {
  /** Default: the object's own. */
  readonly namespace?: string | undefined;
}

interface ObjectRequest extends Pick<KubeRequest, 'query' | 'body' | 'contentType'> {
  readonly call: CallOptions & Pick<GetOptions, 'besideStreams'>;
}

export function brokenAnswer(method: string, path: string, what: string): ApiError {
  return new ApiError({ status: 200, reason: 'BrokenAnswer', message: `${method} ${path}: the answer is not ${what}` });
}

type QueryValue = string | number | boolean | undefined;

/** The query of a request: members that are undefined are left out. Undefined when none is left. */
function queryOf(members: Readonly<Record<string, QueryValue>>): URLSearchParams | undefined {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(members)) if (value !== undefined) query.set(key, String(value));
  return query.size === 0 ? undefined : query;
}

/** What a start waits for: an answer of the apiserver. `what` says what is missing until then. */
export function awaitedAnswer(what: string, failure: Pick<LastFailure, 'error'> | undefined): AwaitedStart {
  if (failure === undefined) return { text: `${what}: the server has not answered` };
  return { text: `${what}: ${readApiFailure(failure.error).message}`, cause: failure.error };
}
