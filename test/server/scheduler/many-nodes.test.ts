import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KubeTransport } from '../../../src/client/transport/kube-transport.ts';
import { ProviderNode } from '../../../src/node/provider/provider-node.ts';
import { startTestServer, type TestServer } from '../../support/servers.ts';
import { MapProvider } from '../provider/provider-fixture.ts';
import { placementProblems } from './placement-record.ts';
import { Schedulers } from './schedulers.ts';
import { WantedPods } from './wanted-pods.ts';

const nodeCount = 100;
const room = 4;
const podCount = 300;
const drainedCount = 20;
const addedCount = 6;

let server: TestServer;
let namespace: string;

beforeAll(async () => {
  server = await startTestServer();
  namespace = await server.admin.createNamespace('scheduler');
});
afterAll(() => server.stop());

/** Nodes that take the pods of this test alone, with their agents. */
class Nodes implements AsyncDisposable {
  readonly #transport = new KubeTransport(server.kubeConfig(), { connections: 32, logger: null });
  readonly #nodes: { readonly name: string; readonly node: ProviderNode; readonly provider: MapProvider }[] = [];

  async add(count: number): Promise<string[]> {
    const added = Array.from({ length: count }, (_, index) => {
      const [name, provider] = [`${namespace}-${this.#nodes.length + index}`, new MapProvider()];
      const node = new ProviderNode({
        ...{ transport: this.#transport, nodeName: name, provider, logger: null, taints: [], removeOnStop: true },
        capacity: { cpu: String(room), memory: '8Gi', pods: '110' },
        labels: { 'example.com/test': namespace },
        pods: { pollIntervalMs: 1000 },
      });
      return { name, node, provider };
    });
    this.#nodes.push(...added);
    await Promise.all(added.map(({ node }) => node.start()));
    return added.map(({ name }) => name);
  }

  /** The pods that each agent has created. */
  created(): Map<string, string[]> {
    const creations = (calls: readonly string[]) =>
      calls.filter((call) => call.startsWith('createPod ')).map((call) => call.slice(10));
    return new Map(this.#nodes.map(({ name, provider }) => [name, creations(provider.calls)]));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#nodes.map(({ node }) => node.stop()));
    await this.#transport.close();
  }
}

describe('schedulers of a cluster of 100 nodes', () => {
  it('leave no pod and bind none twice, whoever is killed, drained and added', { timeout: 180_000 }, async () => {
    await using nodes = new Nodes();
    await using schedulers = new Schedulers(server, namespace);
    const names = await nodes.add(nodeCount);
    await Promise.all(['first', 'second'].map((identity) => schedulers.start(identity)));
    const wanted = await WantedPods.follow(server, namespace, {
      schedulerName: schedulers.schedulerName,
      nodeSelector: { 'example.com/test': namespace },
      // no controller takes this taint from a node that is ready
      tolerations: [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists' }],
      containers: [{ name: 'main', image: 'example.test/main:1', resources: { requests: { cpu: '1' } } }],
    });
    const bound = () => wanted.live().filter(({ node }) => node !== undefined && !wanted.drained.has(node)).length;
    const allReady = () => {
      const live = wanted.live();
      return live.length === podCount && live.every(({ node = '', isReady }) => isReady && !wanted.drained.has(node));
    };

    // the leader is killed while the pods come
    await wanted.create(podCount / 3);
    const rest = wanted.create((podCount * 2) / 3);
    await wanted.until(() => bound() >= podCount / 4);
    const [firstLeader] = await Promise.all([schedulers.killLeader(), rest]);
    await Promise.all([schedulers.start('third'), wanted.until(allReady)]);

    // the next one is killed while nodes are drained and others come
    const drained = wanted.drain(names.slice(0, drainedCount));
    await wanted.until(() => wanted.drained.size === drainedCount && bound() < podCount - 5);
    const [secondLeader] = await Promise.all([schedulers.killLeader(), drained, nodes.add(addedCount)]);
    await wanted.until(allReady);

    expect([firstLeader, secondLeader, await schedulers.leader()].toSorted()).toEqual(['first', 'second', 'third']);
    const { sightings, drained: cordoned } = wanted;
    const record = { sightings, created: nodes.created(), room, wanted: podCount, drained: cordoned };
    expect(placementProblems(record)).toEqual([]);
    expect(new Set(sightings.map(({ pod }) => pod)).size).toBeGreaterThanOrEqual(podCount + drainedCount);
  });
});
