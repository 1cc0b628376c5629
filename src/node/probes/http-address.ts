import { joinHostPort } from './go-words.ts';

/** Where one request goes. */
export interface HttpAddress {
  readonly scheme: string;
  /** IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
  /** With the query; it begins with a slash. */
  readonly path: string;
}

export function addressText({ scheme, host, port, path }: HttpAddress): string {
  return `${scheme}://${joinHostPort(host, port)}${path}`;
}

/**
 * The path of a probe's request: a host or a fragment in it does not count, what no request may have is escaped, and a text
 * that is no path is taken as it is. Behaviour of pkg/probe/http formatURL, v1.36.3.
 */
export function requestPath(text: string): string {
  const wellFormed = text.toWellFormed();
  const [, rest = ''] = /^(?:(?:[a-z][a-z0-9+.-]*:)?\/\/[^/?#]*)?([^#]*)/is.exec(wellFormed) ?? [];
  const [path = '', ...query] = rest.split('?');
  // Go refuses control characters, and the path is then a mere text
  const hasControls = Array.from(wellFormed).some((character) => character < ' ' || character === '\x7f');
  const isPath = !/%(?![0-9a-f]{2})/i.test(path) && !hasControls;
  const own = isPath ? escaped(path) : escaped(wellFormed.replaceAll('%', '%25')).replaceAll('?', '%3F').replaceAll('#', '%23');
  const rooted = own.startsWith('/') ? own : `/${own}`;
  return isPath && query.length > 0 ? `${rooted}?${query.join('?').replace(/[^!-~]/gu, encodeURIComponent)}` : rooted;
}

/** The same text with every character escaped that no path may have; what is escaped already stays so. */
function escaped(text: string): string {
  return text
    .split(/(%[0-9a-f]{2})/i)
    .map((part, index) => (index % 2 === 1 ? part : encodeURI(part).replaceAll('%5B', '[').replaceAll('%5D', ']')))
    .join('');
}

/** Where a redirect leads; `other-host` where that is another host, undefined where it cannot be read. */
export function redirected(from: HttpAddress, location: string): HttpAddress | 'other-host' | undefined {
  const base = URL.parse(addressText(from));
  const to = base === null ? null : URL.parse(location, base.href);
  if (base === null || to === null) return undefined;
  if (to.hostname !== base.hostname) return 'other-host';
  const scheme = to.protocol.slice(0, -1);
  const port = to.port === '' ? (scheme === 'https' ? 443 : 80) : Number(to.port);
  return { scheme, host: from.host, port, path: `${to.pathname}${to.search}` };
}
