import type { V1PodStatus } from '@kubernetes/client-node';
import { createTimeFormatter, formatTime as formatAnyTime } from '../api/json/time.ts';
import type { JsonObject, Pod, WirePodStatus } from '../api/json/types.ts';
import { changedPaths } from '../api/patch/json-patch.ts';
import { isMirrorPodOfAnother, isStaticPod } from '../api/pod/pod-identity.ts';
import { type PodFields, podFields } from '../api/pod/pod-log-fields.ts';
import type { SteadyClock } from '../base/clock.ts';
import type { BoundedChannel } from '../base/concurrency/bounded-channel.ts';
import type { Emitter } from '../base/concurrency/emitter.ts';
import { LateMap } from '../base/concurrency/late-collections.ts';
import { callGuarded, catchRejection } from '../base/guard.ts';
import { isLevelEnabled, type Logger } from '../base/logging/logger.ts';
import type { Metrics } from '../base/metrics/metrics.ts';
import { problemFields } from '../base/problem.ts';
import { normalizeStatus } from './canonical/normalize-status.ts';
import { podStatusView } from './canonical/pod-status-view.ts';
import { hasTransitionTimeRule, podConditionLookup, withLastTransitionTime } from './conditions/pod-conditions.ts';
import {
  illegalTransitionEvent,
  podRemovedEvent,
  podUpdatedEvent,
  type StatusManagerEvents,
  type StoredStatus,
} from './events/status-manager-events.ts';
import type { PodManager } from './pods/pod-manager.ts';
import type { PodResizeConditions } from './resize/pod-resizes.ts';
import { checkContainerStateTransition, type IllegalTransition } from './rules/container-state-transition.ts';
import { isPodStatusByKubeletEqual } from './rules/pod-status-equality.ts';
import { refusalProblem, StatusTroubles } from './rules/status-problem.ts';

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
  /** What the agent's own statuses tell of trouble. */
  readonly troubles = new StatusTroubles();
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

  /** What names the pod in a log line. */
  fieldsOf(podUID: string): PodFields {
    const { podName, podNamespace } = this.get(podUID) ?? {};
    return podFields({ uid: podUID, name: podName, namespace: podNamespace });
  }

  /** True when a new version was stored; false for a status that changes nothing, and for one that the rules forbid. */
  update(change: StatusChange): boolean {
    const { clock, logger, metrics, events, podStatusChannel, ownedConditionTypes } = this.#options;
    const { pod, podUID } = change;
    const now = clock.now();
    const outcome = updateStatusInternal(this.#podStatuses, {
      ...change,
      fallback: () => this.#statusBefore(pod),
      now,
      elapsed: clock.elapsed,
      formatTime: this.#formatTime,
      ownedConditionTypes,
    });
    if (metrics.isUsed) metrics.increment('pod_status_manager_status_updates_total', { result: outcome.kind });
    if (outcome.kind !== 'refused' && change.isSetByAgent) this.troubles.accepted(podUID);
    if (outcome.kind === 'unchanged') return false;
    if (outcome.kind === 'refused') {
      const { reason, detail } = outcome;
      const refusal = this.troubles.refused(podUID, pod, reason, now);
      const fields = { ...podFields(pod.metadata), reason, detail, ...problemFields(refusalProblem(refusal), now) };
      logger.error(fields, 'a status was refused: its container states cannot follow the cached ones');
      events.emit('illegalTransition', toldLater(events, illegalTransitionEvent(podUID, pod, reason)));
      return false;
    }
    this.troubles.stored(podUID, outcome.entry.status, now);
    countTerminations(metrics, outcome.previous, outcome.entry.status);
    if (isLevelEnabled(logger, 'debug')) this.#logChange(podUID, outcome.entry, outcome.previous);
    if (podStatusChannel?.trySend(podUID) === false) metrics.increment('pod_status_manager_hints_dropped_total');
    this.#tell({ podUID, pod, ...outcome });
    return true;
  }

  /** Forgets the pod's status and its resize conditions. */
  drop(podUID: string): void {
    this.#podStatuses.delete(podUID);
    this.troubles.drop(podUID);
    this.#options.resizeConditions.delete(podUID);
  }

  #logChange(
    podUID: string,
    { version, status, podIsFinished, podName, podNamespace }: VersionedPodStatus,
    previous: WirePodStatus,
  ): void {
    const changed = changedPaths(previous as JsonObject, status as JsonObject);
    const fields = { podUID, podNamespace, podName, version, phase: status.phase, podIsFinished, changed };
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
  #statusBefore(pod: Pod): WirePodStatus {
    const { podManager, logger } = this.#options;
    const failed = (err: unknown): void =>
      logger.error(
        { err, ...podFields(pod.metadata) },
        'the status of the mirror pod could not be read; the pod counts as one without',
      );
    const ofMirrorPod = callGuarded(() => {
      const mirrorPod = podManager.getMirrorPodByPod(pod);
      catchRejection(mirrorPod, failed);
      if (mirrorPod == null || isMirrorPodOfAnother(mirrorPod, pod)) return undefined;
      return mirrorPod.metadata && normalizeStatus(mirrorPod, mirrorPod.status ?? {});
    }, failed);
    return ofMirrorPod ?? normalizeStatus(pod, pod.status ?? {});
  }
}

/**
 * While listeners are being called, the event is queued. It copies the pod now, because the pod's owner may change it before
 * the event is delivered.
 */
function toldLater<Event extends { readonly pod: Pod }>(events: Emitter<StatusManagerEvents>, event: Event): Event {
  if (events.isTelling) void event.pod;
  return event;
}

export interface UpdateRequest {
  readonly pod: Pod;
  readonly podUID: string;
  /** A canonical copy that belongs to the update: it is completed in place and stored. */
  readonly status: WirePodStatus;
  /** The status to compare with while none is cached: the mirror pod's, or the pod's own. */
  readonly fallback: () => WirePodStatus;
  /** Store a new version even when nothing changed. */
  readonly force: boolean;
  readonly podIsFinished: boolean;
  readonly finishedByManager?: boolean;
  /** The agent itself gave the whole status; not only a probe's result. */
  readonly isSetByAgent?: boolean;
  /** The agent itself set this status, with the pod's deletionTimestamp set. */
  readonly deletionSeen?: boolean;
  /** True when everything up to the cached version is on the apiserver. Asked only for a status that is stored. */
  readonly isAcknowledged: () => boolean;
  readonly now: number;
  /** `Clock.elapsed`. Asked only for a status that is stored. */
  readonly elapsed: () => number;
  /** How `now` is written; one that remembers saves work. */
  readonly formatTime?: (ms: number) => string;
  readonly ownedConditionTypes?: ReadonlySet<string> | undefined;
}

export type UpdateOutcome =
  | { readonly kind: 'stored'; readonly entry: VersionedPodStatus; readonly isAdded: boolean; readonly previous: WirePodStatus }
  | { readonly kind: 'unchanged' }
  | ({ readonly kind: 'refused' } & IllegalTransition);

/**
 * The one way a status gets into `podStatuses`: legal transition? -> times -> startTime kept -> equal to the cached
 * one? -> next version. A refused or unchanged update leaves everything as it was.
 *
 * Behaviour of pkg/kubelet/status updateStatusInternal, v1.36.3.
 */
export function updateStatusInternal(podStatuses: PodStatuses, request: UpdateRequest): UpdateOutcome {
  const { pod, podUID, status, now } = request;
  const cached = podStatuses.get(podUID);
  const previous = cached?.status ?? request.fallback();
  const finished = request.podIsFinished || (cached?.podIsFinished === true && !isStaticPod(pod));

  const illegal = checkContainerStateTransition(previous, status, pod.spec);
  if (illegal !== undefined) return { kind: 'refused', ...illegal };

  completeFrom(previous, status, request);
  if (cached !== undefined && !request.force && isPodStatusByKubeletEqual(cached.status, status, request.ownedConditionTypes)) {
    return { kind: 'unchanged' };
  }
  const lacksOlder = cached !== undefined && !request.isAcknowledged() ? cached : undefined;
  const entry = podStatuses.store(podUID, {
    status,
    podName: String(pod.metadata?.name),
    podNamespace: String(pod.metadata?.namespace),
    at: lacksOlder?.at ?? now,
    agesFrom: lacksOlder?.agesFrom ?? request.elapsed(),
    setAt: now,
    podIsFinished: finished,
    finishedByManager: finished && (request.finishedByManager === true || cached?.finishedByManager === true),
    deletionSeenAt: cached?.deletionSeenAt ?? (request.deletionSeen ? (cached?.version ?? 0) + 1 : undefined),
  });
  return { kind: 'stored', entry, isAdded: cached === undefined && !pod.metadata?.deletionTimestamp, previous };
}

/** Carries over what only grows older or never goes back: transition times, start time, observed generation. */
function completeFrom(previous: WirePodStatus, status: WirePodStatus, request: UpdateRequest): void {
  const { now, formatTime = formatAnyTime, ownedConditionTypes } = request;
  const conditions = status.conditions;
  const [firstOf, previousOf] = [podConditionLookup(conditions), podConditionLookup(previous.conditions)];
  for (let i = 0; conditions !== undefined && i < conditions.length; i++) {
    const condition = conditions[i];
    if (condition === undefined || !(hasTransitionTimeRule(condition.type) || ownedConditionTypes?.has(condition.type))) continue;
    if (firstOf(condition.type) !== condition) continue;
    const before = previousOf(condition.type);
    if (condition !== before) conditions[i] = withLastTransitionTime(condition, before, formatTime(now));
  }
  if (previous.startTime !== undefined) status.startTime = previous.startTime;
  else status.startTime ??= formatTime(now);
  const generation = Math.max(previous.observedGeneration ?? 0, status.observedGeneration ?? 0);
  if (generation > 0) status.observedGeneration = generation;
}

const containerTypes = {
  initContainerStatuses: 'init_container',
  containerStatuses: 'container',
  ephemeralContainerStatuses: 'ephemeral_container',
} as const;

/** Counts every container that is terminated now and was not before, under the kubelet's metric name and labels. */
export function countTerminations(metrics: Metrics, previous: WirePodStatus, status: WirePodStatus): void {
  for (const list of Object.keys(containerTypes) as (keyof typeof containerTypes)[]) {
    if (status[list] === previous[list]) continue;
    let before: ReadonlyMap<string, boolean> | undefined;
    for (const { name, state } of status[list] ?? []) {
      const terminated = state?.terminated;
      if (!terminated) continue;
      before ??= wasTerminated(previous[list]);
      if (before.get(name)) continue;
      const labels = {
        container_type: containerTypes[list],
        exit_code: String(terminated.exitCode),
        reason: terminated.reason ?? '',
      };
      metrics.increment('kubelet_terminated_containers_total', labels);
    }
  }
}

/** By name; where a name comes twice, the first one counts. */
function wasTerminated(statuses: WirePodStatus['containerStatuses'] = []): ReadonlyMap<string, boolean> {
  return new Map(statuses.map(({ name, state }) => [name, state?.terminated !== undefined] as const).reverse());
}

export interface PodStatusEntry {
  /** Canonical wire JSON. Never changed once stored, never handed out. */
  readonly status: WirePodStatus;
  readonly podName: string;
  readonly podNamespace: string;
  /** When the oldest change that is not on the apiserver yet was made, in milliseconds since the epoch. */
  readonly at: number;
  /** The same moment by `Clock.elapsed`: the age of the change is counted from it. */
  readonly agesFrom: number;
  /** When this version was set, in milliseconds since the epoch. */
  readonly setAt: number;
  /** Nothing of the pod runs any more: it may be deleted once the apiserver shows a terminal phase. */
  readonly podIsFinished: boolean;
  /** Finished by `terminateWhenReclaimed` rather than by the agent: phase, reason and message stay. */
  readonly finishedByManager: boolean;
  /** The first version the agent set while it saw the pod's deletionTimestamp. */
  readonly deletionSeenAt: number | undefined;
}

/** One version of a pod's status. */
export class VersionedPodStatus implements PodStatusEntry {
  readonly status: WirePodStatus;
  readonly version: number;
  readonly podName: string;
  readonly podNamespace: string;
  readonly at: number;
  readonly agesFrom: number;
  readonly setAt: number;
  readonly podIsFinished: boolean;
  readonly finishedByManager: boolean;
  readonly deletionSeenAt: number | undefined;
  readonly #ownedConditionTypes: ReadonlySet<string> | undefined;
  #view: V1PodStatus | undefined;

  constructor(version: number, entry: PodStatusEntry, ownedConditionTypes?: ReadonlySet<string>) {
    this.#ownedConditionTypes = ownedConditionTypes;
    this.version = version;
    this.status = entry.status;
    this.podName = entry.podName;
    this.podNamespace = entry.podNamespace;
    this.at = entry.at;
    this.agesFrom = entry.agesFrom;
    this.setAt = entry.setAt;
    this.podIsFinished = entry.podIsFinished;
    this.finishedByManager = entry.finishedByManager;
    this.deletionSeenAt = entry.deletionSeenAt;
  }

  /** The typed, frozen status for readers; made once a version, when first asked for. */
  get view(): V1PodStatus {
    this.#view ??= podStatusView(this.status, this.#ownedConditionTypes);
    return this.#view;
  }
}

/** The newest status of every pod, to read. */
export interface PodStatusReader {
  get(podUID: string): VersionedPodStatus | undefined;
  readonly size: number;
  podUIDs(): string[];
}

/**
 * Pod uid (a static pod's own, never its mirror's) to its newest status. While a pod has an entry its version only grows; an
 * equal status makes none, except for a pod that is being deleted or terminated.
 */
export class PodStatuses implements PodStatusReader {
  readonly #entries = new LateMap<string, VersionedPodStatus>();
  readonly #ownedConditionTypes: ReadonlySet<string> | undefined;

  /** `ownedConditionTypes`: the agent's own; none is the same as undefined. */
  constructor(ownedConditionTypes?: ReadonlySet<string>) {
    this.#ownedConditionTypes = ownedConditionTypes?.size ? ownedConditionTypes : undefined;
  }

  get(podUID: string): VersionedPodStatus | undefined {
    return this.#entries.get(podUID);
  }

  get size(): number {
    return this.#entries.size;
  }

  podUIDs(): string[] {
    return [...this.#entries.keys()];
  }

  /** Stores the next version and returns it. */
  store(podUID: string, entry: PodStatusEntry): VersionedPodStatus {
    const version = (this.#entries.get(podUID)?.version ?? 0) + 1;
    const stored = new VersionedPodStatus(version, entry, this.#ownedConditionTypes);
    this.#entries.set(podUID, stored);
    return stored;
  }

  delete(podUID: string): boolean {
    return this.#entries.delete(podUID);
  }
}
