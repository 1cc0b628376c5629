import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type SteadyClock, sleep } from '../../base/clock.ts';
import { type Failing, FailureRun } from '../../base/failure-run.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { problemFields } from '../../base/problem.ts';
import { helped } from '../problem-help.ts';
import type { HealthCheck } from './api-host.ts';
import { answerText } from './exchange.ts';
import { answerHealth } from './health-answer.ts';
import { parseTarget } from './routes.ts';

export interface HealthzServerOptions {
  readonly port: number;
  readonly address: string;
  readonly healthChecks: () => readonly HealthCheck[];
  readonly clock: SteadyClock;
  readonly logger: Logger;
}

/** As the kubelet's. */
const retryMs = 5000;
const mostConnections = 64;
const longestHead = 8192;
const serverTimes = { headersTimeout: 5000, requestTimeout: 10_000, keepAliveTimeout: 5000 };

/** Answers `/healthz` over HTTP, to everybody who reaches the port, and nothing else. A port that is taken is tried again. */
export class HealthzServer {
  readonly #options: HealthzServerOptions;
  readonly #failures: FailureRun;
  readonly #closing = new AbortController();
  #server: Server | undefined;
  /** By the wall clock, for those who are told. */
  #retryAt = 0;
  #run: Promise<void> = Promise.resolve();

  constructor(options: HealthzServerOptions) {
    this.#options = options;
    const { clock, logger } = options;
    this.#failures = new FailureRun(clock, (ended) => logger.info(ended, 'the page /healthz is served again'));
  }

  /** Why it is not served, and when that is tried next; undefined while it is served. */
  get failing(): (Failing & { readonly retryAt: number }) | undefined {
    const { failing } = this.#failures;
    return failing && { ...failing, retryAt: this.#retryAt };
  }

  /** Where it is served; undefined where it is not. */
  get port(): number | undefined {
    const address = this.#server?.address();
    return typeof address === 'object' ? address?.port : undefined;
  }

  start(): void {
    this.#run = this.#listenOnAndOn();
  }

  /** Resolves when the port is free. */
  async stop(): Promise<void> {
    this.#closing.abort();
    await this.#run;
  }

  async #listenOnAndOn(): Promise<void> {
    const { signal } = this.#closing;
    const { clock, logger } = this.#options;
    while (!signal.aborted) {
      try {
        await this.#serve(signal);
      } catch (err) {
        if (signal.aborted) return;
        this.#retryAt = clock.now() + retryMs;
        const problem = { ...this.#failures.failed(err), retryAt: this.#retryAt, ...helped('healthz') };
        const fields = { err, ...problemFields(problem, clock.now()) };
        logger.error(fields, 'the page /healthz could not be served, and is tried again');
        await sleep(clock, retryMs, signal);
      }
    }
  }

  /** Resolves when it is closed. Rejects when the port cannot be listened on. */
  async #serve(signal: AbortSignal): Promise<void> {
    const { port, address: host } = this.#options;
    const server = createServer({ ...serverTimes, maxHeaderSize: longestHead }, (request, response) => {
      void this.#answer(request, response, signal);
    });
    server.maxConnections = mostConnections;
    try {
      server.listen({ port, host });
      await once(server, 'listening', { signal });
      this.#server = server;
      this.#failures.succeeded();
      await once(server, 'close', { signal });
    } finally {
      this.#server = undefined;
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse, signal: AbortSignal): Promise<void> {
    const exchange = { request, response, upgrade: undefined, signal };
    const { segments: [first, name, ...more] = [], query = new URLSearchParams() } = parseTarget(request.url) ?? {};
    if (first !== 'healthz' || more.length > 0) return answerText(exchange, 404, '404: Page Not Found');
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return answerText(exchange, 405, '405: Method Not Allowed', { allow: 'GET, HEAD' });
    }
    const { healthChecks, logger } = this.#options;
    await answerHealth(exchange, { name: name || undefined, query }, healthChecks(), logger);
  }
}
