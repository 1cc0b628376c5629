import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildRunningStatus } from '../../../src/testing/fakes/builders.ts';
import type { ServedPod } from '../../support/answers.ts';
import { startTestServer, type TestServer } from '../../support/servers.ts';
import { conditionOf, foreignCondition, TestNode, type TestNodeOptions } from './manager-fixture.ts';

let server: TestServer;
let namespace: string;

beforeAll(async () => {
  server = await startTestServer();
  namespace = await server.admin.createNamespace('conflicts');
});
afterAll(() => server.stop());

/** A node with a running pod whose status is written, and with its pod source stopped. */
async function nodeInTheDark(name: string, options: TestNodeOptions): Promise<{ node: TestNode; pod: ServedPod }> {
  const node = await TestNode.start(server, namespace, options);
  const pod = await node.create(name);
  node.manager.setPodStatus(pod, buildRunningStatus(pod));
  await node.manager.flush();
  await node.stopSource();
  node.client.take(name);
  return { node, pod };
}

/** The answer to a stale JSON Patch is 422: its check of the resourceVersion is one of its operations. */
const refusedBy = { strategic: 'patch 409', json: 'patch 422' } as const;

describe.each([
  ['strategic', 'when-unknown'],
  ['strategic', 'always'],
  ['json', 'when-unknown'],
  ['json', 'always'],
] as const)('a foreign write that the pod source has not shown (%s patches, fetchBeforePatch %s)', (patchFormat, fetchBeforePatch) => {
  const options = { patchFormat, fetchBeforePatch };
  const suffix = `${patchFormat}-${fetchBeforePatch}`;
  const refused = refusedBy[patchFormat];
  const always = fetchBeforePatch === 'always';

  it('survives our write when it came first', async () => {
    const name = `before-${suffix}`;
    const { node, pod } = await nodeInTheDark(name, options);
    await using _ = node;
    await node.writeStatus(name, { conditions: [foreignCondition], message: 'theirs' });
    node.manager.setPodStatus(pod, buildRunningStatus(pod, { message: 'ours' }));
    await node.manager.flush();
    const { status } = await node.served(name);
    expect(status.message).toBe('ours');
    expect(conditionOf(status, foreignCondition.type)).toMatchObject(foreignCondition);
    expect(node.client.take(name)).toEqual(always ? ['get', 'patch'] : [refused, 'get', 'patch']);
    expect(node.syncErrors).toEqual([]);
  });

  it('survives our write when it came between our GET and our PATCH', async () => {
    const name = `between-${suffix}`;
    const { node, pod } = await nodeInTheDark(name, options);
    await using _ = node;
    node.client.before = async (verb) => {
      if (verb !== 'patch') return;
      node.client.before = undefined;
      await node.writeStatus(name, { conditions: [foreignCondition], message: 'theirs' });
    };
    node.manager.setPodStatus(pod, buildRunningStatus(pod, { message: 'ours' }));
    await node.manager.flush();
    const { status } = await node.served(name);
    expect(status.message).toBe('ours');
    expect(conditionOf(status, foreignCondition.type)).toMatchObject(foreignCondition);
    expect(node.client.take(name)).toEqual([...(always ? ['get'] : []), refused, 'get', 'patch']);
  });

  it('of the same status leaves nothing to write', async () => {
    const name = `same-${suffix}`;
    const { node, pod } = await nodeInTheDark(name, options);
    await using _ = node;
    const theirs = await node.writeStatus(name, { message: 'the same' });
    node.manager.setPodStatus(pod, buildRunningStatus(pod, { message: 'the same' }));
    await node.manager.flush();
    expect((await node.served(name)).metadata.resourceVersion).toBe(theirs.metadata.resourceVersion);
    expect(node.client.take(name)).toEqual(always ? ['get'] : [refused, 'get']);
    expect(node.synced.at(-1)).toMatchObject({ podName: name, patched: false });
  });
});

describe.each([
  ['strategic', 'when-unknown'],
  ['strategic', 'always'],
  ['json', 'when-unknown'],
] as const)('a recreated pod that the pod source has not shown (%s patches, fetchBeforePatch %s)', (patchFormat, fetchBeforePatch) => {
  it('gets nothing of the old pod, whose entry is dropped', async () => {
    const name = `again-${patchFormat}-${fetchBeforePatch}`;
    const { node, pod: old } = await nodeInTheDark(name, { patchFormat, fetchBeforePatch });
    await using _ = node;
    await node.askToDelete(name, { gracePeriodSeconds: 0 });
    const young = await node.createUnseen(name, { spec: { nodeName: node.name } });
    node.manager.setPodStatus(old, buildRunningStatus(old, { message: "the old one's" }));
    await node.manager.flush();
    expect(await node.served(name)).toEqual(young);
    expect(node.manager.getPodStatus(old.metadata.uid)).toBeUndefined();
    expect(node.manager.explain(old.metadata.uid).phase).toBe('gone');
    const requests = node.client.take(name);
    expect(requests.filter((request) => request === 'patch')).toEqual([]);
    expect(requests).toHaveLength(fetchBeforePatch === 'always' ? 1 : 2);

    await node.startSource();
    node.manager.setPodStatus(young, buildRunningStatus(young, { message: "the young one's" }));
    await node.manager.flush();
    expect((await node.served(name)).status.message).toBe("the young one's");
    expect(node.client.take(name)).toEqual(fetchBeforePatch === 'always' ? ['get', 'patch'] : ['patch']);
  });
});

describe('a pod that is gone, and whose deletion the pod source has not shown', () => {
  it('gets one request, and no more until it is set again', async () => {
    const { node, pod } = await nodeInTheDark('gone', {});
    await using _ = node;
    await node.askToDelete('gone', { gracePeriodSeconds: 0 });
    node.manager.setPodStatus(pod, buildRunningStatus(pod, { message: 'first' }));
    await node.manager.flush();
    expect(node.manager.explain(pod.metadata.uid).phase).toBe('gone');
    await node.batches(3);
    expect(node.client.take('gone')).toEqual(['patch 404']);
    node.manager.setPodStatus(pod, buildRunningStatus(pod, { message: 'second' }));
    await node.manager.flush();
    expect(node.client.take('gone')).toEqual(['patch 404']);
    expect(node.syncErrors).toEqual([]);
  });
});
