import type { Pod } from '../../api/json/types.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import type { KillNowOptions } from '../../node/workers/workers-options.ts';
import type { Resource } from './signals.ts';
import type { NodeUsage, PodUsage } from './usage.ts';

export interface EvictionManagerOptions {
  /** The setting `evictionHard`: quantities or percentages by signal. */
  readonly evictionHard: Readonly<Record<string, string>>;
  /** What the node has. */
  readonly readNode: (signal: AbortSignal) => Promise<NodeUsage>;
  /**
   * What these pods take, by uid. It is asked for few pods while nothing runs short. `resource`: what runs short; undefined: only
   * files count.
   */
  readonly readPods: (
    pods: readonly Pod[],
    signal: AbortSignal,
    resource: Resource | undefined,
  ) => Promise<ReadonlyMap<string, PodUsage>>;
  /**
   * Counts the files of all pods anew, before one has to go because the disk is full. It is waited for no longer than 10 s; then
   * what is known by then counts. Default: nothing is counted anew.
   */
  readonly freshenFiles?: (signal: AbortSignal) => Promise<void>;
  /** The pods that are not over, with the resources that they have been given. */
  readonly activePods: () => readonly Pod[];
  /** Ends a pod; `PodWorkers.killPodNow`. */
  readonly killPod: (pod: Pod, options: KillNowOptions) => Promise<void>;
  /** True once nothing of the pod is on the node any more. */
  readonly isCleanedUp: (pod: Pod) => boolean;
  /** Removes ended containers and unused images, before a pod has to go because the disk is full. Default: nothing is removed. */
  readonly freeDisk?: (signal: AbortSignal) => Promise<void>;
  /** Called when what runs short has changed: the node's conditions are to be written. */
  readonly pressureChanged?: () => void;
  /** Gets the event of each pod that is evicted. Default: nobody. */
  readonly eventRecorder?: EventRecorder;
  /** Gets the warning EvictionThresholdMet about the node: reason and message. Default: nobody. */
  readonly nodeEvent?: (reason: string, message: string) => void;
  readonly clock: Clock;
  readonly logger: Logger;
  /** How often the node is looked at, in milliseconds. Default 10 000. */
  readonly periodMs?: number;
  /** How long a pressure counts after it was last seen, in milliseconds. Default 300 000. */
  readonly transitionPeriodMs?: number;
  /** How long one look may take, in milliseconds. Default 60 000. */
  readonly timeoutMs?: number;
}

/** How long new counts of files are waited for, in milliseconds. */
export const freshenPatienceMs = 10_000;

/** How long an evicted pod's end is waited for before the next one has to go. */
export const cleanupWait = { timeoutMs: 30_000, pollMs: 1000 };
