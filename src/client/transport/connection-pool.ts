import { type Dispatcher, Pool } from 'undici';
import type { Clock } from '../../seams/clock.ts';
import { type ConnectLimit, Connector } from './connector.ts';
import type { Endpoint } from './kube-cluster.ts';

/** The apiserver closes an idle connection after 90 s. The client closes it earlier, so it never writes to one that the apiserver is closing. */
const keepAliveTimeout = 60_000;

export interface ConnectionPoolOptions {
  /** How many sockets carry requests. */
  readonly connections: number;
  readonly clock: Clock;
  readonly requestLimit: ConnectLimit;
  readonly streamLimit: ConnectLimit;
}

export interface PooledRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the server's URL, with its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
}

/**
 * The sockets to one endpoint: `connections` for requests, and as many as there are streams, so that a watch never
 * takes a request's place. Opened when first used.
 */
export class ConnectionPool {
  readonly endpoint: Endpoint;
  readonly #connector: Connector;
  readonly #requests: Pool;
  readonly #streams: Pool;
  readonly #pathPrefix: string;
  /** What a proxy that forwards plain http wants beside the request's own headers. */
  readonly #forwardHeaders: Readonly<Record<string, string>>;

  constructor(endpoint: Endpoint, { connections, clock, requestLimit, streamLimit }: ConnectionPoolOptions) {
    this.endpoint = endpoint;
    this.#connector = new Connector(endpoint, clock);
    this.#requests = this.#pool(connections, requestLimit);
    this.#streams = this.#pool(null, streamLimit);
    const { origin, host, pathname } = new URL(endpoint.server);
    const { forwardProxy } = this.#connector;
    this.#pathPrefix = `${forwardProxy === undefined ? '' : origin}${pathname.replace(/\/+$/, '')}`;
    const authorization = forwardProxy?.authorization;
    this.#forwardHeaders = {
      ...(forwardProxy !== undefined && { Host: host }),
      ...(authorization !== undefined && { 'Proxy-Authorization': authorization }),
    };
  }

  request(request: PooledRequest, handler: Dispatcher.DispatchHandler): void {
    this.#dispatch(this.#requests, request, handler);
  }

  stream(request: PooledRequest, handler: Dispatcher.DispatchHandler): void {
    this.#dispatch(this.#streams, request, handler);
  }

  /** Waits for what is under way, then closes the sockets. */
  async close(): Promise<void> {
    await Promise.all([this.#requests.close(), this.#streams.close()]);
    await this.destroy();
  }

  /** Ends every socket at once. Resolves when none is left. */
  async destroy(): Promise<void> {
    await Promise.all([this.#requests.destroy(), this.#streams.destroy()]);
    // undici forgets the sockets that were still connecting
    await this.#connector.destroy();
  }

  #dispatch(pool: Pool, { method, path, headers, body }: PooledRequest, handler: Dispatcher.DispatchHandler): void {
    pool.dispatch(
      { path: `${this.#pathPrefix}${path}`, method, headers: { ...headers, ...this.#forwardHeaders }, body },
      handler,
    );
  }

  #pool(connections: number | null, limit: ConnectLimit): Pool {
    // all waiting is timed by the caller's clock, so undici's own timers are off
    const options = { connections, pipelining: 1, allowH2: false, keepAliveTimeout, headersTimeout: 0, bodyTimeout: 0 };
    return new Pool(this.#connector.origin, { ...options, connect: this.#connector.connectWithin(limit) });
  }
}
