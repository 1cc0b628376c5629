import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shareEqualParts } from '../../../../src/api/json/equal-parts.ts';
import { isEqualJson } from '../../../../src/api/json/json.ts';
import { type ConfigMap, configMap, setUp, startedSetUp } from '../../client/reflector/fake-api.ts';

const copyOf = <T>(value: T): T => JSON.parse(JSON.stringify(value));

describe('shareEqualParts', () => {
  it('lets the second object have the parts of the first that are equal, and freezes them', () => {
    const like = { labels: { a: 'x' }, list: [{ b: 1 }, { c: [2] }], other: { d: 3 }, more: [1] };
    const now = copyOf({ ...like, other: { d: 4 }, more: [1, 2] });
    const before = copyOf(now);
    shareEqualParts(now, like);
    expect(now).toEqual(before);
    expect([now.labels === like.labels, now.list === like.list, now.other === like.other]).toEqual([true, true, false]);
    expect([like.labels, like.list, like.list[1]].every(Object.isFrozen)).toBe(true);
    expect([like, like.other, like.more, now, now.other, now.more].some(Object.isFrozen)).toBe(false);
  });

  it('never changes what either object says, and leaves nothing shared that could be changed', () => {
    const names = fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor', 'toString', '0', 'length');
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof({ depthSize: 'small' }, fc.constantFrom(null, true, 0, 1, '', 'x'), tie('list'), tie('object')),
      list: fc.array(tie('value'), { maxLength: 3 }),
      object: fc.array(fc.tuple(names, tie('value')), { maxLength: 4 }).map((members) => {
        const text = members.map(([key, member]) => `${JSON.stringify(key)}:${JSON.stringify(member)}`).join();
        return JSON.parse(`{${text}}`);
      }),
    }));
    const partsOf = (part: unknown): unknown[] =>
      typeof part === 'object' && part !== null ? [part, ...Object.values(part).flatMap(partsOf)] : [];
    fc.assert(
      fc.property(value, value, (one, other) => {
        const [now, like] = [{ x: copyOf(one) }, { x: copyOf(other), y: 1 }];
        const [saidNow, saidLike] = [JSON.stringify(now), JSON.stringify(like)];
        shareEqualParts(now, like);
        expect([JSON.stringify(now), JSON.stringify(like)]).toEqual([saidNow, saidLike]);
        const parts = new Set(partsOf(like));
        expect(partsOf(now).filter((part) => parts.has(part) && !Object.isFrozen(part))).toEqual([]);
        expect(isEqualJson(now.x, like.x)).toBe(JSON.stringify(sorted(one)) === JSON.stringify(sorted(other)));
      }),
      { seed: 7, numRuns: 2000 },
    );
    expect(Object.isFrozen(Object.prototype)).toBe(false);
  });

  it.each(['__proto__', 'constructor', 'toString'])('takes a member %s for one of the object itself', (name) => {
    const now = JSON.parse(`{"${name}":{},"a":{"${name}":{}}}`);
    const said = JSON.stringify(now);
    shareEqualParts(now, { a: {} });
    shareEqualParts(now, JSON.parse(said));
    expect([JSON.stringify(now), Object.getPrototypeOf(now)]).toEqual([said, Object.prototype]);
    expect([Object.prototype, Object, Object.prototype.toString].some(Object.isFrozen)).toBe(false);
  });

  it('gives up where two objects are too deep, and does not exhaust the stack', () => {
    const deep = (): object => JSON.parse(`${'{"a":'.repeat(100_000)}{}${'}'.repeat(100_000)}`);
    const [now, like] = [deep(), deep()];
    expect(shareEqualParts(now, like)).toBe(now);
    expect(isEqualJson(now, like)).toBe(false);
  });

  it('leaves frozen objects as they are', () => {
    const now = Object.freeze({ a: Object.freeze({ b: 'x' }), c: 'y' });
    expect(shareEqualParts(now, { a: { b: 'x' }, c: 'y' })).toBe(now);
  });
});

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return { members: members.map(([key, inner]) => [key, sorted(inner)]) };
}

describe('the objects of a reflector', () => {
  const labels = { app: 'web' };
  const labelled = (name: string, resourceVersion: string, v = 'same'): ConfigMap => {
    const { metadata, ...rest } = configMap(name, resourceVersion, v);
    return { ...rest, metadata: { ...metadata, labels } };
  };

  it.each([true, false])('share what is equal with their neighbours in a list (streamed lists: %s)', async (streamLists) => {
    await using test = setUp({ streamLists });
    test.api.put(labelled('a', '10'));
    test.api.put(labelled('b', '11'));
    await test.reflector.start();
    const [a, b] = test.reflector.store.list();
    expect([a?.metadata?.labels, a?.data]).toEqual([labels, { v: 'same' }]);
    expect([a?.metadata?.labels === b?.metadata?.labels, a?.data === b?.data]).toEqual([true, true]);
  });

  it('share what is equal with their version before', async () => {
    await using test = await startedSetUp();
    test.api.latest.send('MODIFIED', labelled('a', '11'));
    const before = test.reflector.store.get('default', 'a');
    test.api.latest.send('MODIFIED', labelled('a', '12', 'other'));
    const after = test.reflector.store.get('default', 'a');
    expect([after?.metadata?.labels === before?.metadata?.labels, after?.data]).toEqual([true, { v: 'other' }]);
    expect(() => Object.assign(after?.metadata?.labels ?? {}, { app: 'changed' })).toThrow(TypeError);
  });

  it('share nothing where that is switched off', async () => {
    await using test = setUp({ shareEqualParts: false });
    test.api.put(labelled('a', '10'));
    test.api.put(labelled('b', '11'));
    await test.reflector.start();
    test.api.latest.send('MODIFIED', labelled('a', '12'));
    const [a, b] = test.reflector.store.list();
    expect([a?.metadata?.labels === b?.metadata?.labels, Object.isFrozen(a?.metadata?.labels)]).toEqual([false, false]);
  });

  it.each<[string, (object: ConfigMap) => ConfigMap]>([
    [
      'frozen ones',
      (object) => Object.freeze({ ...object, data: Object.freeze({ ...object.data }) as { [key: string]: string } }),
    ],
    [
      'ones that refuse a change',
      (object) => Object.defineProperty({ ...object }, 'data', { get: () => ({ v: 'x' }), enumerable: true }),
    ],
  ])('are what the transform made, also %s', async (_what, transform) => {
    await using test = setUp({ transform });
    test.api.put(configMap('b', '11', 'v10'));
    await test.reflector.start();
    test.api.latest.send('MODIFIED', configMap('a', '12', 'v10'));
    expect([test.names(), test.interruptions]).toEqual([['a 12', 'b 11'], []]);
  });

  it('lose their managedFields, wherever these stand', async () => {
    await using test = await startedSetUp();
    const metadata = { managedFields: [{ manager: 'someone' }], name: 'b', namespace: 'default', resourceVersion: '11' };
    test.api.latest.send('ADDED', { metadata });
    expect(test.reflector.store.get('default', 'b')?.metadata).toEqual({
      name: 'b',
      namespace: 'default',
      resourceVersion: '11',
    });
  });
});
