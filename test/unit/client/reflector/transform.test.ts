import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../../../src/base/logging/logger.ts';
import type { NetChange } from '../../../../src/client/reflector/handler-calls.ts';
import { ObjectDelivery } from '../../../../src/client/reflector/object-delivery.ts';
import { ObjectStore } from '../../../../src/client/reflector/object-store.ts';
import type { Transform } from '../../../../src/client/reflector/received-objects.ts';
import { unhandledRejectionsOf } from '../../../support/unhandled-rejections.ts';
import { type ConfigMap, configMap, refusal, setUp, startedSetUp } from './fake-api.ts';

const value = (object: ConfigMap | undefined): string | undefined => object?.data?.v;
const fail = (): never => {
  throw new Error('mistake');
};

const inPlace =
  (change: (object: ConfigMap) => unknown, then = (object: ConfigMap): ConfigMap | undefined => object): Transform<ConfigMap> =>
  (object) => {
    change(object);
    return then(object);
  };

describe('the objects that a reflector holds', () => {
  it.each([true, false])('have apiVersion and kind, and no managedFields (streamed lists: %s)', async (streamLists) => {
    await using test = setUp({ streamLists });
    await test.reflector.start();
    await test.settle();
    test.api.latest.send('ADDED', { kind: 'ConfigMap', apiVersion: 'v1', ...configMap('b', '11') });
    const { managedFields: _, ...metadata } = { ...configMap('a', '10').metadata };
    expect(test.reflector.store.get('default', 'a')).toEqual({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata,
      data: { v: 'v10' },
    });
    expect(JSON.stringify(test.reflector.store.list())).not.toContain('managedFields');
  });

  it.each([
    true,
    false,
  ])('are those that the transform makes, from a list and from a watch (streamed lists: %s)', async (streamLists) => {
    const transform = (object: ConfigMap): ConfigMap => ({ ...object, data: { v: `hidden ${object.metadata?.managedFields}` } });
    await using test = setUp({ streamLists, transform });
    await test.reflector.start();
    await test.settle();
    test.api.latest.send('ADDED', configMap('b', '11'));
    expect(test.reflector.store.list().map(value)).toEqual(['hidden undefined', 'hidden undefined']);
  });

  it('are without those that the transform leaves out, and told of as deleted when that changes', async () => {
    const transform = (object: ConfigMap): ConfigMap | undefined => (value(object) === 'no' ? undefined : object);
    await using test = setUp({ transform });
    test.api.put(configMap('b', '11', 'no'));
    await test.reflector.start();
    test.api.latest.send('MODIFIED', configMap('a', '12', 'no'));
    test.api.latest.send('MODIFIED', configMap('b', '13', 'yes'));
    test.api.latest.send('MODIFIED', configMap('b', '14', 'no'));
    test.api.latest.send('DELETED', configMap('b', '15', 'no'));
    expect(test.calls).toEqual(['added a 10', 'synced', 'deleted a 10', 'added b 13', 'deleted b 13']);
    expect(test.reflector.resourceVersion).toBe('15');
  });

  it.each([true, false])('are left out under the name that the server gave (streamed lists: %s)', async (streamLists) => {
    const rename = inPlace(
      (object) => Object.assign(object.metadata ?? {}, { name: 'other' }),
      () => undefined,
    );
    const transform = (object: ConfigMap): ConfigMap | undefined => (value(object) === 'no' ? rename(object) : object);
    await using test = await startedSetUp({ transform, streamLists });
    test.api.latest.send('MODIFIED', configMap('a', '12', 'no'));
    expect([test.names(), test.calls]).toEqual([[], ['deleted a 10']]);
  });

  it('are in a streamed list without those left out under a name that the transform changed', async () => {
    const rename = inPlace(
      (object) => Object.assign(object.metadata ?? {}, { name: 'other' }),
      () => undefined,
    );
    const transform = (object: ConfigMap): ConfigMap | undefined => (value(object) === 'no' ? rename(object) : object);
    await using test = setUp({ transform });
    test.api.streamsAtOnce = false;
    void test.reflector.start();
    await test.settle();
    test.api.latest.send('ADDED', { kind: 'ConfigMap', apiVersion: 'v1', ...configMap('a', '10') });
    test.api.latest.send('MODIFIED', { kind: 'ConfigMap', apiVersion: 'v1', ...configMap('a', '11', 'no') });
    test.api.latest.endOfList('11');
    expect(test.names()).toEqual([]);
  });

  it('lose what was deleted before a list was asked for again, also when the transform failed for it', async () => {
    const transform = (object: ConfigMap): ConfigMap => (value(object) === 'bad' ? fail() : object);
    await using test = await startedSetUp({ streamLists: false, pageSize: 1, transform });
    test.api.answers.push(
      { metadata: { resourceVersion: '11', continue: 'two' }, items: [configMap('a', '11', 'bad')] },
      { metadata: { resourceVersion: '20' }, items: [configMap('b', '12')] },
    );
    test.api.failures.list.push('ok', refusal(410, 'Expired'));
    test.api.latest.expire();
    await test.clock.advance(500);
    expect([test.names(), test.calls]).toEqual([['b 12'], ['deleted a 10', 'added b 12', 'synced']]);
  });

  it.each<[string, Transform<ConfigMap>]>([
    ['throws', fail],
    ['rejects', (async () => fail()) as unknown as Transform<ConfigMap>],
    ['answers null', () => null as unknown as ConfigMap],
    ['answers a text', () => 'x' as unknown as ConfigMap],
    ['answers another object', () => configMap('other', '99')],
    ['answers another version', (object) => ({ ...object, metadata: { ...object.metadata, resourceVersion: '1' } })],
    ['removes the version in place', inPlace(({ metadata }) => delete metadata?.resourceVersion)],
    ['removes the metadata in place', inPlace((object) => delete object.metadata)],
    ['renames the object in place', inPlace((object) => Object.assign(object.metadata ?? {}, { name: 'other' }))],
    ['moves the object in place', inPlace((object) => Object.assign(object.metadata ?? {}, { namespace: 'other' }))],
    ['changes the uid in place', inPlace((object) => Object.assign(object.metadata ?? {}, { uid: 'other' }))],
    ['changes the name in place, and throws', inPlace((object) => Object.assign(object.metadata ?? {}, { name: 'other' }), fail)],
  ])('stay as they were while a transform that is asked for a change %s', async (_what, broken) => {
    const logged: object[] = [];
    const logger = { ...silentLogger, error: (fields: object) => logged.push(fields) };
    const transform = (object: ConfigMap): ConfigMap | undefined => (value(object) === 'bad' ? broken(object) : object);
    const unhandled = await unhandledRejectionsOf(async () => {
      await using test = await startedSetUp({ transform, logger });
      test.api.latest.send('MODIFIED', configMap('a', '11', 'bad'));
      test.api.latest.send('ADDED', configMap('b', '12', 'bad'));
      expect([test.names(), test.calls]).toEqual([['a 10'], []]);
      test.api.put(configMap('a', '11', 'bad'));
      test.api.put(configMap('b', '13', 'bad'));
      for (const isStreamed of [true, false]) {
        if (!isStreamed) test.api.failures.stream.push(refusal(500, 'InternalError'));
        test.api.latest.expire();
        await test.clock.advance(500);
        expect([test.names(), test.calls]).toEqual([['a 10'], Array(isStreamed ? 1 : 2).fill('synced')]);
      }
      test.api.latest.send('MODIFIED', configMap('a', '14', 'good'));
      test.api.latest.send('DELETED', configMap('a', '15', 'bad'));
      expect(test.calls.slice(2)).toEqual(['updated a 10 -> 14', 'deleted a 14']);
    });
    expect([logged.length, unhandled]).toEqual([7, []]);
    expect(logged[0]).toMatchObject({ namespace: 'default', name: 'a' });
  });

  it('are told of as added where the store held them before and the transform fails for all, however many', () => {
    const store = new ObjectStore<ConfigMap>();
    const failedKeys = new Set<string>();
    for (let i = 0; i < 200_000; i += 1) {
      store.set({ metadata: { name: `a${i}`, namespace: 'default', resourceVersion: '1' } });
      failedKeys.add(`default/a${i}`);
    }
    const told: unknown[] = [];
    const delivery = new ObjectDelivery(store, new Set([{ changed: ({ now }: NetChange<ConfigMap>) => told.push(now) }]));
    delivery.replace({ objects: [configMap('z', '10')], failedKeys, isConsistent: true });
    expect([told.length, told[0], told.at(-1)]).toEqual([200_001, store.get('default', 'a0'), store.get('default', 'z')]);
  });

  it.each([
    ['no name', { namespace: 'default', resourceVersion: '11' }],
    ['no namespace', { name: 'b', resourceVersion: '11' }],
    ['a number for a name', { name: 7, namespace: 'default', resourceVersion: '11' }],
  ])('do not come from an answer whose object has %s', async (_what, metadata) => {
    await using test = setUp({ streamLists: false });
    test.api.answers.push({ metadata: { resourceVersion: '11' }, items: [{ metadata }] });
    void test.reflector.start();
    await test.settle();
    expect(test.interruptions).toMatchObject([{ error: { reason: 'BrokenAnswer' } }]);
    await test.clock.advance(250);
    test.api.latest.send('ADDED', { metadata });
    await test.settle();
    expect(test.interruptions).toHaveLength(2);
    expect(test.names()).toEqual(['a 10']);
  });
});
