import { describe, expect, it } from 'vitest';
import type { WirePod } from '../../../../src/api/json/types.ts';
import type { PodSink } from '../../../../src/node/sources/pod-delivery.ts';
import { BasicPodManager } from '../../../../src/status/pods/basic-pod-manager.ts';
import { until } from '../../../support/until.ts';
import { answerList, pod, recorder, setUp, startAndWatch } from './pod-source-server.ts';

type Test = Awaited<ReturnType<typeof setUp>>;

/** Lets the source list again, and waits until it has delivered this list. */
async function listAgain(test: Test, pods: readonly WirePod[], resourceVersion: string): Promise<void> {
  const count = test.server.watches.length;
  test.server.scripts = [answerList(pods, resourceVersion)];
  test.server.latestWatch().send('ERROR', { code: 410 });
  await until(() => test.interruptions.length > 0);
  await test.clock.advance(test.interruptions.at(-1)?.delayMs ?? 0);
  await until(() => test.server.watches.length === count + 1);
}

const withMessage = (subject: WirePod, message: string): WirePod => ({ ...subject, status: { message } });

describe('ApiServerPodSource, over a server whose resourceVersions went back', () => {
  it('hands on the older copies of a full list, through replacePod where the sink has it', async () => {
    const { sink, calls } = recorder();
    const podManager: PodSink = { ...sink, replacePod: (one) => calls.push(`replacePod ${one.metadata?.name}`) };
    await using test = await startAndWatch([answerList([pod('back', '20'), pod('on', '21'), pod('same', '22')], '30')], {
      podManager,
    });
    calls.length = 0;
    await listAgain(test, [pod('back', '5'), pod('on', '23'), pod('same', '22')], '25');
    expect(calls).toEqual(['replacePod back', 'updatePod on']);
    expect(test.calls).toEqual(['updated back 20->5', 'updated on 21->23', 'synced back on same']);
    expect(test.server.latestWatch().query.get('resourceVersion')).toBe('25');
  });

  it('hands them on through updatePod where the sink has no replacePod', async () => {
    await using test = await startAndWatch([answerList([pod('a', '20')], '30')]);
    await listAgain(test, [pod('a', '5')], '10');
    expect(test.calls).toEqual(['updatePod a', 'updated a 20->5', 'synced a']);
  });

  it.each([
    ['through replacePod where the sink has it', true],
    ['through updatePod where the sink has no replacePod', false],
  ])('hands on an older copy of the first list of all, %s, over the pods of an earlier source', async (_how, hasReplacePod) => {
    const { sink, calls } = recorder();
    const podManager: PodSink = {
      ...sink,
      ...(hasReplacePod && { replacePod: (one) => calls.push(`replacePod ${one.metadata?.name}`) }),
      getPodsAndMirrorPods: () => ({ allPods: [pod('a', '9')], allMirrorPods: [] }),
    };
    await using test = await setUp([answerList([pod('a', '5')], '10')], { podManager });
    await test.source.start();
    expect(calls).toEqual([hasReplacePod ? 'replacePod a' : 'updatePod a', 'addPod a']);
  });

  it('brings a BasicPodManager back to what the server has, without taking a pod away in between', async () => {
    const podManager = new BasicPodManager();
    const before = [withMessage(pod('a', '20'), 'lost'), pod('made-after-the-backup', '21')];
    await using test = await startAndWatch([answerList(before, '30')], { podManager });
    const held: unknown[] = [];
    podManager.subscribe((podUID) => held.push([podUID, podManager.getPodByUID(podUID)?.metadata?.resourceVersion]));
    await listAgain(test, [withMessage(pod('a', '5'), 'restored')], '10');
    expect(held).toEqual([
      ['uid-made-after-the-backup', undefined],
      ['uid-a', '5'],
    ]);
    expect(podManager.getPodByUID('uid-a')?.status).toEqual({ message: 'restored' });
    test.server.latestWatch().send('MODIFIED', withMessage(pod('a', '11'), 'written since'));
    await until(() => podManager.getPodByUID('uid-a')?.metadata?.resourceVersion === '11');
  });

  it('hands on a copy whose resourceVersion came again with other content, and no copy that is the same', async () => {
    const [a, b] = [withMessage(pod('a', '20'), 'before'), withMessage(pod('b', '21'), 'as it was')];
    await using test = await startAndWatch([answerList([a, b], '30')]);
    await listAgain(test, [withMessage(a, 'after'), { kind: 'Pod', apiVersion: 'v1', ...b }], '30');
    expect(test.calls).toEqual(['updatePod a', 'updated a 20->20', 'synced a b']);
  });

  it.each([
    ['event', 'MODIFIED', pod('a', '29')],
    ['deletion', 'DELETED', pod('a', '29')],
    ['bookmark', 'BOOKMARK', { metadata: { resourceVersion: '29' } }],
  ])('lists again after an older %s, which it does not hand on', async (_what, type, object) => {
    await using test = await startAndWatch([answerList([pod('a', '20')], '25')]);
    test.server.latestWatch().send('BOOKMARK', { metadata: { resourceVersion: '30' } });
    test.server.latestWatch().send('BOOKMARK', { metadata: { resourceVersion: '30' } });
    test.server.scripts = [answerList([pod('a', '5')], '29')];
    test.server.latestWatch().send(type, object);
    await until(() => test.interruptions.length === 1);
    expect(test.interruptions[0]?.error).toMatchObject({
      reason: 'BrokenAnswer',
      message: 'GET /api/v1/pods: the watch went back from resourceVersion 30 to 29',
    });
    await test.clock.advance(250);
    await until(() => test.server.watches.length === 2);
    expect(test.calls).toEqual(['updatePod a', 'updated a 20->5', 'synced a']);
    expect(test.server.latestWatch().query.get('resourceVersion')).toBe('29');
  });

  it('goes on where resourceVersions cannot be put in order', async () => {
    await using test = await startAndWatch([answerList([pod('a', 'x9')], 'x10')]);
    test.server.latestWatch().send('MODIFIED', pod('a', 'x2'));
    await until(() => test.calls.length === 2);
    expect(test.calls).toEqual(['updatePod a', 'updated a x9->x2']);
  });

  it('is believed by a new source, too, over a pod manager that an earlier one has filled', async () => {
    const podManager = new BasicPodManager();
    podManager.setPods([pod('a', '20'), pod('b', '20')]);
    await using test = await setUp([answerList([pod('a', '5'), pod('b', '21')], '25')], { podManager });
    await test.source.start();
    expect(podManager.getPods().map(({ metadata }) => metadata?.resourceVersion)).toEqual(['5', '21']);
    expect(test.calls).toEqual(['added a', 'added b', 'synced a b']);
  });
});

describe('ApiServerPodSource.lastListedAt', () => {
  it('says when the last list that was delivered began', async () => {
    const answers: (() => void)[] = [];
    const listedAt: (number | undefined)[] = [];
    const pauses: number[] = [];
    const handlers = {
      interrupted: ({ delayMs }: { readonly delayMs: number }) => pauses.push(delayMs),
      podAdded: () => listedAt.push(test.source.lastListedAt()),
      synced: () => listedAt.push(test.source.lastListedAt()),
    };
    await using test = await setUp([(query, response) => answers.push(() => answerList([pod('a')], '10')(query, response))], {
      handlers,
    });
    const start = test.clock.now();
    const listed = async (count: number): Promise<void> => {
      await until(() => answers.length === count);
      await test.clock.advance(3000);
      answers.at(-1)?.();
      await until(() => test.server.watches.length === count);
    };
    void test.source.start();
    expect(test.source.lastListedAt()).toBeUndefined();
    await listed(1);
    expect(test.source.lastListedAt()).toBe(start);
    expect(listedAt).toEqual([undefined, start]);
    test.server.latestWatch().send('BOOKMARK', { metadata: { resourceVersion: '11' } });
    await test.clock.advance(5000);
    expect(test.source.lastListedAt()).toBe(start);
    test.server.latestWatch().response.end('{"type":"ERROR"}\n');
    await until(() => pauses.length === 1);
    await test.clock.advance(250);
    await listed(2);
    expect(test.source.lastListedAt()).toBe(start + 8250);
  });

  it('is not moved by a list that fails', async () => {
    await using test = await startAndWatch();
    const before = test.source.lastListedAt();
    test.server.scripts = [(_query, response) => response.end('{"items":')];
    test.server.latestWatch().send('ERROR', { code: 410 });
    await until(() => test.interruptions.length === 1);
    await test.clock.advance(250);
    await until(() => test.interruptions.length === 2);
    expect(test.source.lastListedAt()).toBe(before);
  });
});
