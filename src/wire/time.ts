import { invalidArgument } from '../errors.ts';

const wholeSecondsUTC = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/;
const rfc3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;
const zeroTime = '0001-01-01T00:00:00Z';

/** Milliseconds since the epoch as the apiserver writes a time: UTC, cut to whole seconds. */
export function formatTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** {@link formatTime} that makes the text of a second once, for a caller that formats many times of one second. */
export function createTimeFormatter(): (ms: number) => string {
  let second = Number.NaN;
  let text = '';
  return (ms) => {
    const current = Math.floor(ms / 1000);
    if (current !== second) {
      text = formatTime(ms);
      second = current;
    }
    return text;
  };
}

/**
 * A time in canonical form: RFC 3339, UTC, cut (not rounded) to whole seconds, as the apiserver stores it.
 * Go's zero time is no time. Throws ERR_INVALID_ARGUMENT for anything that is no time.
 */
export function canonicalTime(value: unknown, path: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') {
    if (wholeSecondsUTC.test(value)) return value === zeroTime ? undefined : value;
    const ms = rfc3339.test(value) ? Date.parse(value) : Number.NaN;
    if (!Number.isNaN(ms)) return formatTime(Math.floor(ms / 1000) * 1000);
  } else if (value instanceof Date) {
    const ms = value.getTime();
    if (!Number.isNaN(ms)) return formatTime(Math.floor(ms / 1000) * 1000);
  }
  throw invalidArgument(path, 'an RFC 3339 time or a valid Date', value);
}
