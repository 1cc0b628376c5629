import type { Pod } from '../../api/json/types.ts';
import type { Clock } from '../../base/clock.ts';
import type { HealthCheck, NodeApiHost } from '../../node/server/api-host.ts';
import type { ApiExchange } from '../../node/server/exchange.ts';
import type { ContainerTarget, StreamRoute } from '../../node/server/routes.ts';
import type { StatsSummary } from '../../node/server/stats-types.ts';
import type { KubeletApiHost } from './api-options.ts';
import { answerLogs } from './log-answer.ts';
import { answerRun, answerStream } from './stream-answer.ts';

/** What a kubelet's API shows: logs from the files that the runtime names, and streams of the runtime. */
export class RuntimeApiHost implements NodeApiHost {
  readonly #host: KubeletApiHost;
  readonly #clock: Clock;
  readonly #idleTimeoutMs: number;

  readonly containerMetrics: NodeApiHost['containerMetrics'];

  constructor(
    host: KubeletApiHost,
    { clock, streamIdleTimeoutMs }: { readonly clock: Clock; readonly streamIdleTimeoutMs: number },
  ) {
    this.#host = host;
    this.containerMetrics = host.containerMetrics && (() => host.containerMetrics?.() ?? Promise.resolve(''));
    this.#clock = clock;
    this.#idleTimeoutMs = streamIdleTimeoutMs;
  }

  pods(): readonly Pod[] {
    return this.#host.pods();
  }

  runningPods(signal: AbortSignal): Promise<readonly Pod[]> {
    return this.#host.runningPods(signal);
  }

  healthChecks(): readonly HealthCheck[] {
    return this.#host.healthChecks();
  }

  metrics(): string | Promise<string> {
    return this.#host.metrics();
  }

  statsSummary(signal: AbortSignal): Promise<StatsSummary> {
    return this.#host.statsSummary(signal);
  }

  configz(): unknown {
    return this.#host.configz();
  }

  answerLogs(exchange: ApiExchange, target: ContainerTarget, query: URLSearchParams): Promise<void> {
    return answerLogs(exchange, target, query, { host: this.#host, clock: this.#clock });
  }

  answerRun(exchange: ApiExchange, target: ContainerTarget, query: URLSearchParams): Promise<void> {
    return answerRun(exchange, target, query, this.#host);
  }

  answerStream(exchange: ApiExchange, route: StreamRoute, query: URLSearchParams): Promise<void> {
    return answerStream(exchange, route, query, this.#host, { clock: this.#clock, idleTimeoutMs: this.#idleTimeoutMs });
  }
}
