import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../../src/client/transport/api-error.ts';
import { configMap, refusal, refused, setUp, startedSetUp, type Test } from './fake-api.ts';

const silent = new ApiError({ reason: 'Timeout', message: 'nothing heard' });
const brokenOff = new ApiError({ status: 200, reason: 'Network', message: 'reset' });

/** The requests up to now, and forgets them. */
const asked = async ({ api, settle }: Test): Promise<string[]> => {
  await settle();
  return api.log.splice(0);
};

describe('a reflector that lists the latest state', () => {
  it('streams the newest state, and watches on by the same request', async () => {
    await using test = setUp();
    await test.reflector.start();
    test.api.latest.send('MODIFIED', configMap('a', '11'));
    expect(await asked(test)).toEqual(['stream newest']);
    expect(test.calls).toEqual(['added a 10', 'synced', 'updated a 10 -> 11']);
  });

  it('hands a streamed list on as a whole, with the changes that came between its objects', async () => {
    await using test = setUp();
    test.api.streamsAtOnce = false;
    void test.reflector.start();
    await test.settle();
    const { latest } = test.api;
    latest.send('ADDED', configMap('a', '12'));
    latest.send('ADDED', configMap('b', '3'));
    latest.send('MODIFIED', configMap('b', '13'));
    latest.send('ADDED', configMap('c', '4'));
    latest.send('DELETED', configMap('c', '14'));
    expect([test.calls, test.reflector.hasSynced, test.reflector.store.size]).toEqual([[], false, 0]);
    latest.endOfList('14');
    expect(test.calls).toEqual(['added a 12', 'added b 13', 'synced']);
    expect([test.reflector.hasSynced, test.reflector.resourceVersion]).toEqual([true, '14']);
  });

  it.each([
    ['breaks off', (test: Test) => test.api.latest.fail(brokenOff)],
    ['ends in good order', (test: Test) => test.api.latest.end()],
    ['ends with an ERROR event', (test: Test) => test.api.latest.expire()],
    ['brings what is no event', (test: Test) => test.api.latest.send('ADDED', { metadata: {} })],
    ['brings another bookmark than that of its end', (test: Test) => test.api.latest.bookmark('10')],
    ['is silent for ten seconds', (test: Test) => test.clock.advance(10_000)],
  ])('lists at once, in pages, after a streamed list that %s before its end', async (_how, happens) => {
    await using test = setUp();
    test.api.streamsAtOnce = false;
    void test.reflector.start();
    await test.settle();
    test.api.latest.send('ADDED', configMap('half', '3'));
    await happens(test);
    expect((await asked(test)).filter((line) => line !== 'end newest')).toEqual(['stream newest', 'list newest/500', 'watch 10']);
    expect([test.calls, test.interruptions]).toEqual([['added a 10', 'synced'], []]);
  });

  it('does not take a clock that was set forward for silence, nor for a watch that has lasted', async () => {
    await using test = setUp();
    test.api.streamsAtOnce = false;
    void test.reflector.start();
    await test.settle();
    await test.clock.advance(9_000);
    test.clock.jump(3_600_000);
    test.api.latest.send('ADDED', configMap('a', '3'));
    test.clock.jump(3_600_000);
    await test.clock.advance(9_999);
    expect(await asked(test)).toEqual(['stream newest']);
    test.api.latest.endOfList('10');
    test.clock.jump(3_600_000);
    test.api.latest.end();
    await test.settle();
    expect(test.interruptions).toMatchObject([{ error: { message: 'The server ended the watch at once' } }]);
  });

  it('waits for a streamed list as long as something comes, and then for its watch without a limit', async () => {
    await using test = setUp();
    test.api.streamsAtOnce = false;
    void test.reflector.start();
    for (let version = 1; version < 5; version += 1) {
      await test.clock.advance(9999);
      test.api.latest.send('ADDED', configMap(`p${version}`, String(version)));
    }
    await test.clock.advance(9999);
    test.api.latest.endOfList('10');
    await test.clock.advance(140_000);
    expect([await asked(test), test.clock.pendingTimers]).toEqual([['stream newest'], 0]);
  });

  it.each([
    ['an answer', refusal(500, 'InternalError')],
    ['no answer', new ApiError({ reason: 'Network', message: 'reset' })],
    ['a refused connection', refused()],
  ])('lists at once after a streamed list that got %s', async (_what, failure) => {
    await using test = setUp();
    test.api.failures.stream.push(failure);
    await test.reflector.start();
    expect(await asked(test)).toEqual(['stream newest', 'list newest/500', 'watch 10']);
    expect(test.interruptions).toEqual([]);
  });

  it('waits when the server asks for that, before it streams again', async () => {
    await using test = setUp();
    test.api.failures.stream.push(refusal(429, 'TooManyRequests', 'slow', { retryAfterMs: 5000 }));
    void test.reflector.start();
    await test.clock.advance(5249);
    expect(await asked(test)).toEqual(['stream newest']);
    await test.clock.advance(1);
    expect(await asked(test)).toEqual(['stream newest']);
  });

  it.each([400, 422])('asks a server that refused a streamed list with %d for no other one within an hour', async (status) => {
    await using test = setUp();
    test.api.failures.stream.push(refusal(status, 'Invalid'));
    await test.reflector.start();
    await test.clock.advance(3_599_000);
    test.api.latest.expire();
    await test.clock.advance(250);
    expect(await asked(test)).toEqual(['stream newest', 'list newest/500', 'watch 10', 'list newest/500', 'watch 10']);
    await test.clock.advance(2000);
    test.api.latest.expire();
    await test.clock.advance(500);
    expect(await asked(test)).toEqual(['stream newest']);
  });

  it.each([403, 410, 500])('asks a server that failed a streamed list with %d for the next one as well', async (status) => {
    await using test = setUp();
    test.api.failures.stream.push(refusal(status, 'Other'));
    await test.reflector.start();
    await test.settle();
    test.api.latest.expire();
    await test.clock.advance(250);
    expect(await asked(test)).toEqual(['stream newest', 'list newest/500', 'watch 10', 'stream newest']);
  });

  it('takes a streamed list for the truth, also when it shows less and older objects than before', async () => {
    await using test = await startedSetUp();
    const { latest } = test.api;
    latest.send('ADDED', configMap('b', '20'));
    latest.send('MODIFIED', configMap('a', '21'));
    test.api.objects.clear();
    test.api.put(configMap('a', '10', 'restored'));
    latest.fail(silent);
    await test.clock.advance(250);
    expect(await asked(test)).toEqual(['watch 21']);
    test.api.latest.fail(silent);
    await test.clock.advance(500);
    expect(await asked(test)).toEqual(['stream newest']);
    expect(test.calls).toEqual(['added b 20', 'updated a 10 -> 21', 'deleted b 20', 'updated a 21 -> 10', 'synced']);
    expect(test.reflector.store.get('default', 'a')?.data).toEqual({ v: 'restored' });
  });

  it('shows other content that came under a version it knew', async () => {
    await using test = await startedSetUp();
    test.api.put(configMap('a', '10', 'other'));
    test.api.latest.expire();
    await test.clock.advance(250);
    expect(test.calls).toEqual(['updated a 10 -> 10', 'synced']);
  });

  it('tells nothing of an object that a list shows as it was, though a watch gives more members', async () => {
    await using test = await startedSetUp({ streamLists: false });
    const held = test.reflector.store.get('default', 'a');
    test.api.latest.send('ADDED', { kind: 'ConfigMap', apiVersion: 'v1', ...configMap('b', '11') });
    test.api.put(configMap('b', '11'));
    test.api.latest.expire();
    await test.clock.advance(250);
    expect(test.calls).toEqual(['added b 11', 'synced']);
    expect(test.reflector.store.get('default', 'a')).toBe(held);
  });

  it('takes an object recreated under its name for another', async () => {
    await using test = await startedSetUp();
    test.api.put(configMap('a', '12', 'new', 'uid-2'));
    test.api.latest.expire();
    await test.clock.advance(250);
    test.api.latest.send('ADDED', configMap('a', '13', 'newer', 'uid-3'));
    expect(test.calls).toEqual(['deleted a 10', 'added a 12', 'synced', 'deleted a 12', 'added a 13']);
  });

  it('refuses a list that names no version', async () => {
    await using test = setUp({ streamLists: false });
    test.api.answers.push({ metadata: { resourceVersion: '' }, items: [] });
    void test.reflector.start();
    await test.settle();
    expect(test.interruptions).toMatchObject([{ error: { reason: 'BrokenAnswer' } }]);
    expect(test.reflector.hasSynced).toBe(false);
  });

  it('lists once more, in one piece, when the server forgets a list between two pages', async () => {
    await using test = setUp({ streamLists: false, pageSize: 1 });
    const metadata = { resourceVersion: '5', continue: 'two' };
    test.api.answers.push({ metadata, items: [configMap('old', '1')] });
    test.api.failures.list.push('ok', refusal(410, 'Expired'));
    await test.reflector.start();
    expect(await asked(test)).toEqual(['list newest/1', 'page two/1', 'list newest/all', 'watch 10']);
    expect(test.calls).toEqual(['added a 10', 'synced']);
  });

  it('watches on from the version of the first page', async () => {
    await using test = setUp({ streamLists: false, pageSize: 1 });
    const page = (name: string, resourceVersion: string, next?: string) => ({
      metadata: { resourceVersion, ...(next !== undefined && { continue: next }) },
      items: [configMap(name, '1')],
    });
    test.api.answers.push(page('a', '5', 'two'), page('b', '7', 'three'), page('c', '7'));
    await test.reflector.start();
    expect(await asked(test)).toEqual(['list newest/1', 'page two/1', 'page three/1', 'watch 5']);
    expect(test.names()).toEqual(['a 1', 'b 1', 'c 1']);
  });

  it('sends its selectors with each request', async () => {
    await using test = setUp({ fieldSelector: 'metadata.name!=x', labelSelector: 'app in (a,b)', namespace: 'default' });
    test.api.failures.stream.push(refusal(500, 'InternalError'));
    await test.reflector.start();
    await test.settle();
    const selectors = test.api.queries.map((query) => [query.get('fieldSelector'), query.get('labelSelector')]);
    expect(selectors).toEqual(Array(3).fill(['metadata.name!=x', 'app in (a,b)']));
  });

  it.each([
    'list',
    'watch',
  ] as const)('leaves a pause between requests of a %s that fail, whatever the random numbers are', async (kind) => {
    await using test = setUp({ streamLists: false, random: () => 0 });
    test.api.failures[kind].push(...Array<ApiError>(1000).fill(refusal(500, 'InternalError')));
    void test.reflector.start().catch(() => {});
    await test.clock.advance(1000);
    expect(test.interruptions.map(({ delayMs }) => delayMs)).toEqual(Array(11).fill(100));
  });

  it('asks for watches of the length given', async () => {
    await using test = setUp({ watchTimeoutMs: 1_800_000 });
    await test.reflector.start();
    expect(test.api.queries[0]?.get('timeoutSeconds')).toBe('2700');
  });

  it('says when it was heard from last, when the last list began, and which version it is of', async () => {
    await using test = setUp();
    test.api.streamsAtOnce = false;
    const start = test.clock.now();
    void test.reflector.start();
    await test.clock.advance(3000);
    expect([test.reflector.lastObservedAt(), test.reflector.lastListedAt(), test.reflector.resourceVersion]).toEqual(
      Array(3).fill(undefined),
    );
    test.api.latest.endOfList('10');
    await test.clock.advance(2000);
    test.api.latest.bookmark('12');
    const { reflector } = test;
    expect([reflector.lastObservedAt(), reflector.lastListedAt(), reflector.resourceVersion]).toEqual([
      start + 5000,
      start,
      '12',
    ]);
  });
});
