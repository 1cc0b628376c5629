import type { Pod } from '../../api/json/types.ts';
import type { SteadyClock } from '../../base/clock.ts';
import { callGuarded } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import type { KillNowOptions } from '../../node/workers/workers-options.ts';
import type { Reclaimable, Resource, ThresholdSettings } from './thresholds.ts';
import type { NodeUsage, PodUsage } from './usage.ts';

export interface EvictionManagerOptions extends ThresholdSettings {
  /** The longest grace period of a pod that goes for a soft threshold, in seconds. Default 0. */
  readonly maxPodGracePeriodSeconds?: number;
  /** False: no pod has to go for what it keeps on the disk alone. Default true. */
  readonly localStorageCapacityIsolation?: boolean;
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
  /** Removes ended containers, or unused images, before a pod has to go because the disk is full. Default: nothing is removed. */
  readonly reclaim?: (what: Reclaimable, signal: AbortSignal) => Promise<void>;
  /**
   * Reads the memory alone, once a second between two looks: the next look begins at once when a hard threshold of memory is met that
   * was not at the last one. Default: the memory is read at each look.
   */
  readonly readMemory?: (signal: AbortSignal) => Promise<Pick<NodeUsage, 'memory' | 'podsMemory'>>;
  /** Called when what runs short has changed: the node's conditions are to be written. */
  readonly pressureChanged?: () => void;
  /** Gets the event of each pod that is evicted. Default: nobody. */
  readonly eventRecorder?: EventRecorder;
  /** Gets the warning EvictionThresholdMet about the node: reason and message. Default: nobody. */
  readonly nodeEvent?: (reason: string, message: string) => void;
  readonly clock: SteadyClock;
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

/** How often the memory alone is read, in milliseconds, where it is. */
export const memoryPeriodMs = 1000;

/** How long an evicted pod's end is waited for before the next one has to go. */
export const cleanupWait = { timeoutMs: 30_000, pollMs: 1000 };

/** Who is told of the node, such as of evictions: reason and message of a warning. */
interface NodeWarnings {
  readonly nodeEvent?: ((reason: string, message: string) => void) | undefined;
  readonly logger: Logger;
}

/** Never throws. */
export function tellNode({ nodeEvent, logger }: NodeWarnings, reason: string, message: string): void {
  callGuarded(
    () => nodeEvent?.(reason, message),
    (err) => logger.error({ err }, 'nodeEvent failed'),
  );
}
