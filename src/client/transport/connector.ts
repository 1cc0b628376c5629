import { Socket } from 'node:net';
import { buildConnector } from 'undici/index.js';
import type { Clock } from '../../base/clock.ts';
import { timedOut } from './api-error.ts';
import { HttpProxy, type OnSocket } from './http-proxy.ts';
import type { Endpoint } from './kube-cluster.ts';

/** As client-go has it: below the idle timeouts of common load balancers. */
const keepAliveInitialDelay = 30_000;

/** How long a connection may take to open, in milliseconds; undefined when no request waits for one. */
export type ConnectLimit = () => number | undefined;

type Target = buildConnector.Options;

/** What is offered to the server when TLS begins: HTTP/1.1, or HTTP/2 too. */
type Protocols = 'http1' | 'http2';

/** Opens the sockets of one pool, through its proxy where it has one, and knows every socket that is open or opening. */
export class Connector {
  /** What a socket leads to: the server, or a proxy that forwards plain http. */
  readonly origin: string;
  /** Set for a proxy that forwards: requests name the whole URL, and bring this proxy's credentials. */
  readonly forwardProxy: HttpProxy | undefined;
  readonly #clock: Clock;
  readonly #server: URL;
  readonly #open: (target: Target, onSocket: OnSocket, protocols: Protocols) => Promise<Socket>;
  readonly #sockets = new Set<Socket>();

  constructor({ server, proxyUrl, tls }: Endpoint, clock: Clock) {
    this.#clock = clock;
    this.#server = new URL(server);
    const { origin, protocol } = this.#server;
    // every wait is timed by the clock, so undici's own timer is off
    const options = { ...tls, keepAliveInitialDelay, timeout: 0 };
    const direct = {
      http1: buildConnector({ ...options, allowH2: false }),
      http2: buildConnector({ ...options, allowH2: true, preferH2: true }),
    };
    if (proxyUrl === undefined) {
      this.origin = origin;
      this.#open = (target, onSocket, protocols) => openWith(direct[protocols], target, onSocket);
      return;
    }
    const proxy = new HttpProxy(proxyUrl, tls.ca);
    const isForward = protocol === 'http:';
    this.forwardProxy = isForward ? proxy : undefined;
    this.origin = isForward ? proxy.origin : origin;
    this.#open = async (target, onSocket, protocols) => {
      if (isForward) return proxy.connect(onSocket);
      const httpSocket = await proxy.tunnel(authorityOf(target), onSocket);
      return openWith(direct[protocols], { ...target, httpSocket }, onSocket);
    };
  }

  /** A function for undici's pool. It calls back once, with a socket or with an error; after an error none of the attempt's sockets is left. */
  connectWithin(limit: ConnectLimit): buildConnector.connector {
    return (target, callback) => this.#openWithin(limit, target, 'http1', callback);
  }

  /** A TLS socket to the server that has offered HTTP/2: its `alpnProtocol` says what the server chose. A failed attempt leaves no socket. */
  openForHttp2(limit: ConnectLimit): Promise<Socket> {
    const { host, hostname, protocol, port } = this.#server;
    const target = { host, hostname: hostname.replace(/^\[|\]$/g, ''), protocol, port };
    return new Promise((resolve, reject) => {
      this.#openWithin(limit, target, 'http2', (...[error, socket]) => (error === null ? resolve(socket) : reject(error)));
    });
  }

  /** Ends every socket, those still connecting too. Resolves when none is left. */
  async destroy(): Promise<void> {
    await Promise.all(Array.from(this.#sockets, endSocket));
  }

  #openWithin(limit: ConnectLimit, target: Target, protocols: Protocols, callback: buildConnector.Callback): void {
    const limitMs = limit();
    if (limitMs !== undefined) this.#attempt(target, limitMs, protocols, callback);
    else queueMicrotask(() => callback(timedOut('no request waits for a connection any longer'), null));
  }

  #attempt(target: Target, limitMs: number, protocols: Protocols, callback: buildConnector.Callback): void {
    const sockets: Socket[] = [];
    let failure: Error | undefined;
    let isOver = false;
    const onSocket = (socket: Socket): void => {
      sockets.push(socket);
      this.#track(socket);
      if (failure !== undefined) socket.destroy(failure);
    };
    const succeed = (socket: Socket): void => {
      if (isOver) return;
      isOver = true;
      cancelTimer();
      callback(null, socket);
    };
    const fail = (error: unknown): void => {
      if (isOver) return;
      isOver = true;
      cancelTimer();
      failure = error instanceof Error ? error : new Error(String(error));
      for (const socket of sockets) socket.destroy(failure);
      callback(failure, null);
    };
    const late = `no connection to ${authorityOf(target)} within ${limitMs} ms`;
    const cancelTimer = this.#clock.setTimer(() => fail(timedOut(late)), limitMs);
    this.#open(target, onSocket, protocols).then(succeed).catch(fail);
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    socket.setNoDelay(true).setKeepAlive(true, keepAliveInitialDelay);
    // an error of a socket that lies under another one is heard only here
    socket.on('error', () => {});
  }
}

/** Opens a socket with undici's own connector; over `httpSocket`, where the target has one. */
function openWith(open: buildConnector.connector, target: Target, onSocket: OnSocket): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket: unknown = open(target, (...[error, opened]) => (error === null ? resolve(opened) : reject(error)));
    if (socket instanceof Socket) onSocket(socket);
  });
}

/** Host and port, as CONNECT takes them. */
function authorityOf({ host, hostname, port, protocol }: Target): string {
  return port ? (host ?? `${hostname}:${port}`) : `${host ?? hostname}:${protocol === 'https:' ? 443 : 80}`;
}

function endSocket(socket: Socket): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.once('close', () => resolve());
  // with an error, so that a connector still waiting for this socket hears of it
  socket.destroy(new Error('The connection pool is closed'));
  return promise;
}
