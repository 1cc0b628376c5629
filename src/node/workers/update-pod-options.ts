import type { Pod } from '../../api/json/types.ts';
import { requirePod } from '../../api/pod/pod-identity.ts';
import type { RunningPod } from '../../api/pod/runtime-pod.ts';
import { invalidArgument } from '../../base/errors.ts';
import { requireKnownMembers, requireObject, requireText } from '../../base/options.ts';
import type { PodStatusFn, SyncPodType } from './pod-syncer.ts';

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
