import { type ApiExchange, answerJson, answerText, isApiRefusal, KubeletApiRefusal } from './exchange.ts';
import type { Gate } from './gate.ts';
import { answerHealth } from './health-answer.ts';
import { probeMetrics, resourceMetrics } from './resource-metrics.ts';
import { type MetricSet, parseTarget, type Route, routeOf } from './routes.ts';
import type { NodeApiServerOptions } from './serving-settings.ts';
import type { StatsSummary } from './stats-types.ts';

const metricsType = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' };

/** Answers requests, once the gate lets them through. */
export class ApiAnswers {
  readonly #options: NodeApiServerOptions;
  readonly #gate: Gate;
  #streams = 0;

  constructor(options: NodeApiServerOptions, gate: Gate) {
    this.#options = options;
    this.#gate = gate;
  }

  /** Never rejects. `hasCertificate`: false where the client's certificate must not count. */
  async answer(exchange: ApiExchange, hasCertificate: boolean): Promise<void> {
    try {
      await this.#answer(exchange, hasCertificate);
    } catch (error) {
      this.#refuse(exchange, error);
    }
  }

  async #answer(exchange: ApiExchange, hasCertificate: boolean): Promise<void> {
    const { request } = exchange;
    const target = parseTarget(request.url);
    const routed = routeOf(target?.segments ?? [], this.#options.enableDebuggingHandlers);
    await this.#gate.admit(request, routed.subresources, hasCertificate);
    if (target === undefined) throw new KubeletApiRefusal(400, '400: Bad Request');
    const { route, methods } = routed;
    if (route === undefined) throw new KubeletApiRefusal(404, '404: Page Not Found');
    if (!methods.includes(request.method ?? '')) {
      throw new KubeletApiRefusal(405, '405: Method Not Allowed', { allow: methods.join(', ') });
    }
    await this.#show(exchange, route, target.query);
  }

  async #show(exchange: ApiExchange, route: Route, query: URLSearchParams): Promise<void> {
    const { host, logger } = this.#options;
    const { signal } = exchange;
    switch (route.kind) {
      case 'health':
        return answerHealth(exchange, { name: route.check, query }, host.healthChecks(), logger);
      case 'pods':
        return answerJson(exchange, { kind: 'PodList', apiVersion: 'v1', metadata: {}, items: host.pods() });
      case 'running-pods':
        return answerJson(exchange, { kind: 'PodList', apiVersion: 'v1', metadata: {}, items: await host.runningPods(signal) });
      case 'stats-summary':
        return answerJson(exchange, await host.statsSummary(signal));
      case 'configz':
        if (host.configz === undefined) throw new KubeletApiRefusal(404, '404: Page Not Found');
        return answerJson(exchange, { kubeletconfig: host.configz() });
      case 'metrics':
        return answerText(exchange, 200, await this.#metrics(route.set, signal), metricsType);
      case 'container-logs':
        return this.#stream(() => host.answerLogs(exchange, route.target, query));
      case 'run':
        return this.#stream(() => host.answerRun(exchange, route.target, query));
      case 'exec':
      case 'attach':
      case 'port-forward':
        return this.#stream(() => host.answerStream(exchange, route, query));
      case 'not-implemented':
        throw new KubeletApiRefusal(501, route.text);
      case 'disabled':
        throw new KubeletApiRefusal(405, route.text);
    }
  }

  async #metrics(set: MetricSet, signal: AbortSignal): Promise<string> {
    const { host } = this.#options;
    if (set === 'all') return host.metrics();
    if (set === 'probes') return probeMetrics(await host.metrics());
    if (set === 'cadvisor') {
      if (host.containerMetrics === undefined) throw new KubeletApiRefusal(404, '404: Page Not Found');
      return host.containerMetrics();
    }
    return host.resourceMetrics?.(signal) ?? resourceMetrics(await this.#summary(signal));
  }

  /** Undefined where nothing could be measured: a scraper hears of that as a metric. */
  async #summary(signal: AbortSignal): Promise<StatsSummary | undefined> {
    const { host, logger } = this.#options;
    try {
      return await host.statsSummary(signal);
    } catch (err) {
      if (signal.aborted || isApiRefusal(err)) throw err;
      logger.error({ err }, 'what pods take could not be measured');
      return undefined;
    }
  }

  /** The number of streams is bounded: each holds sockets, files or a process of the runtime. */
  async #stream(open: () => Promise<void>): Promise<void> {
    const { maxStreams } = this.#options;
    if (this.#streams >= maxStreams) {
      throw new KubeletApiRefusal(429, `too many streams are open: ${maxStreams} at most`, { 'retry-after': '5' });
    }
    this.#streams += 1;
    try {
      await open();
    } finally {
      this.#streams -= 1;
    }
  }

  #refuse(exchange: ApiExchange, error: unknown): void {
    const { request, response, signal } = exchange;
    const { logger } = this.#options;
    if (response.headersSent || signal.aborted) {
      // the client sees that the answer is cut off
      if (!signal.aborted) logger.warn({ err: error, ...requestFields(request) }, "an answer of the node's API was cut off");
      request.socket.destroy();
      return;
    }
    if (isApiRefusal(error)) {
      answerText(exchange, error.status, error.message, error.headers);
      return;
    }
    logger.error({ err: error, ...requestFields(request) }, "a request to the node's API could not be answered");
    answerText(exchange, 500, 'the request could not be answered; the log of the node says why');
  }
}

/** What names a request in a log line, without its query. */
function requestFields({ method, url }: ApiExchange['request']): {
  readonly method: string | undefined;
  readonly path: string | undefined;
} {
  return { method, path: url?.split('?', 1)[0] };
}
