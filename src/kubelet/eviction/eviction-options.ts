import type { Pod } from '../../api/json/types.ts';
import { bytesText } from '../../api/quantity/quantity.ts';
import type { SteadyClock } from '../../base/clock.ts';
import { callGuarded } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import type { NodePressures } from '../../node/node-object/node-conditions.ts';
import type { KillNowOptions } from '../../node/workers/workers-options.ts';
import { wholeOf } from '../resize/pod-allocation.ts';
import type { NodeUsage, PodUsage, Supply } from './usage.ts';

export interface EvictionManagerOptions {
  /** The setting `evictionHard`: quantities or percentages by signal. */
  readonly evictionHard: Readonly<Record<string, string>>;
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

/** How long an evicted pod's end is waited for before the next one has to go. */
export const cleanupWait = { timeoutMs: 30_000, pollMs: 1000 };

// Behaviour of pkg/kubelet/eviction (api/types.go, helpers.go), v1.36.3.

/** What can run short, as the settings of the kubelet name it. */
export type Signal =
  | 'memory.available'
  | 'allocatableMemory.available'
  | 'nodefs.available'
  | 'nodefs.inodesFree'
  | 'imagefs.available'
  | 'imagefs.inodesFree'
  | 'pid.available';

/** Below this, the node runs short. */
export interface Threshold {
  readonly signal: Signal;
  /** A quantity, or a share of the capacity, such as `10%`. */
  readonly value: string;
}

/** The name of what runs short in messages. */
export type Resource = 'memory' | 'ephemeral-storage' | 'inodes' | 'pids';

interface SignalKind {
  readonly pressure: keyof NodePressures;
  readonly resource: Resource;
  readonly supply: (node: NodeUsage) => Supply | undefined;
}

export const signalKinds: Readonly<Record<Signal, SignalKind>> = {
  'memory.available': { pressure: 'memory', resource: 'memory', supply: ({ memory }) => memory },
  'allocatableMemory.available': { pressure: 'memory', resource: 'memory', supply: ({ podsMemory }) => podsMemory },
  'imagefs.available': { pressure: 'disk', resource: 'ephemeral-storage', supply: ({ imagefs }) => imagefs },
  'imagefs.inodesFree': { pressure: 'disk', resource: 'inodes', supply: ({ imagefsInodes }) => imagefsInodes },
  'nodefs.available': { pressure: 'disk', resource: 'ephemeral-storage', supply: ({ nodefs }) => nodefs },
  'nodefs.inodesFree': { pressure: 'disk', resource: 'inodes', supply: ({ nodefsInodes }) => nodefsInodes },
  'pid.available': { pressure: 'pid', resource: 'pids', supply: ({ pids }) => pids },
};

/** A threshold that was met, with what there was. */
export interface MetThreshold extends Threshold {
  /** The threshold in bytes or pieces. */
  readonly quantity: number;
  readonly available: number;
}

/**
 * The thresholds of a setting. That of memory holds twice: for the memory of the machine, and for what all pods together may have.
 * Those that this agent has no signal for are left out.
 */
export function thresholdsOf(settings: Readonly<Record<string, string>>): Threshold[] {
  return (Object.keys(signalKinds) as Signal[]).flatMap((signal) => {
    const value = settings[signal === 'allocatableMemory.available' ? 'memory.available' : signal];
    return value === undefined ? [] : [{ signal, value }];
  });
}

/** Those that are met; memory comes first. What is not known meets nothing. */
export function metThresholds(thresholds: readonly Threshold[], node: NodeUsage): MetThreshold[] {
  const met = thresholds.flatMap((threshold) => {
    const supply = signalKinds[threshold.signal].supply(node);
    if (supply === undefined) return [];
    const quantity = quantityOf(threshold.value, supply.capacity);
    return supply.available < quantity ? [{ ...threshold, quantity, available: supply.available }] : [];
  });
  const isMemory = ({ signal }: MetThreshold): boolean => signalKinds[signal].resource === 'memory';
  return met.sort((a, b) => Number(isMemory(b)) - Number(isMemory(a)));
}

function quantityOf(value: string, capacity: number): number {
  return value.endsWith('%') ? Math.trunc((capacity * Number(value.slice(0, -1))) / 100) : wholeOf(value);
}

/** `Threshold quantity: 100Mi, available: 95Mi. ` */
export function thresholdText({ quantity, available }: MetThreshold): string {
  return `Threshold quantity: ${bytesText(quantity)}, available: ${bytesText(available)}. `;
}

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
