import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ObjectStore, type ObjectStoreOptions } from '../../../../src/client/reflector/object-store.ts';
import { unhandledRejectionsOf } from '../../../support/unhandled-rejections.ts';
import { type ConfigMap, configMap, setUp } from './fake-api.ts';

/** More than a call takes as arguments, with the stack that Node has. */
const manyObjects = 200_000;
const byValue = (object: ConfigMap): string[] => [object.data?.v ?? ''];
const names = (objects: readonly ConfigMap[]): (string | undefined)[] => objects.map(({ metadata }) => metadata?.name);
const inNamespace = (object: ConfigMap, namespace: string): ConfigMap => ({
  ...object,
  metadata: { ...object.metadata, namespace },
});

describe('ObjectStore', () => {
  it('finds objects by namespace and name, of the cluster too', () => {
    const store = new ObjectStore<ConfigMap>();
    const there = inNamespace(configMap('a', '2'), 'there');
    const ofTheCluster: ConfigMap = { metadata: { name: 'a', resourceVersion: '3' } };
    for (const object of [configMap('a', '1'), there, ofTheCluster]) store.set(object);
    expect([store.get('there', 'a'), store.get(undefined, 'a'), store.get('', 'a')]).toEqual([there, ofTheCluster, ofTheCluster]);
    expect([store.size, store.list('there'), store.list('nowhere'), store.get('there', 'b')]).toEqual([
      3,
      [there],
      [],
      undefined,
    ]);
    expect(store.delete('there', 'a')).toBe(there);
    expect([store.delete('there', 'a'), store.delete('nowhere', 'a'), store.size]).toEqual([undefined, undefined, 2]);
  });

  it('finds objects by the values of its indexes, and follows their changes', () => {
    const store = new ObjectStore<ConfigMap>({ indexes: { byValue } });
    store.set(configMap('a', '1', 'x'));
    store.set(configMap('b', '2', 'x'));
    store.set(configMap('a', '3', 'y'));
    expect([names(store.byIndex('byValue', 'x')), names(store.byIndex('byValue', 'y'))]).toEqual([['b'], ['a']]);
    store.addIndex('byLetters', ({ metadata }) => [...(metadata?.name ?? ''), 'all']);
    expect(names(store.byIndex('byLetters', 'all')).sort()).toEqual(['a', 'b']);
    store.replace([configMap('c', '4', 'x')]);
    expect([names(store.byIndex('byValue', 'x')), names(store.byIndex('byLetters', 'all')), store.size]).toEqual([
      ['c'],
      ['c'],
      1,
    ]);
    store.delete('default', 'c');
    expect([store.byIndex('byValue', 'x'), store.byIndex('byLetters', 'all')]).toEqual([[], []]);
  });

  it.each([
    ['throws', () => expect.fail('mistake')],
    ['answers no list', () => 'x'],
    ['answers a list with no text', () => [1, null]],
  ])('holds every object, also where an index function %s', (_what, index) => {
    const store = new ObjectStore<ConfigMap>({ indexes: { index: index as unknown as () => string[] } });
    store.set(configMap('a', '1'));
    store.set(configMap('a', '2'));
    expect(store.list()).toEqual([configMap('a', '2')]);
    store.delete('default', 'a');
    expect([store.size, store.byIndex('index', 'x')]).toEqual([0, []]);
  });

  it('leaves an object out of an index whose function answers a promise, also one that rejects', async () => {
    const index = (async () => expect.fail('mistake')) as unknown as () => string[];
    const store = new ObjectStore<ConfigMap>({ indexes: { index } });
    expect(await unhandledRejectionsOf(() => store.set(configMap('a', '1')))).toEqual([]);
    expect([store.size, store.byIndex('index', 'x')]).toEqual([1, []]);
  });

  it('lists more objects of one namespace than a call takes arguments', () => {
    const store = new ObjectStore<ConfigMap>();
    for (let i = 0; i < manyObjects; i += 1) store.set({ metadata: { name: `a${i}`, namespace: 'default' } });
    expect(store.list()).toHaveLength(manyObjects);
  });

  it('drops an object from an index whose function answers otherwise each time', () => {
    let count = 0;
    const store = new ObjectStore<ConfigMap>({ indexes: { index: () => [`value ${count++}`] } });
    store.set(configMap('a', '1'));
    store.set(configMap('a', '2'));
    expect([names(store.byIndex('index', 'value 0')), names(store.byIndex('index', 'value 1'))]).toEqual([[], ['a']]);
    store.delete('default', 'a');
    expect(store.byIndex('index', 'value 1')).toEqual([]);
  });

  it('says what is wrong with an index', () => {
    const store = new ObjectStore<ConfigMap>({ indexes: { byValue } });
    expect(() => store.byIndex('other', 'x')).toThrow('Expected `indexName` to be one of byValue, got "other" (string)');
    expect(() => store.addIndex('byValue', byValue)).toThrow('the name of no other index');
    expect(() => store.addIndex('x', 7 as never)).toThrow('Expected `valuesOf` to be a function');
    expect(() => new ObjectStore({ indexes: { x: 7 } } as unknown as ObjectStoreOptions<ConfigMap>)).toThrow('`indexes.x`');
    expect(() => new ObjectStore({ index: {} } as ObjectStoreOptions<ConfigMap>)).toThrow('`options.index`');
  });

  it('answers as a plain map and a plain filter would, whatever happens to it', () => {
    const step = fc.record({
      op: fc.constantFrom('set', 'set', 'set', 'delete', 'replace'),
      namespace: fc.constantFrom('x', 'y'),
      name: fc.constantFrom('a', 'b', 'c'),
      v: fc.constantFrom('1', '2'),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const store = new ObjectStore<ConfigMap>({ indexes: { byValue } });
        const model = new Map<string, ConfigMap>();
        for (const { op, namespace, name, v } of steps) {
          const object = inNamespace(configMap(name, '1', v), namespace);
          const key = `${namespace}/${name}`;
          if (op === 'replace') model.clear();
          if (op === 'replace') store.replace([object]);
          else if (op === 'set') store.set(object);
          else store.delete(namespace, name);
          if (op === 'delete') model.delete(key);
          else model.set(key, object);
          expect(store.size).toBe(model.size);
          expect(new Set(store.list())).toEqual(new Set(model.values()));
          for (const value of ['1', '2']) {
            const wanted = [...model.values()].filter((one) => one.data?.v === value);
            expect(new Set(store.byIndex('byValue', value))).toEqual(new Set(wanted));
          }
        }
      }),
      { seed: 5, numRuns: 200 },
    );
  });

  it('may be given to a reflector, also when an earlier one has filled it', async () => {
    const store = new ObjectStore<ConfigMap>({ indexes: { byValue } });
    store.set(configMap('a', '9'));
    store.set(configMap('gone', '9'));
    await using test = setUp({ store });
    await test.reflector.start();
    expect(test.calls).toEqual(['added a 10', 'synced']);
    expect(names(store.byIndex('byValue', 'v10'))).toEqual(['a']);
    expect([names(store.list()), test.reflector.store]).toEqual([['a'], store]);
    test.api.latest.send('MODIFIED', configMap('a', '11', 'z'));
    expect(names(store.byIndex('byValue', 'z'))).toEqual(['a']);
  });
});
