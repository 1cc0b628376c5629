import { errorText } from '../errors.ts';
import { callGuarded, ignoreFailure } from '../guard.ts';
import { LineBudget } from './line-budget.ts';

const mostItems = 20;
const deepest = 4;
/** A cause is known to be repeated by so much of its message. */
const longestCompared = 500;

/** What is shown of an error beside its name and its message: never its request, its headers or its body. */
const errorMembers = ['code', 'status', 'statusCode', 'reason', 'errorClass', 'errno', 'syscall', 'retryAfterMs', 'at'] as const;
/** Fields that hold what was thrown, which may be anything: an injected client may reject with its request, headers and all. */
const errorFields: ReadonlySet<string> = new Set(['err', 'error', 'cause']);
const secretKey = /authorization|token|password|cookie|secret/i;

/** How much {@link serializeError} shows. */
export interface SerializeErrorOptions {
  /** True: the calls that led to the error are in `stack`, those of its causes too. Default false. */
  readonly stack?: boolean | undefined;
}

/** What {@link serializeError} shows of what was thrown. What the error does not say is left out. */
export interface SerializedError {
  /** What the error is called, such as `ApiError`; left out for a plain `Error`, and for what is no error. */
  readonly name?: string;
  /** What the error says, or that it says nothing. */
  readonly message: string;
  /** Its code, such as `ERR_API` or `ECONNREFUSED`. */
  readonly code?: string | number;
  /** The status of an HTTP answer. */
  readonly status?: string | number;
  /** The same, as some clients call it. */
  readonly statusCode?: string | number;
  /** The word of the server for it, such as `Forbidden`. */
  readonly reason?: string | number;
  /** The class of a failed request, as `classifyApiError` gives it. */
  readonly errorClass?: string | number;
  /** The machine's number of the failure. */
  readonly errno?: string | number;
  /** The call to the machine that failed. */
  readonly syscall?: string | number;
  /** How long the server asked to wait, in milliseconds. */
  readonly retryAfterMs?: string | number;
  /** When it happened, in milliseconds since the epoch. */
  readonly at?: string | number;
  /** The error behind it, in the same shape, at most four deep. One that says nothing more is left out. */
  readonly cause?: SerializedCause;
  /** The errors of an `AggregateError`, at most 20. */
  readonly errors?: readonly SerializedError[];
  /** The calls that led to it, the last first, one a line, without the message. Only where it was asked for. */
  readonly stack?: string;
}

/** The error behind another one. */
export interface SerializedCause extends Omit<SerializedError, 'message'> {
  /** What it says; left out where the error before it repeats that. */
  readonly message?: string;
}

/**
 * What was thrown, as a plain object for JSON: the name, the message and the codes of an error and of its causes, of bounded length.
 * It never has headers, a body, a request, or any other member; the message of an error that has an answer's headers or body is cut
 * after its first line. Passwords in URLs and bearer tokens in messages are hidden. Anything may be given, not errors alone. Never throws.
 *
 * @example
 * ```ts
 * import { serializeError } from 'pod-status-manager';
 *
 * const error = Object.assign(new Error('refused'), { code: 'ECONNREFUSED', headers: {} });
 * console.log(JSON.stringify(serializeError(error))); // {"message":"refused","code":"ECONNREFUSED"}
 * ```
 */
export function serializeError(error: unknown, options: SerializeErrorOptions = {}): SerializedError {
  const withStack = callGuarded(() => options.stack === true, ignoreFailure) === true;
  const given = callGuarded(() => new Reader(new LineBudget(), withStack).error(error, 0), ignoreFailure);
  return given ?? { message: 'an error that cannot be read' };
}

/**
 * The fields of a log line as a plain object for JSON, of bounded length: what a logger of your own prints. What was thrown (in `err`,
 * `error` and `cause`, and any `Error` elsewhere) is as {@link serializeError} shows it. A member whose name tells of a secret is
 * `(hidden)`, a date is text, bytes are counted. Never throws.
 *
 * @example
 * ```ts
 * import { logFields } from 'pod-status-manager';
 *
 * console.log(JSON.stringify(logFields({ err: new Error('no'), token: 'abc' }))); // {"err":{"message":"no"},"token":"(hidden)"}
 * ```
 */
export function logFields(fields: object): Record<string, unknown> {
  return callGuarded(() => new Reader(new LineBudget(), false).members(fields, 0), ignoreFailure) ?? {};
}

/** {@link logFields} as JSON in one line of ASCII. */
export function fieldsAsText(fields: object): string {
  const text = callGuarded(() => JSON.stringify(logFields(fields)), ignoreFailure) ?? '{}';
  // JSON leaves these as they are, and a terminal obeys some of them
  return text.replace(/[\u007f-\u009f\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Reads what a line shows, as long as its budget lasts. */
class Reader {
  readonly #budget: LineBudget;
  readonly #withStack: boolean;

  constructor(budget: LineBudget, withStack: boolean) {
    this.#budget = budget;
    this.#withStack = withStack;
  }

  members(object: object, depth: number): Record<string, unknown> {
    const members: [string, unknown][] = [];
    for (const key of Object.keys(object).slice(0, mostItems)) {
      if (!this.#budget.takeMember()) {
        members.push(['…', 'more']);
        break;
      }
      const shownKey = this.#budget.key(key);
      const value: unknown = callGuarded(() => this.#member(object, key, depth), ignoreFailure);
      if (value !== undefined) members.push([shownKey, value]);
    }
    // an own member also where a key is `__proto__`
    return Object.fromEntries(members);
  }

  /** `said`: what the errors say that this one is the cause of. */
  error(error: unknown, depth: number, said = ''): SerializedError {
    if (typeof error !== 'object' || error === null) return { message: this.#budget.text(primitiveText(error)) };
    const read = (name: string): unknown => callGuarded(() => (error as Record<string, unknown>)[name], ignoreFailure);
    const isError = error instanceof Error;
    const members: Record<string, unknown> = {};
    const name = isError ? read('name') : undefined;
    if (typeof name === 'string' && name !== 'Error') members.name = this.#budget.key(name);
    const message = messageOf(error, read('message'));
    const kind = isError ? 'error' : Array.isArray(error) ? 'array' : 'object';
    const isRepeated = message !== undefined && message !== '' && said.includes(message.slice(0, longestCompared));
    if (!isRepeated) members.message = this.#budget.text(message ?? `an ${kind} without a message`);
    for (const member of errorMembers) {
      const value = read(member);
      const isShown = typeof value === 'string' || typeof value === 'number';
      if (isShown && this.#budget.takeMember()) members[member] = this.#shown(value, depth);
    }
    this.#addCauses(members, read, depth, isRepeated ? said : (message ?? ''));
    const stack = this.#withStack && isError ? read('stack') : undefined;
    if (typeof stack === 'string') members.stack = this.#budget.stack(callsOf(stack));
    return members as unknown as SerializedError;
  }

  #addCauses(members: Record<string, unknown>, read: (name: string) => unknown, depth: number, said: string): void {
    if (depth >= deepest) return;
    const [cause, errors] = [read('cause'), read('errors')];
    if (typeof cause === 'object' && cause !== null && this.#budget.takeMember()) {
      const shown = this.error(cause, depth + 1, said.slice(0, 2 * longestCompared));
      if (Object.keys(shown).length > 0) members.cause = shown;
    }
    if (!Array.isArray(errors) || !errors.every((each) => each instanceof Error)) return;
    members.errors = this.#list(errors, (each) => this.error(each, depth + 1));
  }

  #shown(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return this.#budget.text(value);
    if (typeof value === 'bigint') return this.#budget.text(`${value}`);
    if (typeof value === 'number') return Number.isFinite(value) ? value : null;
    if (typeof value === 'function' || typeof value === 'symbol') return undefined;
    if (typeof value !== 'object' || value === null) return value;
    if (value instanceof Error) return this.error(value, depth);
    if (value instanceof Date) return Number.isFinite(value.getTime()) ? value.toISOString() : null;
    if (ArrayBuffer.isView(value)) return `${value.byteLength} bytes`;
    if (depth >= deepest) return Array.isArray(value) ? '[…]' : '{…}';
    if (!Array.isArray(value)) return this.members(value, depth);
    return this.#list(value, (item) => this.#shown(item, depth + 1) ?? null);
  }

  #list(list: readonly unknown[], shown: (item: unknown) => unknown): unknown[] {
    const items: unknown[] = [];
    while (items.length < Math.min(list.length, mostItems) && this.#budget.takeMember()) {
      const item: unknown = callGuarded(() => list[items.length], ignoreFailure);
      items.push(shown(item));
    }
    return items.length < list.length ? [...items, `… ${list.length - items.length} more`] : items;
  }

  #member(object: object, key: string, depth: number): unknown {
    if (secretKey.test(key)) return '(hidden)';
    const value = (object as Record<string, unknown>)[key];
    const isThrown = errorFields.has(key) && typeof value === 'object' && value !== null;
    if (isThrown || key === 'err') return this.error(value, depth);
    return this.#shown(value, depth + 1);
  }
}

/** Whatever may be thrown that is no object. */
function primitiveText(value: unknown): string {
  return typeof value === 'function' || typeof value === 'symbol' ? `a ${typeof value}` : errorText(value);
}

/** The error of another client may repeat the answer's headers and body in its message: its first line is shown. */
function messageOf(error: object, message: unknown): string | undefined {
  if (typeof message !== 'string' || (message === '' && !(error instanceof Error))) return undefined;
  return 'headers' in error || 'body' in error || 'response' in error ? (message.split('\n', 1)[0] ?? '') : message;
}

/** The lines of a stack that name a call: those before them repeat the message, which may hold a body. */
function callsOf(stack: string): string {
  const calls = stack.slice(0, 20_000).match(/^ {4}at .*$/gm) ?? [];
  return calls
    .map((call) => call.trim())
    .slice(0, mostItems)
    .join('\n');
}
