import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

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
