// Checks of options. Each throws ERR_INVALID_OPTION, which names the option, the rule, the value and its type.
import { invalidOption } from '../errors.ts';

/** The longest delay of a Node.js timer, in milliseconds. A timer with a longer delay fires at once. */
export const longestTimerMs = 2 ** 31 - 1;

/** Refuses a value that is no object, and an object with a member that is not in `known`: it may be a misspelt option. */
export function requireKnownOptions(name: string, options: unknown, known: readonly string[]): void {
  if (typeof options !== 'object' || options === null) throw invalidOption(name, 'an object', options);
  for (const [key, value] of Object.entries(options)) {
    if (!known.includes(key)) throw invalidOption(`${name}.${key}`, `absent: the known options are ${known.join(', ')}`, value);
  }
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
