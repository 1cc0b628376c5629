import { Pool } from 'undici/index.js';
import type { SteadyClock } from '../../base/clock.ts';
import { type ConnectLimit, Connector } from './connector.ts';
import type { HttpExchange } from './http-exchange.ts';
import { Http2Connections } from './http2-connections.ts';
import { Http2Stream, type PooledRequest } from './http2-stream.ts';
import type { Endpoint } from './kube-cluster.ts';

/** The apiserver closes an idle connection after 90 s. The client closes it earlier, so it never writes to one that the apiserver is closing. */
const keepAliveTimeout = 60_000;

export interface ConnectionPoolOptions {
  /** How many sockets carry requests. */
  readonly connections: number;
  /** True: streams go over HTTP/2 where the server offers it. */
  readonly http2: boolean;
  readonly clock: SteadyClock;
  readonly requestLimit: ConnectLimit;
  readonly streamLimit: ConnectLimit;
}

/**
 * The sockets to one endpoint: `connections` for requests, and others for streams, so that a watch never takes a request's
 * place. Streams share few sockets over HTTP/2 where the server offers it, and have one each where not. Opened when first used.
 */
export class ConnectionPool {
  readonly endpoint: Endpoint;
  readonly #connector: Connector;
  readonly #requests: Pool;
  readonly #streams: Pool;
  readonly #http2: Http2Connections | undefined;
  readonly #pathPrefix: string;
  /** What a proxy that forwards plain http wants beside the request's own headers. */
  readonly #forwardHeaders: Readonly<Record<string, string>>;
  #isDestroyed = false;

  constructor(endpoint: Endpoint, options: ConnectionPoolOptions) {
    const { connections, http2, clock, requestLimit, streamLimit } = options;
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
    if (!http2 || !origin.startsWith('https:')) return;
    this.#http2 = new Http2Connections({
      connector: this.#connector,
      origin,
      clock,
      limit: streamLimit,
      keepAliveMs: keepAliveTimeout,
      overHttp1: ({ request, exchange }) => this.#overHttp1(request, exchange),
    });
  }

  request(request: PooledRequest, exchange: HttpExchange): void {
    this.#requests.dispatch(this.#addressed(request), exchange);
  }

  /** For streams, and for requests that go over their connections: over HTTP/1.1 a request takes its turn among the others. */
  stream(request: PooledRequest, exchange: HttpExchange): void {
    const addressed = this.#addressed(request);
    if (this.#http2 === undefined) this.#overHttp1(addressed, exchange);
    else this.#http2.dispatch(new Http2Stream(addressed, exchange));
  }

  #overHttp1(addressed: PooledRequest, exchange: HttpExchange): void {
    (exchange.isStream ? this.#streams : this.#requests).dispatch(addressed, exchange);
  }

  /** Waits for what is under way, then closes the sockets. Resolves also for a pool that is destroyed meanwhile. */
  async close(): Promise<void> {
    // what an HTTP/2 connection returns may still go over HTTP/1.1
    await this.#http2?.close();
    // undici refuses to close what is destroyed
    if (!this.#isDestroyed) await Promise.all([this.#requests.close(), this.#streams.close()]);
    await this.destroy();
  }

  /** Ends every socket at once. Resolves when none is left. */
  async destroy(): Promise<void> {
    this.#isDestroyed = true;
    this.#http2?.destroy();
    await Promise.all([this.#requests.destroy(), this.#streams.destroy()]);
    // undici forgets the sockets that were still connecting
    await this.#connector.destroy();
  }

  #addressed({ method, path, headers, body }: PooledRequest): PooledRequest {
    return { path: `${this.#pathPrefix}${path}`, method, headers: { ...headers, ...this.#forwardHeaders }, body };
  }

  #pool(connections: number | null, limit: ConnectLimit): Pool {
    // all waiting is timed by the caller's clock, so undici's own timers are off
    const options = { connections, pipelining: 1, allowH2: false, keepAliveTimeout, headersTimeout: 0, bodyTimeout: 0 };
    return new Pool(this.#connector.origin, { ...options, connect: this.#connector.connectWithin(limit) });
  }
}
