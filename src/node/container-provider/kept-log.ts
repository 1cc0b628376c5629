import type { Clock } from '../../base/clock.ts';
import { onAbort } from '../../base/concurrency/aborts.ts';

/** Which of its two outputs a container wrote to. */
export type OutputName = 'stdout' | 'stderr';

/** A line of a log, or a piece of one that is too long to be kept in one. */
export interface KeptLine {
  readonly output: OutputName;
  /** When its last byte was written, in milliseconds since the epoch. */
  readonly time: number;
  /** True: it goes on a line that an earlier piece began. */
  readonly continues: boolean;
  /** True: it is the end of its line. The line feed is not in `bytes`. */
  readonly ends: boolean;
  /** Only good until the log is written to again. */
  readonly bytes: Buffer;
}

/** A place between two lines of a log. It holds nothing of the log. */
export interface LogPlace {
  /** The number of the block. */
  block: number;
  /** The byte in it. */
  offset: number;
}

export interface KeptLogOptions {
  readonly clock: Clock;
  /** What it holds is never more, in bytes: its oldest lines go first. */
  readonly maxBytes: number;
  /** Called before the log takes so many bytes more. Lines of any log may be dropped by it, of this one too. */
  readonly makeRoom: (bytes: number) => void;
  /** Called with each change of what it holds. */
  readonly counted: (bytes: number) => void;
  /** Called once nobody can read it any more. */
  readonly cleared: () => void;
}

interface Block {
  readonly bytes: Buffer;
  used: number;
  /** How many lines of stdout and of stderr end in it. */
  readonly ends: [number, number];
}

/** The beginning of a line whose end is not written yet. */
interface OpenLine {
  bytes: Buffer;
  used: number;
  /** True: pieces of the line are kept already. */
  isBegun: boolean;
}

const lineFeed = 0x0a;
const empty = Buffer.alloc(0);
/** Flags, time and length of a line, before its bytes. */
const headBytes = 13;
const flags = { stderr: 1, continues: 2, ends: 4 };
/** The object of a block, about. */
const blockOverheadBytes = 128;
const firstBlockBytes = 1024;
const largestBlockBytes = 64 * 1024;
/** As a runtime cuts long lines. */
const longestPieceBytes = 16 * 1024;
const firstOpenBytes = 256;

/**
 * What one run of a container has written, as whole lines with their times, in memory. The bytes that it holds are counted with what
 * they are held in. They are copies: nothing of what was written is held. A line is in the log once its line feed was written, once 16
 * KiB of it are there, or with the end of the run.
 */
export class KeptLog {
  readonly #options: KeptLogOptions;
  readonly #blockBytes: number;
  readonly #pieceBytes: number;
  #blocks: Block[] = [];
  /** The number of the first block that is still there. */
  #first = 0;
  #nextBlockBytes = firstBlockBytes;
  readonly #open: readonly [OpenLine, OpenLine] = [
    { bytes: empty, used: 0, isBegun: false },
    { bytes: empty, used: 0, isBegun: false },
  ];
  readonly #waiting = new Set<() => void>();
  #bytes = 0;
  #readers = 0;
  #hasEnded = false;
  #isDiscarded = false;

  constructor(options: KeptLogOptions) {
    this.#options = options;
    this.#blockBytes = Math.min(largestBlockBytes, Math.floor(options.maxBytes / 8));
    this.#pieceBytes = Math.min(longestPieceBytes, this.#blockBytes - headBytes - blockOverheadBytes);
  }

  /** What it holds. */
  get bytes(): number {
    return this.#bytes;
  }

  /** True: nothing is written to it any more. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  write(output: OutputName, bytes: Buffer): void {
    const time = this.#options.clock.now();
    let feed = -1;
    for (let start = this.#skipped(output, bytes); start < bytes.length && !this.#hasEnded; ) {
      // an endless line is searched once
      if (feed < start) feed = bytes.indexOf(lineFeed, start);
      if (feed < 0) feed = bytes.length;
      const room = this.#pieceBytes - this.#openLine(output).used;
      const piece = bytes.subarray(start, Math.min(feed, start + room));
      start += piece.length;
      if (start < feed) this.#append(output, piece, { time, ends: false });
      else if (feed === bytes.length) this.#hold(output, piece);
      else {
        this.#append(output, piece, { time, ends: true });
        start += 1;
      }
    }
  }

  /** Where that begins of what is written at once that can be kept. To look at all of it would cost time, and change nothing. */
  #skipped(output: OutputName, bytes: Buffer): number {
    const start = bytes.length - this.#options.maxBytes;
    if (start <= this.#options.maxBytes) return 0;
    const line = this.#openLine(output);
    line.used = 0;
    const feed = bytes.indexOf(lineFeed, start);
    line.isBegun = feed < 0;
    return feed < 0 ? start : feed + 1;
  }

  /** The run is over: what has no line feed yet is a line. */
  end(): void {
    const time = this.#options.clock.now();
    for (const output of ['stdout', 'stderr'] as const) {
      const line = this.#openLine(output);
      if (line.used > 0) this.#append(output, empty, { time, ends: true });
      this.#release(line);
    }
    this.#hasEnded = true;
    this.#wake();
  }

  /** Nobody will ask for it any more: what it holds is dropped once nobody reads it. */
  discard(): void {
    this.#isDiscarded = true;
    if (this.#readers === 0) this.#clear();
  }

  /** Somebody reads it, until the function that it returns is called. */
  enter(): () => void {
    this.#readers += 1;
    let hasLeft = false;
    return () => {
      if (hasLeft) return;
      hasLeft = true;
      this.#readers -= 1;
      if (this.#readers === 0 && this.#isDiscarded) this.#clear();
    };
  }

  /** Drops the oldest of what it holds. False: it holds nothing. */
  dropOldest(): boolean {
    for (const line of this.#open) {
      if (line.used === 0 && line.bytes.length > 0) return this.#release(line);
    }
    const [block] = this.#blocks;
    if (block === undefined) return this.#open.some((line) => line.bytes.length > 0 && this.#release(line));
    this.#blocks.shift();
    this.#first += 1;
    this.#count(-block.bytes.length - blockOverheadBytes);
    return true;
  }

  /** Resolves when there may be more, or the signal aborts. */
  async changed(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    const leave = onAbort(signal, resolve);
    await promise;
    leave();
    this.#waiting.delete(resolve);
  }

  /** The place after its last line. */
  endPlace(): LogPlace {
    const last = this.#blocks.at(-1);
    if (last === undefined) return { block: this.#first, offset: 0 };
    return { block: this.#first + this.#blocks.length - 1, offset: last.used };
  }

  /** The place where its last `lines` lines begin, of both outputs or of one. */
  tailPlace(lines: number, output: OutputName | undefined): LogPlace {
    const place = this.endPlace();
    if (lines <= 0) return place;
    // a line that has no end yet counts as one
    let ends = this.#unended(output);
    let index = this.#blocks.length;
    while (index > 0 && ends <= lines) {
      index -= 1;
      ends += endsIn(this.#blocks[index], output);
    }
    const start = { block: this.#first + index, offset: 0 };
    for (let left = ends - lines; left > 0; ) {
      const line = this.next(start);
      if (line === undefined) break;
      if (line.ends && (output ?? line.output) === line.output) left -= 1;
    }
    return start;
  }

  /** The line at a place, which goes to the next one; undefined: there is none yet. What is gone is skipped. */
  next(place: LogPlace): KeptLine | undefined {
    if (place.block < this.#first) Object.assign(place, { block: this.#first, offset: 0 });
    let block = this.#blocks[place.block - this.#first];
    if (block !== undefined && place.offset >= block.used && place.block - this.#first < this.#blocks.length - 1) {
      Object.assign(place, { block: place.block + 1, offset: 0 });
      block = this.#blocks[place.block - this.#first];
    }
    if (block === undefined || place.offset >= block.used) return undefined;
    const { bytes } = block;
    const flag = bytes.readUInt8(place.offset);
    const start = place.offset + headBytes;
    const end = start + bytes.readUInt32LE(place.offset + 9);
    const time = bytes.readDoubleLE(place.offset + 1);
    place.offset = end;
    return {
      output: flag & flags.stderr ? 'stderr' : 'stdout',
      time,
      continues: (flag & flags.continues) !== 0,
      ends: (flag & flags.ends) !== 0,
      bytes: bytes.subarray(start, end),
    };
  }

  /** What is open of the line, and these bytes. */
  #append(output: OutputName, bytes: Buffer, { time, ends }: { readonly time: number; readonly ends: boolean }): void {
    const line = this.#openLine(output);
    const block = this.#blockFor(headBytes + line.used + bytes.length);
    // to make room for a block may have dropped what was open
    const length = line.used + bytes.length;
    const flag = (output === 'stderr' ? flags.stderr : 0) | (line.isBegun ? flags.continues : 0) | (ends ? flags.ends : 0);
    let at = block.bytes.writeUInt8(flag, block.used);
    at = block.bytes.writeDoubleLE(time, at);
    at = block.bytes.writeUInt32LE(length, at);
    at += line.bytes.copy(block.bytes, at, 0, line.used);
    block.used = at + bytes.copy(block.bytes, at);
    if (ends) block.ends[output === 'stdout' ? 0 : 1] += 1;
    line.used = 0;
    line.isBegun = !ends;
    this.#wake();
  }

  #blockFor(bytes: number): Block {
    const last = this.#blocks.at(-1);
    if (last !== undefined && last.bytes.length - last.used >= bytes) return last;
    const size = Math.max(bytes, Math.min(this.#nextBlockBytes, this.#blockBytes));
    this.#nextBlockBytes = Math.min(size * 2, this.#blockBytes);
    this.#makeRoom(size + blockOverheadBytes);
    // not from the pool, whose other users would hold it
    const block: Block = { bytes: Buffer.allocUnsafeSlow(size), used: 0, ends: [0, 0] };
    this.#blocks.push(block);
    this.#count(size + blockOverheadBytes);
    return block;
  }

  #hold(output: OutputName, bytes: Buffer): void {
    const line = this.#openLine(output);
    if (line.used + bytes.length > line.bytes.length) {
      const size = Math.min(this.#pieceBytes, 2 ** Math.ceil(Math.log2(Math.max(firstOpenBytes, line.used + bytes.length))));
      this.#makeRoom(size);
      const larger = Buffer.allocUnsafeSlow(size);
      line.bytes.copy(larger, 0, 0, line.used);
      this.#count(size - line.bytes.length);
      line.bytes = larger;
    }
    line.used += bytes.copy(line.bytes, line.used);
  }

  #makeRoom(bytes: number): void {
    while (this.#bytes + bytes > this.#options.maxBytes && this.dropOldest());
    this.#options.makeRoom(bytes);
  }

  #openLine(output: OutputName): OpenLine {
    return this.#open[output === 'stdout' ? 0 : 1];
  }

  #release(line: OpenLine): true {
    this.#count(-line.bytes.length);
    line.bytes = empty;
    line.used = 0;
    return true;
  }

  #unended(output: OutputName | undefined): number {
    const [stdout, stderr] = this.#open;
    const count = (line: OpenLine, name: OutputName): number => (line.isBegun && (output ?? name) === name ? 1 : 0);
    return count(stdout, 'stdout') + count(stderr, 'stderr');
  }

  #clear(): void {
    this.#hasEnded = true;
    while (this.dropOldest());
    this.#wake();
    this.#options.cleared();
  }

  #count(bytes: number): void {
    if (bytes === 0) return;
    this.#bytes += bytes;
    this.#options.counted(bytes);
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }
}

function endsIn(block: Block | undefined, output: OutputName | undefined): number {
  const [stdout, stderr] = block?.ends ?? [0, 0];
  if (output === undefined) return stdout + stderr;
  return output === 'stdout' ? stdout : stderr;
}
