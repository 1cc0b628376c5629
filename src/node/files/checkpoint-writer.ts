import { dirname } from 'node:path';
import { makeFolders } from './make-folders.ts';
import { replaceFile } from './replace-file.ts';

/** A checkpoint is read again up to this size, and none is written that has more. */
export const mostCheckpointBytes = 64 * 1024 * 1024;

const fileMode = 0o600;

export interface CheckpointWriterOptions {
  readonly path: string;
  /** What is known now. Asked when a write begins. */
  readonly text: () => string;
  /** The folder of the file is made with this mode before each write. Default: it has to be there. */
  readonly folderMode?: number;
  /** Told of the end of each write, with the error of one that has failed. */
  readonly ended?: (error?: unknown) => void;
}

/** Keeps one file as what is known, one write at a time. The file is whole, the old one or the new one, also after a crash of the machine. */
export class CheckpointWriter {
  readonly #options: CheckpointWriterOptions;
  #current: Promise<unknown> = Promise.resolve();
  #next: Promise<void> | undefined;

  constructor(options: CheckpointWriterOptions) {
    this.#options = options;
  }

  /** Resolves once all that is known now is on the disk. Who comes while a write waits shares it. Rejects for more than is read again; then the file stays. */
  save(): Promise<void> {
    if (this.#next === undefined) {
      this.#next = this.#current.then(() => this.#write());
      this.#current = this.#next.catch(() => {});
    }
    return this.#next;
  }

  /** Resolves once nothing is written any more. */
  async settled(): Promise<void> {
    await this.#current;
  }

  async #write(): Promise<void> {
    this.#next = undefined;
    const { path, text, folderMode, ended } = this.#options;
    try {
      const now = text();
      const bytes = Buffer.byteLength(now);
      if (bytes > mostCheckpointBytes) {
        throw new Error(`${path} would have ${bytes} bytes, and ${mostCheckpointBytes} are the most that are read again`);
      }
      if (folderMode !== undefined) await makeFolders(dirname(path), folderMode);
      await replaceFile(path, now, fileMode);
    } catch (error) {
      ended?.(error);
      throw error;
    }
    ended?.();
  }
}
