import type { SteadyClock } from '../../base/clock.ts';
import { type Metrics, sampleGauges } from '../../base/metrics/metrics.ts';
import type { SteadyTime } from '../queue/backoff-queue.ts';
import type { QueuedPodInfo } from '../queue/queued-pod-info.ts';
import type { QueueCounts } from '../queue/scheduling-queue.ts';
import type { Place } from '../queue/waiting-pods.ts';

/** What a scheduler has at a moment. */
export interface SchedulerSizes {
  readonly queue: QueueCounts;
  readonly nodes: number;
  readonly pods: number;
  readonly assumedPods: number;
}

/** How an attempt ended. */
export type AttemptResult = 'scheduled' | 'unschedulable' | 'error';

/** Measures what a scheduler does, by the names that kube-scheduler uses. */
export class SchedulerMetrics {
  readonly #metrics: Metrics;
  readonly #clock: SteadyClock;
  readonly #time: SteadyTime;
  /** The series of pods by plugin that were ever set: one that nothing is left of has to become 0. */
  readonly #rejections = new Map<string, { readonly plugin: string; readonly profile: string }>();
  #end = (): void => {};

  /** `time`: by which attempts and the queue count. */
  constructor(metrics: Metrics, clock: SteadyClock, time: SteadyTime) {
    this.#metrics = metrics;
    this.#clock = clock;
    this.#time = time;
  }

  /** Reads the gauges from now on, until `close`. */
  start(read: () => SchedulerSizes): void {
    this.#end = sampleGauges(this.#metrics, this.#clock, () => this.#setGauges(read()));
  }

  close(): void {
    this.#end();
  }

  /** A pod came to a part of the queue. */
  incoming(queue: Place, event: string): void {
    this.#metrics.increment('scheduler_queue_incoming_pods_total', { queue, event });
  }

  /** A node was chosen for a pod, or none; `startedAt` by the time of the queue, here and below. */
  chose(startedAt: number): void {
    this.#metrics.observe('scheduler_scheduling_algorithm_duration_seconds', this.#since(startedAt));
  }

  /** An attempt has ended. */
  attempted(result: AttemptResult, profile: string, startedAt: number): void {
    this.#metrics.increment('scheduler_schedule_attempts_total', { result, profile });
    this.#metrics.observe('scheduler_scheduling_attempt_duration_seconds', this.#since(startedAt), { result, profile });
  }

  /** A pod was bound by an attempt that began at `startedAt`. */
  bound({ attempts, firstReadyAt }: QueuedPodInfo, profile: string, startedAt: number): void {
    this.attempted('scheduled', profile, startedAt);
    this.#metrics.observe('scheduler_pod_scheduling_attempts', attempts);
    const label = attempts >= 15 ? '15+' : `${attempts}`;
    const seconds = this.#since(firstReadyAt ?? this.#time.time());
    this.#metrics.observe('scheduler_pod_scheduling_sli_duration_seconds', seconds, { attempts: label });
  }

  /** A plugin is asked to make room for a pod that fits nowhere. */
  postFilter(plugin: string): void {
    if (plugin === 'DefaultPreemption') this.#metrics.increment('scheduler_preemption_attempts_total');
  }

  /** So many pods have to go for one. */
  preempted(victims: number): void {
    this.#metrics.observe('scheduler_preemption_victims', victims);
  }

  #setGauges({ queue, nodes, pods, assumedPods }: SchedulerSizes): void {
    for (const name of ['active', 'backoff', 'unschedulable', 'gated'] as const) {
      this.#metrics.set('scheduler_pending_pods', queue[name], { queue: name });
    }
    for (const [type, size] of [
      ['nodes', nodes],
      ['pods', pods],
      ['assumed_pods', assumedPods],
    ] as const) {
      this.#metrics.set('scheduler_cache_size', size, { type });
    }
    const gone = new Map(this.#rejections);
    for (const { plugin, profile, pods: count } of queue.byPlugin) {
      const key = `${profile}/${plugin}`;
      gone.delete(key);
      this.#rejections.set(key, { plugin, profile });
      this.#metrics.set('scheduler_unschedulable_pods', count, { plugin, profile });
    }
    for (const labels of gone.values()) this.#metrics.set('scheduler_unschedulable_pods', 0, labels);
  }

  /** In seconds. */
  #since(ms: number): number {
    return (this.#time.time() - ms) / 1000;
  }
}
