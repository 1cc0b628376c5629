import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

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
