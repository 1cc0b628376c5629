import { describe, expect, it } from 'vitest';
import { ApiServerSource, PodConfig } from '../../../../src/node.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { until } from '../../../support/until.ts';
import { FakeApi } from '../../client/reflector/fake-api.ts';
import { kubeConfigFor } from '../../client/transport/scripted-server.ts';
import { takenUpdates } from '../config/config-pods.ts';
import { answerList, pod, podSourceServer, refuse } from './pod-source-server.ts';
import { SentLists } from './sent-lists.ts';

async function setUp(...scripts: Parameters<typeof podSourceServer>) {
  const server = await podSourceServer(...scripts);
  const clock = new FakeClock();
  const source = new ApiServerSource({
    logger: null,
    kubeConfig: kubeConfigFor(server.url),
    nodeName: 'n1',
    clock,
    random: () => 0,
  });
  const sent = new SentLists();
  return {
    ...{ server, clock, source, sent },
    async [Symbol.asyncDispose]() {
      await source.stop();
      await server[Symbol.asyncDispose]();
    },
  };
}

describe('ApiServerSource', () => {
  it('sends the first list, an empty one too, and says when it was read', async () => {
    await using test = await setUp(answerList([], '10'));
    expect([test.source.lastObservedAt(), test.source.lastListedAt(), test.source.state]).toEqual([undefined, undefined, 'idle']);
    test.source.start(test.sent.send);
    await test.sent.reached(1);
    const now = test.clock.now();
    expect([test.sent.names(), test.source.lastObservedAt(), test.source.lastListedAt()]).toEqual([[''], now, now]);
  });

  it('sends the whole list after a change, and the same objects for the pods that have none', async () => {
    await using test = await setUp(answerList([pod('a'), pod('b')], '10'));
    test.source.start(test.sent.send);
    await until(() => test.server.watches.length === 1);
    test.server.latestWatch().send('MODIFIED', pod('b', '11'));
    await test.sent.reached(2);
    test.server.latestWatch().send('ADDED', pod('c', '12'));
    await test.sent.reached(3);
    test.server.latestWatch().send('DELETED', pod('a', '13'));
    await test.sent.reached(4);
    expect(test.sent.names()).toEqual(['a b', 'a b', 'a b c', 'b c']);
    const [first, second] = test.sent.lists;
    expect([second?.[0] === first?.[0], second?.[1] === first?.[1]]).toEqual([true, false]);
  });

  it('sends a burst of changes as few lists', async () => {
    await using test = await setUp(answerList([], '10'));
    test.source.start(test.sent.send);
    await until(() => test.server.watches.length === 1);
    for (let i = 0; i < 1000; i += 1) test.server.latestWatch().send('ADDED', pod(`p${i}`, String(11 + i)));
    await test.sent.until((pods) => pods.length === 1000);
    expect(test.sent.lists.length).toBeLessThan(200);
  });

  it('sends nothing before its first list, and that once a list can be read', async () => {
    await using test = await setUp(refuse(503), answerList([pod('a')], '10'));
    test.source.start(test.sent.send);
    await until(() => test.clock.pendingTimers > 0 && test.server.lists.length === 1);
    expect(test.sent.lists).toEqual([]);
    await until(() => test.source.lastFailure() !== undefined);
    const { error, at, retryAt } = test.source.lastFailure() ?? {};
    expect([error, at, Number(retryAt) >= Number(at)]).toEqual([
      expect.objectContaining({ status: 503 }),
      test.clock.now(),
      true,
    ]);
    while (test.sent.lists.length === 0) await test.clock.advance(1000);
    expect(test.sent.names()).toEqual(['a']);
    expect(test.source.lastFailure()).toBeUndefined();
  });

  it('sends nothing any more once it is stopped, not even what came just before', async () => {
    const [api, clock, sent] = [new FakeApi(), new FakeClock(), new SentLists()];
    api.put(pod('a', '10') as never);
    const source = new ApiServerSource({ logger: null, transport: api as never, nodeName: 'n1', clock });
    source.start(sent.send);
    await until(() => api.open.length === 1);
    await settle();
    api.latest.send('ADDED', pod('b', '11'));
    await settle();
    expect(sent.names()).toEqual(['a', 'a b']);
    api.latest.send('ADDED', pod('c', '12'));
    const stopping = source.stop();
    await settle();
    await stopping;
    expect([sent.names(), source.state, clock.pendingTimers]).toEqual([['a', 'a b'], 'stopped', 0]);
    expect(() => source.start(sent.send)).toThrow(expect.objectContaining({ code: 'ERR_STOPPED' }));
  });

  it('feeds a config, which makes the pods the apiserver’s, whatever their annotations say', async () => {
    const tenant = pod('a');
    tenant.metadata = { ...tenant.metadata, annotations: { 'kubernetes.io/config.source': 'file' } };
    await using test = await setUp(answerList([tenant], '10'));
    await using config = new PodConfig({ logger: null, clock: test.clock });
    config.addSource('api', test.source);
    config.start();
    await until(() => config.seenAllSources());
    const [update] = await takenUpdates(config);
    expect(update).toMatchObject({ op: 'ADD', source: 'api', pods: [{ metadata: { name: 'a' } }] });
    expect(update?.pods[0]?.metadata?.annotations?.['kubernetes.io/config.source']).toBe('api');
  });

  it.each([
    [{ nodeName: 'n1' }, /`kubeConfig`/],
    [{ nodeName: '', kubeConfig: kubeConfigFor('http://127.0.0.1:1') }, /`nodeName`/],
    [{ nodeName: 'n1', podManager: {} }, /`options.podManager`/],
  ])('refuses the options %#', (options, message) => {
    expect(() => new ApiServerSource(options as never)).toThrow(message);
  });

  it('sends an outline of a pod that is too large, and says why until the pod is gone or another one has its name', async () => {
    await using server = await podSourceServer(answerList([pod('a')], '10'));
    const options = { logger: null, kubeConfig: kubeConfigFor(server.url), nodeName: 'n1', podBudget: { maxBytesPerPod: 3000 } };
    await using source = new ApiServerSource(options);
    const sent = new SentLists();
    source.start(sent.send);
    await until(() => server.watches.length === 1);
    const large = (version: string, uid: string) => {
      const { metadata, ...rest } = pod('b', version);
      return { ...rest, metadata: { ...metadata, uid, annotations: { a: 'x'.repeat(4000) } } };
    };
    server.latestWatch().send('ADDED', large('11', 'b-1') as never);
    await sent.reached(2);
    expect(sent.lists.at(-1)?.find(({ metadata }) => metadata?.name === 'b')?.spec?.containers).toEqual([]);
    expect([source.refusal('a'), source.refusal('b-1')]).toEqual([undefined, expect.stringContaining('bytes of memory')]);
    server.latestWatch().send('MODIFIED', large('12', 'b-2') as never);
    await sent.reached(3);
    expect([source.refusal('b-1'), source.refusal('b-2')]).toEqual([undefined, expect.stringContaining('bytes of memory')]);
    server.latestWatch().send('DELETED', large('13', 'b-2') as never);
    await sent.reached(4);
    expect(source.refusal('b-2')).toBeUndefined();
  });
});
