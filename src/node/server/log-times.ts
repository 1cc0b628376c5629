// Lines of logs: their outputs, and their times down to the nanosecond.

/** Which of its two outputs a container wrote to. */
export type LogStream = 'stdout' | 'stderr';

/** A time with nanoseconds, which a number of milliseconds cannot hold. */
export interface LogTime {
  /** Whole milliseconds since the epoch. */
  readonly ms: number;
  /** The nanoseconds beyond them: 0 to 999,999. */
  readonly nanos: number;
}

const parts = /^(.{19})(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/;

/** Undefined for what is no RFC 3339 time. */
export function parseLogTime(text: string): LogTime | undefined {
  const [, seconds, fraction = '', zone] = parts.exec(text) ?? [];
  const ms = seconds === undefined ? Number.NaN : Date.parse(`${seconds}${zone}`);
  if (Number.isNaN(ms)) return undefined;
  const nanos = Number(fraction.padEnd(9, '0'));
  return { ms: ms + Math.floor(nanos / 1e6), nanos: nanos % 1e6 };
}

/** True where the first of two times comes first. */
export function isEarlier(a: LogTime, b: LogTime): boolean {
  return a.ms < b.ms || (a.ms === b.ms && a.nanos < b.nanos);
}

/** The same time with nine digits after the second, as logs with times show it: all times have one width. */
export function fixedWidthTime(text: string): string {
  const [, seconds, fraction = '', zone] = parts.exec(text) ?? [];
  return seconds === undefined ? text : `${seconds}.${fraction.padEnd(9, '0')}${zone}`;
}
