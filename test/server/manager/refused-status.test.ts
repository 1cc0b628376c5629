import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildRunningStatus } from '../../../src/testing/fakes/builders.ts';
import type { ServedPod } from '../../support/answers.ts';
import { startTestServer, type TestServer } from '../../support/servers.ts';
import { foreignCondition, TestNode } from './manager-fixture.ts';

let server: TestServer;
let namespace: string;

beforeAll(async () => {
  server = await startTestServer();
  namespace = await server.admin.createNamespace('refused');
});
afterAll(() => server.stop());

/** A PATCH, a second one after a GET, then no more. */
const quarantined = ['patch 422', 'get', 'patch 422'];

async function refused(node: TestNode, name: string): Promise<ServedPod> {
  const pod = await node.create(name);
  node.manager.setPodStatus(pod, buildRunningStatus(pod, { qosClass: 'Guaranteed' }));
  expect(await node.manager.flush()).toEqual({ held: [{ podUID: pod.metadata.uid, phase: 'quarantined' }] });
  expect(node.client.take(name)).toEqual(quarantined);
  return pod;
}

describe.each(['strategic', 'json'] as const)('a status that the apiserver refuses (%s patches)', (patchFormat) => {
  it('is quarantined after a GET and a second PATCH, as explain and syncError tell', async () => {
    await using node = await TestNode.start(server, namespace, { patchFormat });
    const name = `quarantined-${patchFormat}`;
    const { metadata, status } = await refused(node, name);
    expect(node.syncErrors).toHaveLength(1);
    expect(node.syncErrors[0]).toMatchObject({
      podUID: metadata.uid,
      podName: name,
      podNamespace: namespace,
      errorClass: 'invalid',
      attempt: 1,
      error: { status: 422, reason: 'Invalid', message: expect.stringContaining('status.qosClass') },
    });
    expect(node.syncErrors[0]?.retryInMs).toBeUndefined();
    expect(node.manager.explain(metadata.uid)).toMatchObject({
      phase: 'quarantined',
      reason: expect.stringContaining('status.qosClass'),
      lastError: { errorClass: 'invalid' },
      differs: expect.arrayContaining(['/qosClass']),
    });
    await node.batches(5);
    expect(node.client.take(name)).toEqual([]);
    expect((await node.served(name)).status).toEqual(status);
  });

  it('is tried again when the status changes', async () => {
    await using node = await TestNode.start(server, namespace, { patchFormat });
    const name = `changed-${patchFormat}`;
    const pod = await refused(node, name);
    node.manager.setPodStatus(pod, buildRunningStatus(pod, { qosClass: 'BestEffort' }));
    expect(await node.manager.flush()).toEqual({ held: [] });
    expect(node.client.take(name)).toEqual(['patch']);
    expect((await node.served(name)).status.phase).toBe('Running');
    expect(node.manager.explain(pod.metadata.uid)).toMatchObject({ phase: 'in-sync', attempt: 0, lastError: undefined });
  });

  it('is tried again once when the API copy changes', async () => {
    await using node = await TestNode.start(server, namespace, { patchFormat });
    const name = `copy-${patchFormat}`;
    await refused(node, name);
    await node.writeStatus(name, { conditions: [foreignCondition] });
    await node.seenAsServed(name);
    await node.until('the second refusal', () => node.syncErrors.length === 2);
    await node.batches(3);
    expect(node.client.take(name)).toEqual(quarantined);
    expect(node.syncErrors.at(-1)).toMatchObject({ attempt: 2 });
  });

  it('delays no other pod', async () => {
    await using node = await TestNode.start(server, namespace, { patchFormat, concurrency: 1 });
    const pod = await refused(node, `first-${patchFormat}`);
    const other = await node.create(`second-${patchFormat}`);
    node.manager.setPodStatus(other, buildRunningStatus(other));
    expect(await node.manager.flush()).toEqual({ held: [{ podUID: pod.metadata.uid, phase: 'quarantined' }] });
    expect((await node.served(`second-${patchFormat}`)).status.phase).toBe('Running');
  });
});
