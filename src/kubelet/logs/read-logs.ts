import { type FileHandle, stat } from 'node:fs/promises';
import { type Clock, sleep } from '../../base/clock.ts';
import { callWithin } from '../../base/concurrency/aborts.ts';
import { nthDelayMs } from '../../base/concurrency/backoff.ts';
import { chunkBytes, LogChanges, openLogFile, readAt, tailStart } from './log-file.ts';
import { LinePieces, LogPrinter, type LogView } from './log-lines.ts';

export interface ReadLogsOptions extends LogView {
  /** The last so many lines of the file, whichever output they are of. Default: all. */
  readonly tailLines?: number | undefined;
  /** True: what the container writes from now on is shown as well, until it has ended. Default false. */
  readonly follow?: boolean | undefined;
}

export interface LogReading {
  readonly clock: Clock;
  /** Ends the reading. */
  readonly signal: AbortSignal;
  /** False once the container has ended. A rejection, and an answer that does not come, count as true. Asked with `follow` alone. */
  readonly running: () => Promise<boolean>;
}

/** After new lines the next look comes soon, then ever later, up to a second, as the kubelet's. */
const waits = { firstMs: 50, longestMs: 1000 };
const answerWithinMs = 5000;

/**
 * What a container wrote, a piece at a time; the next piece is read when it is asked for, so a slow reader costs no memory. It reads
 * the current file alone, as the kubelet does: up to its end at the call, or with `follow` also what comes later, in a new file as
 * well. Rejects when the file cannot be opened or is no regular file; reading ends with an error when the file begins with a line
 * of another format than CRI's. The caller has to read, or to call `return`: that closes the file.
 */
export async function openLogs(
  path: string,
  options: ReadLogsOptions,
  reading: LogReading,
): Promise<AsyncGenerator<Buffer, void>> {
  const { tailLines, follow = false } = options;
  const file = await FollowedFile.open(path, { tailLines, follow });
  const pieces = readPieces(file, options, follow ? new NextLines(path, reading) : undefined, reading.signal);
  // a generator that was never asked for anything would not close the file when it is ended
  await pieces.next();
  return pieces as AsyncGenerator<Buffer, void>;
}

/** The first piece is none: with it, the generator has begun. */
async function* readPieces(
  file: FollowedFile,
  options: ReadLogsOptions,
  waiting: NextLines | undefined,
  signal: AbortSignal,
): AsyncGenerator<Buffer | undefined, void> {
  const shown = new ShownLines(options, waiting === undefined ? options.tailLines : undefined);
  try {
    yield;
    for (let hasEnded = false; !signal.aborted && !shown.isOver; ) {
      const chunk = await file.read();
      if (chunk !== undefined) {
        waiting?.noteLines();
        yield* shown.take(chunk);
        continue;
      }
      const move = waiting === undefined ? 'same' : await file.moveOn(hasEnded);
      if (move === 'moved') yield* shown.end();
      else if (waiting === undefined || hasEnded) break;
      else hasEnded = await waiting.areOver(move === 'look-again');
    }
    if (!signal.aborted) yield* shown.end();
  } finally {
    waiting?.close();
    await file.close();
  }
}

/** Turns what is read into what is shown. */
class ShownLines {
  readonly #pieces = new LinePieces(chunkBytes);
  readonly #printer: LogPrinter;
  #linesLeft: number;

  constructor(view: LogView, lines: number | undefined) {
    this.#printer = new LogPrinter(view);
    this.#linesLeft = lines ?? Number.POSITIVE_INFINITY;
  }

  get isOver(): boolean {
    return this.#printer.isFull || this.#linesLeft <= 0;
  }

  *take(chunk: Buffer): Generator<Buffer> {
    const shown: Buffer[] = [];
    for (const piece of this.#pieces.take(chunk)) {
      if (this.isOver) break;
      shown.push(...this.#printer.print(piece));
      if (piece.ends) this.#linesLeft -= 1;
    }
    if (shown.length > 0) yield Buffer.concat(shown);
  }

  /** The rest of a file that ends without a line feed. */
  *end(): Generator<Buffer> {
    const rest = this.#pieces.end();
    if (rest !== undefined && !this.isOver) yield Buffer.concat(this.#printer.print(rest));
  }
}

/** Waits for more lines of a container. */
class NextLines {
  readonly #reading: LogReading;
  readonly #changes: LogChanges;
  /** How many waits in a row have brought no lines. */
  #waited = 0;

  constructor(path: string, reading: LogReading) {
    this.#reading = reading;
    this.#changes = new LogChanges(path, reading.clock);
  }

  noteLines(): void {
    this.#waited = 0;
  }

  /** True: the container has ended; what it wrote before that is still to be read. Else it waits for a change. */
  async areOver(soon: boolean): Promise<boolean> {
    if (!(await this.#isRunning())) return true;
    const { clock, signal } = this.#reading;
    this.#waited += 1;
    // a change of the new file must not cut short the time in which the old one may still be written
    if (soon) await sleep(clock, waits.firstMs, signal);
    else await this.#changes.wait(nthDelayMs(this.#waited, waits), signal);
    return false;
  }

  close(): void {
    this.#changes.close();
  }

  async #isRunning(): Promise<boolean> {
    const { clock, running, signal } = this.#reading;
    const late = (): Error => new Error('there was no answer in time');
    const limits = { clock, signal, timeoutMs: answerWithinMs, late };
    // nobody knows that it has ended
    const isRunning = await callWithin(() => running(), limits).catch(() => true);
    return isRunning !== false;
  }
}

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

interface OpenOptions {
  readonly tailLines: number | undefined;
  readonly follow: boolean;
}

/** A log file that is read from a place on, also when it is replaced by a new one of the same name, or cut. */
class FollowedFile {
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
