import { qualifiedName } from '../objects/api-status.ts';
import type { ServedStore } from '../objects/resource-store.ts';
import type { ServedResources } from './served-resources.ts';

/** The verbs of the API, as an audit log names them. `deletecollection` is a DELETE of all objects of a selection. */
export type ApiVerb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';

/** The subresources that the server in memory has. */
export type Subresource = 'status' | 'binding';

/** What a request line asks of a resource. */
export interface Route {
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
  if (name !== undefined) return 'GET PUT PATCH DELETE';
  if (namespaced && namespace === undefined) return 'GET';
  return resource === 'namespaces' ? 'GET POST' : 'GET POST DELETE';
}

/** What `method` and `target` (path and query) ask for. */
export function parseRoute(method: string, target: string, served: ServedResources): Route | OtherRoute {
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

function routeTo({ store, namespace, name, subresource }: Place, method: string, query: URLSearchParams): Route {
  const reading: ApiVerb = name !== undefined ? 'get' : isTrue(query, 'watch') ? 'watch' : 'list';
  const verb = method === 'DELETE' && name === undefined ? 'deletecollection' : (verbs[method] ?? reading);
  const known = subresource === 'status' || subresource === 'binding' ? subresource : undefined;
  return { store, verb, namespace, name, subresource: known, query };
}
