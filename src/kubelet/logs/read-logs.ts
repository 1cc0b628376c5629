import { type Clock, sleep } from '../../base/clock.ts';
import { callWithin } from '../../base/concurrency/aborts.ts';
import { nthDelayMs } from '../../base/concurrency/backoff.ts';
import { FollowedFile } from './followed-file.ts';
import { LinePieces } from './line-pieces.ts';
import { LogChanges } from './log-changes.ts';
import { chunkBytes } from './log-file.ts';
import { LogPrinter, type LogView } from './log-printer.ts';

/** What is read of a log. */
export interface ReadLogsOptions extends LogView {
  /** The last so many lines of the file, whichever output they are of. Default: all. */
  readonly tailLines?: number | undefined;
  /** True: what the container writes from now on is shown as well, until it has ended. Default false. */
  readonly follow?: boolean | undefined;
}

/** What reading a log needs. */
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
