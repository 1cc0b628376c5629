import type { Clock } from '../../base/clock.ts';
import { invalidArgument } from '../../base/errors.ts';
import { type ApiObject, type ApiResource, resources } from '../../client/resources/api-resource.ts';
import { customRules, definedKind, definitionKind } from '../kinds/custom-rules.ts';
import { NewerEvents } from '../kinds/events.ts';
import { type KnownKind, knownKinds } from '../kinds/known-kinds.ts';
import { isReview } from '../kinds/review-kinds.ts';
import { qualifiedName } from '../objects/api-status.ts';
import type { Database } from '../objects/object-history.ts';
import { ResourceStore, type ServedStore, storeBehind } from '../objects/resource-store.ts';
import type { ObjectRules } from '../objects/store-types.ts';
import type { PodStore } from '../pods-api/pod-store.ts';

/** The place of a resource in the API. */
export type ResourcePlace = Pick<ApiResource, 'group' | 'version' | 'resource'>;

/** The resources that a server has, each with its store. All of them share the database of the pods. */
export class ServedResources {
  readonly #clock: Clock;
  readonly #database: Database;
  readonly #stores = new Map<string, ServedStore>();
  /** The stores of all resources that a definition has ever brought. */
  readonly #defined = new Map<string, ResourceStore>();

  constructor(pods: PodStore, clock: Clock) {
    const objects = storeBehind(pods.objects);
    this.#database = objects.database;
    this.#clock = clock;
    this.#stores.set(placeOf(objects.resource), objects);
    for (const { resource, rules } of knownKinds()) this.#add(resource, rules);
    const events = this.#stores.get(placeOf(resources.events));
    if (events !== undefined) {
      const newer = new NewerEvents(events);
      this.#stores.set(placeOf(newer.resource), newer);
    }
    const definitions = this.#add(definitionKind.resource, definitionKind.rules);
    this.#follow(definitions);
  }

  get all(): readonly ServedStore[] {
    return [...this.#stores.values()];
  }

  /** Undefined: there is no such resource. */
  find(place: ResourcePlace): ServedStore | undefined {
    return this.#stores.get(placeOf(place));
  }

  hasGroup(group: string): boolean {
    return this.all.some(({ resource }) => resource.group === group);
  }

  /** The store of a resource. A resource that the server does not have yet is added, as a custom one. */
  open<T extends ApiObject>(resource: ApiResource<T>): ResourceStore<T> {
    const store = this.find(resource) ?? this.#add(resource, customRules(resource));
    const { kind, namespaced } = store.resource;
    if (kind !== resource.kind || namespaced !== resource.namespaced) {
      const had = `${qualifiedName(resource)} as this server has them: kind ${kind}, ${namespaced ? '' : 'not '}namespaced`;
      throw invalidArgument('resource', had, resource);
    }
    // The type says only what the caller expects of the objects, as that of a client does.
    return store as unknown as ResourceStore<T>;
  }

  /** Serves what definitions bring, from now on and after every restore. */
  #follow(definitions: ResourceStore): void {
    for (const place of this.#defined.keys()) this.#stores.delete(place);
    for (const definition of definitions.list()) this.#define(definition);
    definitions.watch(
      ({ type, object }) => (type === 'DELETED' ? this.#withdraw(object) : this.#define(object)),
      () => this.#follow(definitions),
    );
  }

  #define(definition: ApiObject): void {
    const kind = definedKind(definition);
    if (kind === undefined || this.find(kind.resource) !== undefined) return;
    const place = placeOf(kind.resource);
    const before = this.#defined.get(place);
    // A restore may bring back a definition together with its objects.
    if (before !== undefined && isLike(before, kind)) this.#stores.set(place, before);
    else this.#defined.set(place, this.#add(kind.resource, kind.rules));
  }

  /** The objects go with the definition. */
  #withdraw(definition: ApiObject): void {
    const kind = definedKind(definition);
    const store = kind === undefined ? undefined : this.#defined.get(placeOf(kind.resource));
    if (store === undefined) return;
    for (const { metadata } of store.list()) store.remove({ namespace: metadata?.namespace, name: metadata?.name ?? '' });
    this.#stores.delete(placeOf(store.resource));
  }

  #add(resource: ApiResource, rules: ObjectRules): ResourceStore {
    const store = new ResourceStore(resource, rules, { clock: this.#clock, database: this.#database });
    this.#stores.set(placeOf(resource), store);
    return store;
  }
}

/** True when the store can go on as that of the kind. */
function isLike({ resource, rules }: ResourceStore, kind: KnownKind): boolean {
  const { resource: other, rules: others } = kind;
  const hasSameStatus = (rules.updateStatus === undefined) === (others.updateStatus === undefined);
  return hasSameStatus && resource.kind === other.kind && resource.namespaced === other.namespaced;
}

function placeOf({ group, version, resource }: ResourcePlace): string {
  return `${group}/${version}/${resource}`;
}

/** True when `wanted` names the resource: `secrets`, `leases`, `leases.coordination.k8s.io`, or `*` for every resource. */
export function isNamed(wanted: string, resource: Pick<ApiResource, 'group' | 'resource'>): boolean {
  return wanted === '*' || wanted === resource.resource || wanted === qualifiedName(resource);
}

/** The verbs of the API, as an audit log names them. `deletecollection` is a DELETE of all objects of a selection. */
export type ApiVerb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';

/** The subresources that the server in memory has. */
export type Subresource = 'status' | 'binding';

/** What a request line asks of a resource. */
export interface ResourceRoute {
  readonly store: ServedStore;
  readonly verb: ApiVerb;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: Subresource | undefined;
  readonly query: URLSearchParams;
}

/**
 * A path outside of the resources. `unknown-resource`: there is no such path. `unknown-group`: and no such API group.
 * `method-not-allowed`: the path exists, but not with this method.
 */
export type OtherRoute = 'version' | 'health' | 'unknown-resource' | 'unknown-group' | 'method-not-allowed';

const verbs: Readonly<Record<string, ApiVerb>> = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };

/** True when Go reads the query parameter as true. */
export function isTrue(query: URLSearchParams, key: string): boolean {
  return ['1', 't', 'T', 'true', 'TRUE', 'True'].includes(query.get(key) ?? '');
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** The part of a path below the API group and version. */
interface Place {
  readonly store: ServedStore;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

/** Undefined: the server has no such path. */
function placeIn(segments: readonly string[], find: (resource: string) => ServedStore | undefined): Place | undefined {
  const [first = '', second, third, fourth, fifth, ...rest] = segments;
  if (rest.length > 0) return undefined;
  const within = first === 'namespaces' && third !== undefined ? find(third) : undefined;
  if (within?.resource.namespaced) return { store: within, namespace: second, name: fourth, subresource: fifth };
  const store = find(first);
  if (store === undefined || fourth !== undefined) return undefined;
  // Only the collection of a resource of namespaces is also found outside of them.
  if (store.resource.namespaced && second !== undefined) return undefined;
  return { store, namespace: undefined, name: second, subresource: third };
}

/** The methods of a path; undefined when the resource has no such subresource. */
function methodsOf({ store, namespace, name, subresource }: Place): string | undefined {
  const { namespaced, resource } = store.resource;
  if (subresource === 'status' && store.rules.updateStatus !== undefined) return 'GET PUT PATCH';
  if (subresource === 'binding' && qualifiedName(store.resource) === 'pods') return 'POST';
  if (subresource !== undefined) return undefined;
  if (isReview(store.resource)) return name === undefined ? 'POST' : undefined;
  if (name !== undefined) return 'GET PUT PATCH DELETE';
  if (namespaced && namespace === undefined) return 'GET';
  return resource === 'namespaces' ? 'GET POST' : 'GET POST DELETE';
}

/** What `method` and `target` (path and query) ask for. */
export function parseRoute(method: string, target: string, served: ServedResources): ResourceRoute | OtherRoute {
  const url = URL.parse(target, 'http://localhost');
  if (url === null) return 'unknown-resource';
  const [root, ...segments] = url.pathname.slice(1).split('/').map(decoded);
  if (root === 'version' && segments.join('') === '') return method === 'GET' ? 'version' : 'method-not-allowed';
  if (['readyz', 'livez', 'healthz'].includes(root ?? '') && segments.length === 0) {
    return method === 'GET' ? 'health' : 'method-not-allowed';
  }
  if (root !== 'api' && root !== 'apis') return 'unknown-resource';
  const [group = '', version = '', ...rest] = root === 'api' ? ['', ...segments] : segments;
  const place = placeIn(rest, (resource) => served.find({ group, version, resource }));
  if (place === undefined) return served.hasGroup(group) ? 'unknown-resource' : 'unknown-group';
  const methods = methodsOf(place);
  if (methods === undefined) return 'unknown-resource';
  if (!methods.split(' ').includes(method)) return 'method-not-allowed';
  return routeTo(place, method, url.searchParams);
}

function routeTo({ store, namespace, name, subresource }: Place, method: string, query: URLSearchParams): ResourceRoute {
  const reading: ApiVerb = name !== undefined ? 'get' : isTrue(query, 'watch') ? 'watch' : 'list';
  const verb = method === 'DELETE' && name === undefined ? 'deletecollection' : (verbs[method] ?? reading);
  const known = subresource === 'status' || subresource === 'binding' ? subresource : undefined;
  return { store, verb, namespace, name, subresource: known, query };
}
