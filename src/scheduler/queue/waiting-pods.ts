import { podFields } from '../../api/pod/pod-log-fields.ts';
import { type Before, KeyedHeap } from '../../base/concurrency/keyed-heap.ts';
import { errorText } from '../../base/errors.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { type Problem, problemFields } from '../../base/problem.ts';
import type { PluginAt } from '../framework/plugin.ts';
import { asRejection, helpForPlugin, pluginFailure } from '../framework/plugin-error.ts';
import type { PodInfo } from '../nodes/pod-info.ts';
import type { SchedulerProblemKind } from '../problem-kinds.ts';
import { type BackoffBounds, BackoffQueue, type SteadyTime } from './backoff-queue.ts';
import type { Requeueing } from './event-interest.ts';
import { type PodGate, type QueueEntry, schedulerNameOf } from './queued-pod-info.ts';

/** Where a pod waits. */
export type Place = 'active' | 'backoff' | 'unschedulable';

export interface WaitingPodsOptions {
  readonly before: Before<QueueEntry>;
  readonly backoff: BackoffBounds;
  /** The plugins of each profile that may gate a pod. */
  readonly gates: ReadonlyMap<string, readonly GatingPlugin[]>;
  readonly time: SteadyTime;
  readonly logger: Logger;
  /** Told of every pod that comes to a place, and by what. */
  readonly onIncoming: (place: Place, event: string) => void;
}

/** The pods that are not in flight. Each is at one place. */
export class WaitingPods {
  readonly #options: WaitingPodsOptions;
  readonly #active: KeyedHeap<QueueEntry>;
  readonly backoff: BackoffQueue;
  readonly unschedulable = new UnschedulablePods();

  constructor(options: WaitingPodsOptions) {
    this.#options = options;
    const { before, backoff, time } = options;
    this.#active = new KeyedHeap(before);
    this.backoff = new BackoffQueue(time, backoff, before);
  }

  get activeSize(): number {
    return this.#active.size;
  }

  /** True where `take` has a pod. */
  get hasReady(): boolean {
    return this.#active.size > 0 || this.backoff.rejectedSize > 0;
  }

  /** Removes the pod that is to be tried next: where none is active, a rejected one before the end of its back-off. */
  take(): QueueEntry | undefined {
    const active = this.#active.take();
    if (active !== undefined) return active;
    const early = this.backoff.takeRejected();
    if (early !== undefined) this.#arrived('active', 'PopFromBackoffQ');
    return early;
  }

  get(uid: string): QueueEntry | undefined {
    return this.#active.get(uid) ?? this.backoff.get(uid) ?? this.unschedulable.get(uid);
  }

  placeOf(uid: string): Place | undefined {
    if (this.#active.has(uid)) return 'active';
    if (this.backoff.get(uid) !== undefined) return 'backoff';
    return this.unschedulable.get(uid) && 'unschedulable';
  }

  activePods(): QueueEntry[] {
    return [...this.#active.values()];
  }

  /** Puts a newer version in the place of a pod that is active or backs off. False for one that is neither. */
  replace(podInfo: PodInfo): boolean {
    const active = this.#active.get(podInfo.uid);
    const entry = active ?? this.backoff.get(podInfo.uid);
    if (entry === undefined) return false;
    entry.podInfo = podInfo;
    if (active === undefined) this.backoff.set(entry);
    else this.#active.set(podInfo.uid, entry);
    return true;
  }

  /** Puts the pod where it is to wait. A pod that is gated waits among the unschedulable ones. */
  requeue(entry: QueueEntry, requeueing: Requeueing, event: string): Place {
    if (requeueing === 'stay') return this.#toUnschedulable(entry, event);
    askGates(entry, this.#options.gates.get(schedulerNameOf(entry)) ?? [], this.#options.logger);
    if (entry.gatedBy !== undefined) return this.#toUnschedulable(entry, event);
    return requeueing === 'afterBackoff' && this.backoff.isBackingOff(entry)
      ? this.#toBackoff(entry, event)
      : this.toActive(entry, event);
  }

  /** Lets the pod be tried now; its gates are not asked. */
  toActive(entry: QueueEntry, event: string): Place {
    const { uid } = entry.podInfo;
    entry.firstReadyAt ??= this.#options.time.time();
    this.unschedulable.delete(uid);
    this.backoff.delete(uid);
    this.#active.set(uid, entry);
    return this.#arrived('active', event);
  }

  delete(uid: string): void {
    this.#active.delete(uid);
    this.backoff.delete(uid);
    this.unschedulable.delete(uid);
  }

  #toBackoff(entry: QueueEntry, event: string): Place {
    this.unschedulable.delete(entry.podInfo.uid);
    this.backoff.set(entry);
    return this.#arrived('backoff', event);
  }

  #toUnschedulable(entry: QueueEntry, event: string): Place {
    const isNew = this.unschedulable.get(entry.podInfo.uid) === undefined;
    this.unschedulable.set(entry);
    return isNew ? this.#arrived('unschedulable', event) : 'unschedulable';
  }

  #arrived(place: Place, event: string): Place {
    this.#options.onIncoming(place, event);
    return place;
  }
}

/** How many pods of a profile one plugin keeps waiting. */
export interface PluginCount {
  readonly plugin: string;
  readonly profile: string;
  readonly pods: number;
}

/** Pods that wait for an event which may help them, by the plugins that rejected them. */
class UnschedulablePods {
  readonly #entries = new Map<string, QueueEntry>();
  readonly #byPlugin = new Map<string, Set<QueueEntry>>();
  /** Under which plugins a pod is found, though its own sets have changed since. */
  readonly #plugins = new Map<string, ReadonlySet<string>>();

  get size(): number {
    return this.#entries.size;
  }

  get(uid: string): QueueEntry | undefined {
    return this.#entries.get(uid);
  }

  values(): Iterable<QueueEntry> {
    return this.#entries.values();
  }

  /** The pods that one of these plugins rejected, gates or keeps pending. */
  rejectedBy(plugins: Iterable<string>): Set<QueueEntry> {
    const found = new Set<QueueEntry>();
    for (const plugin of plugins) for (const entry of this.#byPlugin.get(plugin) ?? []) found.add(entry);
    return found;
  }

  /** How many pods of each profile each plugin rejected, gates or keeps pending. */
  countsByPlugin(): PluginCount[] {
    return [...this.#byPlugin].flatMap(([plugin, entries]) => {
      const pods = new Map<string, number>();
      for (const entry of entries) pods.set(schedulerNameOf(entry), (pods.get(schedulerNameOf(entry)) ?? 0) + 1);
      return Array.from(pods, ([profile, count]) => ({ plugin, profile, pods: count }));
    });
  }

  /** Adds the pod, or brings up to date what rejected it. */
  set(entry: QueueEntry): void {
    const { uid } = entry.podInfo;
    this.delete(uid);
    const plugins = new Set([...entry.unschedulablePlugins, ...entry.pendingPlugins]);
    this.#entries.set(uid, entry);
    this.#plugins.set(uid, plugins);
    for (const plugin of plugins) {
      const entries = this.#byPlugin.get(plugin);
      if (entries === undefined) this.#byPlugin.set(plugin, new Set([entry]));
      else entries.add(entry);
    }
  }

  delete(uid: string): QueueEntry | undefined {
    const entry = this.#entries.get(uid);
    if (entry === undefined) return undefined;
    for (const plugin of this.#plugins.get(uid) ?? []) this.#byPlugin.get(plugin)?.delete(entry);
    this.#plugins.delete(uid);
    this.#entries.delete(uid);
    return entry;
  }
}

/** A plugin that may keep pods from being tried. */
type GatingPlugin = PluginAt<'preEnqueue'>;

/**
 * Asks the plugins whether the pod may be tried, first the one that gates it, and notes the answer in the entry. A plugin that fails, or
 * answers with a promise, keeps the pod: it said nothing that allows it.
 */
function askGates(entry: QueueEntry, plugins: readonly GatingPlugin[], logger: Logger): void {
  const gating = plugins.find(({ name }) => name === entry.gatedBy);
  for (const plugin of gating === undefined ? plugins : [gating, ...plugins.filter((one) => one !== gating)]) {
    const rejection = askOne(plugin, entry, logger);
    if (rejection === undefined) continue;
    entry.unschedulablePlugins.add(plugin.name);
    entry.gatedBy = plugin.name;
    entry.gate = rejection;
    return;
  }
  entry.gatedBy = undefined;
  entry.gate = undefined;
}

/** A plugin that cannot say whether a pod may be tried. */
export function gateWords(plugin: string): Pick<Problem, 'help'> & { readonly kind: SchedulerProblemKind } {
  return { kind: 'plugin-failed', help: helpForPlugin(plugin, 'an update of the pod') };
}

function askOne(plugin: GatingPlugin, { podInfo }: QueueEntry, logger: Logger): PodGate | undefined {
  try {
    const answer: unknown = plugin.preEnqueue(podInfo.pod);
    return answer === undefined ? undefined : asRejection(plugin.name, 'preEnqueue', answer);
  } catch (error) {
    const err = pluginFailure(plugin.name, 'preEnqueue', error);
    logger.error(
      { err, plugin: plugin.name, ...podFields(podInfo), ...problemFields(gateWords(plugin.name)) },
      'a plugin could not say whether a pod may be tried; the pod waits',
    );
    return { code: 'UnschedulableAndUnresolvable', reasons: [errorText(err)], hasFailed: true };
  }
}
