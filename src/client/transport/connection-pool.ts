import { Socket } from 'node:net';
import { buildConnector, type Dispatcher, Pool, ProxyAgent } from 'undici';
import type { Endpoint } from './kube-access.ts';

/** The apiserver closes an idle connection after 90 s; going first means never writing to one that is about to close. */
const keepAliveTimeout = 60_000;
/** As client-go has it: below the idle timeouts of common load balancers. */
const keepAliveInitialDelay = 30_000;
const connectTimeout = 10_000;

/**
 * The sockets to one endpoint: `connections` for requests, and as many as there are streams, so that a watch never
 * takes a request's place. Opened when first used.
 */
export class ConnectionPool {
  readonly endpoint: Endpoint;
  readonly origin: string;
  readonly pathPrefix: string;
  readonly requests: Dispatcher;
  readonly streams: Dispatcher;
  /** Every open or opening socket. undici forgets those still connecting when it is destroyed. */
  readonly #sockets = new Set<Socket>();

  constructor(endpoint: Endpoint, connections: number) {
    const { origin, pathname } = new URL(endpoint.server);
    this.endpoint = endpoint;
    this.origin = origin;
    this.pathPrefix = pathname.replace(/\/+$/, '');
    this.requests = this.#dispatcher(connections);
    this.streams = this.#dispatcher(null);
  }

  /** Waits for what is under way, then closes the sockets. */
  async close(): Promise<void> {
    await Promise.all([this.requests.close(), this.streams.close()]);
    await this.destroy();
  }

  /** Ends every socket at once. Resolves when none is left. */
  async destroy(): Promise<void> {
    await Promise.all([this.requests.destroy(), this.streams.destroy()]);
    await Promise.all(Array.from(this.#sockets, endSocket));
  }

  #dispatcher(connections: number | null): Dispatcher {
    const { proxyUrl, tls } = this.endpoint;
    // all waiting is timed by the caller's clock, so undici's own timers are off
    const options = { connections, pipelining: 1, allowH2: false, keepAliveTimeout, headersTimeout: 0, bodyTimeout: 0 };
    if (proxyUrl !== undefined) {
      return new ProxyAgent({ ...options, uri: proxyUrl, requestTls: { ...tls, allowH2: false } });
    }
    const open = buildConnector({ ...tls, allowH2: false, keepAliveInitialDelay, timeout: connectTimeout });
    const connect: typeof open = (target, callback) => {
      const socket: unknown = open(target, callback);
      if (!(socket instanceof Socket)) return;
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    };
    return new Pool(this.origin, { ...options, connect });
  }
}

function endSocket(socket: Socket): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.once('close', () => resolve());
  // with an error, so that a connector still waiting for this socket hears of it
  socket.destroy(new Error('The connection pool is closed'));
  return promise;
}
