import { describe, expect, it } from 'vitest';
import type { Transform } from '../../../src/reflector/received-objects.ts';
import { silentLogger } from '../../../src/seams/logger.ts';
import { unhandledRejectionsOf } from '../../support/unhandled-rejections.ts';
import { type ConfigMap, configMap, refusal, setUp, startedSetUp } from './fake-api.ts';

const value = (object: ConfigMap | undefined): string | undefined => object?.data?.v;
const fail = (): never => {
  throw new Error('mistake');
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

  it.each<[string, Transform<ConfigMap>]>([
    ['throws', fail],
    ['rejects', (async () => fail()) as unknown as Transform<ConfigMap>],
    ['answers null', () => null as unknown as ConfigMap],
    ['answers a text', () => 'x' as unknown as ConfigMap],
    ['answers another object', () => configMap('other', '99')],
    ['answers another version', (object) => ({ ...object, metadata: { ...object.metadata, resourceVersion: '1' } })],
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
