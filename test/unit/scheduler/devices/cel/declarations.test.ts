import { describe, expect, it } from 'vitest';
import { celFunctions, missingFunctions } from '../../../../../src/scheduler/devices/cel/declarations.ts';

describe('the functions of device selectors', () => {
  const functions = celFunctions();
  const forms = [...functions.values()].flat();

  it('have forms with names of their own', () => {
    const ids = forms.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('have the operators with all types that fit each other', () => {
    expect(functions.get('_<_')?.length).toBe(14);
    expect(functions.get('_+_')?.length).toBe(9);
  });

  it('know methods from functions, and their types', () => {
    const [size, method] = (functions.get('size') ?? []).filter(({ id }) => id.includes('string'));
    expect(size).toMatchObject({ id: 'size_string', method: false, takes: [{ kind: 'string' }], gives: { kind: 'int' } });
    expect(method).toMatchObject({ id: 'string_size', method: true });
    expect(functions.get('_[_]')?.[1]).toMatchObject({
      id: 'index_map',
      free: ['A', 'B'],
      gives: { kind: 'parameter', name: 'B' },
    });
  });

  it('are not those that are missing', () => {
    expect([...missingFunctions].filter((name) => functions.has(name))).toEqual([]);
  });
});
