import { afterEach, describe, expect, it } from 'vitest';
import { InMemoryApiServer } from '../../../../src/testing/apiserver/in-memory-apiserver.ts';
import { buildPod } from '../../../../src/testing/fakes/builders.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { until } from '../../../support/until.ts';
import { TestClient } from './client.ts';

const cleanUps: (() => Promise<void>)[] = [];

async function serve() {
  const clock = new FakeClock();
  const server = await InMemoryApiServer.start({ clock });
  const client = new TestClient(server);
  cleanUps.push(
    () => client.close(),
    () => server.stop(),
  );
  const put = (name: string, overrides: Parameters<typeof buildPod>[0] = {}) =>
    server.store.put(buildPod({ ...overrides, metadata: { name, ...overrides.metadata } }));
  return { server, client, clock, put, store: server.store };
}

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

describe('a watch', () => {
  it('shows every pod first when it has no resourceVersion, and then every change', async () => {
    const { client, store, put } = await serve();
    put('a');
    const watch = await client.watch();
    put('b');
    put('a', { status: { phase: 'Running' } });
    store.remove('default', 'b');
    await until(() => watch.events.length === 4);
    expect(watch.names).toEqual(['ADDED a', 'ADDED b', 'MODIFIED a', 'DELETED b']);
    expect(watch.events[3].object).toMatchObject({ kind: 'Pod', apiVersion: 'v1', metadata: { resourceVersion: '4' } });
  });

  it('shows the changes after its resourceVersion', async () => {
    const { client, put } = await serve();
    put('a');
    put('b');
    const watch = await client.watch('&resourceVersion=1');
    put('c');
    await until(() => watch.events.length === 2);
    expect(watch.names).toEqual(['ADDED b', 'ADDED c']);
  });

  it('ends with an ERROR event of 410 when the store has forgotten that resourceVersion', async () => {
    const { client, store, put } = await serve();
    put('a');
    put('b');
    store.compact();
    const watch = await client.watch('&resourceVersion=1');
    await until(() => watch.ended !== undefined);
    expect(watch.status).toBe(200);
    expect(watch.events).toMatchObject([{ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } }]);
    expect(watch.ended).toBe('end');
  });

  it('shows a pod that comes into its selection as ADDED and one that leaves as DELETED', async () => {
    const { client, put } = await serve();
    put('a', { spec: { nodeName: '' } });
    put('other', { metadata: { namespace: 'other' } });
    const watch = await client.watch('&fieldSelector=spec.nodeName%3Dnode-1');
    put('a');
    put('a', { status: { phase: 'Running' } });
    put('a', { spec: { nodeName: 'node-2' }, status: { phase: 'Failed' } });
    put('elsewhere', { spec: { nodeName: 'node-2' } });
    put('end');
    await until(() => watch.names.includes('ADDED end'));
    expect(watch.names).toEqual(['ADDED a', 'MODIFIED a', 'DELETED a', 'ADDED end']);
    expect(watch.events[2].object).toMatchObject({
      spec: { nodeName: 'node-1' },
      status: { phase: 'Running' },
      metadata: { resourceVersion: '5' },
    });
  });

  it('sends metadata alone when the client asks for it', async () => {
    const { client, put } = await serve();
    put('a');
    const watch = await client.watch('', { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' });
    await until(() => watch.events.length === 1);
    expect(Object.keys(watch.events[0].object)).toEqual(['kind', 'apiVersion', 'metadata']);
  });

  it('sends a bookmark every interval when bookmarks are allowed, with the newest resourceVersion', async () => {
    const { client, clock, put } = await serve();
    put('a');
    const plain = await client.watch('&resourceVersion=1');
    const watch = await client.watch('&resourceVersion=1&allowWatchBookmarks=true');
    put('x', { metadata: { namespace: 'other' } });
    await clock.advance(120_000);
    await until(() => watch.events.length === 2);
    expect(watch.events).toMatchObject([
      { type: 'BOOKMARK', object: { kind: 'Pod', apiVersion: 'v1', metadata: { resourceVersion: '2' } } },
      { type: 'BOOKMARK' },
    ]);
    expect(plain.events).toEqual([]);
  });

  it('sends a bookmark after the initial events, with sendInitialEvents or without a resourceVersion', async () => {
    const { client, put } = await serve();
    put('a');
    const asked = await client.watch('&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true');
    const legacy = await client.watch('&resourceVersion=0&allowWatchBookmarks=true');
    for (const watch of [asked, legacy]) {
      await until(() => watch.events.length === 2);
      expect(watch.names).toEqual(['ADDED a', 'BOOKMARK']);
      expect(watch.events[1].object.metadata).toEqual({
        resourceVersion: '1',
        annotations: { 'k8s.io/initial-events-end': 'true' },
      });
    }
  });

  it('answers 422 to sendInitialEvents or its match alone, and 500 to a resourceVersion that is no number', async () => {
    const { client } = await serve();
    expect((await client.watch('&sendInitialEvents=true')).status).toBe(422);
    expect((await client.watch('&resourceVersionMatch=NotOlderThan')).status).toBe(422);
    expect((await client.watch('&resourceVersion=abc')).status).toBe(500);
    expect((await client.watch('&fieldSelector=spec.foo%3D1')).status).toBe(400);
  });

  it('ends after timeoutSeconds, with a last bookmark 2 s before, and leaves no timer', async () => {
    const { client, clock, server, put } = await serve();
    put('a');
    const watch = await client.watch('&resourceVersion=1&timeoutSeconds=5&allowWatchBookmarks=true');
    await clock.advance(3_000);
    await until(() => watch.events.length === 1);
    expect(watch.names).toEqual(['BOOKMARK']);
    await clock.advance(2_000);
    await until(() => watch.ended !== undefined);
    expect(watch.ended).toBe('end');
    await until(() => server.openWatches === 0);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is reset when the store is restored; one from a future resourceVersion is silent', async () => {
    const { client, clock, server, store, put } = await serve();
    const snapshot = store.snapshot();
    put('a');
    put('b');
    const watch = await client.watch('&resourceVersion=2');
    store.restore(snapshot);
    await until(() => watch.ended !== undefined);
    expect(watch.ended).toMatch(/ECONNRESET|UND_ERR/);
    await until(() => server.openWatches === 0);
    const ahead = await client.watch('&resourceVersion=2&allowWatchBookmarks=true');
    put('c');
    await clock.advance(60_000);
    put('d');
    put('e');
    await clock.advance(60_000);
    await until(() => ahead.events.length === 2);
    expect(ahead.names).toEqual(['ADDED e', 'BOOKMARK']);
  });

  it('ends when its client goes away', async () => {
    const { client, server } = await serve();
    await client.watch();
    expect(server.openWatches).toBe(1);
    expect(server.requests.at(-1)).toMatchObject({ verb: 'watch', status: 200 });
    await client.close();
    await until(() => server.openWatches === 0);
    server.store.put(buildPod());
    expect(server.openWatches).toBe(0);
  });

  it.each([
    ['end', [], /^end$/],
    ['410', ['ERROR'], /^end$/],
    ['reset', [], /ECONNRESET|UND_ERR/],
  ] as const)('ends when dropped by %s', async (kind, types, ended) => {
    const { client, server } = await serve();
    const watches = [await client.watch(), await client.watch()];
    expect(server.dropWatches({ kind })).toBe(2);
    for (const watch of watches) {
      await until(() => watch.ended !== undefined);
      expect(watch.events.map(({ type }) => type)).toEqual(types);
      expect(watch.ended).toMatch(ended);
    }
    await until(() => server.openWatches === 0);
    expect(server.dropWatches({ kind })).toBe(0);
  });
});
