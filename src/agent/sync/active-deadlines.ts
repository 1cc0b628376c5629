// Behaviour of pkg/kubelet/active_deadline.go, v1.36.3.
import { longestTimerMs } from '../../checks/options.ts';
import { KeyedTimers } from '../../concurrency/keyed-timers.ts';
import type { EventRecorder } from '../../pod/event-recorder.ts';
import { isTerminalPhase } from '../../pod/pod-phase.ts';
import type { Eviction } from '../../runtime-status/assemble-pod-status.ts';
import type { Clock } from '../../seams/clock.ts';
import type { Pod, PodStatus } from '../../wire/types.ts';

export interface ActiveDeadlinesOptions {
  readonly clock: Clock;
  readonly eventRecorder: EventRecorder;
  /** Called when a pod is to be synced because its time is over. */
  readonly requestSync: (podUID: string) => void;
}

const exceeded = {
  reason: 'DeadlineExceeded',
  message: 'Pod was active on the node longer than the specified deadline',
} as const;

/** Ends pods that have been active for longer than their `activeDeadlineSeconds`. */
export class ActiveDeadlines {
  readonly #options: ActiveDeadlinesOptions;
  readonly #timers: KeyedTimers<string>;

  constructor(options: ActiveDeadlinesOptions) {
    this.#options = options;
    this.#timers = new KeyedTimers(options.clock);
  }

  /** Why the pod has to go, after an event that says so; undefined where it may stay: it is then looked at again in time. */
  evictionOf(pod: Pod, status: PodStatus | undefined): Eviction | undefined {
    const { clock, eventRecorder, requestSync } = this.#options;
    const podUID = pod.metadata?.uid ?? '';
    const seconds = pod.spec?.activeDeadlineSeconds ?? undefined;
    const startTime = status?.startTime ?? undefined;
    if (seconds === undefined || startTime === undefined || isTerminalPhase(status?.phase)) {
      this.#timers.cancel(podUID);
      return undefined;
    }
    const leftMs = new Date(startTime).getTime() + seconds * 1000 - clock.now();
    if (leftMs > 0) {
      this.#timers.set(podUID, Math.min(leftMs, longestTimerMs), () => requestSync(podUID));
      return undefined;
    }
    this.#timers.cancel(podUID);
    eventRecorder.event(pod, 'Normal', exceeded.reason, exceeded.message);
    return exceeded;
  }

  forget(podUID: string): void {
    this.#timers.cancel(podUID);
  }

  stop(): void {
    this.#timers.cancelAll();
  }
}
