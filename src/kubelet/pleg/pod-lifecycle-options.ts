import type { SteadyClock } from '../../base/clock.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { Metrics } from '../../base/metrics/metrics.ts';
import type { ContainerRuntime } from '../runtime/container-runtime.ts';
import type { ContainerDetails } from '../runtime/runtime-containers.ts';
import type { ListedPod } from './listed-pods.ts';
import type { ReadTime } from './pod-reader.ts';

/** What the constructor of {@link PodLifecycle} takes. */
export interface PodLifecycleOptions {
  readonly runtime: ContainerRuntime;
  /** Called with a pod's uid each time a container or a sandbox of the pod has come, gone or changed its state. What it throws is logged. */
  readonly podChanged: (podUID: string) => unknown;
  /** The last words of a container that has ended. What it rejects with is logged, and counts as none. */
  readonly terminationMessageOf: (details: ContainerDetails) => Promise<string>;
  /** How long one read of a pod, or one list of all pods, may take, in milliseconds. Default 120 000. */
  readonly readTimeoutMs?: number;
  readonly clock: SteadyClock;
  readonly logger: Logger;
  readonly metrics: Metrics;
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

  disconnected(): void {
    this.#metrics.increment('pod_status_manager_runtime_event_stream_ends_total');
  }
}

function secondsFrom(startedAt: number, endedAt: number): number {
  return Math.max(0, endedAt - startedAt) / 1000;
}
