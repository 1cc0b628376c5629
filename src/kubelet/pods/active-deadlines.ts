// Behaviour of pkg/kubelet/active_deadline.go, v1.36.3; a timer in place of asking about each pod once a second.

import type { Pod } from '../../api/json/types.ts';
import { isTerminalPhase, podUIDOf } from '../../api/pod/pod-identity.ts';
import type { SteadyClock } from '../../base/clock.ts';
import { KeyedTimers } from '../../base/concurrency/timers.ts';
import { longestTimerMs } from '../../base/options.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import type { Eviction } from '../../node/pod-status/generate-pod-status.ts';
import type { SyncStatusManager } from './agent-pod-syncer-options.ts';

export interface ActiveDeadlinesOptions {
  readonly statusManager: Pick<SyncStatusManager, 'getPodStatus'>;
  /** Called when a pod's deadline has passed: it is to be synced. */
  readonly requestSync: (pod: Pod) => void;
  readonly eventRecorder: EventRecorder;
  readonly clock: SteadyClock;
}

/** When a pod was started, as its status tells and by `clock.elapsed()`. */
interface Start {
  readonly startTime: number;
  readonly at: number;
}

const exceeded: Eviction = {
  reason: 'DeadlineExceeded',
  message: 'Pod was active on the node longer than the specified deadline',
};

/**
 * Ends pods that have been active for longer than their `activeDeadlineSeconds`. The wall clock is asked once for each start: how
 * long ago it was. From there on elapsed time counts, so that a clock that is set ends no pod early and none late.
 */
export class ActiveDeadlines {
  readonly #options: ActiveDeadlinesOptions;
  readonly #timers: KeyedTimers<string>;
  readonly #told = new Set<string>();
  readonly #starts = new Map<string, Start>();

  constructor(options: ActiveDeadlinesOptions) {
    this.#options = options;
    this.#timers = new KeyedTimers(options.clock);
  }

  /** Why the pod is to end; undefined while it may go on, and for one that is over. */
  eviction(pod: Pod): Eviction | undefined {
    const { statusManager, eventRecorder, clock } = this.#options;
    const podUID = podUIDOf(pod);
    const deadline = this.#deadline(pod);
    if (deadline === undefined || clock.elapsed() < deadline) return undefined;
    const told = statusManager.getPodStatus(podUID) ?? pod.status;
    if (isTerminalPhase(told?.phase) && told?.reason !== exceeded.reason) return undefined;
    if (!this.#told.has(podUID)) eventRecorder.event(pod, 'Normal', exceeded.reason, exceeded.message ?? '');
    this.#told.add(podUID);
    return exceeded;
  }

  /** Has the pod synced once its deadline has passed. To be called with each version of the pod, once its status was told. */
  watch(pod: Pod): void {
    const { clock, requestSync } = this.#options;
    const podUID = podUIDOf(pod);
    const deadline = this.#deadline(pod);
    if (deadline === undefined || clock.elapsed() >= deadline) this.#timers.cancel(podUID);
    else this.#timers.set(podUID, Math.min(longestTimerMs, deadline - clock.elapsed()), () => requestSync(pod));
  }

  /** The pod ends: nobody need wait for its deadline. */
  cancel(podUID: string): void {
    this.#timers.cancel(podUID);
  }

  forget(podUID: string): void {
    this.#timers.cancel(podUID);
    this.#told.delete(podUID);
    this.#starts.delete(podUID);
  }

  stop(): void {
    this.#timers.cancelAll();
  }

  /** A time of `clock.elapsed()`; undefined for a pod that has no deadline or has not started. */
  #deadline(pod: Pod): number | undefined {
    const seconds = pod.spec?.activeDeadlineSeconds;
    if (seconds === undefined || seconds === null) return undefined;
    const podUID = podUIDOf(pod);
    const told = (this.#options.statusManager.getPodStatus(podUID) ?? pod.status)?.startTime;
    const startTime = told ? new Date(told).getTime() : Number.NaN;
    return Number.isFinite(startTime) ? this.#startedAt(podUID, startTime) + seconds * 1000 : undefined;
  }

  #startedAt(podUID: string, startTime: number): number {
    const { clock } = this.#options;
    const known = this.#starts.get(podUID);
    if (known?.startTime === startTime) return known.at;
    const at = clock.elapsed() - Math.max(0, clock.now() - startTime);
    this.#starts.set(podUID, { startTime, at });
    return at;
  }
}
