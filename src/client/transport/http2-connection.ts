import { type ClientHttp2Session, connect, type Settings } from 'node:http2';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { CancelTimer, SteadyClock } from '../../base/clock.ts';
import { timedOut } from './api-error.ts';
import { Http2Liveness, type Http2Stream } from './http2-stream.ts';

/** How many streams a connection carries at most, however many the server allows. */
const mostStreams = 250;

/** What the server may send before it is told that it was read: of one stream as Go has it, and of all together. */
const streamWindow = 4 * 1024 * 1024;
const connectionWindow = 32 * 1024 * 1024;

export interface Http2ConnectionOptions {
  /** Scheme, host and port of the server. */
  readonly origin: string;
  readonly clock: SteadyClock;
  /** A TLS socket that has offered HTTP/2. */
  readonly open: () => Promise<Socket>;
  /** How many streams it is taken to carry before the server has said. */
  readonly assumedStreams: number;
  /** How long the server may take to say how many streams it allows, once the socket is open, in milliseconds. */
  readonly settingsTimeoutMs: () => number;
  /** A connection that carries nothing is closed after this long. */
  readonly keepAliveMs: number;
  /** Takes streams that have to go elsewhere: nothing of them has been acted upon. `http1`: the server does not speak HTTP/2. */
  readonly onReturned: (streams: readonly Http2Stream[], why: 'http1' | 'other') => void;
  /** Told how many streams the server allows. */
  readonly onLimit: (streams: number) => void;
}

/** One HTTP/2 connection, and the streams that wait for it or run on it. */
export class Http2Connection {
  /** Resolves once the connection is gone, or could not be made. Never rejects. */
  readonly closed: Promise<void>;
  readonly #options: Http2ConnectionOptions;
  readonly #waiting = new Set<Http2Stream>();
  readonly #running = new Set<Http2Stream>();
  #session: ClientHttp2Session | undefined;
  #socket: Socket | undefined;
  #liveness: Http2Liveness | undefined;
  #failure: Error | undefined;
  /** Undefined before the server has said. */
  #limit: number | undefined;
  /** True once it takes no more streams. */
  #isLeaving = false;
  #cancelTimer: CancelTimer = () => {};

  constructor(options: Http2ConnectionOptions) {
    this.#options = options;
    this.closed = this.#run().finally(() => this.#tidyUp());
  }

  get hasRoom(): boolean {
    if (this.#isLeaving || this.#liveness?.isDoubted || this.#session?.closed || this.#session?.destroyed) return false;
    return this.#waiting.size + this.#running.size < (this.#limit ?? this.#options.assumedStreams);
  }

  add(stream: Http2Stream): void {
    this.#waiting.add(stream);
    const settled = (): void => {
      this.#waiting.delete(stream);
      this.#rest();
    };
    stream.exchange.answer.then(settled, settled);
    this.#start();
    this.#rest();
  }

  /** Takes no more streams. Resolves when those it has are over and the connection is gone. */
  close(): Promise<void> {
    this.#isLeaving = true;
    this.#rest();
    return this.closed;
  }

  /** Ends the connection at once; its streams fail with this error. */
  destroy(error?: Error): void {
    this.#isLeaving = true;
    this.#failure ??= error;
    this.#session?.destroy(error);
    // a session that was closing waits for the other side
    this.#socket?.destroy();
  }

  async #run(): Promise<void> {
    try {
      const socket = await this.#options.open();
      this.#socket = socket;
      const { promise: gone, resolve } = Promise.withResolvers<void>();
      socket.once('close', () => resolve());
      if ((socket as TLSSocket).alpnProtocol === 'h2') this.#greet(socket);
      else this.#giveBack('http1');
      if (!socket.closed) await gone;
    } catch (error) {
      this.#failure ??= error instanceof Error ? error : new Error(String(error));
    }
  }

  get #isIdle(): boolean {
    return this.#waiting.size + this.#running.size === 0;
  }

  #greet(socket: Socket): void {
    const { origin, clock, settingsTimeoutMs } = this.#options;
    const settings = { enablePush: false, initialWindowSize: streamWindow };
    const session = connect(origin, { createConnection: () => socket, settings });
    this.#session = session;
    this.#liveness = new Http2Liveness(session, clock, (error) => this.destroy(error));
    const limitMs = settingsTimeoutMs();
    this.#cancelTimer = clock.setTimer(
      () => this.destroy(timedOut(`no HTTP/2 settings from the server within ${limitMs} ms`)),
      limitMs,
    );
    session.once('connect', () => session.setLocalWindowSize(connectionWindow));
    session.on('remoteSettings', (said) => this.#onSettings(said));
    session.on('goaway', () => void this.close());
    session.on('error', (error) => {
      this.#failure ??= error;
    });
    session.once('close', () => socket.destroy());
    // whoever waits for a stream has a timer that keeps the process alive
    session.unref();
  }

  #onSettings({ maxConcurrentStreams = mostStreams }: Settings): void {
    if (this.#limit === undefined) this.#cancelTimer();
    this.#limit = Math.min(maxConcurrentStreams, mostStreams);
    this.#options.onLimit(this.#limit);
    this.#liveness?.heard();
    this.#start();
    // a server that allows none may do so in a moment, and another connection would be told the same
    if (this.#limit > 0) this.#giveBack('other');
    this.#rest();
  }

  /** Sends what waits, as far as the server allows. */
  #start(): void {
    const session = this.#session;
    const liveness = this.#liveness;
    if (session === undefined || liveness === undefined || this.#limit === undefined) return;
    const { host: authority } = new URL(this.#options.origin);
    for (const stream of this.#waiting) {
      if (this.#running.size >= this.#limit || session.closed || session.destroyed) return;
      this.#waiting.delete(stream);
      this.#running.add(stream);
      const failure = (): Error | undefined =>
        this.#failure ?? (session.destroyed || this.#socket?.destroyed ? connectionClosed() : undefined);
      const onOver = (outcome: 'settled' | 'refused'): void => {
        this.#running.delete(stream);
        if (outcome === 'refused') this.#options.onReturned([stream], 'other');
        this.#rest();
      };
      stream.send({ session, authority, liveness, onOver, failure });
    }
  }

  #giveBack(why: 'http1' | 'other'): void {
    if (why === 'http1') this.#isLeaving = true;
    const streams = [...this.#waiting];
    this.#waiting.clear();
    if (streams.length > 0 || why === 'http1') this.#options.onReturned(streams, why);
    if (why === 'http1') this.#socket?.destroy();
  }

  /** Ends a connection that carries nothing: at once when it takes no more, else after the keep-alive time. */
  #rest(): void {
    if (this.#limit === undefined && !this.#isLeaving) return;
    if (this.#limit !== undefined) this.#cancelTimer();
    if (!this.#isIdle) return;
    if (this.#isLeaving) this.destroy();
    else this.#cancelTimer = this.#options.clock.setTimer(() => this.destroy(), this.#options.keepAliveMs);
  }

  #tidyUp(): void {
    this.#isLeaving = true;
    this.#cancelTimer();
    this.#liveness?.stop();
    // what runs hears of it from Node.js, after the last of its answer
    for (const stream of this.#waiting) stream.fail(this.#failure ?? connectionClosed());
  }
}

function connectionClosed(): Error {
  return Object.assign(new Error('the connection was closed'), { code: 'ECONNRESET' });
}
