import { invalidArgument } from '../../base/errors.ts';

/** Only days that every year has: the 29th of February is looked at closer. */
const wholeSecondsUTC =
  /^\d{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/;
const rfc3339 = /^\d{4}-\d\d-\d\d[Tt](?:[01]\d|2[0-3]):\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;
const zeroTime = '0001-01-01T00:00:00Z';
const firstMs = Date.parse('0000-01-01T00:00:00.000Z');
const lastMs = Date.parse('9999-12-31T23:59:59.999Z');

/** Milliseconds since the epoch as the apiserver writes a time: UTC, cut to whole seconds. */
export function formatTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** The same with six digits of a second, as Leases and newer events have it. */
export function formatMicroTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z');
}

/** The same with nine digits of a second, of which the last six are 0: as logs and the kubelet's annotations have it. */
export function formatNanoTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000000Z');
}

/** The time of a measurement, to the millisecond: rates are made from the difference of two. */
export function measuredAt(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z');
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
 * Go's zero time is no time. Throws ERR_INVALID_ARGUMENT for anything that is no time of the years 0 to 9999.
 */
export function canonicalTime(value: unknown, path: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string' && wholeSecondsUTC.test(value)) return value === zeroTime ? undefined : value;
  const ms = typeof value === 'string' ? parseTime(value) : value instanceof Date ? value.getTime() : Number.NaN;
  if (!hasFourDigitYear(ms)) throw invalidArgument(path, 'an RFC 3339 time or a valid Date', value);
  const text = formatTime(ms);
  return text === zeroTime ? undefined : text;
}

/** True for milliseconds since the epoch that RFC 3339 can write. */
export function hasFourDigitYear(ms: number): boolean {
  return ms >= firstMs && ms <= lastMs;
}

/** NaN for what is no time. */
function parseTime(text: string): number {
  return rfc3339.test(text) && isDay(text.slice(0, 10)) ? Date.parse(text) : Number.NaN;
}

/** `Date.parse` takes the 30th of February for the 2nd of March. */
function isDay(text: string): boolean {
  if (text.slice(8) <= '28') return true;
  const ms = Date.parse(text);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text);
}
