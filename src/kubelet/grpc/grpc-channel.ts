import { type ClientHttp2Session, connect } from 'node:http2';
import { connect as connectSocket, type Socket } from 'node:net';
import { type CancelTimer, type Clock, type SteadyClock, systemClock } from '../../base/clock.ts';
import { nthDelayMs } from '../../base/concurrency/backoff.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import { framed, GrpcCall, isErrorOf, type MakeCallError, type OpenedCall } from './grpc-call.ts';

export interface GrpcChannelOptions {
  readonly socketPath: string;
  readonly clock: SteadyClock;
  /** An answer that says it is longer is not read. */
  readonly maxMessageBytes: number;
}

/** A connection that is watched is made again soon: as the kubelet's, after 100 ms at first and every 3 s at the latest. */
const reconnect = { firstMs: 100, longestMs: 3_000 };
/** A connection that has stood for so long, or has answered a call, was no failure. */
const steadyAfterMs = 10_000;

interface Link {
  readonly session: ClientHttp2Session;
  /** It is ours to close: a session that has ended well leaves it to the server. */
  readonly socket: Socket;
  calls: number;
  hasAnswered: boolean;
  /** Since when it stands, by the clock's elapsed time. */
  stoodSinceMs: number | undefined;
}

/**
 * An HTTP/2 connection to a unix socket for calls of gRPC. It is made for the first call, and again for the first one after it has
 * ended. A connection without calls keeps no process alive. One on which no calls begin any more is closed after its last call.
 */
export class GrpcChannel {
  readonly #options: GrpcChannelOptions;
  readonly #links = new Set<Link>();
  /** The connection on which calls begin. */
  #current: Link | undefined;
  #onChange: ((isConnected: boolean) => void) | undefined;
  #isConnected = false;
  #failures = 0;
  #cancelReconnect: CancelTimer = () => {};
  #isClosed = false;

  constructor(options: GrpcChannelOptions) {
    this.#options = options;
  }

  /** Sends a request. Throws where the connection takes none. */
  call(path: string, request: Uint8Array, makeError: MakeCallError): GrpcCall {
    const open = (): OpenedCall => this.#open(path, request);
    return new GrpcCall({ open, maxMessageBytes: this.#options.maxMessageBytes, makeError });
  }

  #open(path: string, request: Uint8Array): OpenedCall {
    const link = this.#usable();
    const stream = link.session.request({
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
      te: 'trailers',
      'user-agent': 'pod-status-manager',
    });
    this.#count(link, 1);
    stream.once('close', () => this.#count(link, -1));
    stream.once('response', () => {
      link.hasAnswered = true;
    });
    // a connection has numbers for so many calls only
    stream.once('error', (error) => {
      if (isErrorOf(error, 'ERR_HTTP2_OUT_OF_STREAMS')) this.#lose(link);
    });
    stream.end(framed(request));
    return { stream, isConnected: () => !link.socket.destroyed };
  }

  /** Makes the connection, and makes it again whenever it ends. Calls `onChange` whenever it begins to stand, or ceases to. */
  watch(onChange: (isConnected: boolean) => void): void {
    this.#onChange = onChange;
    if (!this.#isClosed && this.#current === undefined) this.#connect();
  }

  /** Ends the connection, and all calls on it. */
  close(): void {
    this.#isClosed = true;
    this.#cancelReconnect();
    for (const link of [...this.#links]) end(link);
  }

  /** A connection that takes calls. That it takes none any more may be known before it is told. */
  #usable(): Link {
    const current = this.#current;
    if (current !== undefined && (current.session.closed || current.session.destroyed)) this.#lose(current);
    return this.#current ?? this.#connect();
  }

  #connect(): Link {
    this.#cancelReconnect();
    const socket = connectSocket(this.#options.socketPath);
    const session = connect('http://localhost', {
      createConnection: () => socket,
      settings: { enablePush: false },
      // what waits in a connection is bounded by its calls: each of them is
      maxSessionMemory: Number.MAX_SAFE_INTEGER,
    });
    session.unref();
    const link: Link = { session, socket, calls: 0, hasAnswered: false, stoodSinceMs: undefined };
    this.#current = link;
    this.#links.add(link);
    session.on('error', ignoreFailure);
    session.once('remoteSettings', () => {
      if (this.#current !== link) return;
      link.stoodSinceMs = this.#options.clock.elapsed();
      this.#tell(true);
    });
    // calls under way may go on after a GOAWAY; no new ones begin
    session.once('goaway', () => this.#lose(link));
    session.once('close', () => {
      this.#links.delete(link);
      this.#lose(link);
    });
    return link;
  }

  #lose(link: Link): void {
    if (this.#current !== link) return;
    this.#current = undefined;
    this.#endIdle(link);
    this.#tell(false);
    const stoodMs = link.stoodSinceMs === undefined ? 0 : this.#options.clock.elapsed() - link.stoodSinceMs;
    this.#failures = link.hasAnswered || stoodMs >= steadyAfterMs ? 1 : this.#failures + 1;
    this.#reconnectLater();
  }

  #reconnectLater(): void {
    if (this.#onChange === undefined || this.#isClosed) return;
    const again = (): void => {
      if (this.#isClosed || this.#current !== undefined) return;
      callGuarded(
        () => this.#connect(),
        () => {
          this.#failures += 1;
          this.#reconnectLater();
        },
      );
    };
    const set = (by: Clock): CancelTimer => by.setTimer(again, nthDelayMs(this.#failures, reconnect));
    this.#cancelReconnect();
    // a clock that sets no timer leaves no connection unmade
    this.#cancelReconnect = callGuarded(() => set(this.#options.clock), ignoreFailure) ?? set(systemClock);
  }

  #tell(isConnected: boolean): void {
    if (this.#isConnected === isConnected) return;
    this.#isConnected = isConnected;
    if (!this.#isClosed) callGuarded(() => this.#onChange?.(isConnected), ignoreFailure);
  }

  #count(link: Link, more: 1 | -1): void {
    link.calls += more;
    if (link.calls === 0) this.#endIdle(link);
    if (link.session.destroyed) return;
    if (link.calls === 0) link.session.unref();
    else if (link.calls === 1 && more === 1) link.session.ref();
  }

  /** Ends a connection on which no call begins any more once it has none, and whoever judges the last one has done so. */
  #endIdle(link: Link): void {
    setImmediate(() => {
      if (link !== this.#current && link.calls === 0) end(link);
    });
  }
}

/** A server that does not close its end holds no socket of ours. */
function end({ session, socket }: Link): void {
  session.destroy();
  socket.destroy();
}
