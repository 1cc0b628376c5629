// Behaviour of pkg/scheduler/schedule_one.go bindingCycle, v1.36.3.
import type { Clock } from '../../seams/clock.ts';
import type { PluginRejection } from '../framework/status.ts';
import { type PlacedPod, refusedNode } from './attempt.ts';
import { BindingSlots } from './binding-slots.ts';
import type { StatusWrites } from './status-writes.ts';
import { WaitingPermits } from './waiting-permits.ts';

/** The error of a binding that the scheduler gave up itself: it was stopped or suspended, or the pod was deleted. */
export class BindingGivenUp extends Error {}

/** How the binding of a pod ended. */
export type BindingEnd =
  | { readonly isBound: true }
  /** `isRejected`: a plugin would not permit it. */
  | { readonly isBound: false; readonly isRejected: boolean; readonly error: unknown };

export interface BindingCyclesParts {
  readonly writes: StatusWrites;
  readonly clock: Clock;
  /** How many pods are bound at once. */
  readonly mostBindings: number;
  /** How long the binding of one pod may take once it is permitted, in milliseconds. */
  readonly bindTimeoutMs: number;
  /** Called once for each binding that has begun. */
  readonly onEnd: (placed: PlacedPod, end: BindingEnd) => void;
  /** Called when another binding may begin. */
  readonly onFree: () => void;
}

/**
 * Binds pods beside the scheduling of others. Each waits until the plugins permit it, then for a free place, and is bound by its
 * profile's plugins. A binding that takes too long, or that is given up, ends at once, whatever the plugins do.
 */
export class BindingCycles {
  readonly permits: WaitingPermits;
  readonly #parts: BindingCyclesParts;
  readonly #slots: BindingSlots;
  /** By the pod's uid. */
  readonly #running = new Map<string, { readonly controller: AbortController; readonly ended: Promise<void> }>();

  constructor(parts: BindingCyclesParts) {
    this.#parts = parts;
    this.#slots = new BindingSlots(parts.mostBindings, parts.onFree);
    this.permits = new WaitingPermits(parts.clock);
  }

  /** How many bindings have begun and not ended, those that wait for a permit included. */
  get size(): number {
    return this.#running.size;
  }

  /** True where another binding would have to wait. */
  get isFull(): boolean {
    return this.#slots.isFull;
  }

  has(uid: string): boolean {
    return this.#running.has(uid);
  }

  begin(placed: PlacedPod, waits: ReadonlyMap<string, number>): void {
    const { uid } = placed.podInfo;
    const controller = new AbortController();
    const ended = this.#run(placed, waits, controller).then((end) => {
      this.#running.delete(uid);
      this.#parts.onEnd(placed, end);
    });
    this.#running.set(uid, { controller, ended });
  }

  /** Ends the binding of one pod. False where there is none. */
  abort(uid: string, reason: string): boolean {
    const binding = this.#running.get(uid);
    if (binding === undefined) return false;
    binding.controller.abort(new BindingGivenUp(reason));
    this.permits.reject(uid, '', reason);
    return true;
  }

  abortAll(reason: string): void {
    for (const uid of [...this.#running.keys()]) this.abort(uid, reason);
  }

  /** Resolves once no binding is under way. */
  async flush(): Promise<void> {
    while (this.#running.size > 0) await Promise.all([...this.#running.values()].map(({ ended }) => ended));
  }

  /** Never rejects. */
  async #run(placed: PlacedPod, waits: ReadonlyMap<string, number>, controller: AbortController): Promise<BindingEnd> {
    try {
      const refused = waits.size === 0 ? undefined : await this.permits.wait(placed.podInfo.uid, waits);
      if (refused !== undefined) return this.#refused(placed, refused, controller.signal);
      await this.#slots.run(() => this.#bind(placed, controller));
      return { isBound: true };
    } catch (error) {
      const { reason } = controller.signal;
      return { isBound: false, isRejected: false, error: reason instanceof BindingGivenUp ? reason : error };
    }
  }

  #refused(placed: PlacedPod, refused: PluginRejection, { aborted, reason }: AbortSignal): BindingEnd {
    if (aborted) return { isBound: false, isRejected: false, error: reason };
    return { isBound: false, isRejected: true, error: refusedNode(placed, placed.nodeName, refused) };
  }

  async #bind({ framework, state, podInfo, nodeName }: PlacedPod, controller: AbortController): Promise<void> {
    const { clock, bindTimeoutMs, writes } = this.#parts;
    const { signal } = controller;
    const tooLate = (): void => controller.abort(new Error(`the pod was not bound within ${bindTimeoutMs} ms`));
    const cancel = clock.setTimer(tooLate, bindTimeoutMs);
    try {
      // "not scheduled" must not be written over "scheduled"
      if (writes.has(podInfo.uid)) await writes.finish(podInfo.uid);
      signal.throwIfAborted();
      const refused = await framework.binding.preBind(state, podInfo, nodeName, signal);
      if (refused !== undefined)
        throw new Error(`${refused.plugin} refused the node before the binding: ${refused.reasons.join(', ')}`);
      await framework.binding.bind(state, podInfo, nodeName, signal);
    } finally {
      cancel();
    }
  }
}
