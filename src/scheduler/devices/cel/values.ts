/** What `int` and `uint` can be. */
export const minInt = -(2n ** 63n);
export const maxInt = 2n ** 63n - 1n;
export const maxUint = 2n ** 64n - 1n;

/** An unsigned integer: a number of its own kind beside int (bigint) and double (number). */
export class CelUint {
  readonly value: bigint;

  constructor(value: bigint) {
    this.value = value;
  }
}

/** A failure while an expression is evaluated. It is a value: `||`, `&&` and the loops go on past it. */
export class CelFailure {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

export class CelList {
  readonly items: CelValue[];
  /** The list that a loop collects into: what is added to it goes into this very list. */
  readonly growing: boolean;

  constructor(items: CelValue[], growing = false) {
    this.items = items;
    this.growing = growing;
  }
}

interface CelMapOptions {
  /** What stands for every key that is not there. */
  readonly fallback?: CelValue;
  /** The map that a loop collects into. */
  readonly growing?: boolean;
  /** A map of the device itself, which has texts for keys. */
  readonly native?: boolean;
}

/** A map by keys of any kind. */
export class CelMap {
  readonly #entries = new Map<unknown, readonly [CelValue, CelValue]>();
  readonly fallback: CelValue | undefined;
  readonly growing: boolean;
  readonly native: boolean;

  constructor({ fallback, growing = false, native = false }: CelMapOptions = {}) {
    this.fallback = fallback;
    this.growing = growing;
    this.native = native;
  }

  get size(): number {
    return this.#entries.size;
  }

  entries(): Iterable<readonly [CelValue, CelValue]> {
    return this.#entries.values();
  }

  set(key: CelValue, value: CelValue): void {
    this.#entries.set(keyOf(key), [key, value]);
  }

  delete(key: CelValue): void {
    this.#entries.delete(keyOf(key));
  }

  /** Numbers of several kinds are one key where they are equal. */
  get(key: CelValue): CelValue | undefined {
    for (const candidate of [keyOf(key), ...equalKeys(key)]) {
      const entry = this.#entries.get(candidate);
      if (entry !== undefined) return entry[1];
    }
    return undefined;
  }

  /** As `get`, with the fallback. */
  find(key: CelValue): CelValue | undefined {
    const value = this.get(key);
    return value === undefined ? this.fallback : value;
  }
}

function keyOf(key: CelValue): unknown {
  if (typeof key === 'string') return `s${key}`;
  if (typeof key === 'bigint') return `i${key}`;
  if (typeof key === 'number') return Number.isNaN(key) ? Symbol('NaN') : `d${key}`;
  if (key instanceof CelUint) return `u${key.value}`;
  if (key instanceof CelTypeValue) return `t${key.name}`;
  return key;
}

function equalKeys(key: CelValue): string[] {
  if (typeof key === 'bigint') return [`u${key}`, `d${Number(key)}`];
  if (key instanceof CelUint) return [`i${key.value}`, `d${Number(key.value)}`];
  if (typeof key === 'number' && Number.isInteger(key)) return [`i${BigInt(key)}`, `u${BigInt(key)}`];
  return [];
}

/** A value that may be missing. */
export class CelOptional {
  readonly value: CelValue | undefined;

  constructor(value?: CelValue) {
    this.value = value;
  }
}

/** A type as a value: what `type(x)` gives. */
export class CelTypeValue {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** A value of a kind that Kubernetes adds to the language, such as a quantity. */
export interface CelExtension {
  /** The name of its type, such as `kubernetes.Quantity`. */
  readonly typeName: string;
  /** False where upstream's evaluation breaks off because the value cannot be looked up in a set. */
  readonly hashable: boolean;
  /** Undefined for a value of another type. */
  equals(other: CelValue): boolean | undefined;
}

export function isCelExtension(value: CelValue | undefined): value is CelExtension {
  return typeof value === 'object' && value !== null && 'hashable' in value;
}

/** Upstream's evaluation breaks off where such a value is looked up in a set or a map. */
export function isUnhashable(value: CelValue): boolean {
  return value instanceof Uint8Array || (isCelExtension(value) && !value.hashable);
}

export type CelValue =
  | boolean
  | bigint
  | number
  | string
  | null
  | Uint8Array
  | CelUint
  | CelList
  | CelMap
  | CelOptional
  | CelTypeValue
  | CelExtension
  | CelFailure;

/** The name of a value's type at runtime. */
export function typeNameOf(value: CelValue): string {
  switch (typeof value) {
    case 'boolean':
      return 'bool';
    case 'bigint':
      return 'int';
    case 'number':
      return 'double';
    case 'string':
      return 'string';
    default:
  }
  if (value === null) return 'null_type';
  if (isCelExtension(value)) return value.typeName;
  if (value instanceof CelUint) return 'uint';
  if (value instanceof CelList) return 'list';
  if (value instanceof CelMap) return 'map';
  if (value instanceof CelOptional) return 'optional_type';
  if (value instanceof CelTypeValue) return 'type';
  return value instanceof Uint8Array ? 'bytes' : 'error';
}

/** A failure for arguments that no form of the function takes. */
export function noOverload(name: string, args: readonly CelValue[]): CelFailure {
  return new CelFailure(`${name} takes no arguments of the types ${args.map(typeNameOf).join(', ')}`);
}

/** How many characters (not units of UTF-16) a text has. */
export function characterCount(text: string): number {
  let count = text.length;
  for (let i = 0; i < text.length; i++) if ((text.charCodeAt(i) & 0xfc00) === 0xd800) count--;
  return count;
}
