// The format of CRI's log files: `TIME STREAM TAGS CONTENT`, where the first tag is `F` for a full line and `P` for a part of one.

/** Which of its two outputs a container wrote to. */
export type LogStream = 'stdout' | 'stderr';

/** One line of a log file. */
export interface LogLine {
  /** RFC 3339, as the runtime wrote it. */
  readonly time: string;
  readonly stream: LogStream;
  /** True: the line of the container goes on in the next line of this stream. */
  readonly isPart: boolean;
  /** What the container wrote. A full line ends with its line feed, a part of a line has none. */
  readonly content: Buffer;
}

const space = 0x20;
const lineFeed = 0x0a;
const partTag = 'P'.charCodeAt(0);
const tagDelimiter = ':'.charCodeAt(0);
/** The longest time with nanoseconds and an offset has 35 characters. */
const longestTime = 40;
const timeFormat = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

/** Undefined for what is no line of this format. `line` holds its line feed, unless it is cut off. */
export function parseLogLine(line: Buffer): LogLine | undefined {
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
export function contentOf(bytes: Buffer, isPart: boolean): Buffer {
  return isPart && bytes.at(-1) === lineFeed ? bytes.subarray(0, -1) : bytes;
}

function streamAt(line: Buffer, start: number): LogStream | undefined {
  const name = line.toString('latin1', start, start + 7);
  return name === 'stdout ' ? 'stdout' : name === 'stderr ' ? 'stderr' : undefined;
}
