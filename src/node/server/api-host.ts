import type { Pod } from '../../api/json/types.ts';
import type { ApiExchange } from './exchange.ts';
import type { ContainerTarget, StreamRoute } from './routes.ts';
import type { StatsSummary } from './stats-types.ts';

/** One thing that `/healthz` looks at. */
export interface HealthCheck {
  /** As the path has it: `/healthz/NAME`. */
  readonly name: string;
  /** Throws or rejects while something is wrong; the log has the reason, the client does not. */
  readonly check: () => void | Promise<void>;
}

/**
 * What a node's API shows, given by its agent. What a method rejects with is answered with 500, and a `KubeletApiRefusal` with the
 * status and the text that it has.
 */
export interface NodeApiHost {
  pods(): readonly Pod[];
  runningPods(signal: AbortSignal): Promise<readonly Pod[]>;
  healthChecks(): readonly HealthCheck[];
  /** All metrics of the agent, in the text format of Prometheus. */
  metrics(): string | Promise<string>;
  /** What `/metrics/resource` shows. Default: it is made of the summary. */
  readonly resourceMetrics?: ((signal: AbortSignal) => Promise<string>) | undefined;
  /** What `/metrics/cadvisor` shows. Default: there is no such page. */
  readonly containerMetrics?: (() => Promise<string>) | undefined;
  statsSummary(signal: AbortSignal): Promise<StatsSummary>;
  /** Default: no configuration is shown. */
  readonly configz?: (() => unknown) | undefined;
  /** Answers with a log. Rejects with a refusal where nothing has been written yet. So do the following two. */
  answerLogs(exchange: ApiExchange, target: ContainerTarget, query: URLSearchParams): Promise<void>;
  /** Answers with what a command has written. */
  answerRun(exchange: ApiExchange, target: ContainerTarget, query: URLSearchParams): Promise<void>;
  /** Answers with a stream. */
  answerStream(exchange: ApiExchange, route: StreamRoute, query: URLSearchParams): Promise<void>;
}
