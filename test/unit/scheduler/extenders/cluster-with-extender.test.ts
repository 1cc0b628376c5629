import { describe, expect, it } from 'vitest';
import { KubeTransport } from '../../../../src/index.ts';
import { resources } from '../../../../src/reflector.ts';
import { ClusterScheduler } from '../../../../src/scheduler.ts';
import { InMemoryApiServer } from '../../../../src/testing.ts';
import { type Asked, extenderServer } from './extender-world.ts';

const spec = { containers: [{ name: 'app', image: 'app:1' }] };

describe('a scheduler of a cluster with an extender', () => {
  it('sends objects as the server has them, and believes the binding that the extender makes', async () => {
    await using server = await InMemoryApiServer.start();
    await using transport = new KubeTransport(server.kubeConfig());
    const bind = async ({ body: { PodName, PodNamespace, PodUID, Node } }: Asked) => {
      const path = `/api/v1/namespaces/${PodNamespace}/pods/${PodName}/binding`;
      const metadata = { name: PodName, namespace: PodNamespace, uid: PodUID };
      const binding = { apiVersion: 'v1', kind: 'Binding', metadata, target: { kind: 'Node', name: Node } };
      await transport.request({ method: 'POST', path, body: binding });
      return {};
    };
    const filter = ({ nodes }: Asked) => ({ Nodes: { items: nodes.slice(1).map((name) => ({ metadata: { name } })) } });
    await using extender = await extenderServer({ filter, bind });
    const nodes = server.objects(resources.nodes);
    for (const name of ['n1', 'n2']) {
      const made = nodes.create({ metadata: { name }, status: { allocatable: { cpu: '4', memory: '8Gi', pods: '10' } } });
      nodes.update({ ...made, spec: {} });
    }
    const created = server.store.create({ metadata: { name: 'web' }, spec });
    const extenders = [{ urlPrefix: extender.url, filterVerb: 'filter', bindVerb: 'bind' }];
    const options = { kubeConfig: server.kubeConfig(), leaderElection: false, logger: null, extenders } as const;
    await using scheduler = new ClusterScheduler(options);
    await scheduler.start();
    await scheduler.flush();
    expect(server.store.get('default', 'web').spec?.nodeName).toBe(extender.asked[0]?.nodes[1]);
    expect(extender.verbs()).toEqual(['filter web', 'bind web']);
    expect(scheduler.stats()).toMatchObject({ bound: 1, failedAttempts: 0 });
    const { Pod, Nodes } = extender.asked[0]?.body as { readonly Pod: object; readonly Nodes: { readonly items: object[] } };
    const { kind: _kind, apiVersion: _version, ...sent } = created;
    expect(Pod).toEqual(sent);
    expect([Pod, ...Nodes.items].filter((object) => 'kind' in object || 'apiVersion' in object)).toEqual([]);
  });
});
