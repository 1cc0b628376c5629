import { hostname } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WireNode } from '../../../src/api/json/types.ts';
import type { EventRecorder } from '../../../src/client/events/event-recorder.ts';
import { resources } from '../../../src/client/resources/api-resource.ts';
import { ResourceClient } from '../../../src/client/resources/resource-client.ts';
import { KubeTransport } from '../../../src/client/transport/kube-transport.ts';
import { NodeObject } from '../../../src/node/node-object/node-object.ts';
import type { NodeObjectOptions } from '../../../src/node/node-object/node-object-options.ts';
import { startTestServer, type TestServer } from '../../support/servers.ts';
import { uniqueName } from '../resources-contract/resources-contract-fixture.ts';

let server: TestServer;
let transport: KubeTransport;
let nodes: ResourceClient<WireNode>;

beforeAll(async () => {
  server = await startTestServer();
  transport = new KubeTransport(server.kubeConfig());
  nodes = new ResourceClient(transport, resources.nodes);
});
afterAll(async () => {
  await transport.close();
  await server.stop();
});

const capacity = { cpu: '4', memory: '8Gi', pods: '110' };
const namespace = 'kube-node-lease';

function nodeObject(nodeName: string, options: Partial<NodeObjectOptions> = {}): NodeObject {
  const quick = { statusUpdateFrequencyMs: 200, leaseDurationSeconds: 2 };
  return new NodeObject({ logger: null, transport, nodeName, capacity, ...quick, ...options });
}

async function stored(name: string): Promise<WireNode | undefined> {
  return nodes.get({ name }).catch(() => undefined);
}

async function lease(name: string) {
  return new ResourceClient(transport, resources.leases).get({ namespace, name }).catch(() => undefined);
}

async function ready(name: string): Promise<string | undefined> {
  return (await stored(name))?.status?.conditions?.find(({ type }) => type === 'Ready')?.status;
}

const patience = { timeout: 20_000, interval: 20 };

describe('a node object', () => {
  it('registers its node, renews its Lease, tells what changes, and removes both', async () => {
    const name = uniqueName('node');
    let isReady = false;
    await using node = nodeObject(name, {
      removeOnStop: true,
      readiness: () => ({ ready: isReady, message: 'the runtime is down' }),
      taints: [{ key: 'example.com/virtual', effect: 'NoSchedule' }],
      labels: { 'example.com/kind': 'virtual' },
      addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
    });
    node.start();
    await node.registered();
    expect(await ready(name)).toBe('False');
    isReady = true;
    node.changed();
    await expect.poll(() => ready(name), patience).toBe('True');
    const { metadata, spec, status } = (await stored(name)) ?? {};
    expect(metadata?.labels).toMatchObject({ 'kubernetes.io/hostname': name, 'example.com/kind': 'virtual' });
    expect(spec?.taints).toContainEqual({ key: 'example.com/virtual', effect: 'NoSchedule' });
    expect(status).toMatchObject({ capacity, allocatable: capacity, addresses: [{ type: 'InternalIP', address: '10.0.0.1' }] });
    expect(status?.conditions?.map(({ type }) => type)).toEqual(['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready']);

    const addresses = [
      { type: 'InternalIP', address: '10.0.0.2' },
      { type: 'InternalIP', address: 'fd00::2' },
    ];
    node.setStatus({ addresses, capacity: { ...capacity, cpu: '8' } });
    await expect.poll(async () => (await stored(name))?.status, patience).toMatchObject({ addresses, capacity: { cpu: '8' } });

    await expect
      .poll(() => lease(name), patience)
      .toMatchObject({
        metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid: metadata?.uid }] },
        spec: { holderIdentity: name, leaseDurationSeconds: 2 },
      });
    const first = (await lease(name))?.spec?.renewTime;
    await expect.poll(async () => (await lease(name))?.spec?.renewTime, patience).not.toBe(first);
    expect(await node.stop()).toEqual({ node: 'removed', lease: 'removed' });
    expect([await stored(name), await lease(name)]).toEqual([undefined, undefined]);
  });

  it('takes over the node that is there: what others wrote stays', async () => {
    const name = uniqueName('node');
    const metadata = {
      name,
      labels: { 'topology.kubernetes.io/zone': 'old', theirs: 'kept' },
      annotations: { theirs: 'kept' },
    };
    const conditions = [
      { type: 'Theirs', status: 'True' },
      { type: 'Ready', status: 'Unknown' },
    ];
    const created = await nodes.create({
      metadata,
      spec: { unschedulable: true, taints: [{ key: 'theirs', effect: 'NoExecute' }] },
      status: {
        conditions,
        capacity: { cpu: '1', 'example.com/theirs': '3' },
        addresses: [{ type: 'InternalIP', address: '10.9.9.9' }],
      } as NonNullable<WireNode['status']>,
    });
    const labels = { 'topology.kubernetes.io/zone': 'new', theirs: 'ours' };
    await using node = nodeObject(name, { removeOnStop: true, labels, annotations: { theirs: 'ours' } });
    node.start();
    await expect.poll(() => ready(name), patience).toBe('True');
    const after = await stored(name);
    expect(after?.metadata).toMatchObject({
      uid: created.metadata?.uid,
      labels: { 'topology.kubernetes.io/zone': 'new', theirs: 'kept' },
      annotations: { theirs: 'kept' },
    });
    expect(after?.spec).toEqual(created.spec);
    expect(after?.status?.conditions).toMatchObject([{ type: 'Theirs', status: 'True' }, { type: 'Ready' }, {}, {}, {}]);
    expect(after?.status).toMatchObject({
      capacity: { ...capacity, 'example.com/theirs': '3' },
      addresses: [{ type: 'Hostname', address: name }],
    });
    expect(after?.status?.addresses).toHaveLength(1);
    await expect.poll(() => lease(name), patience).toBeDefined();
    expect(await node.stop()).toEqual({ node: 'notOurs', lease: 'removed' });
    await nodes.delete({ name });
  });

  it('creates its node and its Lease again when they are deleted, and repairs what others made of its conditions', async () => {
    const name = uniqueName('node');
    await using node = nodeObject(name, { removeOnStop: true });
    node.start();
    await expect.poll(() => lease(name), patience).toBeDefined();
    const uid = (await stored(name))?.metadata?.uid;
    await nodes.delete({ name });
    const uidAfter = async (): Promise<string | undefined> => (await stored(name))?.metadata?.uid;
    await expect.poll(uidAfter, patience).not.toBe(uid);
    await expect.poll(uidAfter, patience).toBeDefined();
    const owner = async (): Promise<string | undefined> => (await lease(name))?.metadata?.ownerReferences?.[0]?.uid;
    const second = await uidAfter();
    await expect.poll(owner, patience).toBe(second);
    await new ResourceClient(transport, resources.leases).delete({ namespace, name });
    await expect.poll(owner, patience).toBe(second);

    const body = { status: { conditions: [{ type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown' }] } };
    await nodes.patch({ name, subresource: 'status' }, { type: 'application/strategic-merge-patch+json', body });
    await expect.poll(() => ready(name), patience).toBe('True');
    expect(node.explain()).toMatchObject({ registered: true, uid: second, nodeFailure: undefined, leaseFailure: undefined });
  });

  it('tells of a second agent under its name', async () => {
    const name = uniqueName('node');
    await using first = nodeObject(name, { removeOnStop: true, holderIdentity: 'first' });
    first.start();
    await expect.poll(() => lease(name), patience).toBeDefined();
    await using second = nodeObject(name, { holderIdentity: 'second' });
    second.start();
    await expect.poll(() => first.explain().rival?.holderIdentity, patience).toBe('second');
    await expect.poll(() => second.explain().rival?.holderIdentity, patience).toBe('first');
    await second.stop();
  });

  it('tells of an agent that runs under its name already, which process it is, and of one that has ended nothing', async () => {
    const name = uniqueName('node');
    const events: string[] = [];
    const eventRecorder: EventRecorder = { event: () => {}, nodeEvent: (_node, _type, reason) => void events.push(reason) };
    const options = { eventRecorder, leaseDurationSeconds: 40 };
    await using first = nodeObject(name, options);
    first.start();
    await expect.poll(() => first.explain().lastRenewAt, patience).toBeDefined();
    // a heartbeat has whole seconds: an agent that starts within one is found by its renewal
    await expect.poll(() => Date.now() - (first.explain().lastReportAt ?? 0), patience).toBeGreaterThan(1000);
    await using second = nodeObject(name, options);
    second.start();
    const agent = expect.stringContaining(`process ${process.pid} on ${hostname()}, started `);
    await expect.poll(() => first.explain().rival, patience).toMatchObject({ agent, isCertain: true });
    await expect.poll(() => second.explain().rival, patience).toMatchObject({ agent, isCertain: true });
    await expect.poll(() => events.filter((reason) => reason === 'TwoAgents'), patience).toHaveLength(2);
    await Promise.all([first.stop(), second.stop()]);

    await using third = nodeObject(name, { removeOnStop: true });
    third.start();
    await expect.poll(() => third.explain().lastRenewAt, patience).toBeDefined();
    expect(third.explain().rival).toBeUndefined();
  });
});
