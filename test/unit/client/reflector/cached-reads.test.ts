import { describe, expect, it } from 'vitest';
import { AnswerTooLongError, ApiError } from '../../../../src/client/transport/api-error.ts';
import { configMap, refusal, refused, setUp, startedSetUp, type Test, tooLarge } from './fake-api.ts';

const brokenOff = new ApiError({ status: 200, reason: 'Network', message: 'reset' });
const reset = new ApiError({ reason: 'Network', message: 'reset' });
const silent = new ApiError({ reason: 'Timeout', message: 'nothing heard' });

/** The requests up to now, and forgets them. */
const asked = async ({ api, settle }: Test): Promise<string[]> => {
  await settle();
  return api.log.splice(0);
};

describe('a reflector that lists from the cache', () => {
  const lists = { listFrom: 'cache', streamLists: false } as const;
  const streams = { listFrom: 'cache' } as const;

  it('lists what the server has in its cache, then watches on from there', async () => {
    await using test = setUp(lists);
    await test.reflector.start();
    expect(await asked(test)).toEqual(['list 0/500', 'watch 10']);
    expect(test.calls).toEqual(['added a 10', 'synced']);
  });

  it('asks for a streamed list of the newest state, and watches on by the same request', async () => {
    await using test = setUp(streams);
    await test.reflector.start();
    test.api.latest.send('ADDED', configMap('b', '11'));
    expect(await asked(test)).toEqual(['stream newest']);
    expect(test.calls).toEqual(['added a 10', 'synced', 'added b 11']);
    expect(Object.fromEntries(test.api.queries[0] ?? [])).toEqual({
      watch: 'true',
      sendInitialEvents: 'true',
      resourceVersionMatch: 'NotOlderThan',
      allowWatchBookmarks: 'true',
      timeoutSeconds: '450',
    });
  });

  it.each([
    ['a 403', refusal(403, 'Forbidden')],
    ['a 500', refusal(500, 'InternalError')],
    ['a 504', refusal(504, 'Timeout')],
    ['a connection that breaks before the answer', reset],
    ['a stream that is a second old and breaks', brokenOff],
  ])('lists at once after a streamed list that failed with %s', async (_with, failure) => {
    await using test = setUp(streams);
    test.api.failures.stream.push(failure);
    await test.reflector.start();
    expect(await asked(test)).toEqual(['stream newest', 'list 0/500', 'watch 10']);
    expect(test.interruptions).toEqual([]);
  });

  it.each([
    ['429', () => refusal(429, 'TooManyRequests')],
    ['a refused connection', refused],
  ])('waits after %s, and asks for a streamed list again', async (_what, failure) => {
    await using test = setUp(streams);
    test.api.failures.stream.push(failure());
    void test.reflector.start();
    expect(await asked(test)).toEqual(['stream newest']);
    await test.clock.advance(1199);
    expect(await asked(test)).toEqual([]);
    await test.clock.advance(1);
    expect(await asked(test)).toEqual(['stream newest']);
    expect(test.interruptions.map(({ delayMs }) => delayMs)).toEqual([1200]);
  });

  it('waits after a stream that ends at once behind its list, however long that took', async () => {
    await using test = setUp(streams);
    test.api.streamsAtOnce = false;
    void test.reflector.start();
    await test.clock.advance(5000);
    test.api.latest.endOfList('10');
    test.api.latest.end();
    expect(await asked(test)).toEqual(['stream newest']);
    await test.clock.advance(1200);
    expect(await asked(test)).toEqual(['stream 10']);
  });

  it('asks for a streamed list again, at once, after one that ended before its end was marked', async () => {
    await using test = setUp(streams);
    test.api.failures.stream.push('hold');
    void test.reflector.start();
    await test.clock.advance(1000);
    test.api.latest.end();
    expect(await asked(test)).toEqual(['stream newest', 'stream newest']);
  });

  it('lists at once after a streamed list that ended within a second', async () => {
    await using test = setUp(streams);
    test.api.failures.stream.push('hold');
    void test.reflector.start();
    await test.clock.advance(999);
    test.api.latest.end();
    expect(await asked(test)).toEqual(['stream newest', 'list 0/500', 'watch 10']);
  });

  it.each<[string, (test: Test) => unknown]>([
    ['an ERROR event of 410', (test: Test) => test.api.latest.expire()],
    ['a 403 in an ERROR event', (test: Test) => test.api.latest.send('ERROR', { code: 403 })],
    ['an event that is none', (test: Test) => test.api.latest.send('ADDED', {})],
    ['a watch that went back', (test: Test) => test.api.latest.bookmark('9')],
    [
      'a watch that was silent from the first moment on',
      async (test: Test) => {
        await test.clock.advance(150_000);
        test.api.latest.fail(silent);
      },
    ],
    ['a watch that ended within a second, with no event', (test: Test) => test.api.latest.end()],
  ])('waits after %s, then lists from the last version, without a limit', async (_what, happens) => {
    await using test = await startedSetUp(lists);
    await happens(test);
    expect(await asked(test)).toEqual([]);
    await test.clock.advance(1199);
    expect(await asked(test)).toEqual([]);
    await test.clock.advance(1);
    expect(await asked(test)).toEqual(['list 10/all', 'watch 10']);
  });

  it.each([
    [{ random: () => 0 }, 800],
    [{ random: () => 1 }, 1600],
  ])('waits with %j %d ms', async (random, delayMs) => {
    await using test = await startedSetUp({ ...lists, ...random });
    test.api.latest.expire();
    await test.settle();
    expect(test.interruptions.map((interruption) => interruption.delayMs)).toEqual([delayMs]);
  });

  it('streams a list that is not older than what is known, after a wait', async () => {
    await using test = await startedSetUp(streams);
    test.api.latest.send('ADDED', configMap('b', '11'));
    test.api.put(configMap('b', '12'));
    test.api.latest.expire();
    await test.clock.advance(1200);
    expect(await asked(test)).toEqual(['stream 11']);
    expect(test.calls).toEqual(['added b 11', 'updated b 11 -> 12', 'synced']);
  });

  it.each([
    ['expired', () => refusal(410, 'Expired')],
    ['too large', tooLarge],
  ])('reads the newest state at once when the last version is %s', async (_what, failure) => {
    await using test = await startedSetUp(lists);
    test.api.latest.expire();
    test.api.failures.list.push(failure());
    await test.clock.advance(1200);
    expect(await asked(test)).toEqual(['list 10/all', 'list newest/all', 'watch 10']);
    test.api.latest.expire();
    await test.clock.advance(2400);
    expect(await asked(test)).toEqual(['list 10/all', 'watch 10']);
  });

  it('streams the newest state at once when the last version is expired, and lists it where that fails', async () => {
    await using test = await startedSetUp(streams);
    test.api.failures.stream.push(refusal(410, 'Expired'), refusal(500, 'InternalError'));
    test.api.latest.expire();
    await test.clock.advance(1200);
    expect(await asked(test)).toEqual(['stream 10', 'stream newest', 'list newest/500', 'watch 10']);
  });

  it('does not ask for ever without a pause a server that calls every version expired', async () => {
    await using test = setUp(streams);
    test.api.failures.stream.push(...Array.from({ length: 50 }, () => refusal(410, 'Expired')));
    test.api.failures.list.push(refusal(500, 'InternalError'));
    void test.reflector.start();
    expect(await asked(test)).toEqual([...Array(11).fill('stream newest'), 'list newest/500']);
    expect(test.interruptions).toHaveLength(1);
  });

  it.each([
    ['ended in good order', undefined],
    ['broke off', brokenOff],
  ])('watches on at once after a watch that %s', async (_how, failure) => {
    await using test = await startedSetUp(lists);
    await test.clock.advance(1000);
    test.api.latest.fail(failure);
    expect(await asked(test)).toEqual(['watch 10']);
    test.api.latest.send('ADDED', configMap('b', '11'));
    test.api.latest.fail(failure);
    expect(await asked(test)).toEqual(['watch 11']);
    expect(test.interruptions).toEqual([]);
  });

  it('watches on after a silence that followed an event', async () => {
    await using test = await startedSetUp(lists);
    await test.clock.advance(1000);
    test.api.latest.bookmark('11');
    test.api.latest.fail(silent);
    expect(await asked(test)).toEqual(['watch 11']);
  });

  it.each([
    ['a refused connection', refused],
    ['429', () => refusal(429, 'TooManyRequests')],
  ])('watches on after a wait when a watch met %s', async (_what, failure) => {
    await using test = await startedSetUp(lists);
    await test.clock.advance(1000);
    test.api.failures.watch.push(failure());
    test.api.latest.end();
    expect(await asked(test)).toEqual(['watch 10']);
    await test.clock.advance(1200);
    expect(await asked(test)).toEqual(['watch 10']);
  });

  it('waits after many watches that each end at once with an event', async () => {
    await using test = await startedSetUp(lists);
    for (let version = 11; version <= 20; version += 1) {
      test.api.latest.bookmark(String(version));
      test.api.latest.end();
      expect(await asked(test)).toEqual([`watch ${version}`]);
    }
    test.api.latest.bookmark('21');
    test.api.latest.end();
    expect(await asked(test)).toEqual([]);
    await test.clock.advance(1200);
    expect(await asked(test)).toEqual(['watch 21']);
  });

  it('doubles its waits up to 30 s, and begins anew when two minutes have passed', async () => {
    await using test = setUp(lists);
    test.api.failures.list.push(...Array.from({ length: 20 }, () => refusal(500, 'InternalError')));
    void test.reflector.start();
    await test.clock.advance(230_000);
    const waits = test.interruptions.map(({ delayMs }) => delayMs);
    expect(waits.slice(0, 8)).toEqual([1200, 2400, 4800, 9600, 19_200, 38_400, 45_000, 1200]);
  });

  it('begins its waits anew also when the clock was set back', async () => {
    await using test = await startedSetUp(lists);
    test.clock.jump(-86_400_000);
    for (let hour = 0; hour < 3; hour += 1) {
      await test.clock.advance(3_600_000);
      test.api.latest.fail(refusal(429, 'TooManyRequests'));
      await test.settle();
    }
    expect(test.interruptions.map(({ delayMs }) => delayMs)).toEqual([1200, 1200, 1200]);
  });

  it('waits as long as the server asks for', async () => {
    await using test = setUp(lists);
    test.api.failures.list.push(refusal(429, 'TooManyRequests', 'slow', { retryAfterMs: 7000 }));
    void test.reflector.start();
    await test.settle();
    expect(test.interruptions.map(({ delayMs }) => delayMs)).toEqual([7000]);
  });

  it('asks for pages again, also from a known version, where the server has no cache', async () => {
    await using test = setUp(lists);
    const metadata = { resourceVersion: '10' };
    test.api.answers.push({ metadata: { ...metadata, continue: 'two' }, items: [configMap('a', '10')] }, { metadata, items: [] });
    await test.reflector.start();
    await test.settle();
    test.api.latest.expire();
    await test.clock.advance(1200);
    expect(await asked(test)).toEqual(['list 0/500', 'page two/500', 'watch 10', 'list 10/500', 'watch 10']);
  });

  it.each([
    ['its cache', async (): Promise<Test> => setUp(lists), 'list 0/500'],
    ['a known version', () => startedSetUp(lists), 'list 10/all'],
  ])('reads the newest state in pages, from then on, when a list of %s is too long to be taken', async (_what, begin, first) => {
    await using test = await begin();
    test.api.failures.list.push(new AnswerTooLongError('GET /fake', 64));
    if (test.reflector.state === 'idle') void test.reflector.start();
    else test.api.latest.expire();
    await test.clock.advance(1200);
    expect(await asked(test)).toEqual([first, 'list newest/500', 'watch 10']);
    test.api.latest.expire();
    await test.clock.advance(2400);
    expect(await asked(test)).toEqual(['list newest/500', 'watch 10']);
  });

  it('waits when a page is too long to be taken', async () => {
    await using test = setUp(lists);
    test.api.failures.list.push(...Array.from({ length: 4 }, () => new AnswerTooLongError('GET /fake', 64)));
    void test.reflector.start();
    expect(await asked(test)).toEqual(['list 0/500', 'list newest/500']);
    await test.clock.advance(1200);
    expect(await asked(test)).toEqual(['list newest/500']);
  });

  it('asks for pages of the size given', async () => {
    await using test = setUp({ ...lists, pageSize: 2 });
    await test.reflector.start();
    await test.settle();
    test.api.latest.expire();
    await test.clock.advance(1200);
    expect(await asked(test)).toEqual(['list 0/2', 'watch 10', 'list 10/2', 'watch 10']);
  });

  it.each([
    ['of an older version', '9', '9'],
    ['with an older object', '12', '9'],
  ])('refuses a list %s, and reads the newest state instead', async (_what, listVersion, objectVersion) => {
    await using test = await startedSetUp(lists);
    test.api.latest.expire();
    test.api.answers.push({ metadata: { resourceVersion: listVersion }, items: [configMap('a', objectVersion)] });
    await test.clock.advance(1200);
    expect(await asked(test)).toEqual(['list 10/all', 'list newest/all', 'watch 10']);
    expect([test.calls, test.names()]).toEqual([['synced'], ['a 10']]);
  });

  it('refuses a streamed list of an older version, and streams the newest state instead', async () => {
    await using test = await startedSetUp(streams);
    test.api.streamsAtOnce = false;
    test.api.latest.expire();
    await test.clock.advance(1200);
    test.api.latest.endOfList('9');
    expect(await asked(test)).toEqual(['stream 10', 'stream newest']);
    test.api.latest.endOfList('9');
    await test.settle();
    expect([test.calls, test.reflector.resourceVersion]).toEqual([['deleted a 10', 'synced'], '9']);
  });

  it('keeps what it knows over a pause, and then streams a list that is not older', async () => {
    await using test = await startedSetUp(streams);
    await test.reflector.pause();
    expect([await asked(test), test.reflector.hasSynced, test.names()]).toEqual([['end newest'], false, ['a 10']]);
    test.api.put(configMap('a', '11'));
    await test.clock.advance(60_000);
    test.reflector.resume();
    expect([await asked(test), test.reflector.hasSynced, test.names()]).toEqual([['stream 10'], true, ['a 11']]);
    expect(test.calls).toEqual(['updated a 10 -> 11', 'synced']);
  });
});
