// The files beside a container's log: `LOG.20060102-150405`, and with `.gz` once they are packed, as the kubelet names them.

import { createReadStream, createWriteStream } from 'node:fs';
import { readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { errorCodeOf } from '../../base/errors.ts';
import { openLogFile } from './log-file.ts';

const packed = '.gz';
const temporary = '.tmp';

/** What `keepRotatedLogs` leaves. */
export interface RotatedLogs {
  /** Full paths, the oldest first. */
  readonly paths: readonly string[];
  /** Those that are not packed yet. */
  readonly unpacked: readonly string[];
}

/** The name of a log that is rotated now. The names of one container's logs sort by their time. */
export function rotatedName(path: string, nowMs: number): string {
  const [date = '', time = ''] = new Date(nowMs).toISOString().split(/[T.]/);
  return `${path}.${date.replaceAll('-', '')}-${time.replaceAll(':', '')}`;
}

/** Removes what an interrupted rotation left behind, and the oldest logs beyond `most`. */
export async function keepRotatedLogs(path: string, most: number): Promise<RotatedLogs> {
  const names = new Set(await besides(path));
  const isUnused = (name: string): boolean => name.endsWith(temporary) || names.has(`${name}${packed}`);
  const used = [...names].filter((name) => !isUnused(name)).sort();
  const excess = used.slice(0, Math.max(0, used.length - most));
  for (const name of [...[...names].filter(isUnused), ...excess]) await rm(join(dirname(path), name), { force: true });
  const paths = used.slice(excess.length).map((name) => join(dirname(path), name));
  return { paths, unpacked: paths.filter((kept) => !kept.endsWith(packed)) };
}

/** Packs a rotated log: the file under the new name is whole, or it is not there. */
export async function packLog(path: string, signal: AbortSignal): Promise<void> {
  const written = `${path}${temporary}`;
  const handle = await openLogFile(path);
  try {
    const { mode } = await handle.stat();
    const source = createReadStream(path, { fd: handle, autoClose: false });
    await pipeline(source, createGzip(), createWriteStream(written, { mode }), { signal });
    await rename(written, `${path}${packed}`);
  } catch (error) {
    await rm(written, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
  await rm(path, { force: true });
}

/** Removes the log of a container and all that was rotated from it. What is not there is no error. */
export async function removeContainerLogs(path: string): Promise<void> {
  for (const name of await besides(path)) await rm(join(dirname(path), name), { force: true });
  await rm(path, { force: true });
}

/** The names of the files beside a log that begin with its name and a dot. */
async function besides(path: string): Promise<readonly string[]> {
  const start = `${basename(path)}.`;
  try {
    return (await readdir(dirname(path))).filter((name) => name.startsWith(start));
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return [];
    throw error;
  }
}
