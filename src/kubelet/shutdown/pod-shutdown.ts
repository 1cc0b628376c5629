// Behaviour of killPods in pkg/kubelet/nodeshutdown/nodeshutdown_manager.go, v1.36.3.

import type { Pod, WirePodStatus } from '../../api/json/types.ts';
import { podFields } from '../../api/pod/pod-log-fields.ts';
import { type SteadyClock, sleep } from '../../base/clock.ts';
import { settlesWithin } from '../../base/concurrency/aborts.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { setDisruptionTarget } from '../../node/pod-status/disruption-target.ts';
import type { KillNowOptions } from '../../node/workers/workers-options.ts';
import { gracePeriodSeconds, type ShutdownGroup } from './shutdown-groups.ts';

export interface PodShutdownOptions {
  /** Ends the pod. Resolves once none of its containers runs. */
  readonly killPod: (pod: Pod, options: KillNowOptions) => Promise<void>;
  /** True once the volumes of an ended pod are unmounted, and all else that it had is gone. */
  readonly isCleanedUp: (pod: Pod) => boolean;
  readonly clock: SteadyClock;
  readonly logger: Logger;
}

/** How often ended pods are looked at. */
const pollMs = 100;
const reason = 'Terminated';
const message = 'Pod was terminated in response to imminent node shutdown.';

/** Ends the pods of a machine that is about to shut down, one group after the other. */
export class PodShutdown {
  readonly #options: PodShutdownOptions;
  readonly #groups: readonly ShutdownGroup[];
  readonly #over = new Set<Pod>();

  constructor(groups: readonly ShutdownGroup[], options: PodShutdownOptions) {
    this.#groups = groups;
    this.#options = options;
  }

  /** How many pods there are, and how many of them are over. */
  progress(): readonly ShutdownProgress[] {
    return this.#groups.map(({ pods, ...period }) => ({
      ...period,
      pods: pods.length,
      ended: pods.filter((pod) => this.#over.has(pod)).length,
    }));
  }

  /** Resolves once every group has ended or had its time, and begins no further one once the signal aborts. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    for (const group of this.#groups) {
      if (signal.aborted) return;
      const over = new AbortController();
      const timeoutMs = group.shutdownGracePeriodSeconds * 1000;
      const ends = group.pods.map((pod) => this.#end(pod, group, over.signal));
      await settlesWithin(Promise.all(ends), { clock, timeoutMs, signal });
      over.abort();
    }
  }

  /** Never rejects. */
  async #end(pod: Pod, group: ShutdownGroup, over: AbortSignal): Promise<void> {
    const { killPod, isCleanedUp, clock, logger } = this.#options;
    const kill = {
      gracePeriodSeconds: gracePeriodSeconds(pod, group),
      podStatusFn: (status: WirePodStatus) => markShutDown(status, pod, clock.now()),
    };
    await killPod(pod, kill).catch((err: unknown) => {
      if (!over.aborted)
        logger.warn({ err, ...podFields(pod.metadata) }, 'a pod has not ended before the shutdown of the machine');
    });
    while (!over.aborted && !isCleanedUp(pod)) await sleep(clock, pollMs, over);
    if (!over.aborted) this.#over.add(pod);
  }
}

/** How far a group is. */
export interface ShutdownProgress {
  /** The priority of the group. */
  readonly priority: number;
  /** How long the group may take, in seconds. */
  readonly shutdownGracePeriodSeconds: number;
  /** How many pods it has. */
  readonly pods: number;
  /** How many of them have ended, with their volumes unmounted. */
  readonly ended: number;
}

/** A pod that has succeeded stays so. */
function markShutDown(status: WirePodStatus, pod: Pod, now: number): void {
  if (status.phase !== 'Succeeded') status.phase = 'Failed';
  status.reason = reason;
  status.message = message;
  setDisruptionTarget(status, pod, message, now);
}
