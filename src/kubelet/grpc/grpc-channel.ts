import { type ClientHttp2Session, connect } from 'node:http2';
import { connect as connectSocket } from 'node:net';
import type { CancelTimer, Clock } from '../../base/clock.ts';
import { nthDelayMs } from '../../base/concurrency/backoff.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import { framed, GrpcCall, type MakeCallError } from './grpc-call.ts';

export interface GrpcChannelOptions {
  readonly socketPath: string;
  readonly clock: Clock;
  /** An answer that says it is longer is not read. */
  readonly maxMessageBytes: number;
}

/** A connection that is watched is made again soon: as the kubelet's, after 100 ms at first and every 3 s at the latest. */
const reconnect = { firstMs: 100, longestMs: 3_000 };

/**
 * An HTTP/2 connection to a unix socket for calls of gRPC. It is made for the first call, and again for the first one after it has
 * ended. A connection without calls keeps no process alive.
 */
export class GrpcChannel {
  readonly #options: GrpcChannelOptions;
  #session: ClientHttp2Session | undefined;
  readonly #ending = new Set<ClientHttp2Session>();
  readonly #callsOf = new WeakMap<ClientHttp2Session, number>();
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
    const session = this.#session ?? this.#connect();
    const stream = session.request({
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
      te: 'trailers',
      'user-agent': 'pod-status-manager',
    });
    this.#count(session, 1);
    stream.once('close', () => this.#count(session, -1));
    const isConnected = (): boolean => !session.destroyed && !session.closed;
    const call = new GrpcCall({ stream, isConnected, maxMessageBytes: this.#options.maxMessageBytes, makeError });
    stream.end(framed(request));
    return call;
  }

  /** Makes the connection, and makes it again whenever it ends. Calls `onChange` whenever it begins to stand, or ceases to. */
  watch(onChange: (isConnected: boolean) => void): void {
    this.#onChange = onChange;
    if (!this.#isClosed && this.#session === undefined) this.#connect();
  }

  /** Ends the connection, and all calls on it. */
  close(): void {
    this.#isClosed = true;
    this.#cancelReconnect();
    for (const session of [...this.#ending, ...(this.#session === undefined ? [] : [this.#session])]) session.destroy();
  }

  #connect(): ClientHttp2Session {
    this.#cancelReconnect();
    const session = connect('http://localhost', {
      createConnection: () => connectSocket(this.#options.socketPath),
      settings: { enablePush: false },
      // what waits in a connection is bounded by its calls: each of them is
      maxSessionMemory: Number.MAX_SAFE_INTEGER,
    });
    session.unref();
    this.#session = session;
    this.#ending.add(session);
    session.on('error', ignoreFailure);
    session.once('remoteSettings', () => {
      if (this.#session !== session) return;
      this.#failures = 0;
      this.#tell(true);
    });
    // calls under way may go on after a GOAWAY; no new ones begin
    session.once('goaway', () => this.#lose(session));
    session.once('close', () => {
      this.#ending.delete(session);
      this.#lose(session);
    });
    return session;
  }

  #lose(session: ClientHttp2Session): void {
    if (this.#session !== session) return;
    this.#session = undefined;
    this.#tell(false);
    if (this.#onChange === undefined || this.#isClosed) return;
    this.#failures += 1;
    this.#cancelReconnect = this.#options.clock.setTimer(
      () => {
        if (!this.#isClosed && this.#session === undefined) this.#connect();
      },
      nthDelayMs(this.#failures, reconnect),
    );
  }

  #tell(isConnected: boolean): void {
    if (this.#isConnected === isConnected) return;
    this.#isConnected = isConnected;
    if (!this.#isClosed) callGuarded(() => this.#onChange?.(isConnected), ignoreFailure);
  }

  #count(session: ClientHttp2Session, more: 1 | -1): void {
    const calls = (this.#callsOf.get(session) ?? 0) + more;
    this.#callsOf.set(session, calls);
    if (session.destroyed) return;
    if (calls === 0) session.unref();
    else if (calls === 1 && more === 1) session.ref();
  }
}
