import { createTimeFormatter } from '../../api/json/time.ts';
import type { JsonObject, Pod, WirePodStatus } from '../../api/json/types.ts';
import { changedPaths } from '../../api/patch/json-patch.ts';
import { isMirrorPodOfAnother } from '../../api/pod/pod-identity.ts';
import type { SteadyClock } from '../../base/clock.ts';
import type { BoundedChannel } from '../../base/concurrency/bounded-channel.ts';
import type { Emitter } from '../../base/concurrency/emitter.ts';
import { callGuarded, catchRejection } from '../../base/guard.ts';
import { isLevelEnabled, type Logger } from '../../base/logging/logger.ts';
import type { Metrics } from '../../base/metrics/metrics.ts';
import { normalizeStatus } from '../canonical/normalize-status.ts';
import {
  illegalTransitionEvent,
  podRemovedEvent,
  podUpdatedEvent,
  type StatusManagerEvents,
  type StoredStatus,
} from '../events/status-manager-events.ts';
import type { PodManager } from '../pods/pod-manager.ts';
import type { PodResizeConditions } from '../resize/pod-resizes.ts';
import { illegalTransition } from '../rules/container-state-transition.ts';
import { PodStatuses, type PodStatusReader, type VersionedPodStatus } from './pod-statuses.ts';
import { countTerminations, type UpdateRequest, updateStatusInternal } from './update-status.ts';

export interface StatusCacheOptions {
  readonly podManager: PodManager;
  readonly resizeConditions: PodResizeConditions;
  /** Told of every pod that has a new version. Undefined where nobody reads it. */
  readonly podStatusChannel: BoundedChannel<string> | undefined;
  readonly events: Emitter<StatusManagerEvents>;
  readonly ownedConditionTypes: ReadonlySet<string>;
  readonly clock: SteadyClock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** A status to be stored, and what the update needs to know beside it. */
export type StatusChange = Omit<UpdateRequest, 'fallback' | 'now' | 'elapsed' | 'formatTime' | 'ownedConditionTypes'>;

/**
 * The newest status of every pod, and the only writer of it. Nothing in here waits, so no lock is needed.
 * An update that is stored counts terminations, leaves a hint in the channel and is told to the listeners.
 */
export class StatusCache implements PodStatusReader {
  readonly #options: StatusCacheOptions;
  readonly #podStatuses: PodStatuses;
  readonly #formatTime = createTimeFormatter();

  constructor(options: StatusCacheOptions) {
    this.#options = options;
    this.#podStatuses = new PodStatuses(options.ownedConditionTypes);
  }

  get(podUID: string): VersionedPodStatus | undefined {
    return this.#podStatuses.get(podUID);
  }

  get size(): number {
    return this.#podStatuses.size;
  }

  podUIDs(): string[] {
    return this.#podStatuses.podUIDs();
  }

  /** True when a new version was stored; false for a status that changes nothing, and for one that the rules forbid. */
  update(change: StatusChange): boolean {
    const { clock, logger, metrics, events, podStatusChannel, ownedConditionTypes } = this.#options;
    const { pod, podUID } = change;
    const outcome = updateStatusInternal(this.#podStatuses, {
      ...change,
      fallback: () => this.#statusBefore(pod, podUID),
      now: clock.now(),
      elapsed: clock.elapsed,
      formatTime: this.#formatTime,
      ownedConditionTypes,
    });
    if (metrics.isUsed) metrics.increment('pod_status_manager_status_updates_total', { result: outcome.kind });
    if (outcome.kind === 'unchanged') return false;
    if (outcome.kind === 'refused') {
      const { reason } = outcome;
      const before = this.#podStatuses.get(podUID)?.status ?? this.#statusBefore(pod, podUID);
      const detail = illegalTransition(before, change.status, pod.spec)?.detail ?? reason;
      logger.error({ podUID, reason, detail }, 'a status was refused: its container states cannot follow the cached ones');
      events.emit('illegalTransition', toldLater(events, illegalTransitionEvent(podUID, pod, reason)));
      return false;
    }
    countTerminations(metrics, outcome.previous, outcome.entry.status);
    if (isLevelEnabled(logger, 'debug')) this.#logChange(podUID, outcome.entry, outcome.previous);
    if (podStatusChannel?.trySend(podUID) === false) metrics.increment('pod_status_manager_hints_dropped_total');
    this.#tell({ podUID, pod, ...outcome });
    return true;
  }

  /** Forgets the pod's status and its resize conditions. */
  drop(podUID: string): void {
    this.#podStatuses.delete(podUID);
    this.#options.resizeConditions.delete(podUID);
  }

  #logChange(podUID: string, { version, status, podIsFinished }: VersionedPodStatus, previous: WirePodStatus): void {
    const changed = changedPaths(previous as JsonObject, status as JsonObject);
    const fields = { podUID, version, phase: status.phase, podIsFinished, changed };
    this.#options.logger.debug(fields, 'the pod has a new version of its status');
  }

  #tell(stored: StoredStatus & { readonly entry: VersionedPodStatus; readonly isAdded: boolean }): void {
    const { events } = this.#options;
    const name = stored.entry.podIsFinished ? 'podRemoved' : 'podUpdated';
    if (events.listenerCount(name) === 0) return;
    if (stored.entry.podIsFinished) events.emit('podRemoved', toldLater(events, podRemovedEvent(stored)));
    else events.emit('podUpdated', toldLater(events, podUpdatedEvent(stored, stored.isAdded)));
  }

  /**
   * What a pod without a cached status had before: its mirror pod's status, or its own. The mirror pod of another manifest tells
   * of another pod's containers.
   */
  #statusBefore(pod: Pod, podUID: string): WirePodStatus {
    const { podManager, logger } = this.#options;
    const failed = (err: unknown): void =>
      logger.error({ err, podUID }, 'the status of the mirror pod could not be read; the pod counts as one without');
    const ofMirrorPod = callGuarded(() => {
      const mirrorPod = podManager.getMirrorPodByPod(pod);
      catchRejection(mirrorPod, failed);
      if (mirrorPod == null || isMirrorPodOfAnother(mirrorPod, pod)) return undefined;
      return mirrorPod.metadata && normalizeStatus(mirrorPod, mirrorPod.status ?? {});
    }, failed);
    return ofMirrorPod ?? normalizeStatus(pod, pod.status ?? {});
  }
}

/** An event that waits for its turn makes its copy of the pod now: until then its owner may change the pod. */
function toldLater<Event extends { readonly pod: Pod }>(events: Emitter<StatusManagerEvents>, event: Event): Event {
  if (events.isTelling) void event.pod;
  return event;
}
