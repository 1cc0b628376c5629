import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readFile } from 'node:fs/promises';

/**
 * The text of a file. Rejects for what is no file, and for one that has more than so many bytes: nothing on a node may fill the
 * memory or wait for ever.
 */
export async function readAtMost(path: string, mostBytes: number): Promise<string> {
  // a pipe would keep the opener waiting
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    await requireSmallFile(file, path, mostBytes);
    return await readText(file, mostBytes);
  } finally {
    await file.close();
  }
}

/** Rejects for what is no file, and for one that has more than so many bytes. */
export async function requireSmallFile(file: FileHandle, path: string, mostBytes: number): Promise<void> {
  const stats = await file.stat();
  if (!stats.isFile()) throw new Error(`${path} is no file`);
  if (stats.size > mostBytes) throw new Error(`${path} has more than ${mostBytes} bytes`);
}

/** The text of a file, or its beginning: it may grow while it is read. */
export async function readText(file: FileHandle, mostBytes: number): Promise<string> {
  const parts: Buffer[] = [];
  for (let size = 0; size < mostBytes; ) {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(Math.min(65_536, mostBytes - size)));
    if (bytesRead === 0) break;
    parts.push(buffer.subarray(0, bytesRead));
    size += bytesRead;
  }
  return Buffer.concat(parts).toString('utf8');
}

/** True for a file that has this text and no more. Never reads more than that: a container can have made it as large as the disk. */
export async function fileHasText(path: string, text: string): Promise<boolean> {
  try {
    const stats = await lstat(path);
    return stats.isFile() && stats.size === Buffer.byteLength(text) && (await readFile(path, 'utf8')) === text;
  } catch {
    return false;
  }
}
