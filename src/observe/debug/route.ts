/** What a request asks for. */
export type Route =
  | { readonly kind: 'index'; readonly query: URLSearchParams }
  | { readonly kind: 'pod'; readonly podUID: string }
  | { readonly kind: 'api-snapshot' }
  | { readonly kind: 'api-changes' }
  | { readonly kind: 'api-pod'; readonly podUID: string };

/** Undefined when there is nothing under this URL. A base path that the server has cut off already need not be there. */
export function routeOf(url: string | undefined, basePath: string): Route | undefined {
  const [path = '', query = ''] = (url ?? '/').split(/[?#]/, 2);
  const under = path === basePath || path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : path;
  switch (under) {
    case '':
    case '/':
      return { kind: 'index', query: new URLSearchParams(query) };
    case '/api/snapshot':
      return { kind: 'api-snapshot' };
    case '/api/changes':
      return { kind: 'api-changes' };
  }
  const [, api, text = ''] = /^(\/api)?\/pods\/([^/]+)$/.exec(under) ?? [];
  const podUID = decoded(text);
  if (podUID === undefined || podUID === '') return undefined;
  return { kind: api === undefined ? 'pod' : 'api-pod', podUID };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
