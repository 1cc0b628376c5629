// Behaviour of the back-off of pkg/kubelet/images, v1.36.3.

import type { SteadyClock } from '../../base/clock.ts';
import { KeyedBackoff } from '../../base/concurrency/backoff.ts';

export interface PullBackoffOptions {
  readonly baseMs: number;
  readonly maxMs: number;
  readonly clock: SteadyClock;
}

interface Failure {
  /** No other failure has the same. */
  readonly id: string;
  readonly message: string;
}

/** How long the next pull of an image for a pod waits after one that failed. */
export class PullBackoff {
  readonly #clock: SteadyClock;
  readonly #counter: KeyedBackoff;
  /** The last failure of each pod and image that is counted; undefined once a pull has succeeded. */
  readonly #failures = new Map<string, Map<string, Failure | undefined>>();

  #failed = 0;

  constructor({ baseMs, maxMs, clock }: PullBackoffOptions) {
    this.#clock = clock;
    this.#counter = new KeyedBackoff({ firstMs: baseMs, longestMs: maxMs, resetAfterMs: 2 * maxMs, clock });
  }

  /** The number of pulls that are counted. */
  get size(): number {
    return this.#counter.size;
  }

  /** Until when a pull waits, in milliseconds since the epoch, and what the last one said; undefined where none waits. */
  waits(podUID: string, image: string): { readonly until: number; readonly message: string } | undefined {
    const failure = this.#failures.get(podUID)?.get(image);
    if (failure === undefined) return undefined;
    const remainingMs = this.#counter.remainingMs(keyOf(podUID, image), eventOf(failure));
    return remainingMs > 0 ? { until: this.#clock.now() + remainingMs, message: failure.message } : undefined;
  }

  /** A pull has failed. Returns when the next one is due, in milliseconds since the epoch. */
  failed(podUID: string, image: string, message: string): number {
    this.#failed += 1;
    const failure = { id: String(this.#failed), message };
    const ofPod = this.#failures.get(podUID) ?? new Map<string, Failure | undefined>();
    ofPod.set(image, failure);
    this.#failures.set(podUID, ofPod);
    const key = keyOf(podUID, image);
    this.#counter.next(key, eventOf(failure));
    return this.#clock.now() + this.#counter.waitMs(key);
  }

  /** A pull has succeeded: what it said before is of no interest, but the next failure still waits longer. */
  forgetImage(podUID: string, image: string): void {
    const ofPod = this.#failures.get(podUID);
    if (ofPod?.has(image)) ofPod.set(image, undefined);
  }

  forget(podUID: string): void {
    for (const image of this.#failures.get(podUID)?.keys() ?? []) this.#counter.reset(keyOf(podUID, image));
    this.#failures.delete(podUID);
  }

  /** Forgets the pulls whose waits would begin anew. */
  gc(): void {
    this.#counter.gc();
    for (const [podUID, ofPod] of this.#failures) {
      for (const image of ofPod.keys()) if (this.#counter.waitMs(keyOf(podUID, image)) === 0) ofPod.delete(image);
      if (ofPod.size === 0) this.#failures.delete(podUID);
    }
  }
}

function keyOf(podUID: string, image: string): string {
  return JSON.stringify([podUID, image]);
}

/** It came when it was counted. */
function eventOf({ id }: Failure): { readonly id: string; readonly at: undefined } {
  return { id, at: undefined };
}
