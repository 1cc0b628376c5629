import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { SecureContextOptions } from 'node:tls';
import { onAbort, untilAborted } from '../../base/concurrency/aborts.ts';
import { StatusManagerError } from '../../base/errors.ts';
import type { Problem } from '../../base/problem.ts';
import { ApiAnswers } from './api-answers.ts';
import { responseOver } from './exchange.ts';
import { Gate } from './gate.ts';
import { ServedCertificates } from './served-certificates.ts';
import type { NodeApiServerOptions } from './serving-settings.ts';

/** As the kubelet's. A command of `exec` is in the address of its request. */
const longestHead = 1024 * 1024;
const mostConnections = 4096;
/** So many requests of one connection may wait for the answer of the one before them. No client of a kubelet sends a second one. */
const mostWaiting = 8;
const serverTimes = { handshakeTimeout: 10_000, headersTimeout: 30_000, requestTimeout: 60_000, keepAliveTimeout: 90_000 };

/**
 * The API of a node over TLS, whatever its host shows. Every request needs a sender and a right: see {@link Gate}. The port is
 * listened on from `listen` until `close`.
 */
export class NodeApiServer {
  readonly #options: NodeApiServerOptions;
  readonly #certificates: ServedCertificates;
  readonly #gate: Gate;
  readonly #answers: ApiAnswers;
  readonly #closing = new AbortController();
  /** Which certificates each connection was accepted with: the number of the reading. */
  readonly #readings = new WeakMap<Socket, number>();
  #reading = 0;
  readonly #connections = new Set<Socket>();
  /** The requests of a connection that are not answered yet, and the end of the last one's answer. */
  readonly #turns = new WeakMap<Socket, { open: number; last: Promise<void> }>();
  #hasStarted = false;
  #server: Server | undefined;
  #closed: Promise<void> | undefined;

  constructor(options: NodeApiServerOptions) {
    this.#options = options;
    const { anonymous, clientCAFile, reloadPeriodMs, clock, logger } = options;
    this.#certificates = new ServedCertificates({
      ...{ trust: options, reloadPeriodMs, clock, logger },
      signal: this.#closing.signal,
      changed: (secure) => this.#trustAnew(secure),
    });
    const asksForCertificates = clientCAFile !== undefined;
    this.#gate = new Gate({ ...options, allowsAnonymous: anonymous, asksForCertificates });
    this.#answers = new ApiAnswers(options, this.#gate);
  }

  /**
   * Resolves with the port once it is listened on. Rejects when the certificates cannot be read or do not fit together, or the
   * port is taken; with ERR_ALREADY_STARTED the second time, with ERR_STOPPED after `close`.
   */
  async listen(): Promise<{ readonly port: number }> {
    if (this.#closing.signal.aborted) throw new StatusManagerError('ERR_STOPPED', 'The API of the node is closed');
    if (this.#hasStarted) throw new StatusManagerError('ERR_ALREADY_STARTED', 'The API of the node listens already');
    this.#hasStarted = true;
    const { address, port, clientCAFile, logger } = this.#options;
    const secure = await untilAborted(this.#certificates.first(), this.#closing.signal);
    const server = createServer({
      ...secure,
      ...serverTimes,
      requestCert: clientCAFile !== undefined,
      rejectUnauthorized: false,
      maxHeaderSize: longestHead,
      ALPNProtocols: ['http/1.1'],
      // one direction of a stream may end before the other
      allowHalfOpen: true,
    });
    this.#server = server;
    server.maxConnections = mostConnections;
    server.on('connection', (socket: Socket) => this.#note(socket));
    server.on('secureConnection', (socket: Socket) => {
      this.#note(socket);
      this.#readings.set(socket, this.#reading);
    });
    server.on('request', (request, response) => this.#inTurn(request, response));
    server.on('upgrade', (request, socket, head) => void this.#upgrade(request, socket, head));
    server.listen({ port, ...(address !== undefined && { host: address }) });
    await once(server, 'listening');
    server.on('error', (err) => logger.error({ err }, "the node's API could not take a connection"));
    if (this.#closing.signal.aborted) {
      await this.#end(server);
      throw new StatusManagerError('ERR_STOPPED', 'The API of the node is closed');
    }
    this.#certificates.follow();
    return { port: (server.address() as AddressInfo).port };
  }

  /** What is wrong with its certificates, and with the reviews that it needs; empty where nothing is known to be. */
  problems(): readonly Problem[] {
    const certificate = this.#certificates.problem();
    return [...(certificate === undefined ? [] : [certificate]), ...this.#gate.problems()];
  }

  /** Ends every stream and every connection. Resolves when the port is free. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#closing.abort();
    const stopped = this.#certificates.stop();
    if (this.#server?.listening === true) await this.#end(this.#server);
    await stopped;
  }

  async #end(server: Server): Promise<void> {
    const closed = once(server, 'close');
    server.close();
    for (const socket of this.#connections) socket.destroy();
    await closed;
  }

  /** Also connections whose handshake is not over, which the server would wait for. */
  #note(socket: Socket): void {
    this.#connections.add(socket);
    socket.once('close', () => this.#connections.delete(socket));
  }

  /**
   * Node.js hands over all requests that a connection has sent, before the first is answered. They are answered one after another, and
   * a connection with too many of them is ended.
   */
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
      if (!socket.destroyed) await this.#serve(request, response, undefined);
      turn.open -= 1;
    });
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    // Node.js has taken its own listeners off
    socket.on('error', () => socket.destroy());
    // an answer that is under way would get into the stream
    if (this.#turns.get(request.socket)?.open) socket.destroy();
    else await this.#serve(request, responseOver(request, socket), head);
  }

  async #serve(request: IncomingMessage, response: ServerResponse, upgrade: Buffer | undefined): Promise<void> {
    const gone = new AbortController();
    // with a reason, because the one that Node.js makes costs more than the rest of a short answer
    const leave = (): void => {
      if (!gone.signal.aborted) gone.abort(new Error('the client is gone'));
    };
    // `close` of the response also comes after a full answer, where it does no harm
    response.once('close', leave);
    request.socket.once('close', leave);
    response.on('error', leave);
    const forget = onAbort(this.#closing.signal, leave);
    const isCurrent = this.#readings.get(request.socket) === this.#reading;
    if (!isCurrent) response.shouldKeepAlive = false;
    if (upgrade === undefined) request.resume();
    try {
      await this.#answers.answer({ request, response, upgrade, signal: gone.signal }, isCurrent);
    } finally {
      forget();
      request.socket.removeListener('close', leave);
    }
  }

  #trustAnew(secure: SecureContextOptions): void {
    this.#server?.setSecureContext(secure);
    // what a connection has shown was verified with other authorities
    this.#reading += 1;
    this.#server?.closeIdleConnections();
  }
}
