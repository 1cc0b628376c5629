import { type Clock, type SteadyClock, safeClock, systemClock } from '../../base/clock.ts';
import { invalidOption, isStatusManagerError } from '../../base/errors.ts';
import { type Logger, loggerOption } from '../../base/logging/logger.ts';
import {
  integerOption,
  longestTimerMs,
  numberOption,
  optionOfType,
  requireKnownOptions,
  requireMethods,
} from '../../base/options.ts';
import { type Credentials, CredentialsFailure } from '../credentials/credentials.ts';
import { KubeCredentials } from '../credentials/kube-credentials.ts';
import type { ClientConfig } from '../kubeconfig/client-config.ts';
import { type JsonMembers, readApiAnswer } from './api-answer.ts';
import { ApiError } from './api-error.ts';
import { ConnectionPool } from './connection-pool.ts';
import { type HttpAnswer, HttpExchange } from './http-exchange.ts';
import type { PooledRequest } from './http2-stream.ts';
import { currentCluster, type Endpoint, isSameEndpoint, shownAddress } from './kube-cluster.ts';
import type { RequestGuard } from './request-guard.ts';

export type HttpMethod = PooledRequest['method'];

/** How a {@link KubeTransport} connects, and how long it waits. */
export interface KubeTransportOptions {
  /** The `User-Agent` of every request: a server's logs and metrics name clients by it. Default `pod-status-manager`. */
  readonly userAgent?: string | undefined;
  /** How many sockets carry requests. Default 16. Watches have their own. */
  readonly connections?: number | undefined;
  /** False: streams go over HTTP/1.1 also where the server offers HTTP/2. Default true. */
  readonly http2?: boolean | undefined;
  /**
   * For requests that bring no limit of their own: from their start to the end of their answer, credentials and connection
   * included. For a stream until its request is sent, credentials and connection included. Default 10 000.
   */
  readonly requestTimeoutMs?: number | undefined;
  /** Where the time comes from. Default: the machine's clock. */
  readonly clock?: Clock | undefined;
  /** Default: warnings and errors go to the console; null: silent. */
  readonly logger?: Logger | null | undefined;
}

/** One request to the apiserver. */
export interface KubeRequest {
  /** The HTTP verb. */
  readonly method: HttpMethod;
  /** Below the server's URL, already encoded. */
  readonly path: string;
  /** The query of the address. Default: none. */
  readonly query?: URLSearchParams | undefined;
  /** The `Accept` header. Default `application/json`. */
  readonly accept?: string | undefined;
  /** The `Content-Type` header, sent with a body. Default `application/json`. */
  readonly contentType?: string | undefined;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Ends the request. The promise rejects once the request has settled. */
  readonly signal?: AbortSignal | undefined;
  /** How long the caller waits for the answer, in milliseconds: used in place of the transport's `requestTimeoutMs`. */
  readonly timeoutMs?: number | undefined;
  /**
   * True: where the server speaks HTTP/2, this goes over the connections of streams, beside them, and takes none of the sockets
   * for requests. For reads of which a caller makes very many at once. Default false.
   */
  readonly besideStreams?: boolean | undefined;
  /**
   * Asked in the turn in which the request is written, after every wait for credentials and for a connection; once more where a
   * request over HTTP/2 is sent once more. What it throws is what the request rejects with, and then nothing of it is sent. A
   * guard that answers with a promise refuses the request with ERR_INVALID_OPTION. Default: none.
   */
  readonly guard?: RequestGuard | undefined;
}

/** One request whose answer is taken as it comes. */
export interface KubeStream extends Omit<KubeRequest, 'timeoutMs' | 'besideStreams'> {
  /** Takes the body's bytes as they come. What it throws ends the stream. */
  readonly onChunk: (chunk: Buffer) => void;
  /** The stream ends with `Timeout` after this long a silence, in milliseconds, counted from when its request is sent. */
  readonly idleTimeoutMs: number;
}

/** No list of one node's pods comes near this; a broken proxy may. */
const maxAnswerBytes = 64 * 1024 * 1024;
/** The apiserver's own limit: it cuts the connection while a longer body is still being written, which looks like a network fault. */
const maxBodyBytes = 3 * 1024 * 1024;

const headerText = /^[!-~](?:[ -~]{0,1022}[!-~])?$/;

const knownOptions = ['userAgent', 'connections', 'http2', 'requestTimeoutMs', 'clock', 'logger'];

interface RequestStart {
  readonly label: string;
  /** How long the request may wait for credentials. */
  readonly limitMs: number;
  /** Told which credentials it was sent with. */
  readonly sentWith: { credentials?: Credentials | undefined };
}

/**
 * The wire to one apiserver: the kubeconfig says where to and with which credentials, asked for every request. undici carries
 * requests over pooled sockets, and streams go over HTTP/2 where the server offers it. Each request is sent at most once, but
 * for one over HTTP/2 that the server has refused unseen: that is sent once more. It fails with an `ApiError`, also where the
 * kubeconfig has become unusable (`NoCredentials`), and with ERR_INVALID_OPTION for a limit that is out of range.
 *
 * @example
 * ```ts with-server
 * import { KubeTransport } from 'pod-status-manager';
 * import { ResourceClient, resources } from 'pod-status-manager/reflector';
 *
 * const transport = new KubeTransport(kubeConfig, { userAgent: 'my-agent', connections: 4 });
 * const nodes = new ResourceClient(transport, resources.nodes); // several clients may share it
 * console.log((await nodes.list()).items.length); // 0
 * await transport.close();
 * ```
 */
export class KubeTransport {
  readonly #kubeConfig: ClientConfig;
  readonly #userAgent: string;
  readonly #connections: number;
  readonly #http2: boolean;
  readonly #requestTimeoutMs: number;
  readonly #clock: SteadyClock;
  readonly #logger: Logger;
  readonly #credentials: KubeCredentials;
  /** Each request under way, with its limit in milliseconds; those that go beside the streams are apart. */
  readonly #requests = new Map<HttpExchange, number>();
  readonly #besideStreams = new Map<HttpExchange, number>();
  readonly #streams = new Set<HttpExchange>();
  readonly #retiring = new Set<ConnectionPool>();
  #pool: ConnectionPool | undefined;
  #closed: Promise<void> | undefined;

  /** Throws ERR_INVALID_OPTION for an option that breaks a rule, and for a kubeconfig that cannot be used. */
  constructor(kubeConfig: ClientConfig, options: KubeTransportOptions = {}) {
    requireKnownOptions('options', options, knownOptions);
    requireMethods('kubeConfig', kubeConfig, ['getCurrentCluster', 'getCurrentUser', 'applyToHTTPSOptions']);
    const { connections = 16, requestTimeoutMs = 10_000, clock = systemClock, logger } = options;
    const { userAgent = 'pod-status-manager', http2 = true } = options;
    if (typeof userAgent !== 'string' || !headerText.test(userAgent))
      throw invalidOption('userAgent', 'printable ASCII text of 1 to 1024 characters', userAgent);
    integerOption('connections', connections, 1);
    optionOfType('http2', http2, 'boolean');
    numberOption('requestTimeoutMs', requestTimeoutMs, 1, longestTimerMs);
    requireMethods('clock', clock, ['now', 'setTimer']);
    this.#kubeConfig = kubeConfig;
    this.#userAgent = userAgent;
    this.#connections = connections;
    this.#http2 = http2;
    this.#requestTimeoutMs = requestTimeoutMs;
    this.#clock = safeClock(clock);
    this.#logger = loggerOption(logger);
    this.#credentials = new KubeCredentials(kubeConfig, currentCluster(kubeConfig), { clock: this.#clock, logger: this.#logger });
  }

  /** One request. Resolves to the JSON object of a 2xx answer. */
  async request(request: KubeRequest): Promise<JsonMembers> {
    const label = labelOf(request);
    const { signal, timeoutMs = this.#requestTimeoutMs, guard } = request;
    numberOption('timeoutMs', timeoutMs, 1, longestTimerMs);
    if (guard !== undefined) optionOfType('guard', guard, 'function');
    const exchange = new HttpExchange({ label, clock: this.#clock, signal, timeoutMs, maxAnswerBytes, guard });
    const underWay = request.besideStreams === true ? this.#besideStreams : this.#requests;
    underWay.set(exchange, timeoutMs);
    try {
      const answer = await this.#run(exchange, request, label, timeoutMs);
      return readApiAnswer(answer, label, this.#clock.now());
    } finally {
      underWay.delete(exchange);
    }
  }

  /** One long answer, taken as it comes. Resolves when the server ends it. */
  async stream(request: KubeStream): Promise<void> {
    const label = labelOf(request);
    const { signal, idleTimeoutMs, onChunk, guard } = request;
    numberOption('idleTimeoutMs', idleTimeoutMs, 1, longestTimerMs);
    if (guard !== undefined) optionOfType('guard', guard, 'function');
    const timeoutMs = this.#requestTimeoutMs;
    const stream = { onChunk, idleTimeoutMs };
    const exchange = new HttpExchange({ label, clock: this.#clock, signal, timeoutMs, maxAnswerBytes, guard, stream });
    this.#streams.add(exchange);
    try {
      const answer = await this.#run(exchange, request, label, timeoutMs);
      if (answer.status >= 300) readApiAnswer(answer, label, this.#clock.now());
    } finally {
      this.#streams.delete(exchange);
    }
  }

  /**
   * Waits for the requests under way, ends the streams, closes every socket. A credential plugin is ended at once: the
   * requests that wait for it fail. Requests made afterwards are refused.
   */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /** The same as `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #run(exchange: HttpExchange, request: KubeRequest, label: string, limitMs: number): Promise<HttpAnswer> {
    const sentWith: RequestStart['sentWith'] = {};
    // the exchange is the only one to settle the answer: a failed start goes through it
    void this.#start(exchange, request, { label, limitMs, sentWith });
    const answer = await exchange.answer;
    if (answer.status === 401 && sentWith.credentials !== undefined) this.#credentials.refuse(sentWith.credentials);
    return answer;
  }

  /** Never rejects. */
  async #start(exchange: HttpExchange, request: KubeRequest, { label, limitMs, sentWith }: RequestStart): Promise<void> {
    // the caller's signal had aborted before the call
    if (exchange.isSettled) return;
    try {
      if (this.#closed !== undefined) throw new ApiError({ reason: 'Aborted', message: `${label}: the client is closed` });
      const { method, query, accept = 'application/json', contentType = 'application/json' } = request;
      const body = encodeBody(request.body, label);
      const cluster = currentCluster(this.#kubeConfig);
      exchange.goesTo(`${method} ${shownAddress(cluster.server, request.path)}`);
      exchange.waitsFor('credentials');
      const { headers, tls, credentials } = await this.#credentials.authenticate(cluster, { left: exchange.answer, limitMs });
      if (exchange.isSettled) return;
      sentWith.credentials = credentials;
      headers.Accept = accept;
      headers['User-Agent'] = this.#userAgent;
      if (body !== undefined) headers['Content-Type'] = contentType;
      const pool = this.#poolFor({ server: cluster.server, proxyUrl: cluster.proxyUrl || undefined, tls });
      const path = query === undefined ? request.path : `${request.path}?${query}`;
      exchange.waitsFor('connection');
      const pooled = { method, path, headers, body: body ?? null };
      if (exchange.isStream || this.#besideStreams.has(exchange)) pool.stream(pooled, exchange);
      else pool.request(pooled, exchange);
    } catch (error) {
      exchange.fail(apiErrorOf(error));
    }
  }

  /** The pool in use, or another when the server or the TLS material is no longer the same; what runs on the old one ends in peace. */
  #poolFor(endpoint: Endpoint): ConnectionPool {
    const pool = this.#pool;
    if (pool !== undefined && isSameEndpoint(pool.endpoint, endpoint)) return pool;
    this.#pool = new ConnectionPool(endpoint, {
      connections: this.#connections,
      http2: this.#http2,
      clock: this.#clock,
      // a server without HTTP/2 gets both kinds of requests over the same sockets
      requestLimit: () => longest([...this.#requests.values(), ...this.#besideStreams.values()]),
      streamLimit: () => longest([...this.#besideStreams.values(), ...(this.#streams.size > 0 ? [this.#requestTimeoutMs] : [])]),
    });
    if (pool !== undefined) {
      this.#logger.debug({}, 'TLS material or server changed: new connections');
      this.#retiring.add(pool);
      // a pool that cannot be closed stays, and is destroyed with the transport
      pool.close().then(
        () => this.#retiring.delete(pool),
        () => {},
      );
    }
    return this.#pool;
  }

  async #close(): Promise<void> {
    for (const stream of this.#streams) stream.fail(new ApiError({ reason: 'Aborted', message: 'The client is closed' }));
    const underWay = [...this.#requests.keys(), ...this.#besideStreams.keys(), ...this.#streams].map(({ answer }) => answer);
    await Promise.all([this.#credentials.close(), Promise.allSettled(underWay)]);
    await Promise.all([this.#pool, ...this.#retiring].map((pool) => pool?.destroy()));
  }
}

/** How errors call a request, whose query they do not show. */
function labelOf({ method, path }: KubeRequest | KubeStream): string {
  return `${method} ${path.split('?', 1)[0]}`;
}

function longest(limits: readonly number[]): number | undefined {
  return limits.length === 0 ? undefined : Math.max(...limits);
}

/** What a request that could not be made fails with. The kubeconfig may have become unusable since the transport was made. */
function apiErrorOf(error: unknown): unknown {
  if (error instanceof CredentialsFailure) return new ApiError({ reason: error.reason, message: error.message });
  if (!isStatusManagerError(error, 'ERR_INVALID_OPTION')) return error;
  const message = `The kubeconfig cannot be used: ${error.message}`;
  return new ApiError({ reason: 'NoCredentials', message, cause: error });
}

function encodeBody(body: unknown, label: string): Buffer | undefined {
  if (body === undefined) return undefined;
  const bytes = Buffer.from(JSON.stringify(body));
  if (bytes.length <= maxBodyBytes) return bytes;
  const message = `${label}: the body has ${bytes.length} bytes, the apiserver takes ${maxBodyBytes}`;
  throw new ApiError({ status: 413, reason: 'RequestEntityTooLarge', message });
}
