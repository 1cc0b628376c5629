import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PodStatus, WirePod, WirePodStatus } from '../../../src/api/json/types.ts';
import { buildContainerStatus, buildRunningStatus } from '../../../src/testing/fakes/builders.ts';
import { startTestServer, type TestServer } from '../../support/servers.ts';
import { foreignCondition, TestNode } from './manager-fixture.ts';

let server: TestServer;
let namespace: string;

beforeAll(async () => {
  server = await startTestServer();
  namespace = await server.admin.createNamespace('requests');
});
afterAll(() => server.stop());

describe.each(['strategic', 'json'] as const)('a change (%s patches)', (patchFormat) => {
  it('costs one PATCH and no GET when the pod source has seen the pod', async () => {
    await using node = await TestNode.start(server, namespace, { patchFormat });
    const name = `seen-${patchFormat}`;
    const pod = await node.create(name);
    for (const message of ['first', 'second', 'third']) {
      node.manager.setPodStatus(pod, buildRunningStatus(pod, { message }));
      expect(await node.manager.flush()).toEqual({ held: [] });
      expect((await node.served(name)).status.message).toBe(message);
      expect(node.client.take(name)).toEqual(['patch']);
    }
  });

  it('costs a GET before its first PATCH when the pod source has not seen the pod', async () => {
    await using node = await TestNode.start(server, namespace, { patchFormat });
    const name = `unseen-${patchFormat}`;
    await node.stopSource();
    const pod = await node.createUnseen(name);
    node.manager.setPodStatus(pod, buildRunningStatus(pod, { message: 'first' }));
    await node.manager.flush();
    expect(node.client.take(name)).toEqual(['get', 'patch']);
    node.manager.setPodStatus(pod, buildRunningStatus(pod, { message: 'second' }));
    await node.manager.flush();
    expect(node.client.take(name)).toEqual(['patch']);
    expect((await node.served(name)).status.message).toBe('second');
  });

  it('shares a request with others: 51 changes in a burst are two requests, and the last one stays', async () => {
    await using node = await TestNode.start(server, namespace, { patchFormat });
    const name = `burst-${patchFormat}`;
    const pod = await node.create(name);
    const held = Promise.withResolvers<void>();
    const onItsWay = Promise.withResolvers<void>();
    node.client.before = () => {
      onItsWay.resolve();
      return held.promise;
    };
    node.manager.setPodStatus(pod, buildRunningStatus(pod, { message: 'change 0' }));
    await onItsWay.promise;
    for (let i = 1; i <= 50; i++) node.manager.setPodStatus(pod, buildRunningStatus(pod, { message: `change ${i}` }));
    held.resolve();
    await node.manager.flush();
    expect((await node.served(name)).status.message).toBe('change 50');
    expect(node.client.take(name)).toEqual(['patch', 'patch']);
  });
});

function without(status: WirePodStatus, ...fields: (keyof WirePodStatus)[]): WirePodStatus {
  return Object.fromEntries(Object.entries(status).filter(([field]) => !fields.includes(field as keyof WirePodStatus)));
}

/** The same pod without its generation. */
function withoutGeneration(pod: WirePod): WirePod {
  const { generation: _, ...metadata } = pod.metadata ?? {};
  return { ...pod, metadata };
}

const statuses: [string, (status: WirePodStatus) => PodStatus][] = [
  ['everything', (status) => ({ ...status, qosClass: 'BestEffort' })],
  ['no qosClass', (status) => status],
  ['podIP and no podIPs', (status) => without(status, 'podIPs')],
  ['no address at all', (status) => without(status, 'podIP', 'podIPs', 'hostIP', 'hostIPs')],
  ['empty lists', (status) => ({ ...status, initContainerStatuses: [], ephemeralContainerStatuses: [] })],
  ['empty strings', (status) => ({ ...status, message: '', reason: '', nominatedNodeName: '', resize: '' })],
  [
    'conditions without times, with empty reasons',
    (status) => ({ ...status, conditions: [{ type: 'Ready', status: 'True', reason: '', message: '', lastProbeTime: null }] }),
  ],
  ['a foreign condition', (status) => ({ ...status, conditions: [{ type: 'example.test/Unowned', status: 'True' }] })],
  [
    'container statuses that leave out what the server fills in',
    (status) => ({ ...status, containerStatuses: [{ name: 'main', ready: false, restartCount: 0, image: '', imageID: '' }] }),
  ],
  [
    'container statuses with empty values that the server leaves out',
    (status) => ({
      ...status,
      containerStatuses: [
        buildContainerStatus({
          name: 'main',
          state: { running: {} },
          resources: {},
          allocatedResources: {},
          volumeMounts: [],
          lastState: { terminated: { exitCode: 0, reason: '', message: '', containerID: '', signal: 0 } },
        }),
      ],
    }),
  ],
  ['dates with milliseconds', (status) => ({ ...status, startTime: new Date('2026-01-02T03:04:05.678Z') })],
  [
    'resources in other units than on the server',
    (status) => ({
      ...status,
      containerStatuses: [buildContainerStatus({ name: 'main', allocatedResources: { cpu: '1000m', memory: '1024Mi' } })],
    }),
  ],
];

describe('five batches over an unchanged pod cost no request', () => {
  it.each(statuses)('with %s in its status', async (_, change) => {
    await using node = await TestNode.start(server, namespace);
    const name = `in-step-${statuses.findIndex(([what]) => what === _)}`;
    const pod = await node.create(name);
    node.manager.setPodStatus(pod, change(buildRunningStatus(pod)));
    await node.manager.flush();
    await node.seenAsServed(name);
    await node.batches(5);
    expect(node.manager.explain(pod.metadata.uid)).toMatchObject({ phase: 'in-sync' });
    expect(node.client.take(name)).toEqual(['patch']);
  });

  it('with an observedGeneration that the agent leaves out and the server keeps', async () => {
    await using node = await TestNode.start(server, namespace);
    const pod = await node.create('generations');
    expect(pod.metadata.generation).toBe(1);
    await node.writeStatus('generations', { observedGeneration: 1 });
    const seen = withoutGeneration(await node.seenAsServed('generations'));
    node.manager.setPodStatus(seen, buildRunningStatus(pod));
    await node.manager.flush();
    expect((await node.seenAsServed('generations')).status?.observedGeneration).toBe(1);
    await node.batches(5);
    expect(node.client.take('generations')).toEqual(['patch']);
  });

  it("while another controller's condition comes, changes and goes", async () => {
    await using node = await TestNode.start(server, namespace);
    const pod = await node.create('foreign');
    node.manager.setPodStatus(pod, buildRunningStatus(pod));
    await node.manager.flush();
    for (const condition of [
      foreignCondition,
      { ...foreignCondition, status: 'False' },
      { type: foreignCondition.type, $patch: 'delete' },
    ]) {
      await node.writeStatus('foreign', { conditions: [condition] });
      await node.seenAsServed('foreign');
      await node.batches(5);
    }
    expect(node.client.take('foreign')).toEqual(['patch']);
  });

  it('and the same status set again makes no version', async () => {
    await using node = await TestNode.start(server, namespace);
    const pod = await node.create('again');
    node.manager.setPodStatus(pod, buildRunningStatus(pod));
    await node.manager.flush();
    const seen = await node.seenAsServed('again');
    expect(node.manager.setPodStatus(pod, buildRunningStatus(pod))).toBe(false);
    expect(node.manager.setPodStatus(seen, buildRunningStatus(pod))).toBe(false);
    await node.batches(2);
    expect(node.client.take('again')).toEqual(['patch']);
  });
});

describe('a foreign write to a field of ours', () => {
  it('is repaired with one PATCH', async () => {
    await using node = await TestNode.start(server, namespace);
    const pod = await node.create('undone');
    node.manager.setPodStatus(pod, buildRunningStatus(pod));
    await node.manager.flush();
    await node.writeStatus('undone', { phase: 'Pending', message: 'not yours' });
    const right = await node.until('the source shows the repaired status', () => {
      const { status, metadata } = (node.podManager.getPodByUID(pod.metadata.uid) ?? {}) as WirePod;
      return status?.phase === 'Running' && node.client.requests('undone').length > 1 && metadata;
    });
    expect((await node.served('undone')).status).not.toHaveProperty('message');
    await node.batches(2);
    expect((await node.served('undone')).metadata.resourceVersion).toBe(right.resourceVersion);
    expect(node.client.take('undone')).toEqual(['patch', 'patch']);
  });
});
