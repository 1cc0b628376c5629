// The file of pkg/kubelet/nodeshutdown/storage.go, v1.36.3: kept where the kubelet keeps it, so that either takes over from the other.

import { dirname, join } from 'node:path';
import { isJsonObject } from '../../api/json/json.ts';
import { formatNanoTime } from '../../api/json/time.ts';
import { ifCode } from '../../base/errors.ts';
import { makeFolders } from '../../node/files/make-folders.ts';
import { replaceFile } from '../../node/files/replace-file.ts';
import { readAtMost } from '../../node/files/small-file.ts';

/** When the node ended its pods for the last time, in milliseconds since the epoch. */
export interface ShutdownTimes {
  readonly startedAt?: number | undefined;
  /** Undefined while it goes on, and where the machine ended before. */
  readonly endedAt?: number | undefined;
}

/** As Go writes a time that is not set. */
const noTime = '0001-01-01T00:00:00Z';
/** More is no file of this kind. */
const longestFile = 4096;

/** Remembers the last shutdown, over the machine's next start. */
export class ShutdownRecord {
  readonly #path: string;

  constructor(rootDirectory: string) {
    this.#path = join(rootDirectory, 'graceful_node_shutdown_state');
  }

  /** Empty where there was none. Rejects where the file cannot be read, or is something else. */
  async read(): Promise<ShutdownTimes> {
    const text = await readAtMost(this.#path, longestFile).catch(ifCode('ENOENT'));
    if (text === undefined) return {};
    const state: unknown = JSON.parse(text);
    if (!isJsonObject(state)) throw new TypeError(`${this.#path} does not say when the node was shut down`);
    return { startedAt: timeOf(state.startTime), endedAt: timeOf(state.endTime) };
  }

  /** The file is whole at every moment, and on the disk when this resolves. */
  async write({ startedAt, endedAt }: ShutdownTimes): Promise<void> {
    const state = { startTime: timeText(startedAt), endTime: timeText(endedAt) };
    await makeFolders(dirname(this.#path), 0o755);
    await replaceFile(this.#path, JSON.stringify(state), 0o644);
  }
}

function timeText(time: number | undefined): string {
  return time === undefined ? noTime : formatNanoTime(time);
}

function timeOf(text: unknown): number | undefined {
  const time = typeof text === 'string' && text !== noTime ? Date.parse(text) : Number.NaN;
  return Number.isFinite(time) ? time : undefined;
}
