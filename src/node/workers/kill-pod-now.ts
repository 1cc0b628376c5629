// Behaviour of killPodNow in pkg/kubelet/pod_workers.go, v1.36.3.

import type { Pod } from '../../api/json/types.ts';
import { podFullName } from '../../api/pod/pod-identity.ts';
import type { Clock } from '../../base/clock.ts';
import { StatusManagerError } from '../../base/errors.ts';
import { longestTimerMs } from '../../base/options.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import type { KillNowOptions, UpdatePodOptions } from './update-pod-options.ts';

/** The shortest time that a pod gets to end, in seconds. */
const shortestWaitSeconds = 10;

/** Kills that somebody waits for. */
export class WaitingKills {
  readonly #clock: Clock;
  readonly #eventRecorder: EventRecorder;
  readonly #giveUps = new Set<() => void>();

  constructor({ clock, eventRecorder }: { readonly clock: Clock; readonly eventRecorder: EventRecorder }) {
    this.#clock = clock;
    this.#eventRecorder = eventRecorder;
  }

  /** Hands the kill to `updatePod`, which may throw. Resolves when no container runs; rejects with ERR_KILL_TIMEOUT or ERR_STOPPED. */
  async kill(pod: Pod, options: KillNowOptions, updatePod: (options: UpdatePodOptions) => void): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    updatePod({ updateType: 'kill', pod, killPodOptions: { ...options, completed: resolve } });
    const gracePeriod = options.gracePeriodSeconds ?? pod.spec?.terminationGracePeriodSeconds ?? 0;
    const waitSeconds = Math.max(shortestWaitSeconds, gracePeriod + Math.floor(gracePeriod / 2));
    const fullName = podFullName(pod);
    const cancelTimer = this.#clock.setTimer(
      () => {
        const message = 'Container runtime did not kill the pod within specified grace period.';
        this.#eventRecorder.event(pod, 'Warning', 'ExceededGracePeriod', message);
        reject(new StatusManagerError('ERR_KILL_TIMEOUT', `The containers of pod ${fullName} still ran after ${waitSeconds} s`));
      },
      Math.min(waitSeconds * 1000, longestTimerMs),
      { keepAlive: true },
    );
    const giveUp = (): void => {
      reject(new StatusManagerError('ERR_STOPPED', `The pod workers were stopped before pod ${fullName} had ended`));
    };
    this.#giveUps.add(giveUp);
    try {
      await promise;
    } finally {
      cancelTimer();
      this.#giveUps.delete(giveUp);
    }
  }

  stop(): void {
    for (const giveUp of this.#giveUps) giveUp();
  }
}
