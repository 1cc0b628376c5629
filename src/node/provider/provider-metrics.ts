import type { Pod } from '../../api/json/types.ts';
import type { SteadyClock } from '../../base/clock.ts';
import { onAbort } from '../../base/concurrency/aborts.ts';
import type { MetricLabels } from '../../base/metrics/metric-definitions.ts';
import type { Metrics } from '../../base/metrics/metrics.ts';
import { configSeenAnnotationKey } from '../config/pod-changes.ts';

type Call = MetricLabels['pod_status_manager_provider_calls_total'];

/** Measures the calls of a provider, and how long its pods take to run. */
export class ProviderMetrics {
  readonly #metrics: Metrics;
  readonly #clock: SteadyClock;

  constructor({ metrics, clock }: { readonly metrics: Metrics; readonly clock: SteadyClock }) {
    this.#metrics = metrics;
    this.#clock = clock;
  }

  /**
   * The same call, counted once: when it has settled, or when `signal` aborts because nobody waits for its answer any more. A
   * call that was given up may never settle.
   */
  async call<T>(method: Call['method'], signal: AbortSignal, call: () => Promise<T>): Promise<T> {
    const startedAt = this.#clock.elapsed();
    let isCounted = false;
    const count = (result: Call['result']): void => {
      if (isCounted) return;
      isCounted = true;
      this.#metrics.increment('pod_status_manager_provider_calls_total', { method, result });
      const seconds = (this.#clock.elapsed() - startedAt) / 1000;
      this.#metrics.observe('pod_status_manager_provider_call_duration_seconds', seconds, { method });
    };
    const leave = onAbort(signal, () => count('aborted'));
    try {
      const answer = await call();
      count('ok');
      return answer;
    } catch (error) {
      count('failed');
      throw error;
    } finally {
      leave();
    }
  }

  syncBegins(pod: Pod): void {
    this.#sinceSeen('kubelet_pod_worker_start_duration_seconds', pod);
  }

  /** A pod runs that did not before. */
  runs(pod: Pod): void {
    this.#sinceSeen('kubelet_pod_start_duration_seconds', pod);
  }

  #sinceSeen(name: 'kubelet_pod_worker_start_duration_seconds' | 'kubelet_pod_start_duration_seconds', { metadata }: Pod): void {
    const seenAt = Date.parse(metadata?.annotations?.[configSeenAnnotationKey] ?? '');
    if (Number.isFinite(seenAt)) this.#metrics.observe(name, Math.max(0, this.#clock.now() - seenAt) / 1000);
  }
}
