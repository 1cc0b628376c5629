import type { KubeConfig } from '@kubernetes/client-node';
import { integerOption, longestTimerMs, numberOption } from '../../checks/options.ts';
import { type Clock, systemClock } from '../../seams/clock.ts';
import { type Logger, safeLogger, silentLogger } from '../../seams/logger.ts';
import { type JsonMembers, readAnswer } from './api-answer.ts';
import { ApiError } from './api-error.ts';
import { ConnectionPool } from './connection-pool.ts';
import { HttpExchange } from './http-exchange.ts';
import { type Access, askForAccess, currentCluster, isSameEndpoint } from './kube-access.ts';

export interface KubeTransportOptions {
  /** How many sockets carry requests. Default 16. Watches have their own. */
  readonly connections?: number | undefined;
  /** From a request's start to the end of its answer. Default 10 000. */
  readonly requestTimeoutMs?: number | undefined;
  readonly clock?: Clock | undefined;
  readonly logger?: Logger | undefined;
}

export interface KubeRequest {
  readonly method: 'GET' | 'PATCH' | 'DELETE';
  /** Below the server's URL, already encoded. */
  readonly path: string;
  readonly query?: URLSearchParams | undefined;
  readonly accept?: string | undefined;
  readonly contentType?: string | undefined;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
}

export interface KubeStream extends KubeRequest {
  /** Takes the body's bytes as they come. What it throws ends the stream. */
  readonly onChunk: (chunk: Buffer) => void;
  /** The stream ends with `Timeout` after this long a silence. */
  readonly idleTimeoutMs: number;
}

/** No list of one node's pods comes near this; a broken proxy may. */
const maxAnswerBytes = 64 * 1024 * 1024;
/** The apiserver's own limit: it cuts the connection while a longer body is still being written, which looks like a network fault. */
const maxBodyBytes = 3 * 1024 * 1024;

/**
 * The wire to one apiserver: the kubeconfig says where to and with which credentials, asked for every request;
 * undici carries it over pooled sockets. Each request is sent at most once, and fails with an `ApiError`.
 */
export class KubeTransport {
  readonly #kubeConfig: KubeConfig;
  readonly #connections: number;
  readonly #requestTimeoutMs: number;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #underWay = new Set<HttpExchange>();
  readonly #streams = new Set<HttpExchange>();
  readonly #retiring = new Set<ConnectionPool>();
  #pool: ConnectionPool | undefined;
  #closed: Promise<void> | undefined;

  constructor(kubeConfig: KubeConfig, options: KubeTransportOptions = {}) {
    const { connections = 16, requestTimeoutMs = 10_000, clock = systemClock, logger = silentLogger } = options;
    integerOption('connections', connections, 1);
    numberOption('requestTimeoutMs', requestTimeoutMs, 1, longestTimerMs);
    currentCluster(kubeConfig);
    this.#kubeConfig = kubeConfig;
    this.#connections = connections;
    this.#requestTimeoutMs = requestTimeoutMs;
    this.#clock = clock;
    this.#logger = safeLogger(logger);
  }

  /** One request. Resolves to the JSON object of a 2xx answer. */
  async request(request: KubeRequest): Promise<JsonMembers> {
    const label = `${request.method} ${request.path}`;
    const exchange = new HttpExchange({
      label,
      clock: this.#clock,
      signal: request.signal,
      timeoutMs: this.#requestTimeoutMs,
      maxAnswerBytes,
    });
    const answer = await this.#run(exchange, request, label);
    return readAnswer(answer, label, this.#clock.now());
  }

  /** One long answer, taken as it comes. Resolves when the server ends it. */
  async stream(request: KubeStream): Promise<void> {
    const label = `${request.method} ${request.path}`;
    const exchange = new HttpExchange({
      label,
      clock: this.#clock,
      signal: request.signal,
      timeoutMs: request.idleTimeoutMs,
      maxAnswerBytes,
      onChunk: request.onChunk,
    });
    this.#streams.add(exchange);
    try {
      const answer = await this.#run(exchange, request, label);
      if (answer.status >= 300) readAnswer(answer, label, this.#clock.now());
    } finally {
      this.#streams.delete(exchange);
    }
  }

  /** Waits for the requests under way, ends the streams, closes every socket. Requests made afterwards are refused. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #run(exchange: HttpExchange, request: KubeRequest, label: string) {
    this.#underWay.add(exchange);
    // the exchange is the only one to settle the answer: a failed start goes through it
    void this.#start(exchange, request, label);
    try {
      return await exchange.answer;
    } finally {
      this.#underWay.delete(exchange);
    }
  }

  /** Never rejects. */
  async #start(exchange: HttpExchange, request: KubeRequest, label: string): Promise<void> {
    try {
      if (this.#closed !== undefined) throw new ApiError({ reason: 'Aborted', message: `${label}: the client is closed` });
      const { method, query, accept = 'application/json', contentType = 'application/json' } = request;
      const body = encodeBody(request.body, label);
      const { endpoint, headers } = await askForAccess(this.#kubeConfig, currentCluster(this.#kubeConfig));
      if (exchange.isSettled) return;
      headers.Accept = accept;
      headers['User-Agent'] = 'pod-status-manager';
      if (body !== undefined) headers['Content-Type'] = contentType;
      const pool = this.#poolFor(endpoint);
      const path = `${pool.pathPrefix}${request.path}${query === undefined ? '' : `?${query}`}`;
      const dispatcher = this.#streams.has(exchange) ? pool.streams : pool.requests;
      dispatcher.dispatch({ origin: pool.origin, path, method, headers, body: body ?? null }, exchange);
    } catch (error) {
      exchange.fail(error);
    }
  }

  /** The pool in use, or another when the server or the TLS material is no longer the same; what runs on the old one ends in peace. */
  #poolFor(endpoint: Access['endpoint']): ConnectionPool {
    const pool = this.#pool;
    if (pool !== undefined && isSameEndpoint(pool.endpoint, endpoint)) return pool;
    this.#pool = new ConnectionPool(endpoint, this.#connections);
    if (pool !== undefined) {
      this.#logger.debug({}, 'TLS material or server changed: new connections');
      this.#retiring.add(pool);
      void pool.close().then(() => this.#retiring.delete(pool));
    }
    return this.#pool;
  }

  async #close(): Promise<void> {
    for (const stream of this.#streams) stream.fail(new ApiError({ reason: 'Aborted', message: 'The client is closed' }));
    await Promise.allSettled(Array.from(this.#underWay, (exchange) => exchange.answer));
    await Promise.all([this.#pool, ...this.#retiring].map((pool) => pool?.destroy()));
  }
}

function encodeBody(body: unknown, label: string): Buffer | undefined {
  if (body === undefined) return undefined;
  const bytes = Buffer.from(JSON.stringify(body));
  if (bytes.length <= maxBodyBytes) return bytes;
  const message = `${label}: the body has ${bytes.length} bytes, the apiserver takes ${maxBodyBytes}`;
  throw new ApiError({ status: 413, reason: 'RequestEntityTooLarge', message });
}
