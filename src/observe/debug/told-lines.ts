import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import { roundedDuration } from '../../base/problem.ts';
import { timeOf } from './told-problems.ts';

// What an injected part says, as lines of a name and a value. Times and lengths of time are written out: nobody reads milliseconds.

const deepest = 3;
const linesAtMost = 60;
const longestValue = 500;
const longestLabel = 100;
/** `at`, `lastSeenAt`, `changeSince`, `pausedUntil`. */
const timeName = /(?:^|[a-z])(?:At|Since|Until)$|^(?:at|since|until)$/;
const lengthName = /[a-z]Ms$/;

/**
 * One line for each value; nested names are joined by dots. A member of a list that has a name is called by it. Of what cannot be read
 * nothing more is told.
 */
export function linesOf(told: object, unlisted: readonly string[]): [name: string, value: string][] {
  const lines: [string, string][] = [];
  callGuarded(() => {
    const rest = Object.fromEntries(Object.entries(told).filter(([name]) => !unlisted.includes(name)));
    addLines(lines, '', rest, deepest);
  }, ignoreFailure);
  return lines;
}

/** A text, cut where it is too long; undefined for what is no text. */
export function noteOf(told: unknown): string | undefined {
  return typeof told === 'string' && told !== '' ? told.slice(0, longestValue) : undefined;
}

function addLines(lines: [string, string][], prefix: string, value: object, depth: number): void {
  for (const [key, inner] of Object.entries(value)) {
    if (lines.length >= linesAtMost) return;
    const label = labelOf(value, key, inner);
    const name = prefix === '' ? label : `${prefix}.${label}`;
    if (typeof inner === 'object' && inner !== null && !(inner instanceof Date)) {
      // a list's member that is called by its name need not tell it again
      const told = label === key ? inner : { ...inner, name: undefined };
      if (depth > 1) addLines(lines, name, told, depth - 1);
      continue;
    }
    const text = textOf(key, inner);
    if (text !== undefined) lines.push([name, text]);
  }
}

function labelOf(owner: object, key: string, inner: unknown): string {
  if (Array.isArray(owner) && typeof inner === 'object' && inner !== null && 'name' in inner && typeof inner.name === 'string') {
    if (inner.name !== '') return inner.name.slice(0, longestLabel);
  }
  return key.slice(0, longestLabel);
}

function textOf(key: string, value: unknown): string | undefined {
  if (value instanceof Date) return isoTime(value.getTime());
  if (typeof value === 'number') {
    if (timeName.test(key)) return isoTime(value) ?? String(value);
    return lengthName.test(key) && Number.isFinite(value) ? roundedDuration(value) : String(value);
  }
  if (typeof value === 'string') return value.slice(0, longestValue);
  return typeof value === 'boolean' ? String(value) : undefined;
}

/** The time in ISO form; undefined for one that no date can hold. */
export function isoTime(ms: number): string | undefined {
  return timeOf(ms) === undefined ? undefined : new Date(ms).toISOString();
}
