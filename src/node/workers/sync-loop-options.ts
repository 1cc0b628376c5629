import type { Pod } from '../../api/json/types.ts';
import type { RunningPod } from '../../api/pod/runtime-pod.ts';
import { type Clock, type SteadyClock, safeClock, systemClock } from '../../base/clock.ts';
import { callWithin, type WaitLimits } from '../../base/concurrency/aborts.ts';
import { StatusManagerError } from '../../base/errors.ts';
import { type Logger, loggerOption } from '../../base/logging/logger.ts';
import { type Metrics, type MetricsSink, metricsOption } from '../../base/metrics/metrics.ts';
import { longestTimerMs, numberOption, optionOfType, requireKnownOptions, requireMethods } from '../../base/options.ts';
import { type EventRecorder, noEvents, safeEventRecorder } from '../../client/events/event-recorder.ts';
import type { BasicPodManager } from '../../status/pods/basic-pod-manager.ts';
import type { StatusManager } from '../../status/status-manager.ts';
import type { PodUpdate } from '../config/pod-changes.ts';
import type { Admission, AdmissionLater } from './pod-admissions.ts';
import type { KnownPod } from './pod-records.ts';
import type { UpdatePodOptions } from './workers-options.ts';

/** Where the loop hears of pods; a `PodConfig` is one. */
export interface LoopConfig {
  /** The changes, in order. The loop reads them once, from its start to its stop. */
  updates(): AsyncIterator<PodUpdate, unknown>;
  /** True when every source is among `seen`, and has sent its pods. */
  seenAllSources(seen: Iterable<string>): boolean;
}

/** What the loop tells, and asks of, the workers; a `PodWorkers` answers. */
export interface LoopPodWorkers {
  /** Tells the workers of a pod. It must not wait. */
  updatePod(options: UpdatePodOptions): void;
  /** Compares with all pods that the agent is to run. Returns what is known, by uid. */
  syncKnownPods(desired: readonly Pod[]): ReadonlyMap<string, KnownPod>;
  /** True once the pod is to end. */
  isPodTerminationRequested(podUID: string): boolean;
  /** True once no container of the pod runs; false for a pod that is not known. */
  isPodKnownTerminated(podUID: string): boolean;
  /** Grows with each change that a look at all pods may have to deal with. Without it no look is left out. */
  readonly changes?: number;
}

/** The pods that are due again; a `WorkQueue` is one. */
export interface LoopWorkQueue {
  /** Takes the uids that are due. */
  getWork(): readonly string[];
  /** Settles as soon as a uid is due, or the queue is closed. */
  readable(): Promise<unknown>;
}

/** What the container runtime lists now. */
export interface LoopRuntime {
  /** Every pod of which anything is left. `signal` aborts when nobody waits for the answer any more. */
  getPods(signal: AbortSignal): readonly RunningPod[] | Promise<readonly RunningPod[]>;
  /** Grows where another list may have other pods than the last one for a reason that the loop is not told of. */
  readonly changes?: number;
}

/** Where the loop keeps the pods; a `BasicPodManager` is one. */
export type LoopPodManager = Pick<
  BasicPodManager,
  'getPods' | 'getPodByUID' | 'getPodAndMirrorPod' | 'getPodsAndMirrorPods' | 'replacePod' | 'removePod'
>;

/** What a look at all pods has found. */
export interface HousekeepingReport {
  /** Every pod of the agent but the mirror pods. */
  readonly pods: readonly Pod[];
  /** The uids of the pods of which containers may run. */
  readonly possiblyRunning: ReadonlySet<string>;
}

/** The parts that the loop puts together. `config`, `podManager`, `podWorkers`, `workQueue` and `statusManager` are needed. */
export interface SyncLoopOptions {
  /** The changes of pods, such as a `PodConfig` in mode `Incremental`. */
  readonly config: LoopConfig;
  /** Gets every pod before the workers are told of it. */
  readonly podManager: LoopPodManager;
  /** What is done for each pod, such as `PodWorkers`. */
  readonly podWorkers: LoopPodWorkers;
  /** The pods that are due again: the queue of the workers. */
  readonly workQueue: LoopWorkQueue;
  /** Gets the status of a pod that is refused, and forgets the pods that are gone. A `StatusManager` is one. */
  readonly statusManager: Pick<StatusManager, 'getPodStatus' | 'setPodStatus' | 'removeOrphanedStatuses'>;
  /** Without it no orphan of the runtime is looked for. */
  readonly runtime?: LoopRuntime;
  /**
   * Asked before a pod first goes to the workers, with the other pods that are not over. Default: every pod may run. It answers at
   * once: `{ admit: 'later', until }` where it has to ask somebody else first, and is asked again when `until` settles. While it throws,
   * or answers anything else, the pod waits: see `SyncLoop.problems`. It is asked again after 1 s, growing to 30 s.
   */
  readonly admitPod?: (pod: Pod, activePods: readonly Pod[]) => Admission | AdmissionLater;
  /** Called at each housekeeping, for parts that keep something of each pod. What it throws is logged. */
  readonly onHousekeeping?: (report: HousekeepingReport) => unknown;
  /** Called when every update so far has been handled, again and again. What it throws is logged. */
  readonly onCaughtUp?: () => unknown;
  /** How often all pods are looked at, in milliseconds. Default 2000, as the kubelet. */
  readonly housekeepingIntervalMs?: number;
  /**
   * How far apart two looks may be while nothing has changed since one that has found nothing to do: no update of a source, no pod that ends
   * or waits. For workers that count their `changes`. In milliseconds. Default: `housekeepingIntervalMs`, so that none is left out.
   */
  readonly quietHousekeepingIntervalMs?: number;
  /** How long a list of the runtime may take, in milliseconds. Default 30 000. */
  readonly listTimeoutMs?: number;
  /** Gets an event for each pod that is refused. Default: nobody. */
  readonly eventRecorder?: EventRecorder;
  /** Where the time comes from. Default: the machine's clock. */
  readonly clock?: Clock;
  /** Default: warnings and errors go to the console; null: silent. */
  readonly logger?: Logger | null;
  /** Gets what `metricDefinitions` lists for the part SyncLoop. Default: nothing is measured. */
  readonly metrics?: MetricsSink;
}

type Optional = 'runtime' | 'admitPod' | 'onHousekeeping' | 'onCaughtUp';
export type ResolvedLoopOptions = Required<Omit<SyncLoopOptions, Optional | 'metrics' | 'logger' | 'clock'>> & {
  readonly clock: SteadyClock;
  readonly metrics: Metrics;
  readonly logger: Logger;
} & {
  readonly [Name in Optional]: SyncLoopOptions[Name] | undefined;
};

const knownOptions = [
  'config',
  'podManager',
  'podWorkers',
  'workQueue',
  'statusManager',
  'runtime',
  'admitPod',
  'onHousekeeping',
  'onCaughtUp',
  'housekeepingIntervalMs',
  'quietHousekeepingIntervalMs',
  'listTimeoutMs',
  'eventRecorder',
  'clock',
  'logger',
  'metrics',
] as const satisfies readonly (keyof SyncLoopOptions)[];

const podManagerMethods = [
  'getPods',
  'getPodByUID',
  'getPodAndMirrorPod',
  'getPodsAndMirrorPods',
  'replacePod',
  'removePod',
] as const satisfies readonly (keyof LoopPodManager)[];

export function resolveLoopOptions(options: SyncLoopOptions): ResolvedLoopOptions {
  requireKnownOptions('options', options, knownOptions);
  const { config, podManager, podWorkers, workQueue, statusManager, runtime, admitPod } = options;
  const { onHousekeeping, onCaughtUp } = options;
  const { eventRecorder = noEvents, clock = systemClock, logger } = options;
  requireMethods('config', config, ['updates', 'seenAllSources']);
  requireMethods('podManager', podManager, podManagerMethods);
  const questions = ['updatePod', 'syncKnownPods', 'isPodTerminationRequested', 'isPodKnownTerminated'];
  requireMethods('podWorkers', podWorkers, questions);
  requireMethods('workQueue', workQueue, ['getWork', 'readable']);
  requireMethods('statusManager', statusManager, ['getPodStatus', 'setPodStatus', 'removeOrphanedStatuses']);
  if (runtime !== undefined) requireMethods('runtime', runtime, ['getPods']);
  if (admitPod !== undefined) optionOfType('admitPod', admitPod, 'function');
  if (onHousekeeping !== undefined) optionOfType('onHousekeeping', onHousekeeping, 'function');
  if (onCaughtUp !== undefined) optionOfType('onCaughtUp', onCaughtUp, 'function');
  requireMethods('eventRecorder', eventRecorder, ['event']);
  requireMethods('clock', clock, ['now', 'setTimer']);
  const { housekeepingIntervalMs = 2000, quietHousekeepingIntervalMs = housekeepingIntervalMs } = options;
  return {
    config,
    podManager,
    podWorkers,
    workQueue,
    statusManager,
    runtime,
    admitPod,
    onHousekeeping,
    onCaughtUp,
    housekeepingIntervalMs: numberOption('housekeepingIntervalMs', housekeepingIntervalMs, 1, longestTimerMs),
    quietHousekeepingIntervalMs: numberOption('quietHousekeepingIntervalMs', quietHousekeepingIntervalMs, 1, longestTimerMs),
    listTimeoutMs: numberOption('listTimeoutMs', options.listTimeoutMs ?? 30_000, 1, longestTimerMs),
    eventRecorder: safeEventRecorder(eventRecorder),
    clock: safeClock(clock),
    logger: loggerOption(logger),
    metrics: metricsOption(options.metrics),
  };
}

/** What the runtime lists. Rejects where it does, when it takes too long, and for an answer that is no list of pods. */
export async function listRunningPods(runtime: LoopRuntime, limits: WaitLimits): Promise<readonly RunningPod[]> {
  const message = `getPods() gave no answer within ${limits.timeoutMs} ms`;
  const late = (): StatusManagerError => new StatusManagerError('ERR_CALL_TIMEOUT', message);
  const answer: unknown = await callWithin((signal) => runtime.getPods(signal), { ...limits, late });
  if (!Array.isArray(answer)) throw new TypeError('getPods() of the runtime must answer with a list');
  // one entry that cannot be read hides no other
  return answer.filter(isRunningPod);
}

function isRunningPod(value: unknown): value is RunningPod {
  if (typeof value !== 'object' || value === null) return false;
  const { uid, name, namespace } = value as Partial<Record<keyof RunningPod, unknown>>;
  return [uid, name, namespace].every((text) => typeof text === 'string' && text !== '');
}
