// Behaviour of runHTTPHandler in pkg/kubelet/lifecycle and of pkg/probe/http, v1.36.3.

import { type RequestOptions, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP } from 'node:net';
import { errorCodeOf } from '../../base/errors.ts';
import { probeHeaders, requestPath } from '../../node/probes/http-probe.ts';

/** A GET request of a hook. */
export interface HookAddress {
  /** `http` or `https`. */
  readonly scheme: string;
  /** A name or an address; IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
  /** As the spec has it. */
  readonly path: string;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
}

const userAgent = 'kube-lifecycle/1.36';

/**
 * Makes the request. Any answer will do, of whatever status. Over TLS no certificate is verified; a server that has no TLS is
 * asked again without, and without the header Authorization.
 */
export async function requestHook(address: HookAddress, signal: AbortSignal): Promise<void> {
  try {
    await get(address, signal);
  } catch (error) {
    if (address.scheme !== 'https' || !isPlainAnswer(error)) throw error;
    const headers = address.headers.filter(({ name }) => name.toLowerCase() !== 'authorization');
    await get({ ...address, scheme: 'http', headers }, signal);
  }
}

function get({ scheme, host, port, path, headers: ofSpec }: HookAddress, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    if (scheme !== 'http' && scheme !== 'https') throw new Error(`unsupported protocol scheme ${JSON.stringify(scheme)}`);
    const { headers, host: named } = probeHeaders(ofSpec);
    const sent: Record<string, string | string[]> = { ...headers };
    if (!ofSpec.some(({ name }) => name.toLowerCase() === 'user-agent')) sent['user-agent'] = [userAgent];
    if (named !== undefined) sent.host = named;
    const options: RequestOptions & { readonly rejectUnauthorized: boolean; readonly servername: string } = {
      host,
      port,
      path: requestPath(path),
      headers: sent,
      agent: false,
      rejectUnauthorized: false,
      servername: isIP(host) ? '' : host,
      signal,
    };
    const request = (scheme === 'https' ? requestHttps : requestHttp)(options);
    request.on('error', reject);
    request.on('upgrade', (_, socket) => {
      socket.destroy();
      resolve();
    });
    request.on('response', (response) => {
      response.destroy();
      resolve();
    });
    request.end();
  });
}

/** True when a server without TLS has answered a request over TLS. */
function isPlainAnswer(error: unknown): boolean {
  const code = errorCodeOf(error);
  return code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG' || code === 'EPROTO';
}
