import { onAbort, untilAborted } from './aborts.ts';
import { LateMap } from './late-collections.ts';

interface SharedCall<T> {
  readonly answer: Promise<T>;
  readonly controller: AbortController;
  waiters: number;
}

/** Calls by key: who asks for a call that is under way gets that one's answer. It is aborted once nobody waits for it any more. */
export class SharedCalls<T> {
  readonly #calls = new LateMap<string, SharedCall<T>>();

  async get(key: string, call: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    const shared = this.#calls.get(key) ?? this.#begin(key, call);
    shared.waiters += 1;
    const leave = onAbort(signal, () => {
      shared.waiters -= 1;
      if (shared.waiters > 0) return;
      if (this.#calls.get(key) === shared) this.#calls.delete(key);
      shared.controller.abort(signal.reason);
    });
    try {
      return await untilAborted(shared.answer, signal);
    } finally {
      leave();
    }
  }

  #begin(key: string, call: (signal: AbortSignal) => Promise<T>): SharedCall<T> {
    const controller = new AbortController();
    const answer = call(controller.signal);
    const shared: SharedCall<T> = { answer, controller, waiters: 0 };
    this.#calls.set(key, shared);
    const forget = (): void => {
      if (this.#calls.get(key) === shared) this.#calls.delete(key);
    };
    answer.then(forget, forget);
    return shared;
  }
}
