import { describe, expect, it, vi } from 'vitest';
import { ChangeQueue } from '../../../../src/client/reflector/change-queue.ts';
import type { ObjectChange } from '../../../../src/client/reflector/handler-calls.ts';
import { type ConfigMap, configMap, setUp, startedSetUp } from './fake-api.ts';

type Result = IteratorResult<ObjectChange<ConfigMap>, undefined>;

function shown({ done, value }: Result): string {
  if (done === true) return 'end';
  const version = `${value.type} ${value.object.metadata?.name} ${value.object.metadata?.resourceVersion}`;
  return value.type === 'updated' ? `${version} after ${value.previous.metadata?.resourceVersion}` : version;
}

describe('an iterator of a reflector', () => {
  it('yields what is there, then each change, and ends when the reflector stops', async () => {
    await using test = await startedSetUp();
    const yielded: string[] = [];
    const read = (async () => {
      for await (const change of test.reflector) yielded.push(shown({ done: false, value: change }));
    })();
    await test.settle();
    test.api.latest.send('ADDED', configMap('b', '11'));
    await test.settle();
    test.api.latest.send('MODIFIED', configMap('a', '12'));
    test.api.latest.send('DELETED', configMap('b', '13'));
    await test.settle();
    await test.reflector.stop();
    await read;
    expect(yielded).toEqual(['added a 10', 'added b 11', 'updated a 12 after 10', 'deleted b 13']);
  });

  it('may be asked for before the first list', async () => {
    await using test = setUp();
    const queue = test.reflector[Symbol.asyncIterator]();
    const first = queue.next();
    await test.reflector.start();
    expect(shown(await first)).toBe('added a 10');
  });

  it('that lags yields the changes of an object as one, in the order of first changes, and never loses the last word', async () => {
    await using test = await startedSetUp();
    const queue = test.reflector[Symbol.asyncIterator]();
    expect(shown(await queue.next())).toBe('added a 10');
    for (let version = 11; version <= 500; version += 1) {
      test.api.latest.send('MODIFIED', configMap(version % 2 === 0 ? 'a' : 'b', String(version)));
    }
    expect([shown(await queue.next()), shown(await queue.next())]).toEqual(['added b 499', 'updated a 500 after 10']);
    test.api.latest.send('DELETED', configMap('a', '501'));
    test.api.latest.send('ADDED', configMap('a', '502', 'new', 'uid-2'));
    test.api.latest.send('ADDED', configMap('c', '503'));
    test.api.latest.send('DELETED', configMap('c', '504'));
    test.api.latest.send('DELETED', configMap('b', '505'));
    const rest = [await queue.next(), await queue.next(), await queue.next()];
    expect(rest.map(shown)).toEqual(['deleted a 501', 'added a 502', 'deleted b 505']);
  });

  it('keeps no place for an object that came and went', async () => {
    await using test = await startedSetUp();
    const queue = test.reflector[Symbol.asyncIterator]();
    await queue.next();
    test.api.latest.send('ADDED', configMap('b', '11'));
    test.api.latest.send('DELETED', configMap('b', '12'));
    test.api.latest.send('MODIFIED', configMap('a', '13'));
    test.api.latest.send('ADDED', configMap('b', '14', 'new', 'uid-2'));
    expect([shown(await queue.next()), shown(await queue.next())]).toEqual(['updated a 13 after 10', 'added b 14']);
  });

  it('lags for itself alone', async () => {
    await using test = await startedSetUp();
    const lagging = test.reflector[Symbol.asyncIterator]();
    const quick = test.reflector[Symbol.asyncIterator]();
    expect(shown(await quick.next())).toBe('added a 10');
    test.api.latest.send('MODIFIED', configMap('a', '11'));
    expect([shown(await quick.next()), shown(await lagging.next())]).toEqual(['updated a 11 after 10', 'added a 11']);
    expect(test.calls).toEqual(['updated a 10 -> 11']);
  });

  it('is freed by a break, and by return', async () => {
    await using test = await startedSetUp();
    for await (const change of test.reflector) {
      expect(change.type).toBe('added');
      break;
    }
    const queue = test.reflector[Symbol.asyncIterator]();
    await queue.next();
    const waiting = queue.next();
    expect([shown(await queue.return()), shown(await waiting), shown(await queue.next())]).toEqual(['end', 'end', 'end']);
  });

  it('drops what waits when the reflector stops, and one made afterwards is at its end', async () => {
    await using test = await startedSetUp();
    const queue = test.reflector[Symbol.asyncIterator]();
    await test.reflector.stop();
    expect([shown(await queue.next()), shown(await test.reflector[Symbol.asyncIterator]().next())]).toEqual(['end', 'end']);
  });

  it('serves several reads that wait at once, in order', async () => {
    await using test = await startedSetUp();
    const queue = test.reflector[Symbol.asyncIterator]();
    const reads = [queue.next(), queue.next(), queue.next()];
    test.api.latest.send('ADDED', configMap('b', '11'));
    test.api.latest.send('MODIFIED', configMap('b', '12'));
    expect((await Promise.all(reads)).map(shown)).toEqual(['added a 10', 'added b 11', 'updated b 12 after 11']);
  });

  it('begins no new walk for each object that is taken: each would pass the places of all before', async () => {
    const objects = Array.from({ length: 500 }, (_, index) => configMap(`c${index}`, String(index + 1)));
    const queue = new ChangeQueue(objects, () => {});
    const walks = [
      vi.spyOn(Map.prototype, Symbol.iterator),
      vi.spyOn(Map.prototype, 'keys'),
      vi.spyOn(Map.prototype, 'entries'),
      vi.spyOn(Map.prototype, 'values'),
      vi.spyOn(Set.prototype, 'values'),
      vi.spyOn(Set.prototype, Symbol.iterator),
    ];
    const taken: string[] = [];
    for (const _ of objects) taken.push(shown(await queue.next()));
    const begun = walks.reduce((sum, { mock }) => sum + mock.calls.length, 0);
    for (const walk of walks) walk.mockRestore();
    expect(taken).toEqual(objects.map(({ metadata }) => `added ${metadata?.name} ${metadata?.resourceVersion}`));
    expect(begun).toBeLessThan(20);
  });
});
