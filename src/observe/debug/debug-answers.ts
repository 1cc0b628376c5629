import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import type { PartKind } from './debug-part.ts';

/** For everything but the page: nothing may be loaded or shown in a frame, and nothing is kept. */
const commonHeaders = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  vary: 'accept',
  'x-content-type-options': 'nosniff',
} as const;

/** A request that is answered, and its answer. */
export interface DebugExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

export function sendJson(exchange: DebugExchange, value: unknown): void {
  answer(exchange, 200, 'application/json', JSON.stringify(value));
}

/** Plain text; a line break is added. */
export function sendText(
  exchange: DebugExchange,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  answer(exchange, status, 'text/plain', `${text}\n`, headers);
}

export function redirect(exchange: DebugExchange, location: string): void {
  sendText(exchange, 302, `See ${location}`, { location });
}

/** Writes the head of a stream of events. */
export function beginStream({ response }: DebugExchange): void {
  response.writeHead(200, { ...commonHeaders, 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' });
}

function answer(
  { request, response }: DebugExchange,
  status: number,
  type: string,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const body = Buffer.from(text);
  const head = { ...commonHeaders, 'content-type': `${type}; charset=utf-8`, 'content-length': body.length, ...headers };
  response.writeHead(status, head);
  response.end(request.method === 'HEAD' ? undefined : body);
}

/** The page, with the policy that lets its own script and style run and nothing else. */
export class PageAnswer {
  readonly #body: Buffer;
  readonly #etag: string;
  readonly #policy: string;

  constructor(html: string, policy: string) {
    this.#body = Buffer.from(html);
    this.#etag = `"${createHash('sha256').update(html).digest('base64').slice(0, 27)}"`;
    this.#policy = policy;
  }

  send({ request, response }: DebugExchange): void {
    const isKnown = request.headers['if-none-match']?.split(',').some((tag) => tag.trim().replace(/^W\//, '') === this.#etag);
    const head = {
      ...commonHeaders,
      'cache-control': 'no-cache',
      'content-security-policy': this.#policy,
      etag: this.#etag,
    };
    if (isKnown) response.writeHead(304, head).end();
    else {
      response.writeHead(200, { ...head, 'content-type': 'text/html; charset=utf-8', 'content-length': this.#body.length });
      response.end(request.method === 'HEAD' ? undefined : this.#body);
    }
  }
}

/** What a request asks for. */
export type DebugRoute =
  | { readonly kind: 'index'; readonly query: URLSearchParams }
  | { readonly kind: 'pod'; readonly podUID: string }
  | { readonly kind: 'api-snapshot' }
  | { readonly kind: 'api-changes' }
  | { readonly kind: 'api-pod'; readonly podUID: string }
  | { readonly kind: 'part'; readonly part: PartKind; readonly isApi: boolean }
  | { readonly kind: 'fleet'; readonly query: URLSearchParams; readonly isApi: boolean }
  | { readonly kind: 'fleet-node'; readonly nodeName: string; readonly isApi: boolean };

/** Undefined when there is nothing under this URL. A base path that the server has cut off already need not be there. */
export function debugRouteOf(url: string | undefined, basePath: string): DebugRoute | undefined {
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
    case '/node':
    case '/api/node':
      return { kind: 'part', part: 'node', isApi: under.startsWith('/api/') };
    case '/scheduler':
    case '/api/scheduler':
      return { kind: 'part', part: 'scheduler', isApi: under.startsWith('/api/') };
    case '/fleet':
    case '/api/fleet':
      return { kind: 'fleet', query: new URLSearchParams(query), isApi: under.startsWith('/api/') };
  }
  const [, api, list, text = ''] = /^(\/api)?\/(pods|fleet\/nodes)\/([^/]+)$/.exec(under) ?? [];
  const name = decoded(text);
  if (name === undefined || name === '') return undefined;
  if (list !== 'pods') return { kind: 'fleet-node', nodeName: name, isApi: api !== undefined };
  return { kind: api === undefined ? 'pod' : 'api-pod', podUID: name };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/**
 * True for a request that names this server by an address, by `localhost`, or by an allowed name. A name of anybody's own may
 * point here: a browser that follows it takes a foreign page and this server for one site (DNS rebinding).
 */
export function isAllowedHost({ headers }: IncomingMessage, allowedHosts: ReadonlySet<string>): boolean {
  const host = headers[':authority'] ?? headers.host;
  if (typeof host !== 'string') return false;
  const name = hostName(host);
  if (name === undefined) return false;
  return isIP(name) !== 0 || name === 'localhost' || name.endsWith('.localhost') || allowedHosts.has(name);
}

/** `Name:80` is `name`, `[::1]:80` is `::1`. Undefined for what is no host with or without a port. */
export function hostName(host: string): string | undefined {
  const [, address, name] = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:/?#@[\]\\]+?)\.?)(?::\d{1,5})?$/.exec(host) ?? [];
  return (address ?? name)?.toLowerCase();
}

/** True for a request that the page of another site makes in the background. A link that somebody follows is none. */
export function isFromOtherSite({ headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site'];
  return (site === 'cross-site' || site === 'same-site') && headers['sec-fetch-mode'] !== 'navigate';
}

/** True when a browser asks for something to show: `curl` accepts anything, and names no HTML. */
export function acceptsHtml({ headers }: IncomingMessage): boolean {
  return /\btext\/html\b/i.test(headers.accept ?? '');
}
