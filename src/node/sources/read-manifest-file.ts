import { constants } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { HeldBytes } from '../../api/json/bytes.ts';
import { manifestText } from './decode-manifest.ts';

/** Something that is no file: a directory, a pipe, a socket, a device. */
export class NoFileError extends Error {
  override readonly name = 'NoFileError';
}

const chunkBytes = 64 * 1024;

/**
 * The text of a file, links followed. Never waits for a pipe, never opens a device, and reads no more than `maxBytes`. Rejects
 * with a `NoFileError`, the error of the system, or an error that says what is wrong with the content.
 */
export async function readManifestFile(path: string, maxBytes: number): Promise<string> {
  // looked at before it is opened: opening a device may do something
  requireFile(path, await stat(path));
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  try {
    // something else may stand there now
    requireFile(path, await file.stat());
    return manifestText(await readAtMost(path, file, maxBytes));
  } finally {
    await file.close();
  }
}

function requireFile(path: string, stats: { isFile(): boolean }): void {
  if (!stats.isFile()) throw new NoFileError(`${path} is no file`);
}

async function readAtMost(path: string, file: FileHandle, maxBytes: number): Promise<Buffer> {
  const held = new HeldBytes();
  for (;;) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(chunkBytes), 0, chunkBytes, null);
    if (bytesRead === 0) return held.take();
    if (held.length + bytesRead > maxBytes) throw new Error(`${path} is longer than ${maxBytes} bytes`);
    held.add(buffer.subarray(0, bytesRead));
  }
}
