import type { Pod } from '../../api/json/types.ts';
import type { Clock, SteadyClock } from '../../base/clock.ts';
import { callWithin } from '../../base/concurrency/aborts.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { BasicPodManager } from '../../status/pods/basic-pod-manager.ts';
import type { StatusManager } from '../../status/status-manager.ts';
import type { HealthCheck, NodeApiHost } from '../server/api-host.ts';
import { type ApiExchange, isApiRefusal, KubeletApiRefusal } from '../server/exchange.ts';
import type { ContainerTarget, StreamRoute } from '../server/routes.ts';
import { ServedPods } from '../server/served-pods.ts';
import type { StatsSummary } from '../server/stats-types.ts';
import { syncLoopCheck } from '../server/sync-loop-check.ts';
import type { SyncLoop } from '../workers/sync-loop.ts';
import { ClientCalls, type ClientMethod, clientError, missingMethod } from './client-calls.ts';
import type { PodProvider, ProviderCall } from './pod-provider.ts';
import type { ProvidedPods } from './provided-pods.ts';
import { answerProviderLogs } from './provider-logs.ts';
import { answerProviderRun } from './provider-run.ts';
import { answerProviderStream } from './provider-streams.ts';

export interface ProviderApiHostOptions {
  readonly provider: PodProvider;
  readonly podManager: BasicPodManager;
  readonly statusManager: StatusManager;
  readonly provided: Pick<ProvidedPods, 'getPods'>;
  readonly loop: Pick<SyncLoop, 'lastIterationAt'>;
  /** All metrics of the agent. Default: no text. */
  readonly metricsText: (() => string | Promise<string>) | undefined;
  /** A stream over which nothing moves for so long is ended. */
  readonly streamIdleTimeoutMs: number;
  readonly clock: SteadyClock;
  readonly logger: Logger;
}

/** So long a provider may take to list what runs, or to say what it takes. */
const answerWithinMs = 30_000;

/** What the API of a provider's node shows: what the node knows of its pods, and what the provider's methods say. */
export class ProviderApiHost implements NodeApiHost {
  /** Undefined where the metrics are made of the summary. */
  readonly resourceMetrics: ((signal: AbortSignal) => Promise<string>) | undefined;
  readonly #options: ProviderApiHostOptions;
  readonly #pods: ServedPods;
  readonly #calls: ClientCalls;
  readonly #syncLoopCheck: HealthCheck;

  constructor(options: ProviderApiHostOptions) {
    this.#options = options;
    const { provider, podManager, statusManager, loop, clock, logger } = options;
    this.#pods = new ServedPods(podManager, statusManager);
    this.#calls = new ClientCalls({ provider, pods: this.#pods, clock, logger });
    this.#syncLoopCheck = syncLoopCheck(loop, clock);
    const isMadeOfSummary = provider.getMetricsResource === undefined && provider.getStatsSummary !== undefined;
    this.resourceMetrics = isMadeOfSummary ? undefined : (signal) => this.#providedMetrics(signal);
  }

  pods(): Pod[] {
    return this.#pods.all();
  }

  async runningPods(signal: AbortSignal): Promise<Pod[]> {
    const { provided, clock } = this.#options;
    const late = (): Error => new KubeletApiRefusal(504, `getPods() of the provider gave no answer within ${answerWithinMs} ms`);
    const limits = { clock, timeoutMs: answerWithinMs, signal, late };
    const pods = await callWithin((own) => provided.getPods(own), limits);
    return pods.map(({ uid, name, namespace }) => ({ metadata: { uid, name, namespace } }));
  }

  healthChecks(): HealthCheck[] {
    return [this.#syncLoopCheck];
  }

  metrics(): string | Promise<string> {
    return this.#options.metricsText?.() ?? '';
  }

  async statsSummary(signal: AbortSignal): Promise<StatsSummary> {
    const { provider, clock } = this.#options;
    this.#calls.require('getStatsSummary');
    const ask = (call: ProviderCall) => provider.getStatsSummary?.(call);
    const summary: unknown = await answerOf('getStatsSummary', ask, { clock, signal });
    if (isSummary(summary)) return summary;
    throw new KubeletApiRefusal(500, 'getStatsSummary() of the provider answered with no summary: { node, pods }');
  }

  async #providedMetrics(signal: AbortSignal): Promise<string> {
    const { provider, clock } = this.#options;
    if (provider.getMetricsResource === undefined) throw missingMethod('getMetricsResource', 'getStatsSummary');
    const ask = (call: ProviderCall) => provider.getMetricsResource?.(call);
    const text: unknown = await answerOf('getMetricsResource', ask, { clock, signal });
    if (typeof text === 'string') return text;
    throw new KubeletApiRefusal(500, 'getMetricsResource() of the provider answered with no text');
  }

  answerLogs(exchange: ApiExchange, target: ContainerTarget, query: URLSearchParams): Promise<void> {
    return answerProviderLogs(exchange, target, query, this.#calls);
  }

  answerRun(exchange: ApiExchange, target: ContainerTarget, query: URLSearchParams): Promise<void> {
    return answerProviderRun(exchange, target, query, this.#calls);
  }

  answerStream(exchange: ApiExchange, route: StreamRoute, query: URLSearchParams): Promise<void> {
    return answerProviderStream(exchange, route, query, this.#calls, this.#options.streamIdleTimeoutMs);
  }
}

/** Asks the provider for what is not of one pod. Rejects with a refusal that has its words, or the limit. */
async function answerOf(
  method: ClientMethod,
  ask: (call: ProviderCall) => unknown,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<unknown> {
  const late = (): Error => new KubeletApiRefusal(504, `${method}() of the provider gave no answer within ${answerWithinMs} ms`);
  try {
    return await callWithin((own) => ask({ signal: own }), { clock, timeoutMs: answerWithinMs, signal, late });
  } catch (error) {
    throw signal.aborted || isApiRefusal(error) ? error : clientError(error, `${method}() of the provider failed: `);
  }
}

/** What is shown further of it is the provider's affair. */
function isSummary(value: unknown): value is StatsSummary {
  if (typeof value !== 'object' || value === null) return false;
  const { node, pods } = value as Partial<Record<keyof StatsSummary, unknown>>;
  return typeof node === 'object' && node !== null && Array.isArray(pods);
}
