import { constants, type FSWatcher, watch } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { WakeableWait } from '../../base/concurrency/timers.ts';

/** So many bytes are read at once, and so long a line may be before it is given out in pieces. */
export const chunkBytes = 64 * 1024;
const lineFeed = 0x0a;

/**
 * Opens a regular file to read. Rejects for anything else: a symbolic link, which could lead anywhere on the node, and a pipe,
 * which would block.
 */
export async function openLogFile(path: string): Promise<FileHandle> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    if ((await handle.stat()).isFile()) return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
  await handle.close();
  throw new Error('it is no regular file');
}

/** The bytes at a place; fewer than asked for at the end of the file, none beyond it. */
export async function readAt(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafeSlow(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await handle.read(buffer, filled, length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

/** Where the last `lines` lines begin. It reads backwards, and no more than it must. A last line without a line feed does not count. */
export async function tailStart(handle: FileHandle, lines: number): Promise<number> {
  const { size } = await handle.stat();
  let feeds = 0;
  for (let end = size; end > 0; end -= chunkBytes) {
    const start = Math.max(0, end - chunkBytes);
    const block = await readAt(handle, start, end - start);
    for (let at = block.lastIndexOf(lineFeed); at >= 0; at = at === 0 ? -1 : block.lastIndexOf(lineFeed, at - 1)) {
      feeds += 1;
      if (feeds > lines) return start + at + 1;
    }
  }
  return 0;
}

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
