import type { ApiServerSource } from './api-server-source.ts';

type ListedSource = Pick<ApiServerSource, 'lastListedAt' | 'lastObservedAt' | 'lastFailure'>;

/**
 * What the apiserver's source has said, as far as the pod manager knows it: a full list counts once the sync loop has handled
 * all that it changed. Until then a pod that it shows may not be in the pod manager.
 */
export class HandledSource {
  readonly #source: ListedSource;
  readonly #firstList = Promise.withResolvers<void>();
  #handledAt: number | undefined;

  constructor(source: ListedSource) {
    this.#source = source;
    // stop() rejects it, also when no caller waits
    this.#firstList.promise.catch(() => {});
  }

  lastListedAt(): number | undefined {
    return this.#handledAt;
  }

  lastObservedAt(): number | undefined {
    return this.#source.lastObservedAt();
  }

  /** Why the last request for the pods failed; undefined once one succeeds. */
  failure(): unknown {
    return this.#source.lastFailure()?.error;
  }

  /** The sync loop has handled every update so far. */
  noteCaughtUp(): void {
    this.#handledAt = this.#source.lastListedAt();
    if (this.#handledAt !== undefined) this.#firstList.resolve();
  }

  /** Resolves once the first list has been handled. */
  firstList(): Promise<void> {
    return this.#firstList.promise;
  }

  giveUp(error: Error): void {
    this.#firstList.reject(error);
  }
}
