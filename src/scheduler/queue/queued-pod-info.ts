import type { Before } from '../../base/concurrency/keyed-heap.ts';
import { invalidOption } from '../../base/errors.ts';
import { callGuarded } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { type ProfilePlugins, pluginsAt, type QueuedPod, type Rejection } from '../framework/plugin.ts';
import type { PodInfo } from '../nodes/pod-info.ts';

/** A pod that is to be scheduled, and how that has gone so far. */
export interface QueuedPodInfo extends QueuedPod {
  /** How often the pod was tried. */
  readonly attempts: number;
  /** How often plugins have rejected it. */
  readonly rejections: number;
  /** How often in a row it failed for another reason. */
  readonly errorsInARow: number;
  /** When it could first be tried; milliseconds since 1970. Undefined while it is gated. */
  readonly firstReadyAt: number | undefined;
  /** The plugins that rejected it at its last attempt, or that gate it. */
  readonly unschedulablePlugins: ReadonlySet<string>;
  /** The plugins that wait for something outside. */
  readonly pendingPlugins: ReadonlySet<string>;
  /** The plugin that keeps it from being tried. */
  readonly gatedBy: string | undefined;
  /** Why it is gated. */
  readonly gate: PodGate | undefined;
}

/** Why a pod is kept from being tried. */
export interface PodGate extends Rejection {
  /** True where the plugin could not say whether the pod may be tried. */
  readonly hasFailed?: boolean;
}

/** The same, as the queue alone may change it. */
export interface QueueEntry extends QueuedPodInfo {
  podInfo: PodInfo;
  timestamp: number;
  attempts: number;
  rejections: number;
  errorsInARow: number;
  firstReadyAt: number | undefined;
  unschedulablePlugins: Set<string>;
  pendingPlugins: Set<string>;
  gatedBy: string | undefined;
  gate: PodGate | undefined;
  /** When its back-off ends; undefined where that is not worked out yet. */
  backoffEnd: number | undefined;
}

export function newQueueEntry(podInfo: PodInfo, timestamp: number): QueueEntry {
  return {
    podInfo,
    timestamp,
    attempts: 0,
    rejections: 0,
    errorsInARow: 0,
    firstReadyAt: undefined,
    unschedulablePlugins: new Set(),
    pendingPlugins: new Set(),
    gatedBy: undefined,
    gate: undefined,
    backoffEnd: undefined,
  };
}

/** True where a plugin has rejected the pod, or waits for something. False for a new pod, and for one whose attempt ended with an error. */
export function isRejected({ unschedulablePlugins, pendingPlugins }: QueuedPodInfo): boolean {
  return unschedulablePlugins.size > 0 || pendingPlugins.size > 0;
}

/** The profile that the pod asks for. */
export function schedulerNameOf({ podInfo }: QueuedPodInfo): string {
  return podInfo.pod.spec?.schedulerName ?? '';
}

/**
 * The order of the active queue: that of the plugin with `less`. All profiles share one queue, so each must have one such plugin, and all of
 * them one of the same name. Where it fails, the pod that waits longer comes first.
 */
export function queueOrder(profiles: readonly ProfilePlugins[], logger: Logger): Before<QueuedPod> {
  const sorting = profiles.map((profile) => {
    const plugins = pluginsAt(profile, 'queueSort');
    const [plugin] = plugins;
    if (plugin !== undefined && plugins.length === 1) return plugin;
    const names = plugins.map(({ name }) => name).join(', ');
    throw invalidOption(`plugins of ${profile.schedulerName}`, 'exactly one of them with `less`, which sorts the queue', names);
  });
  const [first] = sorting;
  if (first === undefined) throw invalidOption('profiles', 'at least one profile', profiles);
  const other = sorting.find(({ name }) => name !== first.name);
  if (other !== undefined)
    throw invalidOption('profiles', `a list of profiles that all sort the queue with ${first.name}`, other.name);
  const onFailure = (err: unknown): void => logger.error({ err, plugin: first.name }, 'the plugin that sorts the queue failed');
  return (one, two) => {
    const answer: unknown = callGuarded(() => first.less(one, two), onFailure);
    return typeof answer === 'boolean' ? answer : one.timestamp < two.timestamp;
  };
}
