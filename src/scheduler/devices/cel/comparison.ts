import type { CelMeter } from './cel-meter.ts';
import {
  CelFailure,
  CelList,
  CelMap,
  CelOptional,
  CelTypeValue,
  CelUint,
  type CelValue,
  isCelExtension,
  maxInt,
  noOverload,
} from './values.ts';

/** Whether two values are equal; a failure where one of Kubernetes' types is held against another type. */
export function celEquals(a: CelValue, b: CelValue, meter: CelMeter): boolean | CelFailure {
  meter.work(1);
  if (a === null || b === null) return a === b;
  return equalTo(a, b, meter);
}

function equalTo(a: CelValue, b: CelValue, meter: CelMeter): boolean | CelFailure {
  if (isNumber(a)) return isNumber(b) && numberOrder(a, b) === 0;
  if (typeof a !== 'object') {
    if (typeof b === 'string') meter.workOn(a);
    return a === b;
  }
  if (b instanceof Uint8Array) meter.workOn(a);
  if (isCelExtension(a)) return a.equals(b) ?? noOverload('==', [a, b]);
  if (a instanceof Uint8Array) return b instanceof Uint8Array && bytesOrder(a, b) === 0;
  if (a instanceof CelList) return b instanceof CelList && equalLists(a, b, meter);
  if (a instanceof CelMap) return b instanceof CelMap && equalMaps(a, b, meter);
  if (a instanceof CelTypeValue) return b instanceof CelTypeValue && a.name === b.name;
  if (a instanceof CelOptional) {
    if (!(b instanceof CelOptional)) return false;
    if (a.value === undefined || b.value === undefined) return a.value === b.value;
    return a.value === null ? b.value === null : equalTo(a.value, b.value, meter);
  }
  return a === b;
}

// Upstream takes a part that cannot be compared for equal.
function equalLists(a: CelList, b: CelList, meter: CelMeter): boolean {
  if (a.items.length !== b.items.length) return false;
  return a.items.every((item, i) => celEquals(item, b.items[i] as CelValue, meter) !== false);
}

function equalMaps(a: CelMap, b: CelMap, meter: CelMeter): boolean {
  if (a.size !== b.size) return false;
  for (const [key, value] of a.entries()) {
    const other = b.find(key);
    if (other === undefined || celEquals(value, other, meter) === false) return false;
  }
  return true;
}

/** Whether a list has a value; what cannot be compared is not it. */
export function listHas(list: CelList, value: CelValue, meter: CelMeter): boolean {
  return list.items.some((item) => {
    meter.work(1);
    return (value === null || item === null ? value === item : equalTo(value, item, meter)) === true;
  });
}

/** Less than zero, zero or more, as the first value is to the second; a failure where they have no order. */
export function celOrder(a: CelValue, b: CelValue, meter: CelMeter): number | CelFailure {
  if (isNumber(a) && isNumber(b)) {
    if (isNaNValue(a) || isNaNValue(b)) return new CelFailure('what is not a number has no order');
    return numberOrder(a, b);
  }
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b);
  meter.workOn(a);
  if (typeof a === 'string' && typeof b === 'string') return textOrder(a, b);
  if (a instanceof Uint8Array && b instanceof Uint8Array) return bytesOrder(a, b);
  return noOverload('comparison', [a, b]);
}

export function isComparable(value: CelValue): boolean {
  return isNumber(value) || typeof value === 'boolean' || typeof value === 'string' || value instanceof Uint8Array;
}

function isNumber(value: CelValue): value is bigint | number | CelUint {
  return typeof value === 'bigint' || typeof value === 'number' || value instanceof CelUint;
}

function isNaNValue(value: CelValue): boolean {
  return typeof value === 'number' && Number.isNaN(value);
}

/** NaN is equal to nothing. Integers are compared with doubles as doubles, as upstream does it. */
function numberOrder(a: bigint | number | CelUint, b: bigint | number | CelUint): number {
  if (typeof a === 'number' || typeof b === 'number') {
    const [x, y] = [asDouble(a), asDouble(b)];
    if (Number.isNaN(x) || Number.isNaN(y)) return Number.NaN;
    if (typeof a !== 'number') return -doubleOrder(y, a);
    return typeof b === 'number' ? order(x, y) : doubleOrder(x, b);
  }
  return order(a instanceof CelUint ? a.value : a, b instanceof CelUint ? b.value : b);
}

function doubleOrder(double: number, integer: bigint | number | CelUint): number {
  if (integer instanceof CelUint) {
    if (double < 0) return -1;
    if (double > 2 ** 64) return 1;
  } else {
    if (double < -(2 ** 63)) return -1;
    if (double > Number(maxInt)) return 1;
  }
  return order(double, asDouble(integer));
}

function asDouble(value: bigint | number | CelUint): number {
  return Number(value instanceof CelUint ? value.value : value);
}

function order<T extends number | bigint>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** By characters: UTF-16's own order puts those beyond the first 65,536 in the wrong place. */
export function textOrder(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  for (let i = 0; i < shorter; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)];
    if (x === y) continue;
    const [highX, highY] = [x >= 0xd800 && x <= 0xdfff, y >= 0xd800 && y <= 0xdfff];
    return highX === highY ? order(x, y) : highX ? 1 : -1;
  }
  return order(a.length, b.length);
}

function bytesOrder(a: Uint8Array, b: Uint8Array): number {
  return Buffer.compare(a, b);
}
