import type { CancelTimer, Clock } from '../../base/clock.ts';
import { LateMap, LateSet } from '../../base/concurrency/late-collections.ts';
import { type HeldPhase, type SyncPhases, UnsettledPodsError } from './sync-phase.ts';

/** How a flush ended. */
export interface FlushResult {
  /** Pods that count as settled though the apiserver does not say what was set, each with the reason. */
  readonly held: readonly { readonly podUID: string; readonly phase: HeldPhase }[];
}

interface Waiter {
  /** Pod uid to the version that must settle. */
  readonly pending: Map<string, number>;
  readonly held: Map<string, HeldPhase>;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
  readonly cancelTimer: CancelTimer;
}

/** The calls of `flush` that have not ended, each with the pods it still waits for. */
export class FlushWaiters {
  readonly #clock: Clock;
  readonly #phases: SyncPhases;
  readonly #waiters = new LateSet<Waiter>();
  /** By pod uid: those that still wait for the pod. There may be as many calls of `flush` as pods. */
  readonly #byPod = new LateMap<string, Set<Waiter>>();

  constructor(clock: Clock, phases: SyncPhases) {
    this.#clock = clock;
    this.#phases = phases;
  }

  /**
   * Resolves once every version has settled. Rejects with an {@link UnsettledPodsError} of ERR_FLUSH_TIMEOUT after
   * `timeoutMs`. `versions` is pod uid to the version that must settle.
   */
  async wait(versions: ReadonlyMap<string, number>, timeoutMs: number): Promise<FlushResult> {
    const pending = new Map(versions);
    const held = new Map<string, HeldPhase>();
    for (const podUID of versions.keys()) this.#settle(podUID, pending, held);
    if (pending.size > 0) await this.#settled(pending, held, timeoutMs);
    // a held pod may have got into step while the flush waited for other pods
    for (const podUID of held.keys()) if (this.#phases.phaseOf(podUID) === 'in-sync') held.delete(podUID);
    return { held: Array.from(held, ([podUID, phase]) => ({ podUID, phase })) };
  }

  /**
   * Something about this pod has changed: every flush that waits for it looks again. `heldAs`: how a pod is listed whose entry
   * was dropped, though its newest status was not written.
   */
  look(podUID: string, heldAs?: HeldPhase): void {
    for (const waiter of this.#byPod.get(podUID) ?? []) {
      this.#settle(podUID, waiter.pending, waiter.held, heldAs);
      if (waiter.pending.has(podUID)) continue;
      this.#leave(podUID, waiter);
      if (waiter.pending.size === 0) this.#end(waiter, undefined);
    }
  }

  /** The manager has stopped. */
  rejectAll(): void {
    for (const waiter of this.#waiters) {
      const what = `The manager was stopped before ${waiter.pending.size} pod(s) had settled`;
      this.#end(waiter, this.#error('ERR_STOPPED', what, waiter.pending));
    }
  }

  /** Takes the pod out of `pending` if it has settled. A moment later it may be under way again: `held` is decided now. */
  #settle(podUID: string, pending: Map<string, number>, held: Map<string, HeldPhase>, heldAs?: HeldPhase): void {
    const version = pending.get(podUID);
    if (version === undefined || !this.#phases.isSettled(podUID, version)) return;
    pending.delete(podUID);
    const phase = heldAs ?? this.#phases.heldPhaseOf(podUID);
    if (phase !== undefined) held.set(podUID, phase);
  }

  #settled(pending: Map<string, number>, held: Map<string, HeldPhase>, timeoutMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const timedOut = (): void => {
        const what = `${pending.size} pod(s) had not settled after ${timeoutMs} ms`;
        this.#end(waiter, this.#error('ERR_FLUSH_TIMEOUT', what, pending));
      };
      const cancelTimer = this.#clock.setTimer(timedOut, timeoutMs, { keepAlive: true });
      const waiter: Waiter = { pending, held, resolve, reject, cancelTimer };
      this.#waiters.add(waiter);
      for (const podUID of pending.keys()) this.#byPod.set(podUID, (this.#byPod.get(podUID) ?? new Set()).add(waiter));
    });
  }

  #error(code: 'ERR_FLUSH_TIMEOUT' | 'ERR_STOPPED', what: string, pending: ReadonlyMap<string, number>): UnsettledPodsError {
    return new UnsettledPodsError(
      code,
      what,
      Array.from(pending.keys(), (podUID) => this.#phases.describe(podUID)),
    );
  }

  #leave(podUID: string, waiter: Waiter): void {
    const waiters = this.#byPod.get(podUID);
    waiters?.delete(waiter);
    if (waiters?.size === 0) this.#byPod.delete(podUID);
  }

  #end(waiter: Waiter, error: Error | undefined): void {
    if (!this.#waiters.delete(waiter)) return;
    for (const podUID of waiter.pending.keys()) this.#leave(podUID, waiter);
    waiter.cancelTimer();
    if (error === undefined) waiter.resolve();
    else waiter.reject(error);
  }
}
