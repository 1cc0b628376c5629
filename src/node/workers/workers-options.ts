import type { Pod } from '../../api/json/types.ts';
import { requirePod } from '../../api/pod/pod-identity.ts';
import type { RunningPod } from '../../api/pod/runtime-pod.ts';
import { type Clock, type SteadyClock, safeClock, systemClock } from '../../base/clock.ts';
import { invalidArgument } from '../../base/errors.ts';
import { type Logger, loggerOption } from '../../base/logging/logger.ts';
import { type Metrics, type MetricsSink, metricsOption } from '../../base/metrics/metrics.ts';
import {
  longestTimerMs,
  numberOption,
  optionOfType,
  requireKnownMembers,
  requireKnownOptions,
  requireMethods,
  requireObject,
  requireText,
} from '../../base/options.ts';
import { safeRandom } from '../../base/random.ts';
import { type EventRecorder, noEvents, safeEventRecorder } from '../../client/events/event-recorder.ts';
import type { PodStatusFn, PodSyncer, RuntimeStatusCache, SyncPodType } from './pod-syncer.ts';
import { type RetryQueue, WorkQueue } from './work-queue.ts';

/** What is called for each pod, and when again. `podSyncer` and `runtimeStatusCache` are needed. */
export interface PodWorkersOptions<Queue extends RetryQueue = RetryQueue> {
  /** What is done for a pod. */
  readonly podSyncer: PodSyncer;
  /** What the runtime has of a pod, asked before each call. */
  readonly runtimeStatusCache: RuntimeStatusCache;
  /**
   * Gets the pods that are to be synced again. The agent's loop takes from it the pods that are due, and hands each to
   * `updatePod` with the type `sync`: the workers do not repeat a call by themselves. Default: a {@link WorkQueue} of the
   * workers' own, which `stop` closes. Hand `workers.workQueue` to the loop: while nobody reads it, nothing is repeated, and the
   * uids of the pods stay in it.
   */
  readonly workQueue?: Queue;
  /**
   * Gets Warning events: FailedSync where the runtime status of a pod cannot be read, ExceededGracePeriod where `killPodNow`
   * times out. Default: nobody.
   */
  readonly eventRecorder?: EventRecorder;
  /**
   * True: also what the kubelet does worse is done as it does it. Of a kill of a pod that is over, or that ends without having
   * started, `completed` is never called, and `killPodNow` times out; by default `completed` is called at once. A kill may make
   * the grace period of a pod longer that was deleted without any; by default it only shrinks. A static pod that was forgotten
   * while it waited for another of its full name, and comes again, has its old place; by default the last. One that is to end
   * while it waits is over without any call, also where the runtime was seen to run it; by default it is then stopped. A
   * `podStatusFn` that comes while the pod is being stopped is lost, and so is any for the pod's last status; by default both
   * count. Default false.
   */
  readonly exactlyAsKubelet?: boolean;
  /** How often a pod is synced when nothing changes, in milliseconds; up to half of it is added, by chance. Default 60 000. */
  readonly resyncIntervalMs?: number;
  /** How long a pod waits after a failure, in milliseconds; up to half of it is added, by chance. Default 10 000. */
  readonly backOffPeriodMs?: number;
  /** From 0 up to 1. Default `Math.random`. */
  readonly random?: () => number;
  /** Where the time comes from. Default: the machine's clock. */
  readonly clock?: Clock;
  /** Default: warnings and errors go to the console; null: silent. */
  readonly logger?: Logger | null;
  /**
   * Gets what `metricDefinitions` lists for the part PodWorkers. `kubelet_pod_worker_duration_seconds` is measured of updates that
   * have a `startTime`. Default: nothing is measured.
   */
  readonly metrics?: MetricsSink;
}

export interface ResolvedWorkersOptions extends Required<Omit<PodWorkersOptions, 'metrics' | 'logger' | 'clock'>> {
  readonly clock: SteadyClock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** The work queue, where the workers have made it themselves. */
  readonly ownQueue: WorkQueue | undefined;
}

const knownOptions = [
  ...['podSyncer', 'runtimeStatusCache', 'workQueue', 'eventRecorder', 'exactlyAsKubelet', 'resyncIntervalMs', 'backOffPeriodMs'],
  ...['random', 'clock', 'logger', 'metrics'],
];

export function resolveWorkersOptions(options: PodWorkersOptions): ResolvedWorkersOptions {
  requireKnownOptions('options', options, knownOptions);
  const { podSyncer, runtimeStatusCache, eventRecorder = noEvents, exactlyAsKubelet = false } = options;
  const { resyncIntervalMs = 60_000, backOffPeriodMs = 10_000, random = Math.random } = options;
  const { clock = systemClock, logger, metrics } = options;
  requireMethods('podSyncer', podSyncer, ['syncPod', 'syncTerminatingPod', 'syncTerminatingRuntimePod', 'syncTerminatedPod']);
  requireMethods('runtimeStatusCache', runtimeStatusCache, ['get', 'getNewerThan']);
  requireMethods('eventRecorder', eventRecorder, ['event']);
  requireMethods('clock', clock, ['now', 'setTimer']);
  const ownQueue = options.workQueue === undefined ? new WorkQueue({ clock }) : undefined;
  const workQueue = options.workQueue ?? ownQueue;
  requireMethods('workQueue', workQueue, ['enqueue']);
  return {
    podSyncer,
    runtimeStatusCache,
    workQueue: workQueue as RetryQueue,
    ownQueue,
    eventRecorder: safeEventRecorder(eventRecorder),
    exactlyAsKubelet: optionOfType('exactlyAsKubelet', exactlyAsKubelet, 'boolean'),
    resyncIntervalMs: numberOption('resyncIntervalMs', resyncIntervalMs, 0, longestTimerMs),
    backOffPeriodMs: numberOption('backOffPeriodMs', backOffPeriodMs, 0, longestTimerMs),
    random: safeRandom(optionOfType('random', random, 'function')),
    clock: safeClock(clock),
    logger: loggerOption(logger),
    metrics: metricsOption(metrics),
  };
}

/** Why a pod is handed to the workers. `kill`: it is to end. */
export type UpdateType = SyncPodType | 'kill';

/** How a pod is to end. */
export interface KillPodOptions {
  /** True when the pod is evicted: its content may be removed before it has ended. Counts only in the update that begins the end. */
  readonly evict?: boolean;
  /** How long the containers may take, in seconds. What it makes longer than before is ignored; 0 becomes 1. Default: the pod's own. */
  readonly gracePeriodSeconds?: number;
  /** Changes the status that is stored of the ended pod, in place. The last one given before the status is stored counts, for every try. */
  readonly podStatusFn?: PodStatusFn;
  /** Called once, when no container of the pod runs any more, or when the update ends no pod. What it throws is logged. */
  readonly completed?: () => void;
}

/** How a pod is to end whose end is waited for. */
export type KillNowOptions = Omit<KillPodOptions, 'completed'>;

/** One change of one pod. One of `pod` and `runningPod` is needed; with both, `pod` counts. */
export interface UpdatePodOptions {
  /** Why the workers are told. */
  readonly updateType: UpdateType;
  /** The newest version of the pod, with uid, name and namespace. */
  readonly pod?: Pod;
  /** The mirror pod of a static pod. Give it with every update: the syncer gets it with that update alone. */
  readonly mirrorPod?: Pod;
  /** What the runtime runs of a pod that the agent has no object of. It can only be killed. */
  readonly runningPod?: RunningPod;
  /** Ignored unless the pod ends. */
  readonly killPodOptions?: KillPodOptions;
  /** When the agent learned of the change, in milliseconds since the epoch, for the metric of the workers' latency. Without it nothing is measured. */
  readonly startTime?: number;
}

const updateMembers = ['updateType', 'pod', 'mirrorPod', 'runningPod', 'killPodOptions', 'startTime'];
const killNowMembers = ['evict', 'gracePeriodSeconds', 'podStatusFn'];
const killMembers = [...killNowMembers, 'completed'];
const updateTypes: readonly unknown[] = ['create', 'update', 'sync', 'kill'] satisfies UpdateType[];

/** The uid of the pod that is meant. Throws ERR_INVALID_ARGUMENT, naming the member, the rule and the value. */
export function requireUpdate(options: UpdatePodOptions): string {
  requireObject('options', options);
  requireKnownMembers('options', options, updateMembers);
  const { updateType, pod, mirrorPod, runningPod, killPodOptions, startTime } = options;
  if (!updateTypes.includes(updateType))
    throw invalidArgument('options.updateType', `one of ${updateTypes.join(', ')}`, updateType);
  if (mirrorPod != null) requireObject('options.mirrorPod', mirrorPod);
  if (killPodOptions != null) requireKillPodOptions(killPodOptions);
  if (startTime != null && !Number.isFinite(startTime)) throw invalidArgument('options.startTime', 'a finite number', startTime);
  if (pod != null) return requirePod(pod);
  if (runningPod == null) throw invalidArgument('options', 'an object with `pod` or `runningPod`', options);
  requireObject('options.runningPod', runningPod);
  if (updateType !== 'kill')
    throw invalidArgument('options.updateType', '"kill" for a pod that only the runtime knows', updateType);
  const { uid, name, namespace } = runningPod;
  requireText('options.runningPod.uid', uid);
  requireText('options.runningPod.name', name);
  requireText('options.runningPod.namespace', namespace);
  return uid;
}

/** Throws ERR_INVALID_ARGUMENT for options of which one is not known, or breaks a rule. */
function requireKillPodOptions(options: KillPodOptions): void {
  requireObject('killPodOptions', options);
  requireKnownMembers('killPodOptions', options, killMembers);
  const { evict, gracePeriodSeconds, podStatusFn, completed } = options;
  if (evict != null && typeof evict !== 'boolean') throw invalidArgument('killPodOptions.evict', 'a boolean', evict);
  if (gracePeriodSeconds != null && !(Number.isSafeInteger(gracePeriodSeconds) && gracePeriodSeconds >= 0)) {
    throw invalidArgument('killPodOptions.gracePeriodSeconds', 'an integer from 0 up', gracePeriodSeconds);
  }
  if (podStatusFn != null && typeof podStatusFn !== 'function') {
    throw invalidArgument('killPodOptions.podStatusFn', 'a function', podStatusFn);
  }
  if (completed != null && typeof completed !== 'function') {
    throw invalidArgument('killPodOptions.completed', 'a function', completed);
  }
}

/** The same for the options of a kill that is waited for. */
export function requireKillNowOptions(options: KillNowOptions): void {
  requireObject('options', options);
  requireKnownMembers('options', options, killNowMembers);
}
