import { join } from 'node:path';
import { ifCode } from '../../base/errors.ts';
import { ignoreFailure } from '../../base/guard.ts';
import { replaceFile } from '../../node/files/replace-file.ts';
import { readAtMost } from '../../node/files/small-file.ts';
import { checkpointText, type DeviceCheckpoint, readCheckpoint } from './device-checkpoint.ts';

/** The kubelet's file of what its device plugins have, and of what pods have been given of that. */
export const checkpointName = 'kubelet_internal_checkpoint';
const mostBytes = 64 * 1024 * 1024;

/** Keeps what pods have on the disk, one write at a time. */
export class CheckpointFile {
  readonly path: string;
  readonly #data: () => DeviceCheckpoint;
  #current: Promise<unknown> = Promise.resolve();
  #next: Promise<void> | undefined;

  /** `data`: asked when a write begins. */
  constructor(folder: string, data: () => DeviceCheckpoint) {
    this.path = join(folder, checkpointName);
    this.#data = data;
  }

  /** Undefined where there is none. Rejects where it cannot be read. */
  async read(): Promise<DeviceCheckpoint | undefined> {
    const text = await readAtMost(this.path, mostBytes).catch(ifCode('ENOENT'));
    return text === undefined ? undefined : readCheckpoint(text);
  }

  /** Resolves once all that is known now is on the disk. */
  save(): Promise<void> {
    this.#next ??= this.#write();
    return this.#next;
  }

  /** Resolves once nothing is written any more. */
  async settled(): Promise<void> {
    await this.#next?.catch(ignoreFailure);
    await this.#current;
  }

  /** Writes that are asked for while another one goes on are one. */
  async #write(): Promise<void> {
    await this.#current;
    this.#next = undefined;
    const text = checkpointText(this.#data());
    const bytes = Buffer.byteLength(text);
    // who reads it would have nothing
    if (bytes > mostBytes) throw new Error(`it would have ${bytes} bytes, and ${mostBytes} are the most that are read`);
    const written = replaceFile(this.path, text, 0o600);
    this.#current = written.catch(ignoreFailure);
    await written;
  }
}
