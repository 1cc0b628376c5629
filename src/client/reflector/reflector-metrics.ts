import type { SteadyClock } from '../../base/clock.ts';
import type { MetricLabels } from '../../base/metrics/metric-definitions.ts';
import { type Metrics, sampleGauges } from '../../base/metrics/metrics.ts';
import { reflectorMetricDefinitions } from '../../base/metrics/reflector-metric-definitions.ts';
import { hasHttpFailed, isBrokenAnswer, isExpired, isSilence, isThrottled, isTooLarge } from './failures.ts';

type Reason = MetricLabels['pod_status_manager_reflector_restarts_total']['reason'];

const reasons = reflectorMetricDefinitions.pod_status_manager_reflector_restarts_total.labels.reason.values;

/** What the gauges of a reflector show. */
export interface ReflectorState {
  readonly isRunning: boolean;
  readonly hasSynced: boolean;
  readonly objects: number;
  /** When the server was last heard from, by `Clock.elapsed`. */
  readonly heardAt: number | undefined;
}

/** The measurements of one reflector. */
export class ReflectorMetrics {
  readonly #metrics: Metrics;
  readonly #clock: SteadyClock;
  readonly #labels: { readonly reflector: string };
  #end = (): void => {};

  constructor(metrics: Metrics, clock: SteadyClock, reflector: string) {
    this.#metrics = metrics;
    this.#clock = clock;
    this.#labels = { reflector };
  }

  begin(state: () => ReflectorState): void {
    this.#metrics.increment('pod_status_manager_reflector_lists_total', this.#labels, 0);
    for (const reason of reasons) {
      this.#metrics.increment('pod_status_manager_reflector_restarts_total', { ...this.#labels, reason }, 0);
    }
    const startedAt = this.#clock.elapsed();
    this.#end = sampleGauges(this.#metrics, this.#clock, () => this.#read(state(), startedAt));
  }

  end(): void {
    this.#end();
  }

  listed(): void {
    this.#metrics.increment('pod_status_manager_reflector_lists_total', this.#labels);
  }

  /** A watch or a list has ended, and what follows begins anew. `failure`: undefined where the server ended it in good order. */
  ended(failure: unknown): void {
    if (!this.#metrics.isUsed) return;
    this.#metrics.increment('pod_status_manager_reflector_restarts_total', { ...this.#labels, reason: reasonOf(failure) });
  }

  #read({ isRunning, hasSynced, objects, heardAt }: ReflectorState, startedAt: number): void {
    // one that is paused, or stopped, waits for nothing
    const silentMs = isRunning ? this.#clock.elapsed() - (heardAt ?? startedAt) : 0;
    this.#metrics.set('pod_status_manager_reflector_silence_seconds', silentMs / 1000, this.#labels);
    this.#metrics.set('pod_status_manager_reflector_synced', hasSynced ? 1 : 0, this.#labels);
    this.#metrics.set('pod_status_manager_reflector_objects', objects, this.#labels);
  }
}

function reasonOf(failure: unknown): Reason {
  if (failure === undefined) return 'ended';
  if (isExpired(failure)) return 'expired';
  if (isSilence(failure)) return 'silent';
  if (isThrottled(failure)) return 'throttled';
  if (isTooLarge(failure)) return 'stale';
  if (isBrokenAnswer(failure)) return 'broken-answer';
  return hasHttpFailed(failure) ? 'refused' : 'network';
}
