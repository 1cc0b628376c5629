import { invalidArgument } from '../../base/errors.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';

export type PodListener = (podUID: string) => void;

/** The subscriptions to a pod manager. What a listener throws, or what its promise rejects with, is ignored. */
export class PodListeners {
  readonly #subscriptions = new Set<{ readonly listener: PodListener }>();

  /** True while there is no subscription. */
  get isEmpty(): boolean {
    return this.#subscriptions.size === 0;
  }

  /** Returns a function that ends the subscription. Throws ERR_INVALID_ARGUMENT for a listener that is no function. */
  subscribe(listener: PodListener): () => void {
    if (typeof listener !== 'function') throw invalidArgument('listener', 'a function', listener);
    // an object of its own, so that a function that was subscribed twice is two subscriptions
    const subscription = { listener };
    this.#subscriptions.add(subscription);
    return () => {
      this.#subscriptions.delete(subscription);
    };
  }

  /**
   * Calls every listener with each uid. A listener that is added meanwhile is not called for this change, and one whose
   * subscription ends meanwhile is called no more.
   */
  tell(podUIDs: Iterable<string>): void {
    const subscriptions = [...this.#subscriptions];
    for (const podUID of podUIDs) {
      for (const subscription of subscriptions) {
        if (this.#subscriptions.has(subscription)) callGuarded(() => subscription.listener(podUID), ignoreFailure);
      }
    }
  }
}
