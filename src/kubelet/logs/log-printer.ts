import type { LinePiece } from './line-pieces.ts';
import { contentOf, type LogLine, type LogStream, parseLogLine } from './log-line.ts';
import { fixedWidthTime, isBefore, type LogTime, parseLogTime } from './log-time.ts';

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
  return parsed === undefined || isBefore(parsed, since);
}
