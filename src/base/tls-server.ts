import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server, type ServerOptions } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { SecureContextOptions } from 'node:tls';

/** So many requests of one connection may wait for the answer of the one before them. */
const mostWaiting = 8;

export interface TlsServerOptions {
  /** Certificates, times and sizes. Whether a client's certificate counts is decided at its request. */
  readonly settings: ServerOptions;
  readonly mostConnections: number;
  /** Answers a request. Must not reject. */
  readonly serve: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  /** Gets connections that are to become streams. Without it they are requests like others. */
  readonly upgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
}

/**
 * A server of HTTP/1.1 over TLS. It answers the requests of a connection one after another, knows with which certificates each connection
 * was accepted, and ends all connections with itself.
 */
export class TlsServer {
  readonly #server: Server;
  readonly #serve: TlsServerOptions['serve'];
  readonly #connections = new Set<Socket>();
  /** The requests of a connection that are not answered yet, and the end of the last one's answer. */
  readonly #turns = new WeakMap<Socket, { open: number; last: Promise<void> }>();
  /** Which certificates each connection was accepted with: the number of the reading. */
  readonly #readings = new WeakMap<Socket, number>();
  #reading = 0;

  constructor({ settings, mostConnections, serve, upgrade }: TlsServerOptions) {
    this.#serve = serve;
    this.#server = createServer({ ...settings, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] });
    this.#server.maxConnections = mostConnections;
    this.#server.on('connection', (socket: Socket) => this.#note(socket));
    this.#server.on('secureConnection', (socket: Socket) => {
      this.#note(socket);
      this.#readings.set(socket, this.#reading);
    });
    this.#server.on('request', (request, response) => this.#inTurn(request, response));
    if (upgrade !== undefined) this.#server.on('upgrade', upgrade);
  }

  /** Resolves once the port is listened on. Rejects where it is taken. `onError` gets what goes wrong later. */
  async listen(port: number, address: string | undefined, onError: (error: Error) => void): Promise<void> {
    this.#server.listen({ port, ...(address !== undefined && { host: address }) });
    await once(this.#server, 'listening');
    this.#server.on('error', onError);
  }

  /** The port that is listened on. */
  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** True while a request of the connection is not answered. */
  isAnswering(socket: Socket): boolean {
    return (this.#turns.get(socket)?.open ?? 0) > 0;
  }

  /** True where the connection was accepted with the present certificates: what its client has shown was verified with them. */
  isCurrent(socket: Socket): boolean {
    return this.#readings.get(socket) === this.#reading;
  }

  /** Connections from now on are accepted with these certificates. */
  trustAnew(secure: SecureContextOptions): void {
    this.#server.setSecureContext(secure);
    this.#reading += 1;
  }

  closeIdleConnections(): void {
    this.#server.closeIdleConnections();
  }

  /** Ends every connection. Resolves when the port is free. */
  async end(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#connections) socket.destroy();
    await closed;
  }

  /** Also connections whose handshake is not over, which the server would wait for. */
  #note(socket: Socket): void {
    this.#connections.add(socket);
    socket.once('close', () => this.#connections.delete(socket));
  }

  /** Node.js hands over all requests that a connection has sent, before the first is answered. A connection with too many of them is ended. */
  #inTurn(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const turn = this.#turns.get(socket) ?? { open: 0, last: Promise.resolve() };
    this.#turns.set(socket, turn);
    if (turn.open > mostWaiting) {
      socket.destroy();
      return;
    }
    turn.open += 1;
    turn.last = turn.last.then(async () => {
      if (!socket.destroyed) await this.#serve(request, response);
      turn.open -= 1;
    });
  }
}
