import { textOrder } from '../comparison.ts';
import { type CelExtension, CelFailure, type CelValue, maxUint } from '../values.ts';
import type { CelFunction } from './dispatch.ts';

/** A semantic version (semver.org). */
export class CelVersion implements CelExtension {
  readonly typeName = 'kubernetes.Semver';
  readonly hashable = false;
  readonly numbers: readonly [bigint, bigint, bigint];
  readonly before: readonly string[];

  constructor(numbers: readonly [bigint, bigint, bigint], before: readonly string[]) {
    this.numbers = numbers;
    this.before = before;
  }

  equals(other: CelValue): boolean | undefined {
    return other instanceof CelVersion ? versionOrder(this, other) === 0 : undefined;
  }
}

const version = /^(\d+)\.(\d+)\.(\d+)(?:-([^+]*))?(?:\+(.*))?$/s;
const number = /^(?:0|[1-9]\d*)$/;
const identifier = /^[0-9A-Za-z-]+$/;

/** Undefined for what is no version. */
export function celVersion(text: string): CelVersion | undefined {
  const [, major = '', minor = '', patch = '', before, build] = version.exec(text) ?? [];
  const parts = [major, minor, patch];
  if (!parts.every((part) => fitsUint(part))) return undefined;
  const identifiers = before?.split('.') ?? [];
  if (!identifiers.every(isIdentifier)) return undefined;
  if (build !== undefined && !build.split('.').every((part) => identifier.test(part))) return undefined;
  return new CelVersion(parts.map(BigInt) as unknown as CelVersion['numbers'], identifiers);
}

function fitsUint(text: string): boolean {
  return text.length <= String(maxUint).length && number.test(text) && BigInt(text) <= maxUint;
}

function isIdentifier(text: string): boolean {
  if (!identifier.test(text)) return false;
  return !/^\d+$/.test(text) || fitsUint(text);
}

/** As `v1`, `1.2` and `01.02.3` are meant. */
function normalized(text: string): string | undefined {
  const parts = splitAtPoints(text.startsWith('v') ? text.slice(1) : text).map((part) => {
    if (Buffer.byteLength(part) < 2) return part;
    const rest = part.replace(/^0+/, '');
    return /^\d/.test(rest) ? rest : `0${rest}`;
  });
  if (parts.length < 3 && /[+-]/.test(parts.at(-1) ?? '')) return undefined;
  while (parts.length < 3) parts.push('0');
  return parts.join('.');
}

function splitAtPoints(text: string): string[] {
  const parts = text.split('.');
  return parts.length <= 3 ? parts : [...parts.slice(0, 2), parts.slice(2).join('.')];
}

function parsed(text: string, normalize: boolean): CelVersion | undefined {
  const plain = normalize ? normalized(text) : text;
  return plain === undefined ? undefined : celVersion(plain);
}

function versionOrder(a: CelVersion, b: CelVersion): number {
  for (const [i, part] of a.numbers.entries()) {
    const other = b.numbers[i] ?? 0n;
    if (part !== other) return part < other ? -1 : 1;
  }
  if (a.before.length === 0 || b.before.length === 0) return Math.sign(b.before.length - a.before.length);
  for (const [i, part] of a.before.entries()) {
    const other = b.before[i];
    if (other === undefined) return 1;
    const order = identifierOrder(part, other);
    if (order !== 0) return order;
  }
  return a.before.length < b.before.length ? -1 : 0;
}

/** Numbers come before words. */
function identifierOrder(a: string, b: string): number {
  const [x, y] = [number.test(a), number.test(b)];
  if (x && y) return BigInt(a) === BigInt(b) ? 0 : BigInt(a) < BigInt(b) ? -1 : 1;
  return x === y ? textOrder(a, b) : x ? -1 : 1;
}

const make = (text: CelValue | undefined, normalize: boolean): CelValue =>
  parsed(text as string, normalize) ?? new CelFailure('this text is no version');

/** Functions of versions, by form. */
export const versionFunctions: Readonly<Record<string, CelFunction>> = {
  string_to_semver: ([text]) => make(text, false),
  string_bool_to_semver: ([text, normalize]) => make(text, normalize === true),
  is_semver_string: ([text]) => parsed(text as string, false) !== undefined,
  is_semver_string_bool: ([text, normalize]) => parsed(text as string, normalize === true) !== undefined,
  semver_is_greater_than: ([a, b]) => versionOrder(a as CelVersion, b as CelVersion) > 0,
  semver_is_less_than: ([a, b]) => versionOrder(a as CelVersion, b as CelVersion) < 0,
  semver_compare_to: ([a, b]) => BigInt(versionOrder(a as CelVersion, b as CelVersion)),
  semver_major: ([v]) => BigInt.asIntN(64, (v as CelVersion).numbers[0]),
  semver_minor: ([v]) => BigInt.asIntN(64, (v as CelVersion).numbers[1]),
  semver_patch: ([v]) => BigInt.asIntN(64, (v as CelVersion).numbers[2]),
};
