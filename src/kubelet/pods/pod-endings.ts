import type { Pod } from '../../api/json/types.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import { podFields } from '../../api/pod/pod-log-fields.ts';
import type { CancelTimer, SteadyClock } from '../../base/clock.ts';
import { callGuarded } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { longestTimerMs } from '../../base/options.ts';
import { problemFields } from '../../base/problem.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import { graceSeconds } from './container-killer.ts';
import type { PodTroubles } from './pod-troubles.ts';
import { lateEndWords } from './trouble-words.ts';

export interface PodEndingsOptions {
  readonly troubles: PodTroubles;
  readonly eventRecorder: EventRecorder;
  readonly clock: SteadyClock;
  readonly logger: Logger;
}

interface Ending {
  /** By the clock's elapsed time. It only comes nearer. */
  deadline: number;
  cancel: CancelTimer;
}

/** The runtime kills at the end of the grace period, and takes a while for it. */
const patienceMs = 10_000;

/** Tells of pods that have not ended ten seconds after their grace period: in a log line, an event and a trouble, each once. */
export class PodEndings {
  readonly #options: PodEndingsOptions;
  readonly #endings = new Map<string, Ending>();

  constructor(options: PodEndingsOptions) {
    this.#options = options;
  }

  /** The pod is to end, or is asked again to. `running`: the names of its containers that may run. */
  begin(pod: Pod, gracePeriodSeconds: number | undefined, running: readonly string[]): void {
    const { clock, logger } = this.#options;
    const podUID = podUIDOf(pod);
    const seconds = gracePeriodSeconds ?? graceSeconds(pod, undefined, 'other');
    const deadline = clock.elapsed() + seconds * 1000 + patienceMs;
    const known = this.#endings.get(podUID);
    if (known !== undefined && known.deadline <= deadline) return;
    known?.cancel();
    const cancel = callGuarded(
      () => clock.setTimer(() => this.#late(pod, seconds, running), Math.min(deadline - clock.elapsed(), longestTimerMs)),
      (err) =>
        logger.error({ err, ...podFields(pod.metadata) }, 'the clock set no timer; nobody is told when the pod ends too slowly'),
    );
    this.#endings.set(podUID, { deadline, cancel: cancel ?? (() => {}) });
  }

  /** Nothing of the pod runs any more. */
  ended(podUID: string): void {
    this.#endings.get(podUID)?.cancel();
    this.#endings.delete(podUID);
  }

  stop(): void {
    for (const { cancel } of this.#endings.values()) cancel();
    this.#endings.clear();
  }

  #late(pod: Pod, seconds: number, running: readonly string[]): void {
    const { troubles, eventRecorder, logger } = this.#options;
    const words = lateEndWords(seconds, running);
    troubles.failed(pod, 'grace', words, { attempt: 0 });
    eventRecorder.event(pod, 'Warning', 'ExceededGracePeriod', words.message);
    const fields = { ...podFields(pod.metadata), gracePeriodSeconds: seconds, reason: words.message, ...problemFields(words) };
    logger.warn(fields, 'a pod has not ended within its grace period');
  }
}
