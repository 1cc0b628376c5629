import { callGuarded, ignoreFailure } from './guard.ts';

const longestText = 500;
const mostItems = 20;
const deepest = 4;

/** What is shown of an error beside its message: never its request, its headers or its body. */
const errorMembers = ['code', 'status', 'reason', 'errno', 'syscall'] as const;

/** The fields of a log line as JSON in one line of bounded length. Of errors it shows the message and the codes alone. Never throws. */
export function fieldsAsText(fields: object): string {
  const text = callGuarded(() => JSON.stringify(membersOf(fields, 0)), ignoreFailure) ?? '{}';
  // JSON leaves these as they are, and a terminal obeys some of them
  return text.replace(/[\u007f-\u009f\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function shown(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return shortened(value);
  if (typeof value === 'bigint') return `${value}`;
  if (typeof value === 'function') return undefined;
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Error) return errorOf(value, depth);
  if (value instanceof Date) return Number.isFinite(value.getTime()) ? value.toISOString() : null;
  if (ArrayBuffer.isView(value)) return `${value.byteLength} bytes`;
  if (depth >= deepest) return Array.isArray(value) ? '[…]' : '{…}';
  if (!Array.isArray(value)) return membersOf(value, depth);
  const items: unknown[] = value.slice(0, mostItems).map((item: unknown) => shown(item, depth + 1));
  return value.length > mostItems ? [...items, `… ${value.length - mostItems} more`] : items;
}

function membersOf(object: object, depth: number): Record<string, unknown> {
  const members: Record<string, unknown> = Object.create(null);
  for (const key of Object.keys(object).slice(0, mostItems)) {
    members[key] = callGuarded(() => shown((object as Record<string, unknown>)[key], depth + 1), ignoreFailure);
  }
  return members;
}

function errorOf(error: Error, depth: number): Record<string, unknown> {
  const members: Record<string, unknown> = { message: shortened(messageOf(error)) };
  for (const name of errorMembers) {
    const value: unknown = callGuarded(() => (error as unknown as Record<string, unknown>)[name], ignoreFailure);
    if (typeof value === 'string' || typeof value === 'number') members[name] = shown(value, depth);
  }
  const cause: unknown = callGuarded(() => error.cause, ignoreFailure);
  if (cause instanceof Error && depth < deepest) members.cause = errorOf(cause, depth + 1);
  return members;
}

/** The error of another client may repeat the answer's headers and body in its message: its first line is shown. */
function messageOf(error: Error): string {
  const message: unknown = callGuarded(() => error.message, ignoreFailure);
  if (typeof message !== 'string') return 'an error without a message';
  return 'headers' in error || 'body' in error || 'response' in error ? (message.split('\n')[0] ?? '') : message;
}

function shortened(text: string): string {
  return text.length > longestText ? `${text.slice(0, longestText)}…` : text;
}
