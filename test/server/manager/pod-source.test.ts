import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildRunningStatus, buildTerminatedStatus } from '../../../src/testing/fakes/builders.ts';
import { startTestServer, type TestServer } from '../../support/servers.ts';
import { TcpRelay } from '../../support/tcp-relay.ts';
import { TestNode } from './manager-fixture.ts';

let server: TestServer;
let namespace: string;

beforeAll(async () => {
  server = await startTestServer();
  namespace = await server.admin.createNamespace('source');
});
afterAll(() => server.stop());

function namesSeen(node: TestNode): (string | undefined)[] {
  return node.podManager
    .getPods()
    .map(({ metadata }) => metadata?.name)
    .sort();
}

describe('a pod source', () => {
  it('lists the pods of its node, with every member that the server has', async () => {
    await using node = await TestNode.start(server, namespace);
    await node.stopSource();
    const first = await node.createUnseen('listed-1');
    await node.createUnseen('listed-2');
    await node.createUnseen('elsewhere', { spec: { nodeName: `${node.name}-not` } });
    await node.createUnseen('unbound', { spec: { nodeName: null } });
    expect(namesSeen(node)).toEqual([]);
    await node.startSource();
    expect(namesSeen(node)).toEqual(['listed-1', 'listed-2']);
    const { managedFields: _, ...metadata } = first.metadata as typeof first.metadata & { managedFields?: unknown };
    expect(node.podManager.getPodByUID(first.metadata.uid)).toMatchObject({ metadata, spec: first.spec, status: first.status });
  });

  it('shows a pod that is created, changed and deleted', async () => {
    await using node = await TestNode.start(server, namespace);
    const pod = await node.create('watched');
    const { uid } = pod.metadata;
    await node.patch('watched', { metadata: { labels: { changed: 'yes' } } });
    await node.seen(uid, ({ metadata }) => metadata?.labels?.changed === 'yes');
    await node.writeStatus('watched', { message: 'told' });
    await node.seen(uid, ({ status }) => status?.message === 'told');
    await node.askToDelete('watched', { gracePeriodSeconds: 0 });
    await node.seenGone(uid);
    expect(namesSeen(node)).toEqual([]);
  });

  it('shows a recreated pod as another pod', async () => {
    await using node = await TestNode.start(server, namespace);
    const old = await node.create('again');
    await node.askToDelete('again', { gracePeriodSeconds: 0 });
    const young = await node.create('again');
    await node.seenGone(old.metadata.uid);
    expect(node.podManager.getPodByName(namespace, 'again')?.metadata?.uid).toBe(young.metadata.uid);
  });

  it('shows a pod when it is bound to the node', async () => {
    await using node = await TestNode.start(server, namespace);
    const pod = await node.createUnseen('bound-later', { spec: { nodeName: null } });
    const binding = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name: 'bound-later' },
      target: { kind: 'Node', name: node.name },
    };
    const path = `/api/v1/namespaces/${namespace}/pods/bound-later/binding`;
    expect((await server.admin.send('POST', path, { body: binding })).status).toBe(201);
    const seen = await node.seen(pod.metadata.uid, () => true);
    expect(seen.spec?.nodeName).toBe(node.name);
  });

  it('drops pods that were deleted while it was stopped, when it lists again', async () => {
    await using node = await TestNode.start(server, namespace);
    const gone = await node.create('went');
    const again = await node.create('replaced');
    await node.create('stayed');
    await node.stopSource();
    await node.askToDelete('went', { gracePeriodSeconds: 0 });
    await node.askToDelete('replaced', { gracePeriodSeconds: 0 });
    await node.createUnseen('replaced');
    expect(namesSeen(node)).toEqual(['replaced', 'stayed', 'went']);
    await node.startSource();
    expect(namesSeen(node)).toEqual(['replaced', 'stayed']);
    expect(node.podManager.getPodByUID(gone.metadata.uid)).toBeUndefined();
    expect(node.podManager.getPodByUID(again.metadata.uid)).toBeUndefined();
  });
});

describe('a pod that its user annotated as a static pod', () => {
  it('counts as an API pod: the manager writes its status and deletes it', async () => {
    await using node = await TestNode.start(server, namespace);
    const annotations = { 'kubernetes.io/config.source': 'file', theirs: 'yes' };
    const { uid } = (await node.create('says-file', { metadata: { annotations } })).metadata;
    const pod = await node.seen(uid, () => true);
    expect(pod.metadata?.annotations).toEqual({ ...annotations, 'kubernetes.io/config.source': 'api' });
    node.manager.setPodStatus(pod, buildRunningStatus(pod));
    expect(await node.manager.flush()).toEqual({ held: [] });
    expect(await node.served('says-file')).toMatchObject({ metadata: { annotations }, status: { phase: 'Running' } });

    await node.askToDelete('says-file');
    const deleting = await node.seen(uid, ({ metadata }) => metadata?.deletionTimestamp != null);
    node.manager.setPodStatus(deleting, buildTerminatedStatus(deleting));
    node.manager.terminatePod(deleting);
    await node.seenGone(uid);
    expect(await node.isGone('says-file')).toBe(true);
  });
});

describe('a pod source whose connection to the server is cut', () => {
  it('shows later what happened meanwhile, and tells when it last heard from the server', async () => {
    await using relay = await TcpRelay.start(server.kubeConfig());
    await using node = await TestNode.start(server, namespace, { sourceKubeConfig: relay.through(server.kubeConfig()) });
    const gone = await node.create('cut-gone');
    const changed = await node.create('cut-changed');
    const heardAt = node.lastObservedAt() ?? Number.NaN;
    relay.cut();
    await node.until('the watch breaks off', () => node.interruptions.length > 0);
    await node.askToDelete('cut-gone', { gracePeriodSeconds: 0 });
    await node.writeStatus('cut-changed', { message: 'meanwhile' });
    const made = await node.createUnseen('cut-made');
    await node.until('a second try fails', () => node.interruptions.length > 1);
    expect(namesSeen(node)).toEqual(['cut-changed', 'cut-gone']);
    expect(node.lastObservedAt()).toBe(heardAt);
    relay.mend();
    await node.seenGone(gone.metadata.uid);
    await node.seen(made.metadata.uid, () => true);
    await node.seen(changed.metadata.uid, ({ status }) => status?.message === 'meanwhile');
    expect(node.lastObservedAt()).toBeGreaterThan(heardAt);
  });

  it('causes at most a conflict: the manager still writes, and another controller loses nothing', async () => {
    await using relay = await TcpRelay.start(server.kubeConfig());
    await using node = await TestNode.start(server, namespace, { sourceKubeConfig: relay.through(server.kubeConfig()) });
    const pod = await node.create('cut-writing');
    node.manager.setPodStatus(pod, buildRunningStatus(pod));
    await node.manager.flush();
    await node.seenAsServed('cut-writing');
    relay.cut();
    await node.until('the watch breaks off', () => node.interruptions.length > 0);
    await node.patch('cut-writing', { metadata: { labels: { theirs: 'yes' } } });
    node.manager.setPodStatus(pod, buildRunningStatus(pod, { message: 'in the dark' }));
    await node.manager.flush();
    relay.mend();
    const seen = await node.seenAsServed('cut-writing');
    expect(seen).toMatchObject({ metadata: { labels: { theirs: 'yes' } }, status: { message: 'in the dark' } });
    await node.batches(3);
    expect(node.client.take('cut-writing')).toEqual(['patch', 'patch 409', 'get', 'patch']);
  });
});
