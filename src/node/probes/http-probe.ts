// Behaviour of pkg/probe/http, v1.36.3.
import { type IncomingMessage, type RequestOptions, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP } from 'node:net';
import { onAbort } from '../../base/concurrency/aborts.ts';
import { exchangeFailure, type HttpProbeTarget, isTimeout, joinHostPort, type ProbeOutcome } from './prober.ts';

const longestBody = 10 * 1024;
const longestHeaders = 1024 * 1024;
const mostRequests = 10;
const redirects: readonly unknown[] = [301, 302, 303, 307, 308];

/**
 * A success when the answer is 200 to 399 after at most nine redirects within the host, a warning when the last answer is
 * itself a redirect. Each request has a connection of its own; a certificate is not verified. Ten KiB of the body are read.
 */
export async function httpProbe(target: HttpProbeTarget, signal: AbortSignal): Promise<ProbeOutcome> {
  const { scheme, host, port, path } = target;
  let headers = probeHeaders(target.headers);
  let address: HttpAddress = { scheme, host, port, path: requestPath(path) };
  for (let requests = 1; ; requests += 1) {
    const failed = (reason: string, url = addressText(address)): ProbeOutcome => ({
      result: 'failure',
      output: `Get ${JSON.stringify(url)}: ${reason}`,
    });
    let response: IncomingMessage;
    try {
      response = await get(address, headers, signal);
    } catch (error) {
      if (isTimeout(signal)) return failed('context deadline exceeded (Client.Timeout exceeded while awaiting headers)');
      return failed(exchangeFailure(error, address.host, joinHostPort(address.host, address.port)));
    }
    try {
      const { location } = response.headers;
      const next = location && redirects.includes(response.statusCode) ? redirected(address, location) : 'none';
      if (next === undefined) return failed(`failed to parse Location header ${JSON.stringify(location)}`);
      if (typeof next === 'string') return await judge(response, signal);
      if (requests >= mostRequests) return failed(`stopped after ${mostRequests} redirects`, location);
      address = next;
      // a redirect that names the host says which host is meant
      if (/^[a-z][a-z0-9+.-]*:/i.test(location ?? '')) headers = { ...headers, host: undefined };
    } finally {
      response.destroy();
    }
  }
}

/** Resolves when the headers of the answer are there. */
function get(address: HttpAddress, { headers, host }: ProbeHeaders, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    if (address.scheme !== 'http' && address.scheme !== 'https') {
      throw new Error(`unsupported protocol scheme ${JSON.stringify(address.scheme)}`);
    }
    const options: RequestOptions & { readonly rejectUnauthorized: boolean; readonly servername: string } = {
      host: address.host,
      port: address.port,
      path: address.path,
      headers: { ...headers, host: host ?? hostHeader(address) },
      agent: false,
      maxHeaderSize: longestHeaders,
      rejectUnauthorized: false,
      servername: isIP(address.host) ? '' : address.host,
    };
    const request = (address.scheme === 'https' ? requestHttps : requestHttp)(options);
    const leave = onAbort(signal, () => {
      request.destroy(signal.reason instanceof Error ? signal.reason : undefined);
      reject(signal.reason);
    });
    request.on('close', leave);
    request.on('error', reject);
    request.on('upgrade', (response, socket) => {
      socket.destroy();
      resolve(response);
    });
    request.on('response', resolve);
    request.end();
  });
}

/** The port of the scheme is not named. */
function hostHeader({ scheme, host, port }: HttpAddress): string {
  const text = joinHostPort(host, port);
  return port === (scheme === 'https' ? 443 : 80) ? text.slice(0, text.lastIndexOf(':')) : text;
}

async function judge(response: IncomingMessage, signal: AbortSignal): Promise<ProbeOutcome> {
  const { statusCode = 0 } = response;
  let body: string;
  try {
    body = statusCode < 200 ? '' : await readSome(response);
  } catch (error) {
    // upstream cannot tell then what the server says: the probe counts as not made
    const late = 'context deadline exceeded (Client.Timeout or context cancellation while reading body)';
    if (isTimeout(signal)) return { result: 'failure', error: new Error(late) };
    return { result: 'failure', error: new Error('unexpected EOF', { cause: error }) };
  }
  if (statusCode < 200 || statusCode >= 400) {
    return { result: 'failure', output: `HTTP probe failed with statuscode: ${statusCode}` };
  }
  if (statusCode >= 300) return { result: 'warning', output: `Probe terminated redirects, Response body: ${body}` };
  return { result: 'success', output: body };
}

/** The body, or its beginning. */
async function readSome(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= longestBody) break;
  }
  return Buffer.concat(chunks).subarray(0, longestBody).toString('utf8');
}

/** Where one request goes. */
interface HttpAddress {
  readonly scheme: string;
  /** IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
  /** With the query; it begins with a slash. */
  readonly path: string;
}

function addressText({ scheme, host, port, path }: HttpAddress): string {
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

const userAgent = 'kube-probe/1.36';
/** What the request says by itself, as Go's client does. */
const ofTheRequest: readonly string[] = ['connection', 'content-length', 'host', 'trailer', 'transfer-encoding'];

interface ProbeHeaders {
  /** By name in lower case; several values of one name are several lines. */
  readonly headers: Record<string, string[]>;
  /** The host that the spec wants to be named; undefined where it wants the address itself. */
  readonly host: string | undefined;
}

/**
 * The headers of a probe: those of the spec, a user agent, and that any answer is welcome. An empty value in the spec takes
 * one of the latter away. Behaviour of pkg/probe/http/request.go, v1.36.3.
 */
export function probeHeaders(ofSpec: readonly { readonly name: string; readonly value: string }[]): ProbeHeaders {
  const headers = new Map<string, string[]>();
  for (const { name, value } of ofSpec) {
    const key = name.toLowerCase();
    const values = headers.get(key);
    if (values === undefined) headers.set(key, [value]);
    else values.push(value);
  }
  const host = headers.get('host')?.[0] || undefined;
  for (const name of ofTheRequest) headers.delete(name);
  for (const [name, value] of [
    ['user-agent', userAgent],
    ['accept', '*/*'],
  ] as const) {
    const given = headers.get(name);
    if (given === undefined) headers.set(name, [value]);
    else if (given[0] === '') headers.delete(name);
  }
  return { headers: Object.fromEntries(headers), host };
}
