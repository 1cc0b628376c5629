import { HeldBytes } from '../../api/json/bytes.ts';
import { fixedWidthTime, isEarlier, type LogStream, type LogTime, parseLogTime } from '../../node/server/log-times.ts';

/** Which lines of a log are shown, and how. */
export interface LogView {
  /** Lines from this time on. Default: all. */
  readonly since?: LogTime | undefined;
  /** So many bytes, and then no more. Default: no limit. */
  readonly limitBytes?: number | undefined;
  /** True: each line begins with its time, with nine digits after the second. Default false. */
  readonly timestamps?: boolean | undefined;
  /** What the container wrote to one of its outputs. Default: both. */
  readonly stream?: LogStream | undefined;
}

const lineFeed = 0x0a;
const nothing: readonly Buffer[] = [];

/** Makes what is shown from lines of a log file, one after another. */
export class LogPrinter {
  readonly #view: LogView;
  #bytesLeft: number;
  #isLineStart = true;
  /** The line that further pieces belong to. */
  #line: LogLine | undefined;
  #hasLine = false;

  constructor(view: LogView) {
    this.#view = view;
    this.#bytesLeft = view.limitBytes ?? Number.POSITIVE_INFINITY;
  }

  /** True: the limit of bytes is reached. */
  get isFull(): boolean {
    return this.#bytesLeft <= 0;
  }

  /** What is shown of a piece. Throws when the first line has no format that is known; later ones are left out. */
  print({ bytes, continues }: LinePiece): readonly Buffer[] {
    const begun = this.#line;
    if (continues) return begun === undefined ? nothing : this.#show({ ...begun, content: contentOf(bytes, begun.isPart) });
    this.#line = parseLogLine(bytes);
    if (this.#line === undefined) {
      if (!this.#hasLine) throw new Error('unsupported log format');
      return nothing;
    }
    this.#hasLine = true;
    return this.#show(this.#line);
  }

  #show({ time, stream, content }: LogLine): readonly Buffer[] {
    const { since, timestamps, stream: wanted } = this.#view;
    const beginsLine = this.#isLineStart;
    this.#isLineStart = content.length === 0 || content.at(-1) === lineFeed;
    if (wanted !== undefined && stream !== wanted) return nothing;
    if (since !== undefined && isOlder(time, since)) return nothing;
    if (timestamps !== true || !beginsLine) return [this.#cut(content)];
    return [this.#cut(Buffer.from(`${fixedWidthTime(time)} `, 'latin1')), this.#cut(content)];
  }

  #cut(bytes: Buffer): Buffer {
    const shown = bytes.length > this.#bytesLeft ? bytes.subarray(0, this.#bytesLeft) : bytes;
    this.#bytesLeft -= shown.length;
    return shown;
  }
}

function isOlder(time: string, since: LogTime): boolean {
  const parsed = parseLogTime(time);
  return parsed === undefined || isEarlier(parsed, since);
}

// The format of CRI's log files: `TIME STREAM TAGS CONTENT`, where the first tag is `F` for a full line and `P` for a part of one.

interface LogLine {
  /** RFC 3339, as the runtime wrote it. */
  readonly time: string;
  readonly stream: LogStream;
  /** True: the line of the container goes on in the next line of this stream. */
  readonly isPart: boolean;
  /** What the container wrote. A full line ends with its line feed, a part of a line has none. */
  readonly content: Buffer;
}

const space = 0x20;
const partTag = 'P'.charCodeAt(0);
const tagDelimiter = ':'.charCodeAt(0);
/** The longest time with nanoseconds and an offset has 35 characters. */
const longestTime = 40;
const timeFormat = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

/** Undefined for what is no line of this format. `line` holds its line feed, unless it is cut off. */
function parseLogLine(line: Buffer): LogLine | undefined {
  const timeEnd = line.indexOf(space);
  if (timeEnd < 0 || timeEnd > longestTime) return undefined;
  const time = line.toString('latin1', 0, timeEnd);
  const stream = streamAt(line, timeEnd + 1);
  if (stream === undefined || !timeFormat.test(time)) return undefined;
  const tagStart = timeEnd + 1 + stream.length + 1;
  const tagEnd = line.indexOf(space, tagStart);
  if (tagEnd < 0) return undefined;
  const afterTag = line[tagStart + 1];
  const isPart = line[tagStart] === partTag && (afterTag === space || afterTag === tagDelimiter);
  return { time, stream, isPart, content: contentOf(line.subarray(tagEnd + 1), isPart) };
}

/** The line feed that ends a part of a line in the file is none of the container's. */
function contentOf(bytes: Buffer, isPart: boolean): Buffer {
  return isPart && bytes.at(-1) === lineFeed ? bytes.subarray(0, -1) : bytes;
}

function streamAt(line: Buffer, start: number): LogStream | undefined {
  const name = line.toString('latin1', start, start + 7);
  return name === 'stdout ' ? 'stdout' : name === 'stderr ' ? 'stderr' : undefined;
}

/** A line, or a piece of one that is too long to be held. */
interface LinePiece {
  /** The bytes, with the line feed if it is the line's last piece. */
  readonly bytes: Buffer;
  /** True: it goes on a line that an earlier piece began. */
  readonly continues: boolean;
  /** False: a later piece goes on with the line. */
  readonly ends: boolean;
}

/** Cuts what is read from a file into lines. It holds at most about twice `longest` bytes: a longer line comes in pieces. */
export class LinePieces {
  readonly #longest: number;
  readonly #rest = new HeldBytes();
  #continues = false;

  constructor(longest: number) {
    this.#longest = longest;
  }

  /** The lines that are whole with this chunk. */
  *take(chunk: Buffer): Generator<LinePiece> {
    let start = 0;
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, start)) {
      yield this.#piece(this.#lineOf(chunk.subarray(start, end + 1)), false);
      start = end + 1;
    }
    if (start < chunk.length) this.#rest.add(chunk.subarray(start));
    if (this.#rest.length >= this.#longest) yield this.#piece(this.#rest.take(), true);
  }

  #lineOf(end: Buffer): Buffer {
    if (this.#rest.length === 0) return end;
    this.#rest.add(end);
    return this.#rest.take();
  }

  /** What stands after the last line feed; undefined for nothing. */
  end(): LinePiece | undefined {
    return this.#rest.length === 0 ? undefined : this.#piece(this.#rest.take(), false);
  }

  #piece(bytes: Buffer, goesOn: boolean): LinePiece {
    const continues = this.#continues;
    this.#continues = goesOn;
    return { bytes, continues, ends: !goesOn };
  }
}
