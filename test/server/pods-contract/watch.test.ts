import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { podListOf } from '../../support/answers.ts';
import { startTestServer, type TestServer } from '../../support/servers.ts';
import type { WatchEvent } from '../../support/watch-stream.ts';
import { createPod } from './pods-contract-fixture.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

/** The next `count` events as `type name phase`. Ends the watch afterwards. */
async function take(events: AsyncGenerator<WatchEvent>, count: number): Promise<string[]> {
  const seen: string[] = [];
  for await (const event of events) {
    if (event.type === 'ERROR') throw new Error(event.object.message);
    seen.push(`${event.type} ${event.object.metadata.name} ${event.object.status.phase}`);
    if (seen.length === count) break;
  }
  return seen;
}

function versionOf(event: WatchEvent): string {
  if (event.type === 'ERROR') throw new Error(event.object.message);
  return event.object.metadata.resourceVersion;
}

async function listVersion(namespace: string): Promise<string> {
  return podListOf(await server.admin.listPods(namespace)).metadata.resourceVersion;
}

describe('watching pods', () => {
  it('shows every event after a resourceVersion, in order, none twice', async () => {
    const namespace = await server.admin.createNamespace('watch');
    await createPod(server.admin, namespace, 'before');
    const resourceVersion = await listVersion(namespace);
    await createPod(server.admin, namespace, 'after');
    await server.admin.patchPodStatus(namespace, 'after', { status: { phase: 'Running' } });
    await server.admin.patchPodStatus(namespace, 'after', { status: { phase: 'Running' } });
    await server.admin.deletePod(namespace, 'after', { gracePeriodSeconds: 0 });
    const seen = await take(server.admin.watchPods(namespace, { resourceVersion }), 4);
    // The third is the deletion itself: even a pod that is removed at once is marked first.
    expect(seen).toEqual(['ADDED after Pending', 'MODIFIED after Running', 'MODIFIED after Running', 'DELETED after Running']);
  });

  it('shows what happens while it is open', async () => {
    const namespace = await server.admin.createNamespace('watch');
    const events = take(server.admin.watchPods(namespace, { resourceVersion: await listVersion(namespace) }), 2);
    await createPod(server.admin, namespace, 'live');
    await server.admin.patchPodStatus(namespace, 'live', { status: { phase: 'Running' } });
    expect(await events).toEqual(['ADDED live Pending', 'MODIFIED live Running']);
  });

  it('begins with the present pods when no resourceVersion is given', async () => {
    const namespace = await server.admin.createNamespace('watch');
    await createPod(server.admin, namespace, 'a');
    await createPod(server.admin, namespace, 'b');
    const seen = await take(server.admin.watchPods(namespace), 2);
    expect(seen.sort()).toEqual(['ADDED a Pending', 'ADDED b Pending']);
  });

  it('carries the whole pod with the resourceVersion of the event', async () => {
    const namespace = await server.admin.createNamespace('watch');
    const resourceVersion = await listVersion(namespace);
    const created = await createPod(server.admin, namespace, 'whole');
    await server.admin.patchPodStatus(namespace, 'whole', { status: { phase: 'Running' } });
    const { value: first } = await server.admin.watchPods(namespace, { resourceVersion }).next();
    expect(first).toEqual({ type: 'ADDED', object: created });
  });

  it('shows a deletion as MODIFIED when marked and as DELETED when gone, each with a new resourceVersion', async () => {
    const namespace = await server.admin.createNamespace('watch');
    const { resourceVersion } = (await createPod(server.admin, namespace, 'ending')).metadata;
    await server.admin.deletePod(namespace, 'ending');
    await server.admin.deletePod(namespace, 'ending', { gracePeriodSeconds: 0 });
    const events: WatchEvent[] = [];
    for await (const event of server.admin.watchPods(namespace, { resourceVersion })) {
      events.push(event);
      if (event.type === 'DELETED') break;
    }
    expect(events).toMatchObject([
      { type: 'MODIFIED', object: { metadata: { deletionGracePeriodSeconds: 30 } } },
      { type: 'MODIFIED', object: { metadata: { deletionGracePeriodSeconds: 0 } } },
      { type: 'DELETED', object: { metadata: { deletionGracePeriodSeconds: 0 } } },
    ]);
    const versions = [resourceVersion, ...events.map(versionOf)].map(BigInt);
    expect(versions).toEqual([...new Set(versions)].sort((a, b) => Number(a - b)));
  });

  it('shows the deletion of an unbound pod, which is removed at once, as MODIFIED and DELETED', async () => {
    const namespace = await server.admin.createNamespace('watch');
    const resourceVersion = await listVersion(namespace);
    await createPod(server.admin, namespace, 'unbound', { spec: { nodeName: null } });
    await server.admin.deletePod(namespace, 'unbound');
    const seen = await take(server.admin.watchPods(namespace, { resourceVersion }), 3);
    expect(seen).toEqual(['ADDED unbound Pending', 'MODIFIED unbound Pending', 'DELETED unbound Pending']);
  });

  it("follows a node: a pod bound to it appears as ADDED, another node's never", async () => {
    const namespace = await server.admin.createNamespace('watch');
    const query = { resourceVersion: await listVersion(namespace), fieldSelector: 'spec.nodeName=node-b' };
    await createPod(server.admin, namespace, 'elsewhere');
    await createPod(server.admin, namespace, 'late', { spec: { nodeName: null } });
    const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'late' }, target: { kind: 'Node', name: 'node-b' } };
    const path = `/api/v1/namespaces/${namespace}/pods/late/binding`;
    expect((await server.admin.send('POST', path, { body: binding })).status).toBe(201);
    await createPod(server.admin, namespace, 'there', { spec: { nodeName: 'node-b' } });
    expect(await take(server.admin.watchPods(namespace, query), 2)).toEqual(['ADDED late Pending', 'ADDED there Pending']);
  });

  it('ends by itself after timeoutSeconds, and sends a bookmark before', async () => {
    const [namespace, other] = [await server.admin.createNamespace('watch'), await server.admin.createNamespace('watch')];
    const resourceVersion = await listVersion(namespace);
    const query = { resourceVersion, allowWatchBookmarks: 'true', timeoutSeconds: '4' };
    const events: WatchEvent[] = [];
    const ended = (async () => {
      for await (const event of server.admin.watchPods(namespace, query)) events.push(event);
    })();
    // Without a bookmark a watch of one namespace would not show that resourceVersions have grown in others.
    const elsewhere = await createPod(server.admin, other, 'elsewhere');
    await ended;
    expect(events.length).toBeGreaterThan(0);
    for (const event of events) expect(event).toMatchObject({ type: 'BOOKMARK', object: { kind: 'Pod', apiVersion: 'v1' } });
    const seen = BigInt(events.map(versionOf).at(-1) ?? 0);
    expect(seen).toBeGreaterThanOrEqual(BigInt(elsewhere.metadata.resourceVersion));
  });

  it('is silent from a resourceVersion that the server has not reached: no earlier change and no bookmark', async () => {
    const namespace = await server.admin.createNamespace('watch');
    const resourceVersion = String(Number(await listVersion(namespace)) + 1_000_000);
    const events: WatchEvent[] = [];
    const query = { resourceVersion, allowWatchBookmarks: 'true', timeoutSeconds: '3' };
    const ended = (async () => {
      for await (const event of server.admin.watchPods(namespace, query)) events.push(event);
    })();
    await createPod(server.admin, namespace, 'too-early');
    await ended;
    expect(events).toEqual([]);
  });

  it('sends the present pods and then a bookmark with sendInitialEvents', async () => {
    const namespace = await server.admin.createNamespace('watch');
    await createPod(server.admin, namespace, 'initial');
    const query = { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: 'true' };
    const events: WatchEvent[] = [];
    for await (const event of server.admin.watchPods(namespace, query)) {
      events.push(event);
      if (event.type === 'BOOKMARK') break;
    }
    expect(events).toMatchObject([
      { type: 'ADDED', object: { metadata: { name: 'initial' } } },
      { type: 'BOOKMARK', object: { metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } } },
    ]);
  });

  it.each<Readonly<Record<string, string>>>([
    {},
    { resourceVersion: '0' },
  ])('begins with no pod when initial events are declined, from %o', async (from) => {
    const namespace = await server.admin.createNamespace('watch');
    await createPod(server.admin, namespace, 'before');
    // a real server watches from a cache, which may lag: a list that is as new as the pod waits for it
    const { resourceVersion = '' } = podListOf(await server.admin.listPods(namespace)).items[0]?.metadata ?? {};
    await server.admin.listPods(namespace, { resourceVersion, resourceVersionMatch: 'NotOlderThan' });
    const query = { ...from, sendInitialEvents: 'false', resourceVersionMatch: 'NotOlderThan', timeoutSeconds: '2' };
    const seen: string[] = [];
    for await (const { type } of server.admin.watchPods(namespace, query)) seen.push(type);
    expect(seen).toEqual([]);
  });

  it.each<Readonly<Record<string, string>>>([
    { sendInitialEvents: 'true' },
    { sendInitialEvents: 'false', resourceVersion: '0' },
    { sendInitialEvents: 'true', resourceVersionMatch: 'Exact' },
    { resourceVersionMatch: 'NotOlderThan' },
  ])('is refused with 422 for the options %o', async (query) => {
    const namespace = await server.admin.createNamespace('watch');
    expect(await server.admin.listPods(namespace, { ...query, watch: 'true', timeoutSeconds: '1' })).toMatchObject({
      status: 422,
      body: { reason: 'Invalid', details: { kind: 'ListOptions' } },
    });
  });
});
