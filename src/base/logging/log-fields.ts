import { callGuarded, ignoreFailure } from '../guard.ts';

const mostItems = 20;
const deepest = 4;

/** What is shown of an error beside its message: never its request, its headers or its body. */
const errorMembers = ['code', 'status', 'statusCode', 'reason', 'errno', 'syscall'] as const;
/** Fields that hold what was thrown, which may be anything: an injected client may reject with its request, headers and all. */
const errorFields: ReadonlySet<string> = new Set(['err', 'error', 'cause']);
const secretKey = /authorization|token|password|cookie|secret/i;

/**
 * The fields of a log line as JSON in one line of bounded length. Of errors, and of whatever the fields `err`, `error` and
 * `cause` hold, it shows the message and the codes alone; of a member whose name tells of a secret, nothing. Never throws.
 */
export function fieldsAsText(fields: object): string {
  const text = callGuarded(() => JSON.stringify(membersOf(fields, 0, new LineBudget())), ignoreFailure) ?? '{}';
  // JSON leaves these as they are, and a terminal obeys some of them
  return text.replace(/[\u007f-\u009f\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function shown(value: unknown, depth: number, budget: LineBudget): unknown {
  if (typeof value === 'string') return budget.text(value);
  if (typeof value === 'bigint') return budget.text(`${value}`);
  if (typeof value === 'function' || typeof value === 'symbol') return undefined;
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Error) return errorOf(value, depth, budget);
  if (value instanceof Date) return Number.isFinite(value.getTime()) ? value.toISOString() : null;
  if (ArrayBuffer.isView(value)) return `${value.byteLength} bytes`;
  if (depth >= deepest) return Array.isArray(value) ? '[…]' : '{…}';
  return Array.isArray(value) ? itemsOf(value, depth, budget) : membersOf(value, depth, budget);
}

function itemsOf(list: readonly unknown[], depth: number, budget: LineBudget): unknown[] {
  const items: unknown[] = [];
  while (items.length < Math.min(list.length, mostItems) && budget.takeMember()) {
    const item: unknown = callGuarded(() => list[items.length], ignoreFailure);
    items.push(shown(item, depth + 1, budget) ?? null);
  }
  return items.length < list.length ? [...items, `… ${list.length - items.length} more`] : items;
}

function membersOf(object: object, depth: number, budget: LineBudget): Record<string, unknown> {
  const members: Record<string, unknown> = Object.create(null);
  for (const key of Object.keys(object).slice(0, mostItems)) {
    if (!budget.takeMember()) {
      members['…'] = 'more';
      break;
    }
    const member = (): unknown => memberOf(object, key, depth, budget);
    members[budget.key(key)] = callGuarded(member, ignoreFailure);
  }
  return members;
}

function memberOf(object: object, key: string, depth: number, budget: LineBudget): unknown {
  if (secretKey.test(key)) return '(hidden)';
  const value = (object as Record<string, unknown>)[key];
  const isThrown = errorFields.has(key) && typeof value === 'object' && value !== null;
  return isThrown ? errorOf(value, depth, budget) : shown(value, depth + 1, budget);
}

function errorOf(error: object, depth: number, budget: LineBudget): Record<string, unknown> {
  const read = (name: string): unknown => callGuarded(() => (error as Record<string, unknown>)[name], ignoreFailure);
  const isError = error instanceof Error;
  const members: Record<string, unknown> = isError ? {} : { type: Array.isArray(error) ? 'array' : 'object' };
  const message = messageOf(error, read('message'));
  if (message !== undefined || isError) members.message = budget.text(message ?? 'an error without a message');
  for (const name of errorMembers) {
    const value = read(name);
    if (typeof value === 'string' || typeof value === 'number') members[name] = shown(value, depth, budget);
  }
  const cause = read('cause');
  if (typeof cause === 'object' && cause !== null && depth < deepest && budget.takeMember()) {
    members.cause = errorOf(cause, depth + 1, budget);
  }
  return members;
}

/** The error of another client may repeat the answer's headers and body in its message: its first line is shown. */
function messageOf(error: object, message: unknown): string | undefined {
  if (typeof message !== 'string') return undefined;
  return 'headers' in error || 'body' in error || 'response' in error ? (message.split('\n', 1)[0] ?? '') : message;
}

const longestText = 500;
const longestKey = 100;
const mostCharacters = 4000;
const mostMembers = 200;
/** The most characters that JSON makes of one. */
const widest = 6;

/** What one log line may still hold: all its values share one limit, however many there are and however deep they stand. */
class LineBudget {
  #characters = mostCharacters;
  #members = mostMembers;

  /** Takes room for one member of an object or of a list. False once the line is full. */
  takeMember(): boolean {
    if (this.#members === 0 || this.#characters <= 0) return false;
    this.#members -= 1;
    return true;
  }

  /** The text, or as much of it as the line has room for. */
  text(text: string): string {
    return this.#take(text, longestText);
  }

  key(key: string): string {
    return this.#take(key, longestKey);
  }

  #take(text: string, longest: number): string {
    let taken = text.length > longest ? `${text.slice(0, longest)}…` : text;
    const room = Math.max(0, this.#characters);
    this.#characters = room - written(taken);
    // of characters that JSON writes as six, fewer fit
    if (this.#characters < 0) taken = `${text.slice(0, Math.floor(room / widest))}…`;
    return taken;
  }
}

/** How long the text is in JSON, at most. */
function written(text: string): number {
  const foreign = text.match(/[^\u0020-\u007e\u00a0-\u2027\u202a-\ud7ff\ue000-\uffff]/g)?.length ?? 0;
  const escaped = text.match(/["\\]/g)?.length ?? 0;
  return text.length + foreign * (widest - 1) + escaped;
}
