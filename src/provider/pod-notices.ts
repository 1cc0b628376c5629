/** Passes on that something of a pod may have changed: to the sync loop, and to whatever waits for that pod. */
export class PodNotices {
  readonly #forward: (podUID: string) => void;
  readonly #waiting = new Map<string, PromiseWithResolvers<void>>();

  constructor(forward: (podUID: string) => void) {
    this.#forward = forward;
  }

  tell(podUID: string): void {
    const waiting = this.#waiting.get(podUID);
    this.#waiting.delete(podUID);
    waiting?.resolve();
    this.#forward(podUID);
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
    this.#waiting.get(podUID)?.resolve();
    this.#waiting.delete(podUID);
  }
}
