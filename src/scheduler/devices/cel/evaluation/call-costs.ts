import { CelAbort, type CelMeter } from '../cel-meter.ts';
import { CelList, CelMap, CelOptional, type CelValue, characterCount, isCelExtension } from '../values.ts';

/** Going through a text costs a tenth of its length, and a regular expression counts a quarter of its own. */
const textShare = 0.1;
const patternShare = 0.25;
const listCost = 10;

type CostOf = (args: readonly CelValue[], result: CelValue, meter: CelMeter) => number;

const first: CostOf = ([value]) => Math.ceil(sizeOf(value) * textShare);
const twice: CostOf = ([value]) => Math.ceil(sizeOf(value) * 2 * textShare);
const traversal: CostOf = ([value], _, meter) => traversalOf(value, meter);
const one: CostOf = () => 1;
const smaller: CostOf = ([a, b]) => Math.ceil(Math.min(sizeOf(a), sizeOf(b)) * textShare);
const both: CostOf = ([a, b]) => Math.ceil((sizeOf(a) + sizeOf(b)) * textShare);
const pattern: CostOf = ([text, expression]) =>
  Math.ceil((1 + sizeOf(text)) * textShare) * Math.ceil(sizeOf(expression) * patternShare);

const named: Readonly<Record<string, CostOf>> = {
  ...same(traversal, 'isSorted sum max min indexOf lastIndexOf'),
  ...same(first, 'lowerAscii upperAscii substring trim quantity isQuantity semver isSemver'),
  ...same(twice, 'replace split'),
  join: (_, result) => Math.ceil(sizeOf(result) * 2 * textShare),
  ...same(pattern, 'find findAll'),
  ...same(one, 'sign asInteger isInteger asApproximateFloat isGreaterThan isLessThan compareTo add sub major minor patch'),
};

const byForm: Readonly<Record<string, CostOf>> = {
  ...same(first, 'starts_with_string ends_with_string string_to_bytes bytes_to_string strings_quote'),
  in_list: ([, list]) => sizeOf(list),
  ...same(smaller, 'less_string greater_string less_equals_string greater_equals_string'),
  ...same(smaller, 'less_bytes greater_bytes less_equals_bytes greater_equals_bytes equals not_equals'),
  ...same(both, 'add_string add_bytes'),
  matches_string: pattern,
  contains_string: ([text, part]) => Math.ceil(sizeOf(text) * textShare) * Math.ceil(sizeOf(part) * textShare),
};

/** Those of the extension for lists and sets, which come before all others. */
const tracked: Readonly<Record<string, CostOf>> = {
  ...same((_, result) => allocating(1, sizeOf(result)), 'list_slice lists_range list_reverse'),
  list_flatten: ([list]) => allocating(1, sizeOf(list)),
  list_flatten_int: ([list, depth]) => (typeof depth === 'bigint' ? allocating(Number(depth), sizeOf(list)) : uncounted()),
  list_distinct: ([list]) => selfComparing(list),
  ...same(([list]) => selfComparing(list), forms('sort')),
  ...same(([, keys]) => selfComparing(keys), forms('sortByAssociatedKeys')),
  ...same(([a, b]) => 1 + sizeOf(a) * sizeOf(b), 'list_sets_contains_list list_sets_intersects_list'),
  list_sets_equivalent_list: ([a, b]) => 1 + sizeOf(a) * sizeOf(b) * 2,
};

/** What a call costs: by its form where only one fits, else by its name. */
export function callCost(name: string, form: string, args: readonly CelValue[], result: CelValue, meter: CelMeter): number {
  if (name === '_==_' && isCelExtension(args[0])) return 1;
  const cost = lookup(tracked, form) ?? lookup(named, name) ?? lookup(byForm, form) ?? one;
  return cost(args, result, meter);
}

function lookup(costs: Readonly<Record<string, CostOf>>, key: string): CostOf | undefined {
  return Object.hasOwn(costs, key) ? costs[key] : undefined;
}

function same(cost: CostOf, names: string): Record<string, CostOf> {
  return Object.fromEntries(names.split(' ').map((name) => [name, cost]));
}

function forms(suffix: string): string {
  return ['int', 'uint', 'double', 'bool', 'string', 'bytes'].map((type) => `list_${type}_${suffix}`).join(' ');
}

function sizeOf(value: CelValue | undefined): number {
  if (typeof value === 'string') return characterCount(value);
  if (value instanceof CelList) return value.items.length;
  if (value instanceof CelMap) return value.size;
  if (value instanceof Uint8Array) return value.length;
  if (value instanceof CelOptional && value.value !== undefined) return sizeOf(value.value);
  return 1;
}

/** A list that has one list many times is gone through as many times, so that this counts as work. */
function traversalOf(value: CelValue | undefined, meter: CelMeter): number {
  meter.work(1);
  if (typeof value === 'string') return Math.trunc(Buffer.byteLength(value) * textShare);
  if (value instanceof Uint8Array) return Math.trunc(value.length * textShare);
  if (value instanceof CelList) return value.items.reduce<number>((sum, item) => sum + traversalOf(item, meter), 0);
  if (!(value instanceof CelMap)) return 1;
  let cost = 0;
  for (const [key, entry] of value.entries()) cost += traversalOf(key, meter) + traversalOf(entry, meter);
  return cost;
}

function allocating(factor: number, size: number): number {
  return Math.trunc(size * factor) + 1 + listCost;
}

function selfComparing(list: CelValue | undefined): number {
  if (!(list instanceof CelList)) return uncounted();
  const size = list.items.length;
  const [element] = list.items;
  const factor = typeof element === 'string' || element instanceof Uint8Array ? 2 + textShare : 2;
  return allocating(factor, size * size);
}

/** Upstream breaks off where it cannot count: what failed before is then no failure that `||` goes past. */
function uncounted(): never {
  throw new CelAbort('an argument of a function of lists failed');
}
