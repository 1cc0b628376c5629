import { invalidArgument, invalidOption } from './errors.ts';

// Checks of options. Each throws ERR_INVALID_OPTION, which names the option, the rule, the value and its type.

/** The longest delay of a Node.js timer, in milliseconds. A timer with a longer delay fires at once. */
export const longestTimerMs = 2 ** 31 - 1;

/** Refuses a value that is no object, and an object with a member that is not in `known`: it may be a misspelt option. */
export function requireKnownOptions(name: string, options: unknown, known: readonly string[]): void {
  if (typeof options !== 'object' || options === null) throw invalidOption(name, 'an object', options);
  for (const [key, value] of Object.entries(options)) {
    if (!known.includes(key)) throw invalidOption(`${name}.${key}`, `absent: the known options are ${known.join(', ')}`, value);
  }
}

/** The members of an object, of which all are in `known`. */
export function membersOption(name: string, value: unknown, known: readonly string[]): Readonly<Record<string, unknown>> {
  if (Array.isArray(value)) throw invalidOption(name, 'an object', value);
  requireKnownOptions(name, value, known);
  return value as Readonly<Record<string, unknown>>;
}

export function numberOption(name: string, value: unknown, min: number, max: number): number {
  if (typeof value === 'number' && value >= min && value <= max) return value;
  throw invalidOption(name, `a number from ${min} to ${max}`, value);
}

export function integerOption(name: string, value: unknown, min: number): number {
  if (Number.isSafeInteger(value) && Number(value) >= min) return Number(value);
  throw invalidOption(name, `an integer from ${min} up`, value);
}

export function iterableOption<T>(name: string, value: Iterable<T>): Iterable<T> {
  if (typeof value === 'object' && value !== null && typeof value[Symbol.iterator] === 'function') return value;
  throw invalidOption(name, 'a list or a set', value);
}

export function oneOfOption<T extends string>(name: string, value: T, allowed: readonly T[]): T {
  if (allowed.includes(value)) return value;
  throw invalidOption(name, `one of ${allowed.map((item) => `"${item}"`).join(', ')}`, value);
}

export function optionOfType<T>(name: string, value: T, type: 'boolean' | 'function'): T {
  if (typeof value === type) return value;
  throw invalidOption(name, `a ${type}`, value);
}

/**
 * Refuses a handler that is no function, and one with another name: it may be misspelt. What is no plain object, such as an
 * instance of the agent's own class, may have any members beside its handlers.
 */
export function requireHandlers(handlers: object, known: readonly string[]): void {
  if (!hasMembers(handlers) || isPlain(handlers)) requireKnownOptions('handlers', handlers, known);
  for (const name of known) {
    const handler = (handlers as Members)[name];
    if (handler !== undefined) optionOfType(`handlers.${name}`, handler, 'function');
  }
}

/** Refuses a value that lacks one of the methods, be they its own or its class's; the error names those that are missing. */
export function requireMethods(name: string, value: unknown, methods: readonly string[]): void {
  const missing = hasMembers(value) ? methods.filter((method) => typeof value[method] !== 'function') : methods;
  if (missing.length > 0) throw invalidOption(name, `an object with ${missing.join(', ')}`, value);
}

type Members = Readonly<Record<string, unknown>>;

/** True for an object, and for a class, which may have static methods. */
function hasMembers(value: unknown): value is Members {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

// Checks of arguments. Each throws ERR_INVALID_ARGUMENT, which names the argument, the rule, the value and its type.

export function requireText(path: string, value: unknown): asserts value is string {
  if (typeof value !== 'string' || value === '') throw invalidArgument(path, 'a non-empty string', value);
}

export function requireBoolean(path: string, value: unknown): asserts value is boolean {
  if (typeof value !== 'boolean') throw invalidArgument(path, 'a boolean', value);
}

/** Refuses null, an array, and what is no object at all. */
export function requireObject(path: string, value: unknown): asserts value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalidArgument(path, 'an object', value);
}

/** Refuses what is no list. Null and undefined count as an empty one. */
export function requireList(path: string, value: unknown): asserts value is readonly unknown[] | null | undefined {
  if (value !== undefined && value !== null && !Array.isArray(value)) throw invalidArgument(path, 'a list', value);
}

/** Refuses what is no list of objects. Null and undefined count as an empty one. */
export function requireObjects(path: string, value: unknown): void {
  requireList(path, value);
  for (let i = 0; value && i < value.length; i++) {
    const item = value[i];
    if (typeof item !== 'object' || item === null) throw invalidArgument(`${path}[${i}]`, 'an object', item);
  }
}

/** Refuses an object with a member that is not in `known`: it may be a misspelt one. */
export function requireKnownMembers(path: string, value: object, known: readonly string[]): void {
  for (const [key, member] of Object.entries(value)) {
    if (!known.includes(key))
      throw invalidArgument(`${path}.${key}`, `absent: the known members are ${known.join(', ')}`, member);
  }
}

const largestInt32 = 2 ** 31 - 1;

/** True for a whole number that the apiserver can store in an exit code or a restart count. */
export function isInt32(value: unknown, least = -largestInt32 - 1): boolean {
  return Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= largestInt32;
}

/** What {@link isPathSegment} asks of a text, as an error says it. */
export const pathSegmentRule = 'well-formed text without "/" and "%", neither "." nor ".."';

/** Checks a name that goes into the path of a request, as the apiserver does: any other name could name another resource. */
export function requirePathSegment(path: string, value: unknown): asserts value is string {
  requireText(path, value);
  if (!isPathSegment(value)) throw invalidArgument(path, pathSegmentRule, value);
}

/** True for text that is one segment of a path, and stays that one. */
export function isPathSegment(value: unknown): value is string {
  if (typeof value !== 'string' || value === '' || value === '.' || value === '..') return false;
  return !/[/%]/.test(value) && value.isWellFormed();
}
