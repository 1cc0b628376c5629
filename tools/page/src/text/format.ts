import { plural } from '../../../../src/observe/debug/debug-notes.ts';

/** A length of time in the unit that suits it: `0.4 ms`, `12 ms`, `3.1 s`, `4 min`, `2 h`, `5 d`. */
export function duration(ms: number): string {
  if (ms < 1) return `${ms <= 0 ? 0 : ms.toFixed(1)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 90_000) return `${Math.round(ms / 1000)} s`;
  if (ms < 90 * 60_000) return `${Math.round(ms / 60_000)} min`;
  if (ms < 36 * 3_600_000) return `${Math.round(ms / 3_600_000)} h`;
  return `${Math.round(ms / 86_400_000)} d`;
}

/** How long ago a time was, in whole units, so that it does not flicker: `now`, `3 s`, `4 min`. A time to come is now. */
export function age(at: number, now: number): string {
  const ms = now - at;
  return ms < 1000 ? 'now' : duration(ms < 10_000 ? Math.floor(ms / 1000) * 1000 : ms).replace('.0', '');
}

export function byteCount(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** `12,345`: the page is in English, whatever the browser speaks. */
export function count(value: number): string {
  return value.toLocaleString('en');
}

/** `1 pod`, `12,345 pods`. */
export function counted(word: string, value: number): string {
  return `${count(value)} ${plural(word, value)}`;
}

/** The time of day to the millisecond, where the reader is: `13:05:09.042`. */
export function timeOfDay(at: number): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return '?';
  const two = (value: number): string => String(value).padStart(2, '0');
  const ms = String(date.getMilliseconds()).padStart(3, '0');
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${ms}`;
}

/** The time in ISO form, for machines; empty for a time that is none. */
export function isoTime(at: number): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString();
}
