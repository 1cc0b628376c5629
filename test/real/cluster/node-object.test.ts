import { KubeConfig } from '@kubernetes/client-node';
import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { KubeTransport } from '../../../src/index.ts';
import { NodeObject, type NodeObjectOptions } from '../../../src/node.ts';
import { AdminClient } from '../../support/admin-client.ts';
import { nodeName } from '../../support/control-plane/layout.ts';

/** A kubeconfig of the node: user system:node:NAME, group system:nodes. */
function configOf(context?: string): KubeConfig {
  const config = new KubeConfig();
  config.loadFromString(inject('controlPlaneKubeconfig'));
  if (context !== undefined) config.setCurrentContext(context);
  return config;
}

const admin = new AdminClient(configOf());
const path = `/api/v1/nodes/${nodeName}`;
afterAll(() => admin.close());
beforeEach(async () => {
  await admin.send('DELETE', path);
  await admin.send('DELETE', `/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${nodeName}`);
});

const patience = { timeout: 20_000 };

function nodeObject(transport: KubeTransport, options: Partial<NodeObjectOptions> = {}): NodeObject {
  const capacity = { cpu: '4', memory: '8Gi', pods: '110' };
  return new NodeObject({
    logger: null,
    transport,
    nodeName,
    capacity,
    statusUpdateFrequencyMs: 200,
    leaseDurationSeconds: 2,
    ...options,
  });
}

describe('with the credentials of a node, under the Node authorizer and NodeRestriction', () => {
  it('a node registers with taints, keeps its status and its Lease, and may delete its Lease alone', async () => {
    await using transport = new KubeTransport(configOf('node'));
    let isReady = false;
    const taints = [{ key: 'example.com/virtual', effect: 'NoSchedule' }];
    const labels = { 'topology.kubernetes.io/zone': 'z', 'node.kubernetes.io/kind': 'k', 'example.com/a': 'b' };
    const node = nodeObject(transport, { removeOnStop: true, readiness: () => ({ ready: isReady }), taints, labels });
    node.start();
    await node.registered();
    isReady = true;
    node.changed();
    const served = async () => (await admin.send('GET', path)).body;
    const conditions = [{}, {}, {}, { type: 'Ready', status: 'True' }];
    await expect.poll(served, patience).toMatchObject({ metadata: { labels }, status: { conditions } });
    expect(await served()).toMatchObject({ spec: { taints: [taints[0], { key: 'node.kubernetes.io/not-ready' }] } });
    await expect.poll(() => node.explain().lastRenewAt, patience).toBeDefined();
    expect(node.explain()).toMatchObject({ nodeFailure: undefined, leaseFailure: undefined, rival: undefined });
    expect(await node.stop()).toEqual({ node: 'failed', lease: 'removed' });
    expect((await admin.send('GET', path)).status).toBe(200);
  });

  it('a node that an administrator has labelled and tainted is taken over, and that of another restart too', async () => {
    const own = { key: 'theirs', effect: 'NoExecute' };
    const body = { metadata: { name: nodeName, labels: { 'node-role.kubernetes.io/x': '' } }, spec: { taints: [own] } };
    await admin.send('POST', '/api/v1/nodes', { body });
    await using transport = new KubeTransport(configOf('node'));
    await using node = nodeObject(transport, { labels: { 'kubernetes.io/hostname': 'mine' } });
    node.start();
    const served = async () => (await admin.send('GET', path)).body;
    const labels = { 'node-role.kubernetes.io/x': '', 'kubernetes.io/hostname': 'mine' };
    await expect.poll(served, patience).toMatchObject({ metadata: { labels }, status: { conditions: [{}, {}, {}, {}] } });
    expect(node.explain().nodeFailure).toBeUndefined();
  });

  it('labels that a node may not give itself are named by the failure, and the node is not created', async () => {
    await using transport = new KubeTransport(configOf('node'));
    await using node = nodeObject(transport, { labels: { 'node-role.kubernetes.io/x': '' } });
    node.start();
    await expect
      .poll(() => node.explain().nodeFailure, patience)
      .toMatchObject({
        errorClass: 'forbidden',
        error: { status: 403, message: expect.stringContaining('node-role.kubernetes.io/x') },
      });
    expect((await admin.send('GET', path)).status).toBe(404);
  });
});
