import type { V1PodCondition } from '@kubernetes/client-node';
import type { Pod } from '../../api/json/types.ts';
import type { RunState } from '../../base/concurrency/run-state.ts';
import { invalidArgument } from '../../base/errors.ts';
import { requireText } from '../../base/options.ts';
import { type PodResizeConditions, type PodResizeInProgress, podResizeReason } from './pod-resize-conditions.ts';

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
