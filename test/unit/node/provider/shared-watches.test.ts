import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KubeTransport } from '../../../../src/client/transport/kube-transport.ts';
import { type PodProvider, PodResolver, ProviderNode, SharedWatches } from '../../../../src/node.ts';
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
