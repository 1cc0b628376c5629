import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { resources } from '../../../../src/client/resources/api-resource.ts';
import { KubeTransport } from '../../../../src/client/transport/kube-transport.ts';
import { type PodProvider, PodResolver, ProviderNode, SharedWatches } from '../../../../src/node.ts';
import { Reflector } from '../../../../src/reflector.ts';
import { InMemoryApiServer } from '../../../../src/testing/apiserver/in-memory-apiserver.ts';
import { until } from '../../../support/until.ts';

let server: InMemoryApiServer;
let transport: KubeTransport;
beforeEach(async () => {
  server = await InMemoryApiServer.start();
  transport = new KubeTransport(server.kubeConfig(), { logger: null });
});
afterEach(async () => {
  await transport.close();
  await server.stop();
});

const provider = (): PodProvider => {
  const running = new Set<string>();
  return {
    createPod: (pod) => void running.add(pod.metadata.uid),
    deletePod: (pod) => void running.delete(pod.metadata.uid),
    getPodStatus: (pod) => (running.has(pod.metadata.uid) ? { phase: 'Running' } : undefined),
  };
};
const watches = (): number[] => ['pods', 'nodes', 'services'].map((resource) => server.countOpenWatches({ resource }));

describe('SharedWatches', () => {
  it('serves all nodes of a process with one watch of pods, one of nodes and one of services', async () => {
    const sharedWatches = new SharedWatches({ transport, logger: null });
    const names = ['n1', 'n2', 'n3'];
    const nodes = names.map(
      (nodeName) =>
        new ProviderNode({ transport, sharedWatches, nodeName, provider: provider(), logger: null, removeOnStop: true }),
    );
    await Promise.all(nodes.map((node) => node.start()));
    const containers = [{ name: 'app', image: 'app:1' }];
    for (const nodeName of names) server.store.create({ metadata: { name: `on-${nodeName}` }, spec: { nodeName, containers } });
    await until(() => server.store.list().every(({ status }) => status?.phase === 'Running'));
    expect([watches(), sharedWatches.readers]).toEqual([[1, 1, 1], 6]);
    expect(nodes.map((node) => node.podManager.getPods().length)).toEqual([1, 1, 1]);
    await nodes[0]?.stop();
    expect([watches(), sharedWatches.readers]).toEqual([[1, 1, 1], 4]);
    await Promise.all(nodes.map((node) => node.stop()));
    expect(sharedWatches.readers).toBe(0);
    await sharedWatches.stop();
    await until(() => watches().every((count) => count === 0));
  });

  it('begins its watches of pods and of nodes before there is a node, where it is told to, and once', async () => {
    const sharedWatches = new SharedWatches({ transport, logger: null });
    sharedWatches.start();
    await until(() => watches().join() === '1,1,0');
    sharedWatches.start();
    const node = new ProviderNode({ transport, sharedWatches, nodeName: 'n1', provider: provider(), logger: null });
    await node.start();
    expect(watches().slice(0, 2)).toEqual([1, 1]);
    await node.stop();
    await sharedWatches.stop();
    await until(() => watches().every((count) => count === 0));
  });

  it('watches pods that have a node, and gives each reader the events of its own node, no others', async () => {
    const asked: (string | undefined)[] = [];
    const seen: Pick<KubeTransport, 'request' | 'stream'> = {
      request: (request) => transport.request(request),
      stream: (stream) => {
        asked.push(`${stream.path} ${stream.query?.get('fieldSelector') ?? ''}`);
        return transport.stream(stream);
      },
    };
    const sharedWatches = new SharedWatches({ transport: seen, logger: null });
    const nodes = server.objects(resources.nodes);
    for (const name of ['n1', 'n2']) nodes.create({ metadata: { name } });
    const told: string[] = [];
    const tell = ({ metadata }: { metadata?: { name?: string } }): void => void told.push(metadata?.name ?? '');
    const handlers = { added: tell, updated: tell, deleted: tell };
    const ofNode = { resource: resources.nodes, fieldSelector: 'metadata.name=n1', handlers, logger: null };
    const ofPods = { resource: resources.pods, fieldSelector: 'spec.nodeName=n1', handlers, logger: null };
    const reflectors = [
      new Reflector({ ...ofNode, transport: sharedWatches.nodeOf('n1', transport) }),
      new Reflector({ ...ofPods, transport: sharedWatches.podsOf('n1', transport) }),
    ];
    await Promise.all(reflectors.map((reflector) => reflector.start()));
    await until(() => watches().join() === '1,1,0');
    expect(asked.toSorted()).toEqual(['/api/v1/nodes ', '/api/v1/pods spec.nodeName!=']);
    const containers = [{ name: 'app', image: 'app:1' }];
    for (const nodeName of ['n2', 'n1']) {
      nodes.patch({ name: nodeName }, { type: 'application/merge-patch+json', body: { metadata: { labels: { a: 'b' } } } });
      server.store.create({ metadata: { name: `on-${nodeName}` }, spec: { nodeName, containers } });
    }
    await until(() => told.length === 3);
    expect(told.toSorted()).toEqual(['n1', 'n1', 'on-n1']);
    await Promise.all(reflectors.map((reflector) => reflector.stop()));
    await sharedWatches.stop();
  });

  it.each<[RegExp, object]>([
    [/transport/, { transport: { request: () => {} } }],
    [/clock/, { clock: {} }],
    [/metrics/, { metrics: {} }],
    [/random/, { random: 1 }],
    [/unknown/, { unknown: 1 }],
  ])('refuses an option that breaks its rule: %s', (rule, broken) => {
    const make = (): SharedWatches => new SharedWatches({ transport, logger: null, ...broken } as never);
    expect(make).toThrow(expect.objectContaining({ code: 'ERR_INVALID_OPTION', message: expect.stringMatching(rule) }));
  });

  it('refuses what is no shared watches, and a namespace beside them', () => {
    const options = { transport, nodeName: 'n1', provider: provider(), logger: null };
    const sharedWatches = new SharedWatches({ transport });
    const refused = (rule: RegExp) =>
      expect.objectContaining({ code: 'ERR_INVALID_OPTION', message: expect.stringMatching(rule) });
    expect(() => new ProviderNode({ ...options, sharedWatches: {} as never })).toThrow(refused(/sharedWatches/));
    expect(() => new ProviderNode({ ...options, sharedWatches, namespace: 'a' })).toThrow(refused(/namespace/));
    expect(() => new PodResolver({ transport, sharedWatches: {} as never })).toThrow(refused(/sharedWatches/));
    expect(() => new SharedWatches({ transport: {} as never })).toThrow(refused(/transport/));
    expect(() => sharedWatches.podsOf('no name', transport)).toThrow(refused(/nodeName/));
  });
});
