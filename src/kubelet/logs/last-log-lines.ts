import { LinePieces } from './line-pieces.ts';
import { chunkBytes, openLogFile, readAt, tailStart } from './log-file.ts';
import { LogPrinter } from './log-printer.ts';

/** How much of the end of a log is taken. */
export interface LastLinesLimits {
  /** At most so many lines of the file. */
  readonly lines: number;
  /** At most so many bytes, of the end. */
  readonly bytes: number;
}

/** What a container wrote last, to both of its outputs. Rejects when the log cannot be read, or has another format than CRI's. */
export async function lastLogLines(path: string, { lines, bytes }: LastLinesLimits): Promise<Buffer> {
  const handle = await openLogFile(path);
  try {
    let last: Buffer = Buffer.alloc(0);
    const pieces = new LinePieces(chunkBytes);
    const printer = new LogPrinter({});
    const { size } = await handle.stat();
    // what is appended meanwhile is not read: the reading ends, however fast the container writes
    for (let position = await tailStart(handle, lines); position < size; ) {
      const chunk = await readAt(handle, position, Math.min(chunkBytes, size - position));
      if (chunk.length === 0) break;
      position += chunk.length;
      const shown = [...pieces.take(chunk)].flatMap((piece) => printer.print(piece));
      last = lastBytes(Buffer.concat([last, ...shown]), bytes);
    }
    const rest = pieces.end();
    return rest === undefined ? last : lastBytes(Buffer.concat([last, ...printer.print(rest)]), bytes);
  } finally {
    await handle.close();
  }
}

function lastBytes(bytes: Buffer, most: number): Buffer {
  return bytes.length > most ? Buffer.from(bytes.subarray(bytes.length - most)) : bytes;
}
