import { type Clock, type SteadyClock, safeClock, systemClock } from '../../base/clock.ts';
import { type Logger, loggerOption } from '../../base/logging/logger.ts';
import { type Metrics, type MetricsSink, metricsOption } from '../../base/metrics/metrics.ts';
import type { ContainerRuntime } from '../runtime/container-runtime.ts';
import type { ContainerDetails } from '../runtime/runtime-containers.ts';
import type { ListedPod } from './listed-pods.ts';
import type { ReadTime } from './pod-reader.ts';

/** What the constructor of {@link PodLifecycle} takes. `runtime` is needed. */
export interface PodLifecycleOptions {
  /** What is asked. */
  readonly runtime: ContainerRuntime;
  /** Called with a pod's uid each time a container or a sandbox of the pod has come, gone or changed its state. What it throws is logged. */
  readonly podChanged?: (podUID: string) => unknown;
  /** The last words of a container that has ended. Default: none. What it rejects with is logged, and counts as none. */
  readonly terminationMessageOf?: (details: ContainerDetails) => Promise<string>;
  /** How often the runtime is listed while it sends no events, in milliseconds. Default 1000, as the kubelet. */
  readonly relistPeriodMs?: number;
  /** How often the runtime is listed while it sends events, in milliseconds. Default 10 000. */
  readonly eventedRelistPeriodMs?: number;
  /** How long one read of a pod, or one list of all pods, may take, in milliseconds. Default 120 000. */
  readonly readTimeoutMs?: number;
  /** How old the last list may be while {@link PodLifecycle.healthy} says yes, in milliseconds. Default 180 000, as the kubelet. */
  readonly relistThresholdMs?: number;
  /** Where the time comes from. Default: the machine's clock. */
  readonly clock?: Clock;
  /** Default: warnings and errors go to the console; null: silent. */
  readonly logger?: Logger | null;
  /** Gets what `metricDefinitions` lists for the part PodLifecycle. Default: nothing is measured. */
  readonly metrics?: MetricsSink;
}

export type ResolvedLifecycleOptions = Required<Omit<PodLifecycleOptions, 'metrics' | 'logger' | 'clock'>> & {
  readonly clock: SteadyClock;
  readonly metrics: Metrics;
  readonly logger: Logger;
};

/** The options with their defaults. */
export function resolveLifecycleOptions(options: PodLifecycleOptions): ResolvedLifecycleOptions {
  const { runtime, podChanged = () => {}, terminationMessageOf = async () => '', clock = systemClock } = options;
  return {
    runtime,
    podChanged,
    terminationMessageOf,
    relistPeriodMs: options.relistPeriodMs ?? 1000,
    eventedRelistPeriodMs: options.eventedRelistPeriodMs ?? 10_000,
    readTimeoutMs: options.readTimeoutMs ?? 120_000,
    relistThresholdMs: options.relistThresholdMs ?? 180_000,
    clock: safeClock(clock),
    logger: loggerOption(options.logger),
    metrics: metricsOption(options.metrics),
  };
}

const containerStates = ['created', 'running', 'exited', 'unknown'] as const;

/** What a pod lifecycle measures, under the kubelet's names. */
export class LifecycleMetrics {
  readonly #metrics: Metrics;
  readonly #clock: SteadyClock;
  #lastListAt: number | undefined;

  constructor(metrics: Metrics, clock: SteadyClock) {
    this.#metrics = metrics;
    this.#clock = clock;
  }

  /** A list begins. Call what is returned when it has ended. */
  relist(): () => void {
    const startedAt = this.#clock.elapsed();
    const { metrics, last } = { metrics: this.#metrics, last: this.#lastListAt };
    if (last !== undefined) metrics.observe('kubelet_pleg_relist_interval_seconds', secondsFrom(last, startedAt));
    return () => metrics.observe('kubelet_pleg_relist_duration_seconds', secondsFrom(startedAt, this.#clock.elapsed()));
  }

  /** The read of one pod begins. Call what is returned when it has ended. */
  podRelist(): () => void {
    const startedAt = this.#clock.elapsed();
    return () => this.#metrics.observe('kubelet_pleg_pod_relist_duration_seconds', secondsFrom(startedAt, this.#clock.elapsed()));
  }

  /** A list has succeeded. */
  listed({ at, elapsed }: ReadTime, pods: ReadonlyMap<string, ListedPod>): void {
    this.#lastListAt = elapsed;
    if (!this.#metrics.isUsed) return;
    this.#metrics.set('kubelet_pleg_last_seen_seconds', Math.floor(at / 1000));
    const all = [...pods.values()];
    const running = all.filter(({ sandboxes }) => sandboxes.some(({ state }) => state === 'ready'));
    this.#metrics.set('kubelet_running_pods', running.length);
    const containers = all.flatMap((pod) => pod.containers);
    for (const state of containerStates) {
      const count = containers.filter((container) => container.state === state).length;
      this.#metrics.set('kubelet_running_containers', count, { container_state: state });
    }
  }

  /** The events have ended. */
  disconnected(): void {
    this.#metrics.increment('pod_status_manager_runtime_event_stream_ends_total');
  }
}

function secondsFrom(startedAt: number, endedAt: number): number {
  return Math.max(0, endedAt - startedAt) / 1000;
}
