import { KeyedTimers } from '../concurrency/keyed-timers.ts';
import type { Clock } from '../seams/clock.ts';
import { callGuarded, ignoreFailure } from '../seams/guard.ts';

/** So many notices of one pod are passed on at once, and then one in this time, in milliseconds; those between count as one. */
const burst = 5;
const betweenMs = 100;

/**
 * Passes on that something of a pod may have changed: to the sync loop, and to whatever waits for that pod. A few
 * notices of a pod are passed on at once, and in the long run ten a second.
 */
export class PodNotices {
  readonly #forward: (podUID: string) => void;
  readonly #clock: Clock;
  readonly #timers: KeyedTimers<string>;
  readonly #waiting = new Map<string, PromiseWithResolvers<void>>();
  /** How many notices of a pod may be passed on at once, as it was at a time. */
  readonly #budgets = new Map<string, { readonly tokens: number; readonly at: number }>();
  /** Notices that wait for their time. */
  readonly #due = new Set<string>();
  /** Pods whose last question has failed: the sync loop asks again by itself. */
  readonly #held = new Set<string>();

  constructor(forward: (podUID: string) => void, clock: Clock) {
    this.#forward = forward;
    this.#clock = clock;
    this.#timers = new KeyedTimers(clock);
  }

  tell(podUID: string): void {
    if (this.#due.has(podUID)) return;
    const tokens = this.#tokens(podUID);
    if (tokens >= 1) {
      this.#tellNow(podUID);
      return;
    }
    this.#due.add(podUID);
    const set = (): boolean => {
      this.#timers.set(podUID, (1 - tokens) * betweenMs, () => this.#tellNow(podUID));
      return true;
    };
    if (callGuarded(set, ignoreFailure) !== true) this.#tellNow(podUID);
  }

  /** The pod could not be asked about: until `release` its notices do not bring its next sync forward. */
  hold(podUID: string): void {
    this.#held.add(podUID);
  }

  release(podUID: string): void {
    this.#held.delete(podUID);
  }

  /** Resolves when the pod is next told of. */
  next(podUID: string): Promise<void> {
    let waiting = this.#waiting.get(podUID);
    if (waiting === undefined) {
      waiting = Promise.withResolvers<void>();
      this.#waiting.set(podUID, waiting);
    }
    return waiting.promise;
  }

  /** The pod is over: nothing waits for it any more. */
  forget(podUID: string): void {
    this.#timers.cancel(podUID);
    this.#due.delete(podUID);
    this.#budgets.delete(podUID);
    this.#held.delete(podUID);
    this.#waiting.get(podUID)?.resolve();
    this.#waiting.delete(podUID);
  }

  /** No timer is left. */
  stop(): void {
    this.#timers.cancelAll();
  }

  #tellNow(podUID: string): void {
    this.#due.delete(podUID);
    this.#budgets.set(podUID, { tokens: Math.max(0, this.#tokens(podUID) - 1), at: this.#clock.now() });
    const waiting = this.#waiting.get(podUID);
    this.#waiting.delete(podUID);
    waiting?.resolve();
    if (!this.#held.has(podUID)) this.#forward(podUID);
  }

  #tokens(podUID: string): number {
    const now = this.#clock.now();
    const { tokens, at } = this.#budgets.get(podUID) ?? { tokens: burst, at: now };
    return Math.min(burst, tokens + Math.max(0, now - at) / betweenMs);
  }
}
