import { CelAbort, type CelMeter } from '../cel-meter.ts';
import { celOrder, listHas } from '../comparison.ts';
import {
  CelFailure,
  CelList,
  CelMap,
  CelOptional,
  CelTypeValue,
  CelUint,
  type CelValue,
  characterCount,
  isUnhashable,
  maxInt,
  maxUint,
  minInt,
  noOverload,
  typeNameOf,
} from '../values.ts';
import type { CelFunction } from './dispatch.ts';

/** No list is longer: nothing could go through it at the price that evaluation may have. */
export const longestList = 1_000_000;

/** No text is longer, and no bytes are more. */
const longestText = 1_000_000;

/** A failure for a text or bytes of such a length. */
export function tooLong(length: number): CelFailure | undefined {
  return length > longestText ? new CelFailure(`a text may have at most ${longestText} letters`) : undefined;
}

/** The operators, and the functions that look at the types of their arguments by themselves. */
export const basicFunctions: Readonly<Record<string, CelFunction>> = {
  '!_': (args) => (typeof args[0] === 'boolean' ? !args[0] : noOverload('!', args)),
  '@not_strictly_false': ([value]) => (typeof value === 'boolean' ? value : true),
  '_+_': add,
  '_-_': (args) =>
    arithmetic(
      '-',
      args,
      (a, b) => a - b,
      (a, b) => a - b,
    ),
  '_*_': (args) =>
    arithmetic(
      '*',
      args,
      (a, b) => a * b,
      (a, b) => a * b,
    ),
  '_/_': (args) =>
    divide(
      '/',
      args,
      (a, b) => a / b,
      (a, b) => a / b,
    ),
  '_%_': (args) => divide('%', args, (a, b) => a % b),
  '-_': negate,
  '_<_': (args, meter) => ordered(args, meter, (order) => order < 0),
  '_<=_': (args, meter) => ordered(args, meter, (order) => order <= 0),
  '_>_': (args, meter) => ordered(args, meter, (order) => order > 0),
  '_>=_': (args, meter) => ordered(args, meter, (order) => order >= 0),
  '@in': isIn,
  size,
  type: ([value]) => new CelTypeValue(typeNameOf(value as CelValue)),
  dyn: ([value]) => value as CelValue,
  contains: textTest((text, part, meter) => {
    meter.work(searchWork(text, part));
    return text.includes(part);
  }),
  startsWith: textTest((text, part) => text.startsWith(part)),
  endsWith: textTest((text, part) => text.endsWith(part)),
};

function add(args: readonly CelValue[], meter: CelMeter): CelValue {
  const [a, b] = args as [CelValue, CelValue];
  if (typeof a === 'string') {
    if (typeof b !== 'string') return noOverload('+', args);
    return tooLong(a.length + b.length) ?? a + b;
  }
  if (a instanceof CelList) return b instanceof CelList ? joined(a, b, meter) : noOverload('+', args);
  if (a instanceof Uint8Array) {
    return b instanceof Uint8Array ? (tooLong(a.length + b.length) ?? Buffer.concat([a, b])) : noOverload('+', args);
  }
  return arithmetic(
    '+',
    args,
    (x, y) => x + y,
    (x, y) => x + y,
  );
}

function joined(a: CelList, b: CelList, meter: CelMeter): CelValue {
  meter.work(a.growing ? b.items.length : a.items.length + b.items.length);
  if (a.items.length + b.items.length > longestList) return new CelFailure(`a list may have at most ${longestList} elements`);
  if (a.growing) {
    for (const item of [...b.items]) a.items.push(item);
    return a;
  }
  if (a.items.length === 0) return b;
  return b.items.length === 0 ? a : new CelList([...a.items, ...b.items]);
}

type Whole = (a: bigint, b: bigint) => bigint;
type Fraction = (a: number, b: number) => number;

/** A number of the kind that both have; a failure where it does not fit into 64 bits. */
function arithmetic(sign: string, args: readonly CelValue[], whole: Whole, fraction?: Fraction): CelValue {
  const [a, b] = args;
  if (typeof a === 'bigint' && typeof b === 'bigint') return wholeNumber(whole(a, b));
  if (typeof a === 'number' && typeof b === 'number' && fraction !== undefined) return fraction(a, b);
  if (a instanceof CelUint && b instanceof CelUint) return unsigned(whole(a.value, b.value));
  return noOverload(sign, args);
}

function divide(sign: string, args: readonly CelValue[], whole: Whole, fraction?: Fraction): CelValue {
  const [, b] = args;
  if (b === 0n || (b instanceof CelUint && b.value === 0n)) {
    const [a] = args;
    if (typeNameOf(a as CelValue) === typeNameOf(b)) return new CelFailure('a number was divided by zero');
  }
  // The least integer modulo -1 is refused, too, as upstream does it.
  if (sign === '%' && args[0] === minInt && b === -1n) return new CelFailure('the number does not fit into 64 bits');
  return arithmetic(sign, args, whole, fraction);
}

function negate(args: readonly CelValue[]): CelValue {
  const [value] = args;
  if (typeof value === 'bigint') return wholeNumber(-value);
  return typeof value === 'number' ? -value : noOverload('-', args);
}

export function wholeNumber(value: bigint): CelValue {
  return value < minInt || value > maxInt ? new CelFailure('the number does not fit into 64 bits') : value;
}

export function unsigned(value: bigint): CelValue {
  return value < 0n || value > maxUint
    ? new CelFailure('the number does not fit into 64 bits without a sign')
    : new CelUint(value);
}

function ordered([a, b]: readonly CelValue[], meter: CelMeter, test: (order: number) => boolean): CelValue {
  const order = celOrder(a as CelValue, b as CelValue, meter);
  return order instanceof CelFailure ? order : test(order);
}

function isIn(args: readonly CelValue[], meter: CelMeter): CelValue {
  const [value, container] = args as [CelValue, CelValue];
  if (container instanceof CelList) return listHas(container, value, meter);
  if (!(container instanceof CelMap)) return noOverload('in', args);
  // In an empty map, and in one of texts alone, upstream need not look.
  if (isUnhashable(value) && container.size > 0 && !container.native)
    throw new CelAbort('a value of this type cannot be looked up in a map');
  return container.get(value) !== undefined;
}

function size(args: readonly CelValue[]): CelValue {
  const [value] = args;
  if (typeof value === 'string') return BigInt(characterCount(value));
  if (value instanceof Uint8Array) return BigInt(value.length);
  if (value instanceof CelList) return BigInt(value.items.length);
  return value instanceof CelMap ? BigInt(value.size) : noOverload('size', args);
}

/** A search may look at each letter of the part at each place of the text. */
export function searchWork(text: string, part: string): number {
  return Math.ceil((text.length * part.length) / 1000);
}

function textTest(test: (text: string, part: string, meter: CelMeter) => boolean): CelFunction {
  return (args, meter) => {
    const [text, part] = args;
    return typeof text === 'string' && typeof part === 'string'
      ? test(text, part, meter)
      : noOverload('a function of texts', args);
  };
}

/** Functions of optional values, by form. */
export const optionalFunctions: Readonly<Record<string, CelFunction>> = {
  optional_of: ([value]) => new CelOptional(value),
  optional_ofNonZeroValue: ([value]) => (isZero(value as CelValue) ? new CelOptional() : new CelOptional(value)),
  optional_none: () => new CelOptional(),
  optional_value: ([optional]) => {
    const { value } = optional as CelOptional;
    return value === undefined ? new CelFailure('the optional value is missing') : value;
  },
  optional_hasValue: ([optional]) => (optional as CelOptional).value !== undefined,
  list_first: ([list]) => new CelOptional((list as CelList).items[0]),
  list_last: ([list]) => new CelOptional((list as CelList).items.at(-1)),
  optional_unwrap: ([list]) => unwrapped(list as CelList),
  optional_unwrapOpt: ([list]) => unwrapped(list as CelList),
};

function isZero(value: CelValue): boolean {
  if (value instanceof CelUint) return value.value === 0n;
  if (value instanceof CelList) return value.items.length === 0;
  if (value instanceof CelMap) return value.size === 0;
  if (value instanceof Uint8Array) return value.length === 0;
  return value === null || value === false || value === 0n || value === 0 || value === '';
}

function unwrapped({ items }: CelList): CelValue {
  const values: CelValue[] = [];
  for (const item of items) {
    if (!(item instanceof CelOptional)) return new CelFailure('an element of the list is not optional');
    if (item.value !== undefined) values.push(item.value);
  }
  return new CelList(values);
}
