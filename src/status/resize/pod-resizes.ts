import type { V1PodCondition } from '@kubernetes/client-node';
import { formatTime } from '../../api/json/time.ts';
import type { Pod, WirePodCondition } from '../../api/json/types.ts';
import type { Clock } from '../../base/clock.ts';
import { LateMap } from '../../base/concurrency/late-collections.ts';
import type { RunState } from '../../base/concurrency/run-state.ts';
import { invalidArgument } from '../../base/errors.ts';
import type { Metrics } from '../../base/metrics/metrics.ts';
import { requireText } from '../../base/options.ts';
import { podConditionView } from '../canonical/pod-status-view.ts';
import { podConditionType } from '../conditions/pod-conditions.ts';

/**
 * The resize conditions of pods. None of this sends anything or changes a status: the agent puts `getPodResizeConditions`
 * into the next status it sets, right before the conditions it generates.
 * What changes something throws ERR_INVALID_ARGUMENT before anything changes, and ERR_STOPPED; reading works in every state.
 */
export class PodResizes {
  readonly #conditions: PodResizeConditions;
  readonly #runState: Pick<RunState, 'assertNotStopped'>;

  constructor(conditions: PodResizeConditions, runState: Pick<RunState, 'assertNotStopped'>) {
    this.#conditions = conditions;
    this.#runState = runState;
  }

  /** The pod's PodResizePending and PodResizeInProgress conditions, in this order, frozen; empty when there are none. */
  getPodResizeConditions(podUID: string): readonly V1PodCondition[] {
    return this.#conditions.list(podUID);
  }

  /** True while a resize of the pod waits for room on the node. */
  isPodResizeDeferred(podUID: string): boolean {
    return this.#conditions.pendingReason(podUID) === podResizeReason.deferred;
  }

  /** True while the pod wants to be resized to what the node can never give. */
  isPodResizeInfeasible(podUID: string): boolean {
    return this.#conditions.pendingReason(podUID) === podResizeReason.infeasible;
  }

  /**
   * A resize of the pod waits. Every reason but `Infeasible` becomes `Deferred`. True when the condition is new, or its
   * reason or generation changed; a new message alone is stored and answers false.
   */
  setPodResizePendingCondition(podUID: string, reason: string, message: string, observedGeneration: number): boolean {
    this.#requireCondition('setPodResizePendingCondition', podUID, reason, message, observedGeneration);
    return this.#conditions.setPending(podUID, { reason, message, observedGeneration });
  }

  /**
   * A resize of the pod is under way. While the condition is there, its generation stays (clear it first to change that),
   * and an empty reason with an empty message keeps both. `changed`: new, or another reason or message.
   */
  setPodResizeInProgressCondition(
    podUID: string,
    reason: string,
    message: string,
    observedGeneration: number,
  ): PodResizeInProgress {
    this.#requireCondition('setPodResizeInProgressCondition', podUID, reason, message, observedGeneration);
    return this.#conditions.setInProgress(podUID, { reason, message, observedGeneration });
  }

  /** Nothing waits any more: drops the pending condition of the pod. */
  clearPodResizePendingCondition(podUID: string): void {
    this.#require('clearPodResizePendingCondition', podUID);
    this.#conditions.clearPending(podUID);
  }

  /** `changed`: there was one, and it spoke of `observedGeneration`; otherwise that is 0. */
  clearPodResizeInProgressCondition(podUID: string): PodResizeInProgress {
    this.#require('clearPodResizeInProgressCondition', podUID);
    return this.#conditions.clearInProgress(podUID);
  }

  /** After a restart of the agent: takes over the resize conditions that these pods have on the apiserver, with fresh times. */
  backfillPodResizeConditions(pods: readonly Pod[]): void {
    this.#runState.assertNotStopped('backfillPodResizeConditions');
    if (!Array.isArray(pods)) throw invalidArgument('pods', 'a list of pods', pods);
    for (const [index, pod] of pods.entries()) requireText(`pods[${index}].metadata.uid`, pod?.metadata?.uid);
    this.#conditions.backfill(pods);
  }

  #require(operation: string, podUID: string): void {
    this.#runState.assertNotStopped(operation);
    requireText('podUID', podUID);
  }

  #requireCondition(operation: string, podUID: string, reason: string, message: string, observedGeneration: number): void {
    this.#require(operation, podUID);
    requireConditionFields(reason, message, observedGeneration);
  }
}

/** Reason and message may be empty. */
function requireConditionFields(reason: unknown, message: unknown, observedGeneration: unknown): void {
  if (typeof reason !== 'string') throw invalidArgument('reason', 'a string', reason);
  if (typeof message !== 'string') throw invalidArgument('message', 'a string', message);
  if (!Number.isSafeInteger(observedGeneration) || Number(observedGeneration) < 0) {
    throw invalidArgument('observedGeneration', 'a whole number, 0 or more', observedGeneration);
  }
}

// Behaviour of pkg/kubelet/status/status_manager.go (pod resize conditions), v1.36.3.

/** Reasons of a resize that waits: the node has no room now, or never will have. */
const podResizeReason = { deferred: 'Deferred', infeasible: 'Infeasible' } as const;

/** The in-progress condition after a call: which generation it speaks of (0: there is none), and whether the call changed it. */
export interface PodResizeInProgress {
  /** The generation of the pod's spec that the condition speaks of; 0 while there is none. */
  readonly observedGeneration: number;
  /** True when the call changed the condition. */
  readonly changed: boolean;
}

type Kind = 'pending' | 'inProgress';
/** Never without a condition, and its conditions never changed once stored. */
type Entry = Readonly<Partial<Record<Kind, WirePodCondition>>>;
type Wanted = Readonly<Record<'reason' | 'message', string> & { observedGeneration: number }>;

const typeOf = { pending: podConditionType.podResizePending, inProgress: podConditionType.podResizeInProgress } as const;

/**
 * What the agent says of resizes of its pods: at most one pending and one in-progress condition a pod, in memory only.
 * A condition that is not there means "False". Nothing here sends anything: the agent puts these conditions into the
 * status it sets next. The gauges always say what the map says; a reason that nothing waits for any more is set to 0.
 */
export class PodResizeConditions {
  readonly #clock: Clock;
  readonly #metrics: Metrics;
  readonly #entries = new LateMap<string, Entry>();
  /** How many pods have a pending resize, by the label value of its reason; a value without pods is not in it. */
  readonly #pending = new LateMap<string, number>();
  #inProgress = 0;

  constructor({ clock, metrics }: { readonly clock: Clock; readonly metrics: Metrics }) {
    this.#clock = clock;
    this.#metrics = metrics;
  }

  /** Pending before in-progress; new frozen objects at every call. */
  list(podUID: string): readonly V1PodCondition[] {
    const { pending, inProgress } = this.#entries.get(podUID) ?? {};
    const conditions = [pending, inProgress].filter((condition) => condition !== undefined);
    return Object.freeze(conditions.map(podConditionView));
  }

  pendingReason(podUID: string): string | undefined {
    return this.#entries.get(podUID)?.pending?.reason;
  }

  /** True when there was none, or its reason or generation changed; a message alone is stored, and is no change. */
  setPending(podUID: string, { reason: given, message, observedGeneration }: Wanted): boolean {
    const reason = given === podResizeReason.infeasible ? given : podResizeReason.deferred;
    const old = this.#entries.get(podUID)?.pending;
    this.#store(podUID, 'pending', this.#condition('pending', old, { reason, message, observedGeneration }));
    return old === undefined || old.reason !== reason || (old.observedGeneration ?? 0) !== observedGeneration;
  }

  /** The generation is that of the first call, until the condition is cleared; reason and message both empty keep the old ones. */
  setInProgress(podUID: string, wanted: Wanted): PodResizeInProgress {
    const old = this.#entries.get(podUID)?.inProgress;
    if (old === undefined) {
      this.#store(podUID, 'inProgress', this.#condition('inProgress', undefined, wanted));
      return { observedGeneration: wanted.observedGeneration, changed: true };
    }
    const { reason = '', message = '', observedGeneration = 0 } = old;
    const says = wanted.reason === '' && wanted.message === '' ? { reason, message } : wanted;
    const next = { reason: says.reason, message: says.message, observedGeneration };
    this.#store(podUID, 'inProgress', this.#condition('inProgress', old, next));
    return { observedGeneration, changed: next.reason !== reason || next.message !== message };
  }

  clearPending(podUID: string): void {
    this.#clear(podUID, 'pending');
  }

  clearInProgress(podUID: string): PodResizeInProgress {
    const old = this.#clear(podUID, 'inProgress');
    if (old === undefined) return { observedGeneration: 0, changed: false };
    return { observedGeneration: old.observedGeneration ?? 0, changed: true };
  }

  /** Takes over what the apiserver says of these pods, as after a restart of the agent: fresh times, reasons as they are. */
  backfill(pods: readonly Pod[]): void {
    for (const { metadata, status } of pods) {
      for (const { type, reason = '', message = '', observedGeneration = 0 } of status?.conditions ?? []) {
        const kind = type === typeOf.pending ? 'pending' : type === typeOf.inProgress ? 'inProgress' : undefined;
        if (kind === undefined) continue;
        const wanted = { reason, message, observedGeneration };
        this.#store(String(metadata?.uid), kind, this.#condition(kind, undefined, wanted));
      }
    }
    this.#tellInProgress();
  }

  delete(podUID: string): void {
    this.#clear(podUID, 'pending');
    this.#clear(podUID, 'inProgress');
  }

  /** Drops what is known of every pod that is not in the set. */
  retain(podUIDs: ReadonlySet<string>): void {
    for (const podUID of this.#entries.keys()) if (!podUIDs.has(podUID)) this.delete(podUID);
  }

  #store(podUID: string, kind: Kind, condition: WirePodCondition): void {
    const entry = this.#entries.get(podUID);
    this.#entries.set(podUID, { ...entry, [kind]: condition });
    this.#count(kind, entry?.[kind], condition);
  }

  #clear(podUID: string, kind: Kind): WirePodCondition | undefined {
    const { [kind]: old, ...rest } = this.#entries.get(podUID) ?? {};
    if (old === undefined) return undefined;
    if (Object.keys(rest).length > 0) this.#entries.set(podUID, rest);
    else this.#entries.delete(podUID);
    this.#count(kind, old, undefined);
    return old;
  }

  /** Probed now; in transition when it is new or its reason changed. */
  #condition(kind: Kind, old: WirePodCondition | undefined, { reason, message, observedGeneration }: Wanted): WirePodCondition {
    const now = formatTime(this.#clock.now());
    const isTransition = old === undefined || (old.reason ?? '') !== reason;
    return {
      type: typeOf[kind],
      status: 'True',
      lastProbeTime: now,
      lastTransitionTime: (isTransition ? undefined : old.lastTransitionTime) ?? now,
      ...(observedGeneration && { observedGeneration }),
      ...(reason && { reason }),
      ...(message && { message }),
    };
  }

  /** A pod's condition has become another one, which costs the same however many pods there are. */
  #count(kind: Kind, before: WirePodCondition | undefined, after: WirePodCondition | undefined): void {
    if (kind === 'pending') {
      const [left, reached] = [labelOf(before), labelOf(after)];
      if (left === reached) return;
      this.#countPending(left, -1);
      this.#countPending(reached, 1);
    } else if ((before === undefined) !== (after === undefined)) {
      this.#inProgress += after === undefined ? -1 : 1;
      this.#tellInProgress();
    }
  }

  #countPending(reason: string | undefined, change: number): void {
    if (reason === undefined) return;
    const count = (this.#pending.get(reason) ?? 0) + change;
    if (count > 0) this.#pending.set(reason, count);
    else this.#pending.delete(reason);
    this.#metrics.set('kubelet_pod_pending_resizes', count, { reason });
  }

  #tellInProgress(): void {
    this.#metrics.set('kubelet_pod_in_progress_resizes', this.#inProgress);
  }
}

function labelOf(pending: WirePodCondition | undefined): string | undefined {
  return pending && (pending.reason ?? '').toLowerCase();
}
