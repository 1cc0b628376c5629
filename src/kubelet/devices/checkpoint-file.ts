import { join } from 'node:path';
import { ifCode } from '../../base/errors.ts';
import { CheckpointWriter, mostCheckpointBytes } from '../../node/files/checkpoint-writer.ts';
import { readAtMost } from '../../node/files/small-file.ts';
import { checkpointText, type DeviceCheckpoint, readCheckpoint } from './device-checkpoint.ts';

/** The kubelet's file of what its device plugins have, and of what pods have been given of that. */
export const checkpointName = 'kubelet_internal_checkpoint';

/** Keeps what pods have on the disk. */
export class CheckpointFile {
  readonly path: string;
  readonly #writer: CheckpointWriter;

  /** `data`: asked when a write begins. */
  constructor(folder: string, data: () => DeviceCheckpoint) {
    this.path = join(folder, checkpointName);
    this.#writer = new CheckpointWriter({ path: this.path, text: () => checkpointText(data()) });
  }

  /** Undefined where there is none. Rejects where it cannot be read. */
  async read(): Promise<DeviceCheckpoint | undefined> {
    const text = await readAtMost(this.path, mostCheckpointBytes).catch(ifCode('ENOENT'));
    return text === undefined ? undefined : readCheckpoint(text);
  }

  /** Resolves once all that is known now is on the disk. */
  save(): Promise<void> {
    return this.#writer.save();
  }

  /** Resolves once nothing is written any more. */
  settled(): Promise<void> {
    return this.#writer.settled();
  }
}
