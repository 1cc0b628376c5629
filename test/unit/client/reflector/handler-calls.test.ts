import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../../../src/base/logging/logger.ts';
import { unhandledRejectionsOf } from '../../../support/unhandled-rejections.ts';
import { type ConfigMap, configMap, setUp, startedSetUp } from './fake-api.ts';

const version = (object: ConfigMap): string => `${object.metadata?.name} ${object.metadata?.resourceVersion}`;

/** Handlers whose promises the test settles. */
function slowHandlers() {
  const calls: string[] = [];
  const waiting: PromiseWithResolvers<void>[] = [];
  const slow = (call: string): Promise<void> => {
    calls.push(call);
    const settled = Promise.withResolvers<void>();
    waiting.push(settled);
    return settled.promise;
  };
  const handlers = {
    added: (object: ConfigMap) => slow(`added ${version(object)}`),
    updated: (object: ConfigMap, previous: ConfigMap) => slow(`updated ${version(previous)} -> ${version(object)}`),
    deleted: (object: ConfigMap) => slow(`deleted ${version(object)}`),
  };
  return { calls, waiting, handlers };
}

describe('the handlers of a reflector', () => {
  it('are called after the change is in the store', async () => {
    const seen: (string | undefined)[] = [];
    const held = (): void => {
      const object = test.reflector.store.get('default', 'a');
      seen.push(object && version(object));
    };
    await using test = setUp({ handlers: { added: held, updated: held, deleted: held } });
    await test.reflector.start();
    test.api.latest.send('MODIFIED', configMap('a', '11'));
    test.api.latest.send('DELETED', configMap('a', '12'));
    expect(seen).toEqual(['a 10', 'a 11', undefined]);
  });

  it('get the deleted object as it was last seen', async () => {
    await using test = await startedSetUp();
    test.api.latest.send('DELETED', configMap('a', '12'));
    test.api.latest.send('DELETED', configMap('never-there', '13'));
    expect(test.calls).toEqual(['deleted a 12']);
  });

  it('are not called again for a version they know', async () => {
    await using test = await startedSetUp();
    test.api.latest.send('MODIFIED', configMap('a', '10'));
    expect(test.calls).toEqual([]);
  });

  it('that are slow get the changes of one object as one, and the last word', async () => {
    const { calls, waiting, handlers } = slowHandlers();
    await using test = setUp({ handlers });
    await test.reflector.start();
    for (let next = 11; next <= 1000; next += 1) test.api.latest.send('MODIFIED', configMap('a', String(next)));
    expect(calls).toEqual(['added a 10']);
    expect(test.names()).toEqual(['a 1000']);
    waiting[0]?.resolve();
    await test.settle();
    expect(calls.slice(1)).toEqual(['updated a 10 -> a 1000']);
  });

  it('that are slow with one object delay no other', async () => {
    const { calls, handlers } = slowHandlers();
    await using test = setUp({ handlers });
    await test.reflector.start();
    test.api.latest.send('ADDED', configMap('b', '11'));
    test.api.latest.send('MODIFIED', configMap('a', '12'));
    expect(calls).toEqual(['added a 10', 'added b 11']);
  });

  it.each([
    ['deleted', [['DELETED', '12']], ['deleted a 12']],
    [
      'deleted and made again',
      [
        ['DELETED', '12'],
        ['ADDED', '13', 'uid-2'],
      ],
      ['deleted a 12', 'added a 13'],
    ],
    [
      'changed, deleted, made, changed, and made again',
      [
        ['MODIFIED', '11'],
        ['DELETED', '12'],
        ['ADDED', '13', 'uid-2'],
        ['MODIFIED', '14', 'uid-2'],
        ['DELETED', '15', 'uid-2'],
        ['ADDED', '16', 'uid-3'],
      ],
      ['deleted a 12', 'added a 16'],
    ],
    [
      'gone from the selection and back',
      [
        ['DELETED', '12'],
        ['ADDED', '13'],
      ],
      ['updated a 10 -> a 13'],
    ],
    [
      'made and deleted again',
      [
        ['DELETED', '12'],
        ['ADDED', '13', 'uid-2'],
        ['DELETED', '14', 'uid-2'],
      ],
      ['deleted a 12'],
    ],
  ])('that are slow get an object %s meanwhile in as few calls as tell it', async (_what, events, expected) => {
    const { calls, waiting, handlers } = slowHandlers();
    await using test = setUp({ handlers });
    await test.reflector.start();
    for (const [type, resourceVersion, uid] of events) {
      test.api.latest.send(type ?? '', configMap('a', resourceVersion ?? '', undefined, uid));
    }
    for (let index = 0; index < 3; index += 1) {
      waiting[index]?.resolve();
      await test.settle();
    }
    expect(calls.slice(1)).toEqual(expected);
  });

  it('hear nothing of an object that came and went while they were busy with it', async () => {
    const { calls, waiting, handlers } = slowHandlers();
    await using test = setUp({ handlers });
    await test.reflector.start();
    test.api.latest.send('DELETED', configMap('a', '12'));
    waiting[0]?.resolve();
    await test.settle();
    test.api.latest.send('ADDED', configMap('a', '13', undefined, 'uid-2'));
    test.api.latest.send('DELETED', configMap('a', '14', undefined, 'uid-2'));
    waiting[1]?.resolve();
    await test.settle();
    expect(calls).toEqual(['added a 10', 'deleted a 12']);
  });

  it('that throw, reject or answer strange promises harm nothing, and are logged', async () => {
    const logged: unknown[] = [];
    const logger = { ...silentLogger, error: (fields: object) => logged.push('method' in fields && fields.method) };
    const fail = (): never => {
      throw new Error('mistake');
    };
    const thenable = Object.defineProperty({}, 'then', { get: fail });
    const rejectElsewhere: () => unknown = runInNewContext('async () => { throw new Error("mistake") }');
    const handlers = { added: async () => fail(), updated: rejectElsewhere, deleted: () => thenable, synced: fail };
    const unhandled = await unhandledRejectionsOf(async () => {
      await using test = setUp({ handlers: { ...handlers, interrupted: fail }, logger });
      await test.reflector.start();
      await test.settle();
      test.api.latest.send('MODIFIED', configMap('a', '11'));
      await test.settle();
      test.api.latest.send('DELETED', configMap('a', '12'));
      test.api.latest.send('ADDED', configMap('b', '13'));
      await test.settle();
      expect(test.names()).toEqual(['b 13']);
      test.api.latest.expire();
      await test.settle();
    });
    expect(logged.sort()).toEqual(['added', 'added', 'deleted', 'interrupted', 'synced', 'updated']);
    expect(unhandled).toEqual([]);
  });

  it('may stop the reflector, and hear nothing more, not even of the same list or chunk', async () => {
    const calls: string[] = [];
    const added = async (object: ConfigMap): Promise<void> => {
      calls.push(version(object));
      await test.reflector.stop();
    };
    await using test = setUp({ handlers: { added, synced: () => void calls.push('synced') } });
    test.api.put(configMap('b', '11'));
    await test.reflector.start().catch(() => {});
    await test.reflector.stop();
    expect(calls).toEqual(['a 10']);
  });

  it('may stop the reflector at the deletion of an object, and hear nothing of the one that has its name now', async () => {
    const calls: string[] = [];
    const deleted = (object: ConfigMap): void => {
      calls.push(`deleted ${version(object)}`);
      void test.reflector.stop();
    };
    await using test = await startedSetUp({
      handlers: { deleted, added: (object) => void calls.push(`added ${version(object)}`) },
    });
    test.api.latest.send('ADDED', configMap('a', '11', 'new', 'uid-2'));
    await test.settle();
    expect(calls).toEqual(['added a 10', 'deleted a 10']);
  });

  it('that never settle do not hold up a stop', async () => {
    const { calls, waiting, handlers } = slowHandlers();
    const test = setUp({ handlers });
    await test.reflector.start();
    test.api.latest.send('MODIFIED', configMap('a', '11'));
    await test.reflector.stop();
    waiting[0]?.resolve();
    await test.settle();
    expect(calls).toEqual(['added a 10']);
  });
});

describe('a list', () => {
  it('that has one name twice shows the last copy', async () => {
    await using test = setUp({ streamLists: false });
    test.api.answers.push({ metadata: { resourceVersion: '12' }, items: [configMap('a', '11'), configMap('a', '12')] });
    await test.reflector.start();
    expect(test.calls).toEqual(['added a 12', 'synced']);
  });
});

describe('a handler that opens an iterator', () => {
  it('gets no change from it that the store shows already', async () => {
    const taken: Promise<unknown>[] = [];
    const deleted = (): void => void taken.push(test.reflector[Symbol.asyncIterator]().next());
    const test = setUp({ handlers: { deleted } });
    await test.reflector.start();
    test.api.latest.send('DELETED', configMap('a', '11'));
    test.api.latest.send('ADDED', configMap('b', '12'));
    expect(await taken[0]).toMatchObject({ value: { type: 'added', object: { metadata: { name: 'b' } } } });
    await test.reflector.stop();
  });
});

describe('a handler of the first list', () => {
  it.each(['pause', 'stop'] as const)('that calls %s() ends it: it does not count as synced', async (method) => {
    const told: string[] = [];
    const handlers = { added: () => void test.reflector[method](), synced: () => void told.push('synced') };
    const test = setUp({ streamLists: false, handlers });
    test.reflector.start().catch(() => {});
    await test.settle();
    expect([test.reflector.hasSynced, told]).toEqual([false, []]);
    await test.reflector.stop();
  });

  it('sees the version of the list, and that of an event sees its version', async () => {
    const versions: (string | undefined)[] = [];
    const note = (): void => void versions.push(test.reflector.resourceVersion);
    const test = setUp({ handlers: { added: note, synced: note } });
    await test.reflector.start();
    test.api.latest.send('ADDED', configMap('b', '11'));
    expect(versions).toEqual(['10', '10', '11']);
    await test.reflector.stop();
  });
});
