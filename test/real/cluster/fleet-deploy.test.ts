import { readFile } from 'node:fs/promises';
import { KubeConfig, loadAllYaml } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { JsonObject } from '../../../src/api/json/types.ts';
import { NodeFleet } from '../../../src/fleet.ts';
import { KubeTransport } from '../../../src/index.ts';
import { AdminClient } from '../../support/admin-client.ts';
import { noteRights, rightsOf } from './used-rights.ts';

const namespace = 'pod-status-manager-fleet';
const provider = () => ({ createPod() {}, deletePod() {}, getPodStatus: () => undefined });
const nodes = Array.from({ length: 6 }, (_, index) => `deployed-${index}`);
let admin: AdminClient;
let adminConfig: KubeConfig;

beforeAll(() => {
  adminConfig = new KubeConfig();
  adminConfig.loadFromString(inject('controlPlaneKubeconfig'));
  admin = new AdminClient(adminConfig);
});
afterAll(() => admin.close());

async function objectsOf(name: string): Promise<JsonObject[]> {
  return loadAllYaml(await readFile(new URL(`../../../deploy/${name}`, import.meta.url), 'utf8')) as JsonObject[];
}

function collectionOf({ apiVersion, kind, metadata }: JsonObject): string {
  const { namespace } = (metadata ?? {}) as { namespace?: string };
  const group = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`;
  const plural = `${String(kind).toLowerCase()}s`;
  return namespace === undefined ? `${group}/${plural}` : `${group}/namespaces/${namespace}/${plural}`;
}

/** The apiserver takes every field, and knows it. */
async function applyStrictly(name: string): Promise<void> {
  for (const object of await objectsOf(name)) {
    const { status, body, headers } = await admin.send('POST', collectionOf(object), {
      body: object,
      query: { fieldValidation: 'Strict' },
    });
    expect([[201, 409].includes(status), status === 409 ? undefined : headers.warning, body]).toEqual([true, undefined, body]);
  }
}

/** A kubeconfig of the service account of the files. */
async function ownConfig(): Promise<KubeConfig> {
  const path = '/api/v1/namespaces/kube-system/serviceaccounts/pod-status-manager/token';
  const { body } = await admin.send('POST', path, { body: { spec: { expirationSeconds: 3600 } } });
  const { token } = (body as { status: { token: string } }).status;
  const cluster = adminConfig.getCurrentCluster();
  const config = new KubeConfig();
  config.loadFromOptions({
    clusters: [cluster],
    users: [{ name: 'agent', token }],
    contexts: [{ name: 'agent', cluster: cluster?.name, user: 'agent' }],
    currentContext: 'agent',
  });
  return config;
}

describe('deploy/fleet.yaml', () => {
  it('is enough for a fleet whose members come and go, and all of its rights are used', async () => {
    for (const name of ['rbac.yaml', 'flow-schema.yaml', 'fleet.yaml']) await applyStrictly(name);
    const kubeConfig = await ownConfig();
    await using transport = new KubeTransport(kubeConfig, { logger: null });
    const used = noteRights(transport);
    const options = {
      transport,
      name: 'deployed',
      namespace,
      shards: 4,
      nodes,
      provider,
      nodeOptions: { rawPods: true },
      logger: null,
    } as const;
    const [one, two] = [new NodeFleet({ ...options, id: 'one' }), new NodeFleet({ ...options, id: 'two' })];
    await one.start({ timeoutMs: 20_000 });
    await expect.poll(() => one.snapshot().nodeCounts.running, { timeout: 30_000 }).toBe(nodes.length);
    await two.start({ timeoutMs: 20_000 });
    await expect.poll(() => two.snapshot().nodeCounts.running, { timeout: 40_000 }).toBeGreaterThan(0);
    expect((await one.stop()).leftToRunOut).toBe(0);
    await expect.poll(() => two.snapshot().nodeCounts.running, { timeout: 40_000 }).toBe(nodes.length);
    expect(two.snapshot().problems).toEqual([]);
    await two.stop();
    const role = (await objectsOf('fleet.yaml')).find(({ kind }) => kind === 'Role') as unknown as { rules: [] };
    expect(rightsOf(role.rules).filter((right) => !used.has(right))).toEqual([]);
    await Promise.all(nodes.map((name) => admin.send('DELETE', `/api/v1/nodes/${name}`)));
  });

  it("sends the Leases of nodes to the kubelets' level, and leaves its own on that of elections", async () => {
    for (const name of ['rbac.yaml', 'fleet.yaml']) await applyStrictly(name);
    const level = async (namespace: string): Promise<string> => {
      const agent = new AdminClient(await ownConfig());
      const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
      const lease = { metadata: { name: 'level' }, spec: { holderIdentity: 'a' } };
      const { headers } = await agent.send('POST', path, { body: lease });
      await agent.send('DELETE', `${path}/level`);
      await agent.close();
      const all = await admin.send('GET', '/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations');
      const { items } = all.body as { items: { metadata: { name: string; uid: string } }[] };
      return items.find(({ metadata }) => metadata.uid === headers['x-kubernetes-pf-prioritylevel-uid'])?.metadata.name ?? '';
    };
    // the apiserver takes up a new flow schema within a second or two
    await expect.poll(() => level('kube-node-lease'), { timeout: 30_000, interval: 500 }).toBe('node-high');
    expect(await level(namespace)).toBe('leader-election');
  });

  it('gives a member more time to go than it takes', async () => {
    const deployment = (await objectsOf('fleet.yaml')).find(({ kind }) => kind === 'Deployment');
    const { terminationGracePeriodSeconds } = (
      deployment as { spec: { template: { spec: { terminationGracePeriodSeconds: number } } } }
    ).spec.template.spec;
    const stopMs = 25_000; // the default of StopFleetOptions.timeoutMs
    expect(terminationGracePeriodSeconds * 1000).toBeGreaterThanOrEqual(stopMs + 5_000);
  });
});
