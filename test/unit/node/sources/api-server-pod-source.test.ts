import { describe, expect, it } from 'vitest';
import type { Pod, WirePod } from '../../../../src/api/json/types.ts';
import { isMirrorPod, isStaticPod } from '../../../../src/api/pod/pod-identity.ts';
import { KubeTransport } from '../../../../src/client/transport/kube-transport.ts';
import { ApiServerPodSource, type ApiServerPodSourceOptions } from '../../../../src/node/sources/api-server-pod-source.ts';
import { BasicPodManager } from '../../../../src/status/pods/basic-pod-manager.ts';
import { until } from '../../../support/until.ts';
import { failureOf, kubeConfigFor, sendJson } from '../../client/transport/scripted-server.ts';
import {
  answerList,
  type ListScript,
  pod,
  podSourceServer,
  recorder,
  refuse,
  setUp,
  startAndWatch,
} from './pod-source-server.ts';

describe('ApiServerPodSource', () => {
  it('lists the pods of its node, then watches on from there', async () => {
    await using test = await setUp();
    await test.source.start();
    expect(test.calls).toEqual(['addPod a', 'added a', 'synced a']);
    expect(Object.fromEntries(test.server.lists[0] ?? [])).toEqual({ fieldSelector: 'spec.nodeName=n1', limit: '500' });
    await until(() => test.server.watches.length === 1);
    expect(Object.fromEntries(test.server.latestWatch().query)).toEqual({
      watch: 'true',
      allowWatchBookmarks: 'true',
      fieldSelector: 'spec.nodeName=n1',
      resourceVersion: '10',
      timeoutSeconds: '450',
    });
    // the first of the three is the streamed list, which this server refuses
    expect(test.server.seen.map(({ url }) => url.split('?')[0])).toEqual(Array(3).fill('/api/v1/pods'));
    expect(test.server.refusedStreams.map((query) => Object.fromEntries(query))).toEqual([
      {
        watch: 'true',
        allowWatchBookmarks: 'true',
        fieldSelector: 'spec.nodeName=n1',
        sendInitialEvents: 'true',
        resourceVersionMatch: 'NotOlderThan',
        timeoutSeconds: '450',
      },
    ]);
  });

  it('asks for no streamed list where that is switched off', async () => {
    await using test = await setUp(undefined, { streamLists: false });
    await test.source.start();
    expect([test.server.refusedStreams, test.calls]).toEqual([[], ['addPod a', 'added a', 'synced a']]);
  });

  it('keeps to one namespace where one is given', async () => {
    await using test = await setUp(undefined, { namespace: 'kube-system' });
    await test.source.start();
    expect(test.server.seen[0]?.url.split('?')[0]).toBe('/api/v1/namespaces/kube-system/pods');
  });

  it('delivers every change to the sink, then to the handlers', async () => {
    await using test = await startAndWatch();
    const watch = test.server.latestWatch();
    watch.send('ADDED', pod('b', '11'));
    watch.send('MODIFIED', pod('a', '12'));
    watch.send('DELETED', pod('b', '13'));
    watch.send('BOOKMARK', { kind: 'Pod', metadata: { resourceVersion: '14' } });
    await until(() => test.calls.length === 6);
    expect(test.calls).toEqual(['addPod b', 'added b', 'updatePod a', 'updated a 1->12', 'removePod b', 'deleted b']);
  });

  it('leaves the static pods of its pod manager alone, also when it lists again', async () => {
    const podManager = new BasicPodManager();
    const metadata = {
      name: 'static',
      namespace: 'default',
      uid: 'static',
      annotations: { 'kubernetes.io/config.source': 'file' },
    };
    podManager.addPod({ metadata });
    await using test = await setUp(undefined, { podManager });
    await test.source.start();
    await until(() => test.server.watches.length === 1);
    test.server.scripts = [answerList([pod('b', '20')], '21')];
    test.server.latestWatch().send('ERROR', { code: 410 });
    await test.clock.advance(1000);
    await until(() => test.server.lists.length === 2 && podManager.getPodByName('default', 'b') !== undefined);
    expect(podManager.getPods().map((one) => one.metadata?.name)).toEqual(['static', 'b']);
  });

  it('keeps the pods without their managedFields', async () => {
    const kept: unknown[] = [];
    const podManager = {
      ...recorder().sink,
      addPod: (one: unknown) => kept.push(one),
    };
    await using test = await setUp(undefined, { podManager });
    await test.source.start();
    await until(() => test.server.watches.length === 1);
    test.server.latestWatch().send('ADDED', pod('b', '11'));
    await until(() => kept.length === 2);
    expect(JSON.stringify(kept)).not.toContain('managedFields');
  });

  it('gives every pod the config source api, whatever its annotations say', async () => {
    const kept: WirePod[] = [];
    const keep = (one: WirePod): number => kept.push(one);
    const podManager = { addPod: keep, updatePod: keep, removePod: (one: Pod) => keep(one as WirePod) };
    const annotated = (name: string, resourceVersion: string, annotations: unknown): WirePod => {
      const { metadata, ...rest } = pod(name, resourceVersion);
      return { ...rest, metadata: { ...metadata, annotations } } as WirePod;
    };
    const sourceKey = 'kubernetes.io/config.source';
    const listed = [undefined, null, 'text', [sourceKey], { [sourceKey]: 'file', 'kubernetes.io/config.mirror': 'x' }];
    const pods = listed.map((annotations, index) => annotated(`p${index}`, '1', annotations));
    await using test = await setUp([answerList(pods, '10')], { podManager, handlers: { podDeleted: keep } });
    await test.source.start();
    await until(() => test.server.watches.length === 1);
    const watch = test.server.latestWatch();
    watch.send('ADDED', annotated('b', '11', { [sourceKey]: 'http' }));
    watch.send('MODIFIED', annotated('b', '12', { [sourceKey]: '' }));
    watch.send('DELETED', annotated('b', '13', { [sourceKey]: 'file' }));
    await until(() => kept.length === 9);
    expect(kept.map(({ metadata }) => metadata?.annotations?.[sourceKey])).toEqual(Array(9).fill('api'));
    expect(kept.filter(isStaticPod)).toEqual([]);
    expect(kept.filter(isMirrorPod).map(({ metadata }) => metadata?.name)).toEqual(['p4']);
    expect(kept[4]?.metadata?.annotations).toEqual({ [sourceKey]: 'api', 'kubernetes.io/config.mirror': 'x' });
  });

  it('collects a list from all its pages', async () => {
    const pages: ListScript = (query, response) => {
      const from = Number(query.get('continue') ?? 0);
      const metadata = { resourceVersion: '10', ...(from < 2 && { continue: String(from + 1) }) };
      sendJson(response, { metadata, items: [pod(`p${from}`)] });
    };
    await using test = await setUp([pages]);
    await test.source.start();
    expect(test.calls.at(-1)).toBe('synced p0 p1 p2');
  });

  it('starts a list over when the server forgets it between two pages', async () => {
    const firstPage: ListScript = (_query, response) =>
      sendJson(response, { metadata: { resourceVersion: '5', continue: 'x' }, items: [pod('old')] });
    await using test = await setUp([firstPage, refuse(410), answerList([pod('new')], '10')]);
    await test.source.start();
    expect(test.calls).toEqual(['addPod new', 'added new', 'synced new']);
    expect(test.server.lists.map((query) => query.get('continue'))).toEqual([null, 'x', null]);
    expect(test.interruptions).toEqual([]);
  });

  it('takes a list that Go wrote with no items', async () => {
    await using test = await setUp([
      (_query, response) => sendJson(response, { metadata: { resourceVersion: '1' }, items: null }),
    ]);
    await test.source.start();
    expect(test.calls).toEqual(['synced ']);
  });

  it('reads characters split over two chunks', async () => {
    await using test = await startAndWatch();
    const bytes = Buffer.from(`${JSON.stringify({ type: 'ADDED', object: pod('grün-😀', '11') })}\n`);
    const cut = bytes.indexOf(0xf0) + 2;
    const { response } = test.server.latestWatch();
    response.write(bytes.subarray(0, cut), () => setImmediate(() => response.write(bytes.subarray(cut))));
    await until(() => test.calls.length === 2);
    expect(test.calls).toEqual(['addPod grün-😀', 'added grün-😀']);
  });

  it('says when the server was last heard from', async () => {
    await using test = await setUp();
    expect(test.source.lastObservedAt()).toBeUndefined();
    await test.source.start();
    const start = test.clock.now();
    expect(test.source.lastObservedAt()).toBe(start);
    await until(() => test.server.watches.length === 1);
    await test.clock.advance(1000);
    expect(test.source.lastObservedAt()).toBe(start);
    test.server.latestWatch().send('BOOKMARK', { metadata: { resourceVersion: '11' } });
    await until(() => test.source.lastObservedAt() === start + 1000);
    await test.clock.advance(1000);
    test.server.latestWatch().send('ADDED', pod('b', '12'));
    await until(() => test.calls.includes('added b'));
    expect(test.source.lastObservedAt()).toBe(start + 2000);
  });
});

describe('ApiServerPodSource.stop', () => {
  it('leaves no timer and no socket, and no callback comes any more', async () => {
    await using test = await startAndWatch();
    const watch = test.server.latestWatch();
    await test.source.stop();
    watch.send('ADDED', pod('late', '99'));
    expect(test.clock.pendingTimers).toBe(0);
    await until(() => test.server.connections.open.size === 0);
    expect(test.calls).toEqual([]);
    expect(test.interruptions).toEqual([]);
  });

  it('delivers no list that arrives as it stops', async () => {
    const transport = new KubeTransport(kubeConfigFor('https://127.0.0.1'));
    transport.request = async () => {
      void test.source.stop();
      return { metadata: { resourceVersion: '1' }, items: [] };
    };
    await using test = await setUp(undefined, { transport });
    expect(await failureOf(test.source.start())).toMatchObject({ code: 'ERR_STOPPED' });
    await test.source.stop();
    expect(test.calls).toEqual([]);
  });

  it('ends a pause between two tries', async () => {
    await using test = await setUp([refuse(500)]);
    const started = failureOf(test.source.start());
    await until(() => test.interruptions.length === 1 && test.clock.pendingTimers === 1);
    await test.source.stop();
    expect(await started).toMatchObject({ code: 'ERR_STOPPED' });
    expect(test.clock.pendingTimers).toBe(0);
  });

  it('ends a list under way, and a start that is not awaited does no harm', async () => {
    await using test = await setUp([() => {}]);
    void test.source.start();
    await until(() => test.server.lists.length === 1);
    await test.source.stop();
    expect(test.clock.pendingTimers).toBe(0);
    await until(() => test.server.connections.open.size === 0);
  });

  it('may be called from a handler, and stops the events that came in the same chunk', async () => {
    await using test = await setUp(undefined, {
      handlers: {
        podAdded: async (one) => {
          if (one.metadata?.name === 'b') await test.source.stop();
        },
      },
    });
    await test.source.start();
    await until(() => test.server.watches.length === 1);
    const lines = [pod('b', '11'), pod('c', '12')].map((object) => `${JSON.stringify({ type: 'ADDED', object })}\n`);
    test.server.latestWatch().response.write(lines.join(''));
    await until(() => test.calls.includes('addPod b'));
    await test.source.stop();
    expect(test.calls).toEqual(['addPod a', 'addPod b']);
  });

  it('happens once, also before start', async () => {
    await using test = await setUp();
    expect(test.source.stop()).toBe(test.source.stop());
    expect(await failureOf(test.source.start())).toMatchObject({ code: 'ERR_STOPPED' });
    expect(test.server.seen).toEqual([]);
  });

  it('leaves a shared transport open', async () => {
    const server = await podSourceServer(answerList([], '1'));
    await using transport = new KubeTransport(kubeConfigFor(server.url), { connections: 1 });
    await using test = await setUp(undefined, { transport });
    await test.source.start();
    await until(() => server.watches.length === 1);
    await test.source.stop();
    expect(await transport.request({ method: 'GET', path: '/api/v1/pods' })).toMatchObject({ items: [] });
    await transport.close();
    await server[Symbol.asyncDispose]();
  });
});

describe('new ApiServerPodSource', () => {
  const { sink } = recorder();
  const good = { kubeConfig: kubeConfigFor('https://127.0.0.1'), nodeName: 'n1', podManager: sink };

  it('cannot be started twice', async () => {
    await using test = await setUp();
    await test.source.start();
    expect(await failureOf(test.source.start())).toMatchObject({ code: 'ERR_ALREADY_STARTED' });
  });

  it.each([
    { nodeName: '' },
    { nodeName: 'a,metadata.name=b' },
    { nodeName: 'UPPER' },
    { nodeName: 'a..b' },
    { nodeName: 'a-.b' },
    { nodeName: 'a'.repeat(254) },
    { handlers: { podAdd: () => {} } },
    { handlers: { podAdded: 5 } },
    { idleTimeoutMs: 10 },
    { idleTimeoutMs: Number.NaN },
    { idleTimeoutMs: 2 ** 31 },
    { namespace: 'a/b' },
    { idleTimeoutMS: 60_000 },
    { podManager: { addPod: () => {} } },
    { random: 0.5 },
    { transport: {} },
    { transport: null },
  ])('refuses the option %j', (options) => {
    const given = { ...good, ...options } as ApiServerPodSourceOptions;
    const make = (): unknown => new ApiServerPodSource(given);
    expect(make).toThrow(expect.objectContaining({ name: 'StatusManagerError' }));
    expect(make).toThrow(Object.keys(options)[0]);
  });

  it('needs a kubeconfig or a transport', () => {
    expect(() => new ApiServerPodSource({ logger: null, nodeName: 'n1', podManager: sink })).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION' }),
    );
  });
});
