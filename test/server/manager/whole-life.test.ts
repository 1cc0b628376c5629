import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildRunningStatus, buildTerminatedStatus } from '../../../src/testing/fakes/builders.ts';
import type { ServedPod } from '../../support/answers.ts';
import { startTestServer, type TestServer } from '../../support/servers.ts';
import { conditionOf, foreignCondition, TestNode } from './manager-fixture.ts';

let server: TestServer;
let namespace: string;

beforeAll(async () => {
  server = await startTestServer();
  namespace = await server.admin.createNamespace('life');
});
afterAll(() => server.stop());

const names = { pod: 'web', containerID: 'containerd://main' };

async function becomesRunning(node: TestNode): Promise<ServedPod> {
  const pod = await node.create(names.pod);
  expect(node.manager.setPodStatus(pod, buildRunningStatus(pod))).toBe(true);
  expect(await node.manager.flush()).toEqual({ held: [] });
  const served = await node.served(names.pod);
  expect(served.status).toMatchObject({
    phase: 'Running',
    podIP: '10.0.0.1',
    containerStatuses: [{ name: 'main', ready: true }],
  });
  expect(conditionOf(served.status, 'Ready')).toMatchObject({ status: 'True' });
  expect(node.client.take(names.pod)).toEqual(['patch']);
  return served;
}

async function losesAndRegainsReady(node: TestNode, pod: ServedPod): Promise<void> {
  await node.writeStatus(names.pod, { conditions: [foreignCondition] });
  await node.seenAsServed(names.pod);
  for (const [ready, status] of [
    [false, 'False'],
    [true, 'True'],
  ] as const) {
    expect(node.manager.setContainerReadiness(pod.metadata.uid, names.containerID, ready)).toBe(true);
    await node.manager.flush();
    const served = (await node.served(names.pod)).status;
    expect(conditionOf(served, 'Ready')).toMatchObject({ status });
    expect(conditionOf(served, 'ContainersReady')).toMatchObject({ status });
    expect(conditionOf(served, foreignCondition.type)).toMatchObject(foreignCondition);
    expect(node.client.take(names.pod)).toEqual(['patch']);
  }
}

async function isDeletedGracefully(node: TestNode, { metadata: { uid } }: ServedPod): Promise<void> {
  await node.askToDelete(names.pod);
  const deleting = await node.seen(uid, (pod) => pod.metadata?.deletionTimestamp !== undefined);
  node.manager.setPodStatus(deleting, buildTerminatedStatus(deleting));
  node.manager.terminatePod(deleting);
  await node.seenGone(uid);
  expect(await node.isGone(names.pod)).toBe(true);
  await node.until('the entry is dropped', () => node.manager.getPodStatus(uid) === undefined);
  expect(node.client.take(names.pod)).toEqual(['patch', 'delete']);
}

async function isEvicted(node: TestNode, pod: ServedPod): Promise<void> {
  const evicted = buildTerminatedStatus(pod, 137, { reason: 'Evicted', message: 'The node was low on resource: memory.' });
  node.manager.setPodStatus(pod, evicted);
  await node.manager.flush();
  expect((await node.served(names.pod)).status).toMatchObject({ phase: 'Failed', reason: 'Evicted' });
  expect(node.client.take(names.pod)).toEqual(['patch']);
}

async function isOrphaned(node: TestNode, { metadata: { uid } }: ServedPod): Promise<void> {
  await node.askToDelete(names.pod);
  await node.seenGone(uid);
  node.manager.removeOrphanedStatuses(new Set());
  expect(node.manager.getPodStatus(uid)).toBeUndefined();
  expect(node.manager.explain(uid).phase).toBe('unknown');
  await node.batches(2);
  expect(node.client.take(names.pod)).toEqual([]);
}

describe('the whole life of a pod', () => {
  it('is created, Running, loses and regains Ready, is deleted, recreated, evicted, orphaned', async () => {
    await using node = await TestNode.start(server, namespace);
    const first = await becomesRunning(node);
    await losesAndRegainsReady(node, first);
    await isDeletedGracefully(node, first);
    const second = await becomesRunning(node);
    expect(second.metadata.uid).not.toBe(first.metadata.uid);
    expect(conditionOf(second.status, foreignCondition.type)).toBeUndefined();
    await isEvicted(node, second);
    await isOrphaned(node, second);
    expect(node.syncErrors).toEqual([]);
  });
});
