import { watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Logger } from '../../base/logging/logger.ts';

/** What `fs.watch` gives, as far as it is used here. */
export interface Watcher {
  on(event: 'change', listener: (type: string, name: string | Buffer | null) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  close(): void;
}

export type OpenWatcher = (path: string) => Watcher;

export interface PathWatchOptions {
  readonly path: string;
  /** Called with each change, but for those of files whose name begins with a dot. */
  readonly onChange: () => void;
  readonly logger: Logger;
  /** Default `fs.watch`. */
  readonly open?: OpenWatcher | undefined;
}

/**
 * A watch of a file or a directory by the system. It follows what stands at the path: another file there is watched afresh, also
 * where the system has given it the inode of the one before.
 */
export class PathWatch {
  readonly #options: PathWatchOptions;
  readonly #open: OpenWatcher;
  #watched: { readonly id: string; readonly watcher: Watcher; isDue: boolean } | undefined;
  #problem: string | undefined;

  constructor(options: PathWatchOptions) {
    this.#options = options;
    this.#open = options.open ?? ((path) => watch(path));
  }

  /** Sees to it that what stands at the path now is watched. Where that cannot be, it is logged once. Never rejects. */
  async renew(): Promise<void> {
    const id = await this.#idOfPath();
    if (id !== undefined && id === this.#watched?.id && !this.#watched.isDue) return;
    this.close();
    if (id === undefined) return;
    try {
      this.#watch(id);
      this.#problem = undefined;
    } catch (error) {
      this.#failed(error);
    }
  }

  close(): void {
    const { watcher } = this.#watched ?? {};
    this.#watched = undefined;
    watcher?.close();
  }

  #watch(id: string): void {
    const { path, onChange } = this.#options;
    const watcher = this.#open(path);
    const watched = { id, watcher, isDue: false };
    this.#watched = watched;
    watcher.on('change', (type, given) => {
      const name = given?.toString() ?? basename(path);
      // what stood at the path may have moved or gone, and its watch with it
      if (type === 'rename' && name === basename(path)) watched.isDue = true;
      // a watched file gives its own name, which may begin with a dot
      const isHidden = name.startsWith('.') && name !== basename(path);
      if (this.#watched === watched && !isHidden) onChange();
    });
    watcher.on('error', (error) => {
      if (this.#watched !== watched) return;
      this.close();
      this.#failed(error);
      onChange();
    });
  }

  async #idOfPath(): Promise<string | undefined> {
    try {
      const { dev, ino, birthtimeNs } = await stat(this.#options.path, { bigint: true });
      return `${dev}:${ino}:${birthtimeNs}`;
    } catch {
      return undefined;
    }
  }

  #failed(error: unknown): void {
    const problem = error instanceof Error ? error.message : String(error);
    if (problem !== this.#problem) {
      this.#options.logger.warn(
        { path: this.#options.path, problem },
        'the path cannot be watched; it is only read now and then',
      );
    }
    this.#problem = problem;
  }
}
