import { type FileHandle, stat } from 'node:fs/promises';
import { chunkBytes, openLogFile, readAt, tailStart } from './log-file.ts';

interface OpenOptions {
  readonly tailLines: number | undefined;
  readonly follow: boolean;
}

/** A log file that is read from a place on, also when it is replaced by a new one of the same name, or cut. */
export class FollowedFile {
  readonly #path: string;
  #handle: FileHandle;
  #position: number;
  readonly #end: number;
  /** True: the file was found replaced, and what writes it may not have let go of the old one yet. */
  #isReplaced = false;

  private constructor(path: string, handle: FileHandle, { start, end }: { start: number; end: number }) {
    this.#path = path;
    this.#handle = handle;
    this.#position = start;
    this.#end = end;
  }

  /**
   * At the begin of its last `tailLines` lines; at the begin of the file without them. Without `follow` it ends where the file ends
   * now: a reader that is slower than the container comes to an end.
   */
  static async open(path: string, { tailLines, follow }: OpenOptions): Promise<FollowedFile> {
    const handle = await openLogFile(path);
    try {
      const end = follow ? Number.POSITIVE_INFINITY : (await handle.stat()).size;
      return new FollowedFile(path, handle, { start: tailLines === undefined ? 0 : await tailStart(handle, tailLines), end });
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** The next bytes; undefined at the end. */
  async read(): Promise<Buffer | undefined> {
    const chunk = await readAt(this.#handle, this.#position, Math.max(0, Math.min(chunkBytes, this.#end - this.#position)));
    this.#position += chunk.length;
    return chunk.length === 0 ? undefined : chunk;
  }

  /**
   * Looks, at the end of the file, whether there is another to go on with. `moved`: what comes next begins a new line. `look-again`:
   * there is another, but something may still be written into this one, unless nobody writes any more (`hasEnded`).
   */
  async moveOn(hasEnded: boolean): Promise<'moved' | 'look-again' | 'same'> {
    const own = await this.#handle.stat();
    if (own.size < this.#position) {
      this.#position = 0;
      return 'moved';
    }
    const named = await stat(this.#path).catch(() => undefined);
    if (named === undefined || (named.ino === own.ino && named.dev === own.dev)) return 'same';
    if (!this.#isReplaced && !hasEnded) {
      this.#isReplaced = true;
      return 'look-again';
    }
    const next = await openLogFile(this.#path).catch(() => undefined);
    if (next === undefined) return 'same';
    await this.#handle.close();
    this.#handle = next;
    this.#position = 0;
    this.#isReplaced = false;
    return 'moved';
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}
