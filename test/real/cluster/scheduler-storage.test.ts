import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject, WirePersistentVolume, WirePersistentVolumeClaim } from '../../../src/api/json/types.ts';
import { ClusterScheduler } from '../../../src/scheduler.ts';
import { objectOf, podOf } from '../../support/answers.ts';
import { pollUntil } from '../../support/poll-until.ts';
import { zoneLabel } from '../../support/storage/storage-record.ts';
import { StorageServers } from '../../support/storage/storage-servers.ts';
import { claimJson, makerName, VolumeMaker, zonalVolume } from '../../support/storage/volume-maker.ts';
import { RoleUsers } from './role-users.ts';

const namespace = 'claimed';
const zones = ['a', 'b', 'c'];
const zoneOfNode: ReadonlyMap<string, string> = new Map(
  zones.flatMap((zone) => [1, 2, 3].map((number) => [`${zone}-${number}`, zone] as const)),
);
/** Takes the pods that name it alone. */
const smallNode = 'small';
const countedMaker = 'counted.test.example.com';
const patience = { withinMs: 30_000 };

let servers: StorageServers;
let makers: VolumeMaker[];
let scheduler: ClusterScheduler;
const forbidden: string[] = [];
/** The node that the claim `refused` gets no volume on. */
let refusedNode: string | undefined;

beforeAll(async () => {
  servers = await StorageServers.start();
  const { admin } = servers;
  await admin.send('POST', '/api/v1/namespaces', { body: { metadata: { name: namespace } } });
  const status = { allocatable: { cpu: '100', memory: '8Gi', pods: '100' } };
  for (const [name, zone] of zoneOfNode)
    await servers.create('Node', { metadata: { name, labels: { [zoneLabel]: zone } }, status });
  const taints = [{ key: 'small', effect: 'NoSchedule' }];
  await servers.create('Node', { metadata: { name: smallNode, labels: { [zoneLabel]: 'a' } }, spec: { taints }, status });
  const classes: Readonly<Record<string, string>> = {
    there: 'kubernetes.io/no-provisioner',
    made: makerName,
    counted: countedMaker,
    nobody: 'nobody.test.example.com',
  };
  for (const [name, provisioner] of Object.entries(classes)) {
    await servers.create('StorageClass', { metadata: { name }, provisioner, volumeBindingMode: 'WaitForFirstConsumer' });
  }
  const refuses = (claim: string, nodeName: string): boolean => {
    if (claim !== 'refused') return false;
    refusedNode ??= nodeName;
    return nodeName === refusedNode;
  };
  const places = new Map([...zoneOfNode, [smallNode, 'a']]);
  makers = [makerName, countedMaker].map((name) => new VolumeMaker({ admin, zoneOfNode: places, name, refuses }));
  scheduler = await startScheduler();
});
afterAll(async () => {
  await scheduler.stop();
  await Promise.all(makers.map((maker) => maker[Symbol.asyncDispose]()));
  await servers[Symbol.asyncDispose]();
});

/** With the rights of deploy/scheduler-rbac.yaml. Pods of `hasty` wait a second for their volumes. */
async function startScheduler(): Promise<ClusterScheduler> {
  const roles = new RoleUsers(servers.admin, servers.kubeConfig());
  await roles.applyFile('scheduler-rbac.yaml');
  const note = ({ err }: { readonly err?: unknown }): void => {
    if (/forbidden/.test(String(err))) forbidden.push(String(err));
  };
  const started = new ClusterScheduler({
    kubeConfig: await roles.configOf('pod-status-manager-scheduler'),
    profiles: [
      { schedulerName: 'default-scheduler' },
      { schedulerName: 'hasty', pluginConfig: [{ name: 'VolumeBinding', args: { bindTimeoutSeconds: 1 } }] },
    ],
    logger: { debug: note, info: note, warn: note, error: note },
  });
  await started.start();
  return started;
}

async function createClaim(name: string, className: string, more: JsonObject = {}): Promise<void> {
  const path = `/api/v1/namespaces/${namespace}/persistentvolumeclaims`;
  objectOf(await servers.admin.send('POST', path, { body: claimJson(name, className, more) }));
}

async function createPod(name: string, volumes: readonly JsonObject[], more: JsonObject = {}): Promise<string> {
  const tolerations = [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists' }];
  const spec = { terminationGracePeriodSeconds: 0, tolerations, containers: [{ name: 'app', image: 'app:1' }] };
  const pod = { metadata: { name }, spec: { ...spec, volumes: [...volumes], ...more } };
  return podOf(await servers.admin.createPod(namespace, pod)).metadata.uid;
}

/** A pod with new claims of these classes, named after it. */
async function createPodWithClaims(name: string, ...classes: readonly string[]): Promise<void> {
  const names = classes.map((_, index) => (index === 0 ? name : `${name}-${index + 1}`));
  for (const [index, className] of classes.entries()) await createClaim(names[index] ?? '', className);
  await createPod(name, names.map(useOf));
}

function useOf(claimName: string): JsonObject {
  return { name: claimName, persistentVolumeClaim: { claimName } };
}

async function claimOf(name: string): Promise<WirePersistentVolumeClaim> {
  return objectOf(await servers.admin.send('GET', `/api/v1/namespaces/${namespace}/persistentvolumeclaims/${name}`));
}

async function volumeOf(claimName: string): Promise<WirePersistentVolume> {
  const { spec } = await claimOf(claimName);
  return objectOf(await servers.admin.send('GET', `/api/v1/persistentvolumes/${spec?.volumeName}`));
}

function zoneOf({ spec }: WirePersistentVolume): string | undefined {
  return spec?.nodeAffinity?.required?.nodeSelectorTerms[0]?.matchExpressions?.[0]?.values?.[0];
}

/** The zone of the pod's node, once it has one. */
async function zoneOfBound(podName: string): Promise<string> {
  const node = await nodeOfBound(podName);
  return node === smallNode ? 'a' : (zoneOfNode.get(node) ?? '');
}

function nodeOfBound(podName: string): Promise<string> {
  const fact = async () => podOf(await servers.admin.getPod(namespace, podName)).spec.nodeName ?? false;
  const seen = (): unknown => scheduler.snapshot().notes;
  return pollUntil(`${podName} is bound`, fact, { ...patience, seen });
}

/** What the pod's condition says once it says this. */
async function pends(podName: string, words: string): Promise<string> {
  let message = '';
  const fact = async (): Promise<boolean> => {
    const { status } = podOf(await servers.admin.getPod(namespace, podName));
    message = status.conditions?.find(({ type }) => type === 'PodScheduled')?.message ?? '';
    return message.includes(words);
  };
  await pollUntil(`${podName} is told of ${words}`, fact, { ...patience, seen: () => message });
  return message;
}

describe('a scheduler with the rights of deploy/scheduler-rbac.yaml, beside the real controller of volumes', () => {
  it('places pods where volumes for their claims are, and a pod without one once there is one', async () => {
    for (const zone of zones)
      await servers.create('PersistentVolume', zonalVolume(`there-${zone}`, { zone, storageClassName: 'there' }));
    for (const number of [1, 2, 3]) await createPodWithClaims(`first-${number}`, 'there');
    const placed = await Promise.all([1, 2, 3].map((number) => zoneOfBound(`first-${number}`)));
    expect(placed.toSorted()).toEqual(zones);
    for (const [index, zone] of placed.entries()) {
      const claim = await claimOf(`first-${index + 1}`);
      expect([claim.status?.phase, claim.spec?.volumeName]).toEqual(['Bound', `there-${zone}`]);
    }

    await createPodWithClaims('late', 'there');
    await pends('late', "9 node(s) didn't find available persistent volumes to bind");
    await servers.create('PersistentVolume', zonalVolume('there-late', { zone: 'b', storageClassName: 'there' }));
    expect(await zoneOfBound('late')).toBe('b');
  });

  it('has volumes made in the zones of the nodes, also beside one that is there', async () => {
    await createPodWithClaims('new', 'made');
    expect(zoneOf(await volumeOfBound('new'))).toBe(await zoneOfBound('new'));
    await servers.create('PersistentVolume', zonalVolume('there-both', { zone: 'c', storageClassName: 'there' }));
    await createPodWithClaims('both', 'made', 'there');
    expect(await zoneOfBound('both')).toBe('c');
    expect([zoneOf(await volumeOf('both')), (await volumeOf('both-2')).metadata?.name]).toEqual(['c', 'there-both']);
  });

  it('lets a bound claim lead its next pod', async () => {
    await createPodWithClaims('leads', 'made');
    const zone = await zoneOfBound('leads');
    const names = [1, 2, 3, 4].map((number) => `led-${number}`);
    for (const name of names) await createPod(name, [useOf('leads')]);
    expect(await Promise.all(names.map(zoneOfBound))).toEqual(names.map(() => zone));
    const others = [...zoneOfNode.keys()].filter((name) => zoneOfNode.get(name) !== zone);
    await createPod('cannot', [useOf('leads')], { affinity: onNodes(others) });
    expect(await pends('cannot', '6 node(s) didn')).toContain("6 node(s) didn't match PersistentVolume's node affinity");
  });

  it('tries a pod again whose volume cannot be made on its node, and places it elsewhere once that node takes no pods', async () => {
    await createPodWithClaims('refused', 'made');
    // the node may be the best one for the pod again
    const refusals = () => makers[0]?.refused.length ?? 0;
    await pollUntil('the volume is refused', () => refusals() > 0, patience);
    await pends('refused', 'provisioning failed for PVC "refused"');
    await servers.admin.patch(`/api/v1/nodes/${refusedNode}`, { spec: { unschedulable: true } }, 'merge');
    const node = await nodeOfBound('refused');
    expect([refusedNode === undefined, node === refusedNode]).toEqual([false, false]);
    expect(zoneOf(await volumeOf('refused'))).toBe(zoneOfNode.get(node));
    await servers.admin.patch(`/api/v1/nodes/${refusedNode}`, { spec: { unschedulable: null } }, 'merge');
  });

  it('waits for the claim that is made for an ephemeral volume', async () => {
    const volumeClaimTemplate = { spec: claimJson('', 'made').spec } as JsonObject;
    await createPod('brief', [{ name: 'data', ephemeral: { volumeClaimTemplate } }]);
    expect(zoneOf(await volumeOfBound('brief-data'))).toBe(await zoneOfBound('brief'));
  });

  it('gives a claim of ReadWriteOncePod to one pod after the other', async () => {
    await createClaim('single', 'made', { accessModes: ['ReadWriteOncePod'] });
    await createPod('has-it', [useOf('single')]);
    await nodeOfBound('has-it');
    await createPod('wants-it', [useOf('single')]);
    await pends('wants-it', 'ReadWriteOncePod access mode already in-use by another pod');
    await servers.admin.deletePod(namespace, 'has-it', { gracePeriodSeconds: 0 });
    expect(await zoneOfBound('wants-it')).toBe(zoneOf(await volumeOf('single')));
  });

  it('has no more volumes on a node than its CSINode allows', async () => {
    const driver = { name: makerName, nodeID: smallNode, allocatable: { count: 1 } };
    const csiNode = await servers.create('CSINode', { metadata: { name: smallNode }, spec: { drivers: [driver] } });
    const onSmall = {
      affinity: onNodes([smallNode]),
      tolerations: [{ operator: 'Exists' }],
    };
    for (const name of ['fits', 'too-many']) await createClaim(name, 'made');
    await createPod('fits', [useOf('fits')], onSmall);
    await nodeOfBound('fits');
    await createPod('too-many', [useOf('too-many')], onSmall);
    await pends('too-many', '1 node(s) exceed max volume count');
    const spec = { drivers: [{ ...driver, allocatable: { count: 2 } }] };
    const path = `/apis/storage.k8s.io/v1/csinodes/${csiNode.metadata.name}`;
    expect((await servers.admin.patch(path, { spec }, 'merge')).status).toBe(200);
    expect(await nodeOfBound('too-many')).toBe(smallNode);
  });

  it('has volumes made only where their driver has room', async () => {
    await servers.create('CSIDriver', {
      metadata: { name: countedMaker },
      spec: { storageCapacity: true, attachRequired: false },
    });
    const path = `/apis/storage.k8s.io/v1/namespaces/${namespace}/csistoragecapacities`;
    const nodeTopology = { matchLabels: { [zoneLabel]: 'c' } };
    const body = { metadata: { name: 'of-c' }, storageClassName: 'counted', capacity: '10Gi', nodeTopology };
    objectOf(await servers.admin.send('POST', path, { body }));
    await createPodWithClaims('small', 'counted');
    expect(await zoneOfBound('small')).toBe('c');
    await createClaim('large', 'counted', { resources: { requests: { storage: '20Gi' } } });
    await createPod('large', [useOf('large')]);
    await pends('large', '9 node(s) did not have enough free storage');
    expect((await servers.admin.patch(`${path}/of-c`, { capacity: '30Gi' }, 'merge')).status).toBe(200);
    expect(await zoneOfBound('large')).toBe('c');
  });

  it('gives up a pod whose volumes nobody makes in time, and says for which claims it has waited', async () => {
    await createClaim('never', 'nobody');
    const uid = await createPod('never', [useOf('never')], { schedulerName: 'hasty' });
    const words = `the volumes of ${namespace}/never took longer than 1 s`;
    await pends('never', words);
    const said = (): string => scheduler.explain(uid).text;
    await pollUntil('the explanation says it', () => said().includes(`${namespace}/never`), { ...patience, seen: said });
    expect((await claimOf('never')).metadata?.annotations).toHaveProperty(['volume.kubernetes.io/selected-node']);
    await servers.admin.deletePod(namespace, 'never', { gracePeriodSeconds: 0 });
  });

  // the last one: of all that the others have left
  it('was refused nothing, and has nothing to complain of', async () => {
    expect(forbidden).toEqual([]);
    await pollUntil('no note is left', () => scheduler.snapshot().ready, patience);
    const { problems } = scheduler.snapshot();
    expect(problems.filter((one) => !('podName' in one))).toEqual([]);
  });
});

/** Resolves to the claim's volume once the claim has it. */
async function volumeOfBound(claimName: string): Promise<WirePersistentVolume> {
  const path = `/api/v1/namespaces/${namespace}/persistentvolumeclaims/${claimName}`;
  const isBound = async () => {
    const { status, body } = await servers.admin.send('GET', path);
    return status === 200 && (body as WirePersistentVolumeClaim).status?.phase === 'Bound';
  };
  await pollUntil(`the claim ${claimName} is bound`, isBound, patience);
  return volumeOf(claimName);
}

/** The server takes one name for each term. */
function onNodes(names: readonly string[]): JsonObject {
  const termOf = (name: string) => ({ matchFields: [{ key: 'metadata.name', operator: 'In', values: [name] }] });
  return { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: names.map(termOf) } } };
}
