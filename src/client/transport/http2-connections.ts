import type { SteadyClock } from '../../base/clock.ts';
import type { Connector } from './connector.ts';
import { Http2Connection } from './http2-connection.ts';
import type { Http2Stream } from './http2-stream.ts';

/** As Go assumes it until a server has said. */
const assumedStreams = 100;

/** A server that speaks HTTP/1.1 only is asked again after this long. */
const http1ForMs = 600_000;

export interface Http2ConnectionsOptions {
  readonly connector: Connector;
  readonly origin: string;
  readonly clock: SteadyClock;
  /** How long a connection may take to open; undefined when no stream waits for one. */
  readonly limit: () => number | undefined;
  readonly keepAliveMs: number;
  /** Takes a stream for a server that does not speak HTTP/2. */
  readonly overHttp1: (stream: Http2Stream) => void;
}

/**
 * The HTTP/2 connections to one server. A stream goes to the oldest connection that has room, so that the youngest ones
 * empty; a new one is opened when none has. A server that does not offer HTTP/2 gets its streams over HTTP/1.1.
 */
export class Http2Connections {
  readonly #options: Http2ConnectionsOptions;
  readonly #connections = new Set<Http2Connection>();
  #allowedStreams = assumedStreams;
  /** When the server last refused HTTP/2, by `Clock.elapsed`. */
  #refusedAt = Number.NEGATIVE_INFINITY;
  #isDestroyed = false;

  constructor(options: Http2ConnectionsOptions) {
    this.#options = options;
  }

  /** Each stream is answered through its exchange. */
  dispatch(stream: Http2Stream): void {
    if (this.#isDestroyed) stream.fail(new Error('The connection pool is closed'));
    else if (this.#options.clock.elapsed() - this.#refusedAt < http1ForMs) this.#options.overHttp1(stream);
    else this.#connectionWithRoom().add(stream);
  }

  /** Waits for what is under way, then closes the connections. */
  async close(): Promise<void> {
    // a stream that one connection returns may open another one
    while (this.#connections.size > 0) await Promise.all(Array.from(this.#connections, (connection) => connection.close()));
  }

  /** Ends every connection at once, but for the sockets that are still opening. */
  destroy(): void {
    this.#isDestroyed = true;
    for (const connection of this.#connections) connection.destroy();
  }

  #connectionWithRoom(): Http2Connection {
    for (const connection of this.#connections) if (connection.hasRoom) return connection;
    const { connector, origin, clock, limit, keepAliveMs } = this.#options;
    const connection = new Http2Connection({
      origin,
      clock,
      keepAliveMs,
      assumedStreams: Math.max(1, this.#allowedStreams),
      open: () => connector.openForHttp2(limit),
      settingsTimeoutMs: () => limit() ?? 0,
      onReturned: (streams, why) => {
        if (why === 'http1') this.#refusedAt = clock.elapsed();
        for (const stream of streams) this.dispatch(stream);
      },
      onLimit: (streams) => {
        this.#allowedStreams = streams;
      },
    });
    this.#connections.add(connection);
    void connection.closed.then(() => this.#connections.delete(connection));
    return connection;
  }
}
