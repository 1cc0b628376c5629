/** The verbs of the API, as an audit log names them. `deletecollection` is a DELETE of all pods of a selection. */
export type ApiVerb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';

export type Resource = 'pods' | 'namespaces' | 'version' | 'health';

export type Subresource = 'status' | 'binding';

/** What a request line asks for. */
export interface Route {
  readonly resource: Resource;
  readonly verb: ApiVerb;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: Subresource | undefined;
  readonly query: URLSearchParams;
}

/** `unknown`: there is no such path. `method-not-allowed`: the path exists, but not with this method. */
export type RouteFailure = 'unknown' | 'method-not-allowed';

const paths: readonly { readonly resource: Resource; readonly pattern: RegExp; readonly methods: string }[] = [
  { resource: 'version', pattern: /^\/version\/?$/, methods: 'GET' },
  { resource: 'health', pattern: /^\/(?:readyz|livez|healthz)$/, methods: 'GET' },
  { resource: 'pods', pattern: /^\/api\/v1\/pods$/, methods: 'GET' },
  { resource: 'pods', pattern: /^\/api\/v1\/namespaces\/(?<namespace>[^/]+)\/pods$/, methods: 'GET POST DELETE' },
  {
    resource: 'pods',
    pattern: /^\/api\/v1\/namespaces\/(?<namespace>[^/]+)\/pods\/(?<name>[^/]+)$/,
    methods: 'GET PUT PATCH DELETE',
  },
  {
    resource: 'pods',
    pattern: /^\/api\/v1\/namespaces\/(?<namespace>[^/]+)\/pods\/(?<name>[^/]+)\/(?<subresource>status)$/,
    methods: 'GET PUT PATCH',
  },
  {
    resource: 'pods',
    pattern: /^\/api\/v1\/namespaces\/(?<namespace>[^/]+)\/pods\/(?<name>[^/]+)\/(?<subresource>binding)$/,
    methods: 'POST',
  },
  { resource: 'namespaces', pattern: /^\/api\/v1\/namespaces$/, methods: 'GET POST' },
  { resource: 'namespaces', pattern: /^\/api\/v1\/namespaces\/(?<name>[^/]+)$/, methods: 'GET DELETE' },
];

const verbs: Readonly<Record<string, ApiVerb>> = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };

/** True when Go reads the query parameter as true. */
export function isTrue(query: URLSearchParams, key: string): boolean {
  return ['1', 't', 'T', 'true', 'TRUE', 'True'].includes(query.get(key) ?? '');
}

function decoded(segment: string | undefined): string | undefined {
  try {
    return segment === undefined ? undefined : decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** What `method` and `target` (path and query) ask for. */
export function parseRoute(method: string, target: string): Route | RouteFailure {
  const url = URL.parse(target, 'http://localhost');
  if (url === null) return 'unknown';
  for (const { resource, pattern, methods } of paths) {
    const match = pattern.exec(url.pathname);
    if (match === null) continue;
    if (!methods.split(' ').includes(method)) return 'method-not-allowed';
    const { namespace, name, subresource } = match.groups ?? {};
    const query = url.searchParams;
    const reading: ApiVerb = name !== undefined ? 'get' : isTrue(query, 'watch') ? 'watch' : 'list';
    const sub = subresource === 'status' || subresource === 'binding' ? subresource : undefined;
    const isCollection = resource === 'pods' && method === 'DELETE' && name === undefined;
    const verb = isCollection ? 'deletecollection' : (verbs[method] ?? reading);
    return { resource, verb, namespace: decoded(namespace), name: decoded(name), subresource: sub, query };
  }
  return 'unknown';
}
