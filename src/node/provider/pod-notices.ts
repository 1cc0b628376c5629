import { type SteadyClock, sleep } from '../../base/clock.ts';
import { LinkedAbort } from '../../base/concurrency/aborts.ts';
import { LateMap, LateSet } from '../../base/concurrency/late-collections.ts';
import { TokenBucket } from '../../base/concurrency/rate-limiter.ts';
import { KeyedTimers } from '../../base/concurrency/timers.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';

/** So many notices of one pod are passed on at once, and then one in this time; those between count as one. */
const ofPod = { burst: 5, tokens: 1, perMs: 100 };
/** The reason that nobody sees: to make an error for each wait would cost more than the wait. */
const awake = 'awake';

/**
 * Passes on that something of a pod may have changed: to the sync loop, and to whatever waits for that pod. A few
 * notices of a pod are passed on at once, and in the long run ten a second.
 */
export class PodNotices {
  readonly #forward: (podUID: string) => void;
  readonly #clock: SteadyClock;
  readonly #timers: KeyedTimers<string>;
  readonly #waiting = new LateMap<string, Set<() => void>>();
  /** How many notices of a pod may be passed on at once. */
  readonly #budgets = new LateMap<string, TokenBucket>();
  /** Notices that wait for their time. */
  readonly #due = new LateSet<string>();
  /** Pods whose last question has failed: the sync loop asks again by itself. */
  readonly #held = new LateSet<string>();

  constructor(forward: (podUID: string) => void, clock: SteadyClock) {
    this.#forward = forward;
    this.#clock = clock;
    this.#timers = new KeyedTimers(clock);
  }

  tell(podUID: string): void {
    if (this.#due.has(podUID)) return;
    const { waitMs } = this.#budgetOf(podUID);
    if (waitMs === 0) {
      this.#tellNow(podUID);
      return;
    }
    this.#due.add(podUID);
    const set = (): boolean => {
      this.#timers.set(podUID, waitMs, () => this.#tellNow(podUID));
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

  /** Resolves when the pod is next told of or woken, after a time, or when `signal` aborts. Leaves nothing behind. */
  async wait(podUID: string, timeoutMs: number, signal: AbortSignal): Promise<void> {
    const over = new LinkedAbort(signal);
    const wake = (): void => over.abort(awake);
    const waiting = this.#waiting.get(podUID) ?? new Set();
    this.#waiting.set(podUID, waiting);
    waiting.add(wake);
    try {
      await sleep(this.#clock, Math.max(0, timeoutMs), over.signal);
    } finally {
      over.release();
      waiting.delete(wake);
      if (waiting.size === 0 && this.#waiting.get(podUID) === waiting) this.#waiting.delete(podUID);
    }
  }

  /** Ends what waits for the pod, and tells nobody. */
  wake(podUID: string): void {
    const waiting = this.#waiting.get(podUID);
    this.#waiting.delete(podUID);
    for (const wake of waiting ?? []) wake();
  }

  /** The pod is over: nothing waits for it any more. */
  forget(podUID: string): void {
    this.#timers.cancel(podUID);
    this.#due.delete(podUID);
    this.#budgets.delete(podUID);
    this.#held.delete(podUID);
    this.wake(podUID);
  }

  /** No timer is left. */
  stop(): void {
    this.#timers.cancelAll();
  }

  #tellNow(podUID: string): void {
    this.#due.delete(podUID);
    this.#budgetOf(podUID).take();
    this.wake(podUID);
    if (!this.#held.has(podUID)) this.#forward(podUID);
  }

  #budgetOf(podUID: string): TokenBucket {
    const budget = this.#budgets.get(podUID) ?? new TokenBucket(ofPod, this.#clock);
    this.#budgets.set(podUID, budget);
    return budget;
  }
}
