import { describe, expect, it } from 'vitest';
import type { WirePod } from '../../../../src/api/json/types.ts';
import { BasicPodManager } from '../../../../src/status/pods/basic-pod-manager.ts';
import { until } from '../../../support/until.ts';
import { pod, setUp } from './pod-source-server.ts';

type Test = Awaited<ReturnType<typeof setUp>>;

const endOfList = (resourceVersion: string): object => ({
  metadata: { resourceVersion, annotations: { 'k8s.io/initial-events-end': 'true' } },
});

/** Sends a streamed list. */
function sendList(test: Test, pods: readonly WirePod[], resourceVersion: string): void {
  const stream = test.server.latestWatch();
  for (const one of pods) stream.send('ADDED', { kind: 'Pod', apiVersion: 'v1', ...one });
  stream.send('BOOKMARK', endOfList(resourceVersion));
}

/** A source whose server streams lists, with the first one delivered. */
async function streaming(...args: Parameters<typeof setUp>): Promise<Test> {
  const test = await setUp(...args);
  test.server.hasStreams = true;
  const started = test.source.start();
  await until(() => test.server.watches.length === 1);
  sendList(test, [pod('a')], '10');
  await started;
  return test;
}

/** Waits out the pause after the last interruption, until the next streamed list is asked for. */
async function nextStream(test: Test): Promise<void> {
  const count = test.server.watches.length;
  await until(() => test.interruptions.length > 0);
  await test.clock.advance(test.interruptions.at(-1)?.delayMs ?? 0);
  await until(() => test.server.watches.length === count + 1);
  expect(test.server.latestWatch().query.get('sendInitialEvents')).toBe('true');
}

describe('ApiServerPodSource, over a server that streams lists', () => {
  it('delivers the list as a whole, then each change, by one request', async () => {
    await using test = await streaming();
    test.server.latestWatch().send('MODIFIED', pod('a', '11'));
    await until(() => test.calls.length === 5);
    expect(test.calls).toEqual(['addPod a', 'added a', 'synced a', 'updatePod a', 'updated a 1->11']);
    expect([test.server.seen.length, test.server.lists]).toEqual([1, []]);
  });

  it('leaves its pods to the agent, which may change one without changing another', async () => {
    const kept: WirePod[] = [];
    const keep = (one: WirePod): number => kept.push(one);
    await using test = await setUp(undefined, { podManager: { addPod: keep, updatePod: keep, removePod: () => {} } });
    test.server.hasStreams = true;
    void test.source.start();
    await until(() => test.server.watches.length === 1);
    sendList(test, [pod('a'), pod('b')], '10');
    test.server.latestWatch().send('MODIFIED', pod('a', '11'));
    await until(() => kept.length === 3);
    for (const { spec } of kept) if (spec !== undefined) spec.nodeName = 'changed';
    expect(new Set(kept.map(({ spec }) => spec)).size).toBe(3);
  });

  it('finds what changed while it was away', async () => {
    await using test = await streaming();
    test.calls.length = 0;
    test.server.latestWatch().send('ERROR', { code: 410 });
    await nextStream(test);
    sendList(test, [pod('b', '12')], '13');
    await until(() => test.calls.length === 5);
    expect(test.calls).toEqual(['removePod a', 'deleted a', 'addPod b', 'added b', 'synced b']);
    expect(test.server.lists).toEqual([]);
  });

  it('hands on the older copies of a streamed list, as after a restore of etcd', async () => {
    const podManager = new BasicPodManager();
    await using test = await streaming(undefined, { podManager });
    test.server.latestWatch().send('MODIFIED', pod('a', '20'));
    await until(() => podManager.getPodByUID('uid-a')?.metadata?.resourceVersion === '20');
    const listedAt = test.source.lastListedAt() ?? Number.NaN;
    test.server.latestWatch().send('BOOKMARK', { metadata: { resourceVersion: '19' } });
    await nextStream(test);
    sendList(test, [pod('a', '5')], '6');
    await until(() => podManager.getPodByUID('uid-a')?.metadata?.resourceVersion === '5');
    expect(test.source.lastListedAt()).toBe(listedAt + 250);
  });

  it('asks for a list at once where a stream breaks off before its end', async () => {
    await using test = await setUp();
    test.server.hasStreams = true;
    const started = test.source.start();
    await until(() => test.server.watches.length === 1);
    test.server.latestWatch().send('ADDED', pod('half'));
    test.server.latestWatch().response.socket?.resetAndDestroy();
    await started;
    expect([test.calls, test.interruptions]).toEqual([['addPod a', 'added a', 'synced a'], []]);
    expect(test.server.lists).toHaveLength(1);
  });

  it('asks for a list where a stream stays silent for ten seconds', async () => {
    await using test = await setUp();
    test.server.hasStreams = true;
    const started = test.source.start();
    await until(() => test.server.watches.length === 1);
    await test.clock.advance(10_000);
    await started;
    expect([test.calls, test.interruptions]).toEqual([['addPod a', 'added a', 'synced a'], []]);
  });

  it('lists again after a stream that brought nothing behind its list, as after any watch that brought nothing', async () => {
    await using test = await streaming();
    await test.clock.advance(60_000);
    test.server.latestWatch().response.end();
    await until(() => test.server.watches.length === 2);
    expect(test.server.latestWatch().query.get('sendInitialEvents')).toBe('true');
    expect(test.interruptions).toEqual([]);
  });
});
