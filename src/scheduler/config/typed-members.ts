// Behaviour of sigs.k8s.io/json UnmarshalStrict, and of how encoding/json writes the types of Go.

import { goTimeText, parseGoTime } from '../../api/json/go-duration.ts';
import { type ManifestValue, NumberText, shown } from '../../api/manifest/read-manifest.ts';
import { invalidOption } from '../../base/errors.ts';

/** `any`: whatever JSON has. `raw`: the same, not read yet. A `time` is a text such as `1m30s`. */
type ScalarShape = 'text' | 'boolean' | 'int32' | 'int64' | 'float32' | 'time' | 'any' | 'raw';

/** The type of a value in a file. */
export type ValueShape = ScalarShape | { readonly items: ValueShape } | ObjectShape;

/** The members of an object, in the order in which they are written. */
export interface ObjectShape {
  readonly members: Readonly<Record<string, Member>>;
}

/** `always` is written with its zero where it is absent; `set`: written where the file or a default says something, and may be null; `filled`: written unless it is zero or empty. */
export interface Member {
  readonly shape: ValueShape;
  readonly written: 'always' | 'set' | 'filled';
}

/** A value as the file has it: absent and null members are not there, and a time is a number of nanoseconds. */
export type TypedObject = { readonly [name: string]: unknown };

const deepest = 50;
const ranges = { int32: [-(2 ** 31), 2 ** 31 - 1], int64: [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER] } as const;
const largestFloat32 = 3.4028235677973366e38;
const timeRule = 'a time such as "15s" or "1m30s"';

/** Reads an object. Throws ERR_INVALID_OPTION, with the path, for a member that is not known and for a value of another type. */
export function typedMembers({ members }: ObjectShape, value: ManifestValue, path: string): TypedObject {
  if (!(value instanceof Map)) throw invalidOption(path, 'an object', shown(value));
  const typed: Record<string, unknown> = {};
  for (const [name, given] of value) {
    const at = path === '' ? name : `${path}.${name}`;
    const member = Object.hasOwn(members, name) ? members[name] : undefined;
    if (member === undefined) {
      throw invalidOption(at, `absent: the known members are ${Object.keys(members).join(', ')}`, shown(given));
    }
    // a time that has to be there may not be null, unlike any other value
    if (given === null && !(member.shape === 'time' && member.written === 'always')) continue;
    typed[name] = typedAt(member.shape, given, at);
  }
  return typed;
}

function typedAt(shape: ValueShape, value: ManifestValue, path: string): unknown {
  if (shape === 'raw') return value;
  if (shape === 'any') return plainValue(value, path);
  if (typeof shape === 'string') return scalarAt(shape, value, path);
  if ('members' in shape) return typedMembers(shape, value, path);
  if (!Array.isArray(value)) throw invalidOption(path, 'a list', shown(value));
  const { items } = shape;
  return value.map((item, index) => (item === null ? zeroOf(items) : typedAt(items, item, `${path}[${index}]`)));
}

function scalarAt(shape: Exclude<ScalarShape, 'any' | 'raw'>, value: ManifestValue, path: string): unknown {
  switch (shape) {
    case 'text':
      if (typeof value === 'string') return value;
      throw invalidOption(path, 'a text', shown(value));
    case 'boolean':
      if (typeof value === 'boolean') return value;
      throw invalidOption(path, 'true or false', shown(value));
    case 'time': {
      const time = typeof value === 'string' ? parseGoTime(value) : undefined;
      if (time !== undefined) return time;
      throw invalidOption(path, timeRule, shown(value));
    }
    case 'float32': {
      const number = value instanceof NumberText ? Number(value.text) : Number.NaN;
      if (Math.abs(number) <= largestFloat32) return number;
      throw invalidOption(path, 'a number', shown(value));
    }
    default: {
      const [least, most] = ranges[shape];
      const number = value instanceof NumberText && /^-?\d+$/.test(value.text) ? Number(value.text) : Number.NaN;
      if (number >= least && number <= most) return number === 0 ? 0 : number;
      throw invalidOption(path, `an integer from ${least} to ${most}`, shown(value));
    }
  }
}

/** The value as JSON has it. */
export function plainValue(value: ManifestValue, path: string, depth = deepest): unknown {
  if (value instanceof NumberText) return Number(value.text);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) throw invalidOption(path, `at most ${deepest} deep`, shown(value));
  if (Array.isArray(value)) return value.map((item, index) => plainValue(item, `${path}[${index}]`, depth - 1));
  const entries = [...value].map(([name, inner]) => [name, plainValue(inner, `${path}.${name}`, depth - 1)] as const);
  // a member of the name __proto__ is one like any other
  return Object.fromEntries(entries);
}

function zeroOf(shape: ValueShape): unknown {
  if (typeof shape === 'object') return 'members' in shape ? {} : undefined;
  if (shape === 'text') return '';
  if (shape === 'boolean') return false;
  if (shape === 'time') return 0n;
  return shape === 'any' ? null : 0;
}

/** What Go writes for the value: JSON with all members that it writes, in its order. */
export function writtenMembers({ members }: ObjectShape, value: TypedObject): Readonly<Record<string, unknown>> {
  const written: Record<string, unknown> = {};
  for (const [name, { shape, written: when }] of Object.entries(members)) {
    const given = value[name];
    if (when === 'always') written[name] = writtenAt(shape, given ?? zeroOf(shape));
    else if (given !== undefined && (when === 'set' || !isEmpty(given))) written[name] = writtenAt(shape, given);
  }
  return written;
}

function writtenAt(shape: ValueShape, value: unknown): unknown {
  if (shape === 'time') return goTimeText(value as bigint);
  if (shape === 'float32') return shortestFloat32(value as number);
  if (typeof shape === 'string' || value === undefined) return value ?? null;
  if ('members' in shape) return writtenMembers(shape, value as TypedObject);
  return (value as readonly unknown[]).map((item) => writtenAt(shape.items, item));
}

/** The number with the fewest digits that is the same one in 32 bits. */
function shortestFloat32(value: number): number {
  for (let digits = 1; digits < 9; digits += 1) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === Math.fround(value)) return short;
  }
  return Number(value.toPrecision(9));
}

function isEmpty(value: unknown): boolean {
  return value === '' || value === 0 || value === false || (Array.isArray(value) && value.length === 0);
}
