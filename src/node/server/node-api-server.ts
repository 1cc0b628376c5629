import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { SecureContextOptions } from 'node:tls';
import { onAbort, untilAborted } from '../../base/concurrency/aborts.ts';
import { StatusManagerError } from '../../base/errors.ts';
import type { Problem } from '../../base/problem.ts';
import { TlsServer } from '../../base/tls-server.ts';
import { ApiAnswers } from './api-answers.ts';
import { responseOver } from './exchange.ts';
import { Gate } from './gate.ts';
import { ServedCertificates } from './served-certificates.ts';
import type { NodeApiServerOptions } from './serving-settings.ts';

/** As the kubelet's. A command of `exec` is in the address of its request. */
const longestHead = 1024 * 1024;
const mostConnections = 4096;
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
  #hasStarted = false;
  #server: TlsServer | undefined;
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
    const server: TlsServer = new TlsServer({
      settings: {
        ...secure,
        ...serverTimes,
        requestCert: clientCAFile !== undefined,
        maxHeaderSize: longestHead,
        // one direction of a stream may end before the other
        allowHalfOpen: true,
      },
      mostConnections,
      serve: (request, response) => this.#serve(server, { request, response, upgrade: undefined }),
      upgrade: (request, socket, head) => void this.#upgrade(server, { request, socket, head }),
    });
    this.#server = server;
    await server.listen(port, address, (err) => logger.error({ err }, "the node's API could not take a connection"));
    if (this.#closing.signal.aborted) {
      await server.end();
      throw new StatusManagerError('ERR_STOPPED', 'The API of the node is closed');
    }
    this.#certificates.follow();
    return { port: server.port };
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
    await this.#server?.end();
    await stopped;
  }

  async #upgrade(server: TlsServer, { request, socket, head }: AskedStream): Promise<void> {
    // Node.js has taken its own listeners off
    socket.on('error', () => socket.destroy());
    // an answer that is under way would get into the stream
    if (server.isAnswering(request.socket)) socket.destroy();
    else await this.#serve(server, { request, response: responseOver(request, socket), upgrade: head });
  }

  async #serve(server: TlsServer, { request, response, upgrade }: AskedAnswer): Promise<void> {
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
    const isCurrent = server.isCurrent(request.socket);
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
    this.#server?.trustAnew(secure);
    this.#server?.closeIdleConnections();
  }
}

/** A connection that is to become a stream. */
interface AskedStream {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

interface AskedAnswer {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** What came behind the head of a request for a stream. */
  readonly upgrade: Buffer | undefined;
}
