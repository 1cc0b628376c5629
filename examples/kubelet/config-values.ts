import { durationMs } from './durations.ts';

/** A configuration that breaks a rule. The message names the field and the rule. */
export class ConfigError extends Error {}

/** What a field says; undefined where it leaves the default as it is. Throws a {@link ConfigError} for any other type. */
export interface Read {
  (value: unknown, field: string): unknown;
  /** Reads what a flag says, where 0 is not the same as none. Undefined where the two are read alike. */
  readonly exact?: Read;
}

/** True for an object with names and values. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function wrong(field: string, rule: string, value: unknown): ConfigError {
  return new ConfigError(`${field} must be ${rule}, got ${JSON.stringify(value)}`);
}

/** As in the kubelet's file, 0 leaves the default. A flag that says 0 means it. */
const orDefault = (exact: Read): Read => Object.assign((...given: Parameters<Read>) => exact(...given) || undefined, { exact });

/** Refuses the 0 of a flag, which the agent cannot follow. */
export const above0 = (read: Read): Read => {
  const exact: Read = (value, field) => {
    const given = (read.exact ?? read)(value, field);
    if (given === 0) throw wrong(field, 'more than 0', value);
    return given;
  };
  return Object.assign((...given: Parameters<Read>) => read(...given), { exact });
};

export const flag: Read = (value, field) => {
  if (typeof value === 'boolean') return value;
  throw wrong(field, 'a boolean', value);
};

/** Where an empty text is not the same as none. */
export const exactText: Read = (value, field) => {
  if (typeof value === 'string') return value;
  throw wrong(field, 'a string', value);
};
/** As in the kubelet's file, an empty text leaves the default. */
export const text: Read = (value, field) => exactText(value, field) || undefined;

/** Where 0 is not the same as none. */
export const exactCount: Read = (value, field) => {
  if (Number.isSafeInteger(value)) return value;
  throw wrong(field, 'an integer', value);
};
export const count = orDefault(exactCount);

export const real: Read = (value, field) => {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw wrong(field, 'a number', value);
};

/** Where a time of zero is not the same as none. In milliseconds. */
export const exactTime: Read = (value, field) => {
  const ms = durationMs(value);
  if (ms !== undefined) return ms;
  throw wrong(field, 'a time such as "1m30s"', value);
};
/** In milliseconds. */
export const time = orDefault(exactTime);
/** The kubelet's `logging.flushFrequency` may also be a number of nanoseconds. */
export const timeOrNumber: Read = (value, field) => (typeof value === 'number' ? value : exactTime(value, field)) || undefined;

export const oneOf =
  (...words: readonly string[]): Read =>
  (value, field) => {
    if (value === '' || words.some((word) => word === value)) return value || undefined;
    throw wrong(field, words.map((word) => JSON.stringify(word)).join(' or '), value);
  };

export const texts = (value: unknown, field: string): readonly string[] => {
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value;
  throw wrong(field, 'a list of strings', value);
};

export const counts: Read = (value, field) => {
  if (Array.isArray(value) && value.every(Number.isSafeInteger)) return value;
  throw wrong(field, 'a list of integers', value);
};

const record = (value: unknown, field: string): Readonly<Record<string, unknown>> => {
  if (isRecord(value)) return value;
  throw wrong(field, 'an object', value);
};

const mapOf =
  (read: Read): Read =>
  (value, field) =>
    Object.fromEntries(Object.entries(record(value, field)).map(([name, each]) => [name, read(each, `${field}.${name}`)]));

/** Texts by name, such as quantities. */
export const textMap = mapOf(exactText);
export const flagMap = mapOf(flag);
export const timeMap = mapOf(exactTime);
/** In the file each header has a list of values. These may be secrets: no error shows one. */
export const headers: Read = (value, field) => {
  const isText = (each: unknown): boolean => typeof each === 'string';
  const all = isRecord(value) ? Object.entries(value) : undefined;
  if (all === undefined) throw new ConfigError(`${field} must be an object`);
  return Object.fromEntries(
    all.map(([name, values]) => {
      if (Array.isArray(values) && values.every(isText)) return [name, values.join(', ')];
      throw new ConfigError(`${field}.${name} must be a list of strings`);
    }),
  );
};

/** A list of objects with these members and no others. */
export const listOf = (members: Readonly<Record<string, Read>>): Read & { readonly members: readonly string[] } => {
  const read: Read = (value, field) => {
    if (!Array.isArray(value)) throw wrong(field, 'a list', value);
    return value.map((each: unknown, at) => member(each, `${field}[${at}]`));
  };
  const member = (value: unknown, field: string): object =>
    Object.fromEntries(
      Object.entries(record(value, field)).map(([name, each]) => {
        const readEach = Object.hasOwn(members, name) ? members[name] : undefined;
        if (readEach === undefined) throw new ConfigError(`${field}.${name} is no field of KubeletConfiguration`);
        return [name, readEach(each, `${field}.${name}`)];
      }),
    );
  return Object.assign(read, { members: Object.keys(members) });
};
