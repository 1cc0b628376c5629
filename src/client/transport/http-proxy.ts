import { type IncomingMessage, request } from 'node:http';
import { connect, isIP, type Socket } from 'node:net';
// As a namespace: an older Node has no getCACertificates, and a name that is missing would hide what the package says of it.
import * as tls from 'node:tls';
import { networkCause } from './api-error.ts';
import type { TlsMaterial } from './kube-cluster.ts';

/** Told of each socket as soon as it is there, before it is connected. */
export type OnSocket = (socket: Socket) => void;

/** An http or https proxy. Its certificate is checked by the CAs of the system and of the cluster, and it is shown no client certificate. */
export class HttpProxy {
  readonly origin: string;
  /** The value of `Proxy-Authorization`, from the user and the password in the URL. */
  readonly authorization: string | undefined;
  readonly #url: URL;
  readonly #clusterCa: TlsMaterial['ca'];
  /** Made once: the system has more than a hundred CAs to parse. */
  #secureContext: tls.SecureContext | undefined;

  constructor(proxyUrl: string, clusterCa: TlsMaterial['ca']) {
    this.#url = new URL(proxyUrl);
    this.#clusterCa = clusterCa;
    this.origin = this.#url.origin;
    const { username, password } = this.#url;
    const plain = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    this.authorization = plain === ':' ? undefined : `Basic ${Buffer.from(plain).toString('base64')}`;
  }

  /** A connection to the proxy itself. Rejects with what the network said. */
  connect(onSocket: OnSocket): Promise<Socket> {
    const { protocol, hostname, port } = this.#url;
    const host = hostname.replace(/^\[|\]$/g, '');
    if (protocol === 'http:') return opened(connect(Number(port || 80), host), 'connect', onSocket);
    const socket = tls.connect({
      host,
      port: Number(port || 443),
      servername: isIP(host) === 0 ? host : '',
      secureContext: this.#context(),
      rejectUnauthorized: true,
    });
    return opened(socket, 'secureConnect', onSocket);
  }

  /** A connection to `authority` (host and port) through the proxy. Rejects with what the network or the proxy said. */
  async tunnel(authority: string, onSocket: OnSocket): Promise<Socket> {
    const socket = await this.connect(onSocket);
    const { promise, resolve, reject } = Promise.withResolvers<Socket>();
    const asking = request({
      method: 'CONNECT',
      path: authority,
      headers: {
        Host: authority,
        Connection: 'keep-alive',
        ...(this.authorization !== undefined && { 'Proxy-Authorization': this.authorization }),
      },
      createConnection: () => socket,
    });
    asking.on('error', reject);
    asking.once('connect', ({ statusCode = 0 }: IncomingMessage, _socket, head: Buffer) => {
      if (statusCode < 200 || statusCode > 299) return reject(new Error(`it answered with ${statusCode}`));
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    asking.end();
    try {
      return await promise;
    } catch (error) {
      throw proxyError(`the proxy, asked for ${authority}`, error);
    }
  }

  #context(): tls.SecureContext {
    const own = this.#clusterCa === undefined ? [] : [this.#clusterCa].flat();
    this.#secureContext ??= tls.createSecureContext({ ca: [...tls.getCACertificates('default'), ...own] });
    return this.#secureContext;
  }
}

function opened(socket: Socket, event: 'connect' | 'secureConnect', onSocket: OnSocket): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  onSocket(socket);
  socket.once(event, () => resolve(socket));
  socket.once('error', (error) => reject(proxyError('the proxy', error)));
  return promise;
}

/** The name of an error that a proxy, and not the server, has made. */
export const proxyErrorName = 'ProxyError';

function proxyError(subject: string, error: unknown): Error {
  const { code, message } = networkCause(error);
  // the name says that the proxy is at fault, and not the server
  const failure = Object.assign(new Error(`${subject}: ${message}`), { code: code ?? 'ERR_PROXY' });
  failure.name = proxyErrorName;
  return failure;
}
