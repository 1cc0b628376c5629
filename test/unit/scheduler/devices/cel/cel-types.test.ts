import { describe, expect, it } from 'vitest';
import {
  celTypes,
  listType,
  mapType,
  optionalType,
  parameterType,
  shownType,
  TypeBindings,
} from '../../../../../src/scheduler/devices/cel/cel-types.ts';

const { int, string, dyn } = celTypes;
const [a, b] = [parameterType('a'), parameterType('b')];

describe('types that are not known yet', () => {
  it('become what they are held against', () => {
    const bindings = new TypeBindings();
    expect(bindings.agree([listType(a), a], [listType(int), int])).toBe(true);
    expect(bindings.resolved(mapType(a, b))).toEqual(mapType(int, b));
    expect(bindings.resolved(b, true)).toBe(dyn);
  });

  it('stay as they were where something does not fit', () => {
    const bindings = new TypeBindings();
    expect(bindings.agree([a, a], [int, string])).toBe(false);
    expect(bindings.resolved(a)).toBe(a);
  });

  it('are never made of themselves', () => {
    expect(new TypeBindings().agree([a], [listType(a)])).toBe(false);
  });

  it('become the wider of two types', () => {
    const bindings = new TypeBindings();
    expect(bindings.agree([a, a], [int, dyn])).toBe(true);
    expect(bindings.resolved(a)).toBe(dyn);
  });

  it('are shown with their parts', () => {
    expect(shownType(optionalType(listType(int)))).toBe('optional_type(list(int))');
  });
});
