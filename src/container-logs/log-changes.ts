import { type FSWatcher, watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import { LinkedAbort } from '../concurrency/aborts.ts';
import { type Clock, sleep } from '../seams/clock.ts';

/**
 * Tells that something happened to a file. The system's notices are a help only: without them, as when it has no more watches to
 * give, a wait ends by its time.
 */
export class LogChanges {
  readonly #clock: Clock;
  #watcher: FSWatcher | undefined;
  #hasChanged = false;
  #wake: (() => void) | undefined;

  constructor(path: string, clock: Clock) {
    this.#clock = clock;
    const name = basename(path);
    try {
      // the folder, so that a new file under the same name is noticed
      this.#watcher = watch(dirname(path), { persistent: false }, (_, changed) => {
        if (changed === name || changed === null) this.#note();
      });
      this.#watcher.on('error', () => this.#unwatch());
    } catch {
      this.#watcher = undefined;
    }
  }

  /** Resolves when the file has changed since the last wait, after `ms`, or when the signal aborts. Never rejects. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    if (!this.#hasChanged) {
      const linked = new LinkedAbort(signal);
      this.#wake = () => linked.abort();
      await sleep(this.#clock, ms, linked.signal);
      this.#wake = undefined;
      linked.release();
    }
    this.#hasChanged = false;
  }

  close(): void {
    this.#unwatch();
  }

  #note(): void {
    this.#hasChanged = true;
    this.#wake?.();
  }

  #unwatch(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
  }
}
