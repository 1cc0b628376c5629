import { type FSWatcher, watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { WakeableWait } from '../../base/concurrency/timers.ts';

/**
 * Tells that something happened to a file. The system's notices are a help only: without them, as when it has no more watches to
 * give, a wait ends by its time.
 */
export class LogChanges {
  readonly #wait: WakeableWait;
  #watcher: FSWatcher | undefined;

  constructor(path: string, clock: Clock) {
    this.#wait = new WakeableWait({ clock, keepAlive: true });
    const name = basename(path);
    try {
      // the folder, so that a new file under the same name is noticed
      this.#watcher = watch(dirname(path), { persistent: false }, (_, changed) => {
        if (changed === name || changed === null) this.#wait.wake();
      });
      this.#watcher.on('error', () => this.#unwatch());
    } catch {
      this.#watcher = undefined;
    }
  }

  /** Resolves when the file has changed since the last wait, after `ms`, or when the signal aborts. Never rejects. */
  wait(ms: number, signal: AbortSignal): Promise<void> {
    return this.#wait.wait(ms, signal);
  }

  close(): void {
    this.#unwatch();
  }

  #unwatch(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
  }
}
