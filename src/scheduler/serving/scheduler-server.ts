// Behaviour of cmd/kube-scheduler/app newEndpointsHandler, and of apiserver's healthz, v1.36.3.

import { randomBytes, X509Certificate } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import type { CancelTimer } from '../../base/clock.ts';
import { callWithin } from '../../base/concurrency/aborts.ts';
import { StatusManagerError } from '../../base/errors.ts';
import { TlsServer } from '../../base/tls-server.ts';
import { PathGate } from './path-gate.ts';
import {
  type ResolvedSchedulerServerOptions,
  resolveSchedulerServerOptions,
  type SchedulerHealthCheck,
  type SchedulerServerOptions,
} from './scheduler-server-options.ts';

const mostConnections = 256;
const serverTimes = { handshakeTimeout: 10_000, headersTimeout: 15_000, requestTimeout: 30_000, keepAliveTimeout: 90_000 };

/**
 * The pages of a scheduler over TLS: `/healthz`, `/livez` and `/readyz`, which everyone may read, and `/metrics` and `/configz` for those whom the
 * apiserver allows it, as kube-scheduler's. A sender is known by a client certificate or by a bearer token (TokenReview), and its right to a path by a
 * SubjectAccessReview. Without a clear yes a request is refused: 401, 403, or 500 where nobody can say.
 *
 * @example
 * ```ts
 * import { SchedulerServer } from 'pod-status-manager/scheduler';
 *
 * try {
 *   new SchedulerServer({ port: 10259 } as never);
 * } catch (error) {
 *   console.log(error instanceof Error && 'code' in error && error.code); // ERR_INVALID_OPTION
 * }
 * ```
 */
export class SchedulerServer {
  readonly #options: ResolvedSchedulerServerOptions;
  readonly #gate: PathGate;
  #text = '';
  /** There are authorities whose signature on a client's certificate counts. */
  #trustsClients = false;
  #hasStarted = false;
  #server: TlsServer | undefined;
  #isClosed = false;
  #isTold = false;
  #cancelReload: CancelTimer = () => {};
  /** What checks and pages are asked for right now: one that never settles is asked once, however many requests come. */
  readonly #underWay = new Map<unknown, Promise<unknown>>();

  /** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
  constructor(options: SchedulerServerOptions) {
    this.#options = resolveSchedulerServerOptions(options);
    this.#gate = new PathGate(this.#options);
  }

  /**
   * Resolves with the port once it is listened on. Rejects where there is no certificate, or the port is taken; with ERR_ALREADY_STARTED the
   * second time, with ERR_STOPPED after `close`.
   */
  async listen(): Promise<{ readonly port: number }> {
    if (this.#hasStarted) throw new StatusManagerError('ERR_ALREADY_STARTED', "The scheduler's server listens already");
    this.#hasStarted = true;
    this.#requireOpen();
    const { port, address } = this.#options;
    const secure = await this.#read();
    this.#requireOpen();
    const server: TlsServer = new TlsServer({
      settings: { ...secure, ...serverTimes, requestCert: this.#trustsClients },
      mostConnections,
      serve: (request, response) => this.#answer(request, response, server.isCurrent(request.socket)),
    });
    this.#server = server;
    await server.listen(port, address, (err) =>
      this.#options.logger.error({ err }, "the scheduler's server could not take a connection"),
    );
    if (this.#isClosed) await server.end();
    this.#requireOpen();
    this.#reloadLater();
    return { port: server.port };
  }

  /** Ends every connection. Resolves when the port is free. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelReload();
    await this.#server?.end();
  }

  /** The same as `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #requireOpen(): void {
    if (this.#isClosed) throw new StatusManagerError('ERR_STOPPED', "The scheduler's server is closed");
  }

  /** Rejects where the certificate and its key do not fit together, and for authorities that are none. */
  async #read(): Promise<SecureContextOptions> {
    const { cert, key, clientCA } = await this.#options.identity();
    const trustsClients = clientCA !== undefined && clientCA !== '';
    // of a text without a certificate Node.js would make the authorities of the platform
    if (trustsClients) new X509Certificate(clientCA);
    const secure: SecureContextOptions = {
      ...{ cert, key, minVersion: 'TLSv1.2' },
      ...(trustsClients && { ca: [clientCA] }),
      // a session of before must not carry on what was verified with other authorities
      sessionIdContext: randomBytes(16).toString('hex'),
    };
    createSecureContext(secure);
    this.#trustsClients = trustsClients;
    this.#text = JSON.stringify([cert, key, clientCA]);
    return secure;
  }

  #reloadLater(): void {
    const { clock, reloadPeriodMs } = this.#options;
    this.#cancelReload = clock.setTimer(() => void this.#reload(), reloadPeriodMs);
  }

  async #reload(): Promise<void> {
    const before = this.#text;
    try {
      const secure = await this.#read();
      if (this.#isClosed) return;
      if (this.#text !== before) {
        this.#server?.trustAnew(secure);
        this.#options.logger.info({}, "the certificate of the scheduler's server was read again");
      }
      this.#isTold = false;
    } catch (err) {
      if (!this.#isTold)
        this.#options.logger.warn(
          { err },
          "the certificate of the scheduler's server could not be read again; that of before stays",
        );
      this.#isTold = true;
    }
    if (!this.#isClosed) this.#reloadLater();
  }

  /** `isCurrent`: what the client has shown was verified with the present authorities. */
  async #answer(request: IncomingMessage, response: ServerResponse, isCurrent: boolean): Promise<void> {
    request.resume();
    const [target = '', query] = (request.url ?? '').split('?', 2);
    if (!isCurrent) response.shouldKeepAlive = false;
    const refused = await this.#gate.refusal(request, target, isCurrent && this.#trustsClients);
    if (refused !== undefined) return send(response, refused.status, refused.text);
    if (request.method !== 'GET' && request.method !== 'HEAD') return send(response, 405, 'method not allowed');
    try {
      await this.#page(response, target, new URLSearchParams(query));
    } catch (err) {
      this.#options.logger.warn({ err, path: target }, "a page of the scheduler's server failed");
      send(response, 500, 'internal server error: the log says why');
    }
  }

  async #page(response: ServerResponse, path: string, query: URLSearchParams): Promise<void> {
    const { healthChecks, readyChecks, metrics, configz } = this.#options;
    const [, page = '', name, ...more] = path.split('/');
    const checks = new Map([
      ['healthz', healthChecks],
      ['livez', []],
      ['readyz', readyChecks],
    ]).get(page);
    if (checks !== undefined && more.length === 0) return this.#health(response, { page, name, query }, checks);
    if (path === '/metrics' && metrics !== undefined) {
      return send(response, 200, await this.#within('the metrics', metrics), 'text/plain; version=0.0.4; charset=utf-8');
    }
    if (path === '/configz' && configz !== undefined) {
      return send(response, 200, JSON.stringify({ componentconfig: configz() }), 'application/json');
    }
    return send(response, 404, '404 page not found');
  }

  /** The client learns which check fails, the log why. */
  async #health(
    response: ServerResponse,
    { page, name, query }: { readonly page: string; readonly name: string | undefined; readonly query: URLSearchParams },
    checks: readonly SchedulerHealthCheck[],
  ): Promise<void> {
    const all = [{ name: 'ping', check: () => {} }, ...checks].filter((one) => !name || one.name === name);
    if (all.length === 0) return send(response, 404, '404 page not found');
    const excluded = query.getAll('exclude');
    const looked = all.filter((one) => !excluded.includes(one.name));
    const failed = new Set<string>();
    const well = await Promise.all(looked.map((one) => this.#isWell(one)));
    for (const [index, one] of looked.entries()) if (!well[index]) failed.add(one.name);
    const lines = all.map((one) => {
      if (failed.has(one.name)) return `[-]${one.name} failed: reason withheld\n`;
      return `[+]${one.name} ${looked.includes(one) ? '' : 'excluded: '}ok\n`;
    });
    if (failed.size > 0) return send(response, 500, `${lines.join('')}${page} check failed\n`);
    return send(response, 200, query.has('verbose') ? `${lines.join('')}${page} check passed\n` : 'ok');
  }

  async #isWell(one: SchedulerHealthCheck): Promise<boolean> {
    const { name } = one;
    try {
      await this.#within(`the check ${name}`, one.check, one);
      return true;
    } catch (err) {
      this.#options.logger.warn({ err, check: name }, 'a health check of the scheduler fails');
      return false;
    }
  }

  /** Rejects where it takes too long. Whoever asks meanwhile gets the same answer, and waits no longer either. */
  #within<T>(what: string, call: () => T | Promise<T>, owner?: unknown): Promise<T> {
    const { clock, checkTimeoutMs: timeoutMs } = this.#options;
    const late = (): Error => new Error(`${what} took longer than ${timeoutMs} ms`);
    const ask = (): Promise<T> => {
      const before = this.#underWay.get(owner ?? call) as Promise<T> | undefined;
      if (before !== undefined) return before;
      const asked = (async () => call.call(owner))().finally(() => this.#underWay.delete(owner ?? call));
      this.#underWay.set(owner ?? call, asked);
      return asked;
    };
    return callWithin(ask, { clock, timeoutMs, late });
  }
}

function send(response: ServerResponse, status: number, text: string, type = 'text/plain; charset=utf-8'): void {
  response.writeHead(status, {
    'content-type': type,
    'cache-control': 'no-cache, private',
    'x-content-type-options': 'nosniff',
  });
  response.end(text);
}
