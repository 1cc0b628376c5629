import type { CelMeter } from '../cel-meter.ts';
import { celEquals, celOrder, isComparable, listHas } from '../comparison.ts';
import { CelFailure, CelList, CelMap, CelUint, type CelValue, noOverload, typeNameOf } from '../values.ts';
import { basicFunctions, longestList } from './basics.ts';
import type { CelFunction } from './dispatch.ts';

const zeros: Readonly<Record<string, CelValue>> = { int: 0n, uint: new CelUint(0n), double: 0 };

/** Functions of lists, sets and maps, by form. */
export const listFunctions: Readonly<Record<string, CelFunction>> = {
  ...Object.fromEntries(Object.entries(zeros).map(([type, zero]) => [`list_${type}_sum_${type}`, sumFrom(zero)])),
  ...Object.fromEntries(
    ['int', 'uint', 'double', 'bool', 'string', 'bytes'].flatMap((type) => [
      [`list_${type}_is_sorted_bool`, isSorted],
      [`list_${type}_min_${type}`, extreme(1)],
      [`list_${type}_max_${type}`, extreme(-1)],
    ]),
  ),
  list_a_index_of_int: ([list, item], meter) => placeOf((list as CelList).items, item as CelValue, false, meter),
  list_a_last_index_of_int: ([list, item], meter) => placeOf((list as CelList).items, item as CelValue, true, meter),
  list_sets_contains_list: ([list, part], meter) => hasAll(list as CelList, part as CelList, meter),
  list_sets_equivalent_list: ([a, b], meter) =>
    hasAll(a as CelList, b as CelList, meter) && hasAll(b as CelList, a as CelList, meter),
  list_sets_intersects_list: ([a, b], meter) => (a as CelList).items.some((item) => listHas(b as CelList, item, meter)),
  list_slice: ([list, from, to], meter) => slice((list as CelList).items, from as bigint, to as bigint, meter),
  lists_range: ([count], meter) => range(count as bigint, meter),
  list_reverse: ([list], meter) => {
    meter.work((list as CelList).items.length);
    return new CelList([...(list as CelList).items].reverse());
  },
  list_distinct: ([list], meter) => distinct(list as CelList, meter),
  '@mapInsert_map_key_value': ([map, key, value], meter) =>
    inserted(map as CelMap, [[key as CelValue, value as CelValue]], meter),
  '@mapInsert_map_map': ([map, more], meter) => inserted(map as CelMap, (more as CelMap).entries(), meter),
};

/** Those that look at the types of their arguments by themselves, by name. */
export const untypedListFunctions: Readonly<Record<string, CelFunction>> = {
  flatten: (args, meter) => flatten(args, meter),
  sort: ([list], meter) => (list instanceof CelList ? sorted(list, list, meter) : noOverload('sort', [list as CelValue])),
  '@sortByAssociatedKeys': ([list, keys], meter) =>
    list instanceof CelList && keys instanceof CelList ? sorted(list, keys, meter) : noOverload('sortBy', [list as CelValue]),
};

function sumFrom(zero: CelValue): CelFunction {
  return ([list], meter) => {
    let sum = zero;
    for (const item of (list as CelList).items) {
      meter.work(1);
      sum = basicFunctions['_+_']?.([sum, item], meter) as CelValue;
      if (sum instanceof CelFailure) return sum;
    }
    return sum;
  };
}

function isSorted([list]: readonly CelValue[], meter: CelMeter): CelValue {
  let before: CelValue | undefined;
  for (const item of (list as CelList).items) {
    meter.work(1);
    if (!isComparable(item)) return noOverload('isSorted', [item]);
    const order = before === undefined ? 0 : celOrder(before, item, meter);
    if (typeof order === 'number' && order > 0) return false;
    before = item;
  }
  return true;
}

/** The least or the largest element: another one takes its place where the comparison comes out so. */
function extreme(preferred: number): CelFunction {
  return ([list], meter) => {
    let found: CelValue | undefined;
    for (const item of (list as CelList).items) {
      meter.work(1);
      if (!isComparable(item)) return noOverload('min and max', [item]);
      const order = found === undefined ? preferred : celOrder(found, item, meter);
      if (typeof order === 'number' && Math.sign(order) === preferred) found = item;
    }
    return found ?? new CelFailure('an empty list has no least and no largest element');
  };
}

function placeOf(items: readonly CelValue[], wanted: CelValue, fromEnd: boolean, meter: CelMeter): CelValue {
  const isWanted = (item: CelValue): boolean => celEquals(item, wanted, meter) === true;
  return BigInt(fromEnd ? items.findLastIndex(isWanted) : items.findIndex(isWanted));
}

function hasAll(list: CelList, part: CelList, meter: CelMeter): boolean {
  return part.items.every((item) => listHas(list, item, meter));
}

function slice(items: readonly CelValue[], from: bigint, to: bigint, meter: CelMeter): CelValue {
  if (from < 0n || to < 0n || from > to || to > items.length) {
    return new CelFailure(`a list of ${items.length} has no part from ${from} to ${to}`);
  }
  meter.work(Number(to - from));
  return new CelList(items.slice(Number(from), Number(to)));
}

function range(count: bigint, meter: CelMeter): CelValue {
  if (count > longestList) return new CelFailure(`a list may have at most ${longestList} elements`);
  meter.work(Math.max(0, Number(count)));
  return new CelList(Array.from({ length: Math.max(0, Number(count)) }, (_, i) => BigInt(i)));
}

function flatten(args: readonly CelValue[], meter: CelMeter): CelValue {
  const [list, depth = 1n] = args;
  if (!(list instanceof CelList) || typeof depth !== 'bigint') return noOverload('flatten', args);
  if (depth < 0n) return new CelFailure('a list cannot be flattened less than zero times');
  const items: CelValue[] = [];
  collect(list, depth, items, meter);
  return new CelList(items);
}

function collect(list: CelList, depth: bigint, items: CelValue[], meter: CelMeter): void {
  for (const item of list.items) {
    meter.work(1);
    if (item instanceof CelList && depth > 0n) collect(item, depth - 1n, items, meter);
    else items.push(item);
  }
}

function sorted(list: CelList, keys: CelList, meter: CelMeter): CelValue {
  const count = list.items.length;
  if (count !== keys.items.length) return new CelFailure('there have to be as many keys as elements to sort');
  const [first] = keys.items;
  if (first === undefined) return list;
  if (!isComparable(first)) return new CelFailure('the elements of the list have no order');
  const type = typeNameOf(first);
  if (count > 1 && keys.items.some((key) => typeNameOf(key) !== type))
    return new CelFailure('all elements have to be of one type');
  meter.work(Math.ceil(count * Math.log2(count + 1)));
  const order = (a: number, b: number): number => {
    const compared = celOrder(keys.items[a] as CelValue, keys.items[b] as CelValue, meter);
    return compared instanceof CelFailure ? 0 : compared;
  };
  const places = Array.from({ length: count }, (_, i) => i).sort(order);
  return new CelList(places.map((place) => list.items[place] as CelValue));
}

function distinct(list: CelList, meter: CelMeter): CelValue {
  const found: CelValue[] = [];
  for (const item of list.items) {
    if (!found.some((other) => celEquals(item, other, meter) === true)) found.push(item);
  }
  return new CelList(found);
}

function inserted(map: CelMap, entries: Iterable<readonly [CelValue, CelValue]>, meter: CelMeter): CelValue {
  const target = map.growing ? map : copied(map, meter);
  for (const [key, value] of entries) {
    meter.work(1);
    meter.workOn(key);
    if (target.get(key) !== undefined) return new CelFailure('a key is there twice');
    target.set(key, value);
  }
  return target;
}

function copied(map: CelMap, meter: CelMeter): CelMap {
  const copy = new CelMap();
  meter.work(map.size);
  for (const [key, value] of map.entries()) copy.set(key, value);
  return copy;
}
