import { KubeConfig } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { KubeTransport, type WirePod } from '../../../src/index.ts';
import { ClusterScheduler } from '../../../src/scheduler.ts';
import { AdminClient } from '../../support/admin-client.ts';
import { podOf } from '../../support/answers.ts';
import { type Asked, extenderServer } from '../../unit/scheduler/extenders/extender-world.ts';
import { RoleUsers } from './role-users.ts';
import { noteRights } from './used-rights.ts';

const nodeNames = ['extended-a', 'extended-b', 'extended-c'];
const extenderUser = 'device-extender';
const rbac = 'rbac.authorization.k8s.io';
/** All that an extender needs which binds. */
const extenderRights = [
  { kind: 'ClusterRole', rules: [{ apiGroups: [''], resources: ['pods/binding'], verbs: ['create'] }] },
  {
    kind: 'ClusterRoleBinding',
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: extenderUser },
    subjects: [{ kind: 'ServiceAccount', name: extenderUser, namespace: 'kube-system' }],
  },
].map((object) => ({ apiVersion: `${rbac}/v1`, metadata: { name: extenderUser }, ...object }));

let admin: AdminClient;
let namespace: string;
let roles: RoleUsers;

beforeAll(async () => {
  const adminConfig = new KubeConfig();
  adminConfig.loadFromString(inject('controlPlaneKubeconfig'));
  admin = new AdminClient(adminConfig);
  roles = new RoleUsers(admin, adminConfig);
  namespace = await admin.createNamespace('extended');
  const status = { allocatable: { cpu: '4', memory: '8Gi', pods: '10' } };
  for (const name of nodeNames) await admin.send('POST', '/api/v1/nodes', { body: { metadata: { name }, status } });
});
afterAll(async () => {
  for (const name of nodeNames) await admin.send('DELETE', `/api/v1/nodes/${name}`);
  await admin.close();
});

async function create(name: string): Promise<void> {
  const tolerations = [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists' }];
  const containers = [{ name: 'app', image: 'app:1', resources: { requests: { cpu: '1' } } }];
  podOf(await admin.createPod(namespace, { metadata: { name }, spec: { schedulerName: namespace, tolerations, containers } }));
}

const read = async (name: string): Promise<WirePod> => podOf(await admin.getPod(namespace, name)) as WirePod;

/** An extender that leaves two nodes, likes the last one most, and binds with rights of its own. `refuses` are pods that it places nowhere. */
async function startExtender(refuses: ReadonlySet<string>) {
  await roles.apply([
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: extenderUser, namespace: 'kube-system' } },
    ...extenderRights,
  ]);
  const transport = new KubeTransport(await roles.configOf(extenderUser), { logger: null });
  const bind = async ({ body: { PodName, PodNamespace, PodUID, Node } }: Asked): Promise<object> => {
    const metadata = { name: PodName, namespace: PodNamespace, uid: PodUID };
    const body = { apiVersion: 'v1', kind: 'Binding', metadata, target: { kind: 'Node', name: Node } };
    await transport.request({ method: 'POST', path: `/api/v1/namespaces/${PodNamespace}/pods/${PodName}/binding`, body });
    return {};
  };
  const filter = ({ pod, nodes }: Asked): object => {
    if (refuses.has(pod))
      return { Nodes: { items: [] }, FailedNodes: Object.fromEntries(nodes.map((name) => [name, 'no device'])) };
    const left = nodes.filter((name) => nodeNames.slice(1).includes(name));
    return { Nodes: { items: left.map((name) => ({ metadata: { name } })) } };
  };
  const prioritize = ({ nodes }: Asked): object[] => nodes.map((name) => ({ Host: name, Score: name === nodeNames[2] ? 10 : 0 }));
  const server = await extenderServer({ filter, prioritize, bind });
  const dispose = async (): Promise<void> => {
    await server[Symbol.asyncDispose]();
    await transport.close();
  };
  return { ...server, [Symbol.asyncDispose]: dispose };
}

describe('a scheduler with the rights of deploy/scheduler-rbac.yaml and an extender', () => {
  it('places pods where the extender leaves and likes them, and lets it bind them', async () => {
    await roles.applyFile('scheduler-rbac.yaml');
    await using transport = new KubeTransport(await roles.configOf('pod-status-manager-scheduler'), { logger: null });
    const used = noteRights(transport);
    const refuses = new Set(['picky']);
    await using extender = await startExtender(refuses);
    const failures: string[] = [];
    const note = (fields: object): unknown => 'err' in fields && failures.push(String(fields.err));
    await using scheduler = new ClusterScheduler({
      transport,
      leaderElection: false,
      profiles: [{ schedulerName: namespace }],
      extenders: [
        {
          urlPrefix: extender.url,
          ...{ filterVerb: 'filter', prioritizeVerb: 'prioritize', weight: 5, bindVerb: 'bind', httpTimeout: '30s' },
        },
      ],
      logger: { debug: note, info: () => {}, warn: note, error: note },
    });
    await scheduler.start();
    await create('web');
    const nodeOf = async (name: string): Promise<string | undefined> => (await read(name)).spec?.nodeName;
    await expect.poll(() => nodeOf('web'), { timeout: 60_000 }).toBe(nodeNames[2]);
    await scheduler.flush();
    expect(extender.verbs()).toEqual(['filter web', 'prioritize web', 'bind web']);
    const { uid } = (await read('web')).metadata ?? {};
    const [asked] = extender.asked;
    expect(asked?.body).toMatchObject({ Pod: { metadata: { name: 'web', namespace, uid } }, NodeNames: null });
    expect(asked?.nodes).toEqual(expect.arrayContaining(nodeNames));

    await create('picky');
    const condition = async () => (await read('picky')).status?.conditions?.find(({ type }) => type === 'PodScheduled');
    await expect.poll(condition, { timeout: 60_000 }).toMatchObject({ status: 'False', reason: 'Unschedulable' });
    expect((await condition())?.message).toContain('no device');
    refuses.clear();
    // any change in the cluster has it tried again
    await admin.patch(`/api/v1/nodes/${nodeNames[0]}/status`, { status: { allocatable: { cpu: '5' } } }, 'merge');
    await expect.poll(() => nodeOf('picky'), { timeout: 60_000 }).toBe(nodeNames[2]);
    await scheduler.flush();
    expect(scheduler.stats()).toMatchObject({ bound: 2 });
    expect(scheduler.snapshot().problems).toEqual([]);
    expect(failures.filter((failure) => /forbidden/.test(failure))).toEqual([]);
    // the extender has bound them
    expect([...used].filter((right) => right.includes('binding'))).toEqual([]);
  });
});
