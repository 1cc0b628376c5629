import { callGuarded } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { ApiResource } from '../../client/resources/api-resource.ts';
import { type ProfilePlugins, pluginsAt } from '../framework/plugin.ts';
import type { PodInfo } from '../nodes/pod-info.ts';
import { type BackoffBounds, QueueTimers, type SteadyTime } from './backoff-queue.ts';
import { forceActivate, isWildcard, podUpdateEvents, unschedulableTimeout } from './cluster-event.ts';
import { EventInterest, requeueingAfter, requeueingOf } from './event-interest.ts';
import { InFlightPods, type SeenEvent } from './in-flight-pods.ts';
import {
  isRejected,
  newQueueEntry,
  type QueuedPodInfo,
  type QueueEntry,
  queueOrder,
  schedulerNameOf,
} from './queued-pod-info.ts';
import { type Place, type PluginCount, WaitingPods } from './waiting-pods.ts';

/** What a queue needs. Checked by who makes it. */
export interface SchedulingQueueOptions {
  readonly profiles: readonly ProfilePlugins[];
  readonly backoff: BackoffBounds;
  /** A pod that has waited for an event for longer is tried again, in milliseconds. */
  readonly maxInUnschedulableMs: number;
  readonly time: SteadyTime;
  readonly logger: Logger;
  /** Called when `pop` may have a pod again. It must not call the queue at once. */
  readonly onReady: () => void;
  /** Told of every pod that comes to a place, and by what. */
  readonly onIncoming?: (place: Place, event: string) => void;
}

/** Where a pod is, and how its attempts went. */
export interface PodPlace {
  readonly place: Place | 'inFlight';
  readonly info: QueuedPodInfo;
  /** When its back-off ends, as the queue's time counts; undefined where it has none. */
  readonly backoffEnd: number | undefined;
}

/** How many pods there are at each place. */
export interface QueueCounts {
  readonly active: number;
  readonly backoff: number;
  /** Those that wait for an event; gated ones apart. */
  readonly unschedulable: number;
  readonly gated: number;
  readonly inFlight: number;
  /** Of the pods that wait for an event or are gated. */
  readonly byPlugin: readonly PluginCount[];
}

/** Why an attempt failed: the plugins that said no. Without any the attempt ended with an error. */
export interface Rejectors {
  readonly unschedulablePlugins: Iterable<string>;
  readonly pendingPlugins: Iterable<string>;
}

/**
 * The pods that are to be scheduled. `active`: they can be tried now. `backoff`: they failed and are tried again at the end of their
 * back-off, or sooner where there is nothing else to do. `unschedulable`: they wait for an event that may help them, or are gated. In flight:
 * they were popped and are not done. Behaviour of pkg/scheduler/backend/queue, v1.36.3.
 */
export class SchedulingQueue {
  readonly #options: SchedulingQueueOptions;
  readonly #interest: EventInterest;
  readonly #waiting: WaitingPods;
  readonly #inFlight = new InFlightPods();
  readonly #timers: QueueTimers;

  constructor(options: SchedulingQueueOptions) {
    this.#options = options;
    const { profiles, time, backoff, logger, onIncoming = () => {} } = options;
    this.#interest = new EventInterest(profiles);
    const gates = new Map(profiles.map((profile) => [profile.schedulerName, pluginsAt(profile, 'preEnqueue')]));
    this.#waiting = new WaitingPods({ before: queueOrder(profiles, logger), backoff, gates, time, logger, onIncoming });
    this.#timers = new QueueTimers(time, {
      backoff: { isNeeded: () => this.#waiting.backoff.size > 0, run: () => this.#flushBackoff() },
      leftover: { isNeeded: () => this.#waiting.unschedulable.size > 0, run: () => this.#flushLeftover() },
    });
  }

  start(): void {
    this.#timers.start();
  }

  /** Ends the timers. What is in the queue stays there. */
  close(): void {
    this.#timers.close();
  }

  /** True where `pop` has a pod. */
  get hasReady(): boolean {
    return this.#waiting.hasReady;
  }

  /** The pod that is to be tried next; undefined where there is none. It is in flight until `done` or `giveBack`. */
  pop(): QueuedPodInfo | undefined {
    const entry = this.#waiting.take();
    if (entry === undefined) return undefined;
    entry.attempts += 1;
    this.#inFlight.add(entry);
    return entry;
  }

  /** A pod that has no node came. False where a plugin gates it. */
  add(podInfo: PodInfo): boolean {
    if (this.#inFlight.setLatest(podInfo.uid, podInfo)) return true;
    this.#waiting.delete(podInfo.uid);
    const entry = newQueueEntry(podInfo, this.#options.time.time());
    return this.#changed(() => this.#waiting.requeue(entry, 'atOnce', 'UnschedulablePodAdd') === 'active');
  }

  /**
   * A pod that has no node changed. A pod that is being tried keeps the change for when it comes back; one that is not known is added; a
   * version that is known already is left out.
   */
  update(podInfo: PodInfo): void {
    const { uid } = podInfo;
    const entry = this.#inFlight.get(uid) ?? this.#waiting.get(uid);
    if (entry === undefined) {
      this.add(podInfo);
      return;
    }
    const before = this.#inFlight.latestOf(uid) ?? entry.podInfo;
    if (isSameVersion(before, podInfo)) return;
    const events = podUpdateEvents(before, podInfo).map(
      (event): SeenEvent => ({ event, before: asMembers(before), after: asMembers(podInfo) }),
    );
    if (this.#inFlight.setLatest(uid, podInfo)) {
      for (const seen of events) this.#inFlight.see(seen);
      return;
    }
    if (this.#waiting.replace(podInfo)) return;
    entry.podInfo = podInfo;
    this.#changed(() =>
      events.some((seen) => {
        const requeueing = requeueingOf(entry, seen, this.#interest, this.#options.logger);
        return this.#waiting.requeue(entry, requeueing, seen.event.label) !== 'unschedulable';
      }),
    );
  }

  /** Keeps the newest version of a pod that is being bound: its changes matter only if the binding fails. */
  keepLatest(podInfo: PodInfo): void {
    this.#inFlight.setLatest(podInfo.uid, podInfo);
  }

  /** The newest version of a pod in flight; undefined for any other one, and for one that went meanwhile or has a node. */
  latestOf(uid: string): PodInfo | undefined {
    return this.#inFlight.latestOf(uid);
  }

  /** The pod is gone, or has a node. A pod in flight stays so until `done` or `giveBack`, and does not come back. */
  delete(uid: string): void {
    this.#inFlight.setLatest(uid, undefined);
    this.#waiting.delete(uid);
  }

  /** The pod has a node, and what fails from now on is no plugin's rejection: no event is kept for it any more. */
  commit(uid: string): void {
    this.#inFlight.setApart(uid);
  }

  /** The pod has its node, or is gone: it is not tried again. To be called when nothing can fail any more. */
  done(uid: string): void {
    this.#inFlight.delete(uid);
  }

  /**
   * The attempt has failed. A pod that failed with an error, or that an event may have helped meanwhile, waits for its back-off; any other
   * waits for such an event. Returns the newest version of the pod; undefined where it went meanwhile and does not come back.
   */
  giveBack(uid: string, { unschedulablePlugins, pendingPlugins }: Rejectors): PodInfo | undefined {
    const entry = this.#inFlight.get(uid);
    const latest = this.#inFlight.latestOf(uid);
    const events = this.#inFlight.eventsSince(uid);
    this.#inFlight.delete(uid);
    if (entry === undefined || latest === undefined) return undefined;
    entry.podInfo = latest;
    entry.unschedulablePlugins = new Set(unschedulablePlugins);
    entry.pendingPlugins = new Set(pendingPlugins);
    if (isRejected(entry)) entry.rejections += 1;
    entry.errorsInARow = isRejected(entry) ? 0 : entry.errorsInARow + 1;
    entry.timestamp = this.#options.time.time();
    entry.backoffEnd = undefined;
    const requeueing = requeueingAfter(entry, events, this.#interest, this.#options.logger);
    this.#changed(() => this.#waiting.requeue(entry, requeueing, 'ScheduleAttemptFailure') !== 'unschedulable');
    return latest;
  }

  /** Something changed in the cluster. With `concerns`, only pods for which it is true may be helped. */
  see(seen: SeenEvent, concerns: (pod: PodInfo) => boolean = () => true): void {
    const rejected = new Set<QueueEntry>();
    let isOfInterest = false;
    for (const schedulerName of this.#interest.schedulerNames) {
      const plugins = this.#interest.of(schedulerName, seen.event);
      if (plugins.size > 0) isOfInterest = true;
      for (const entry of this.#waiting.unschedulable.rejectedBy(plugins.keys())) {
        if (schedulerNameOf(entry) === schedulerName && concerns(entry.podInfo)) rejected.add(entry);
      }
    }
    if (isOfInterest) this.#move(rejected, seen);
  }

  /** Lets a pod that waits be tried at once. A pod in flight that fails is tried again after its back-off. False for one that is not known. */
  activate(uid: string): boolean {
    if (this.#inFlight.has(uid)) {
      this.#inFlight.see({ event: forceActivate, before: undefined, after: { metadata: { uid } } });
      return true;
    }
    const entry = this.#waiting.get(uid);
    const place = this.#waiting.placeOf(uid);
    if (entry === undefined) return false;
    if (place === 'backoff') this.#changed(() => this.#waiting.toActive(entry, forceActivate.label) === 'active');
    if (place === 'unschedulable') {
      this.#changed(() => this.#waiting.requeue(entry, 'atOnce', forceActivate.label) === 'active');
    }
    return true;
  }

  /** Where a pod is; undefined for one that is not known. */
  placeOf(uid: string): PodPlace | undefined {
    const info = this.#inFlight.get(uid) ?? this.#waiting.get(uid);
    const place = this.#inFlight.has(uid) ? 'inFlight' : this.#waiting.placeOf(uid);
    if (info === undefined || place === undefined) return undefined;
    const end = this.#waiting.backoff.endOf(info);
    return { place, info, backoffEnd: Number.isFinite(end) ? end : undefined };
  }

  /** What plugins have registered for, beside pods and nodes. */
  get resourcesOfInterest(): readonly ApiResource[] {
    return this.#interest.resources;
  }

  /** True where a plugin of the pod's profile has said which changes may help a pod that it rejects. */
  asksForEvents(info: QueuedPodInfo, plugin: string): boolean {
    return this.#interest.hasEvents(schedulerNameOf(info), plugin);
  }

  /** The uids of the pods that a plugin keeps from being tried. */
  gatedUids(): string[] {
    return [...this.#waiting.unschedulable.values()].flatMap(({ gatedBy, podInfo }) =>
      gatedBy === undefined ? [] : podInfo.uid,
    );
  }

  /** How many pods there are at each place. */
  counts(): QueueCounts {
    const { activeSize, backoff, unschedulable } = this.#waiting;
    let gated = 0;
    for (const { gatedBy } of unschedulable.values()) if (gatedBy !== undefined) gated += 1;
    const waiting = { active: activeSize, backoff: backoff.size, unschedulable: unschedulable.size - gated, gated };
    return { ...waiting, inFlight: this.#inFlight.size, byPlugin: unschedulable.countsByPlugin() };
  }

  /** The pods at each place, in no order. */
  entries(): Readonly<Record<'active' | 'rejectedBackoff' | 'errorBackoff' | 'unschedulable' | 'inFlight', QueuedPodInfo[]>> {
    const { rejected, errors } = this.#waiting.backoff.entries();
    return {
      active: this.#waiting.activePods(),
      rejectedBackoff: rejected,
      errorBackoff: errors,
      unschedulable: [...this.#waiting.unschedulable.values()],
      inFlight: this.#inFlight.entries(),
    };
  }

  #move(entries: Iterable<QueueEntry>, seen: SeenEvent): void {
    this.#changed(() => {
      let isReady = false;
      for (const entry of entries) {
        if (entry.gatedBy !== undefined && !this.#wakes(entry.gatedBy, entry, seen)) continue;
        const requeueing = requeueingOf(entry, seen, this.#interest, this.#options.logger);
        if (requeueing === 'stay') continue;
        if (this.#waiting.requeue(entry, requeueing, seen.event.label) !== 'unschedulable') isReady = true;
      }
      this.#inFlight.see(seen);
      return isReady;
    });
  }

  /** A gated pod is left alone but by an event that the plugin which gates it has asked for. */
  #wakes(gatedBy: string, entry: QueueEntry, { event }: SeenEvent): boolean {
    return !isWildcard(event) && this.#interest.of(schedulerNameOf(entry), event).has(gatedBy);
  }

  #flushBackoff(): void {
    this.#changed(() => {
      const over = this.#waiting.backoff.takeOver();
      for (const entry of over) this.#waiting.toActive(entry, 'BackoffComplete');
      return over.length > 0;
    });
  }

  #flushLeftover(): void {
    const now = this.#options.time.time();
    const leftover = [...this.#waiting.unschedulable.values()].filter(
      ({ timestamp }) => now - timestamp > this.#options.maxInUnschedulableMs,
    );
    if (leftover.length > 0) this.#move(leftover, { event: unschedulableTimeout, before: undefined, after: undefined });
  }

  /** After a change: what it put aside needs a timer, and what it made ready must be told. */
  #changed(change: () => boolean): boolean {
    const isReady = change();
    this.#timers.arm();
    if (isReady && this.hasReady) {
      callGuarded(this.#options.onReady, (err) => this.#options.logger.error({ err }, 'the scheduler could not be woken'));
    }
    return isReady;
  }
}

function isSameVersion({ pod: before }: PodInfo, { pod: after }: PodInfo): boolean {
  const version = after.metadata?.resourceVersion;
  return version !== undefined && version === before.metadata?.resourceVersion;
}

function asMembers({ pod }: PodInfo): SeenEvent['before'] {
  return pod as unknown as SeenEvent['before'];
}
