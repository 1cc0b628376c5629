import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { KubeConfig } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type {
  Json,
  JsonObject,
  WireLease,
  WirePersistentVolume,
  WirePersistentVolumeClaim,
} from '../../../src/api/json/types.ts';
import { makeCertificateRequest } from '../../../src/certificates.ts';
import {
  ApiError,
  ApiServerPodSource,
  BasicPodManager,
  isStatusManagerError,
  KubePodClient,
  KubeTransport,
  StatusManager,
  type SyncErrorEvent,
  type WirePod,
} from '../../../src/index.ts';
import { MirrorPodClient } from '../../../src/mirror.ts';
import { ApiEventRecorder, type PodProvider, ProviderNode, type WireNode } from '../../../src/node.ts';
import { ResourceClient, resources } from '../../../src/reflector.ts';
import type { ResourceClaim } from '../../../src/scheduler/devices/device-types.ts';
import { ClusterScheduler } from '../../../src/scheduler.ts';
import { buildStaticPod } from '../../../src/testing.ts';
import { AdminClient } from '../../support/admin-client.ts';
import { podOf } from '../../support/answers.ts';
import { zoneLabel } from '../../support/storage/storage-record.ts';
import { claimJson, zonalVolume } from '../../support/storage/volume-maker.ts';
import { servingFiles } from '../../unit/node/provider/served-node.ts';
import { RoleUsers } from './role-users.ts';
import { noteRights, rightsOf } from './used-rights.ts';

const nodeName = 'rbac-node';
let admin: AdminClient;
let namespace: string;
let roles: RoleUsers;

beforeAll(async () => {
  const adminConfig = new KubeConfig();
  adminConfig.loadFromString(inject('controlPlaneKubeconfig'));
  admin = new AdminClient(adminConfig);
  roles = new RoleUsers(admin, adminConfig);
  namespace = await admin.createNamespace('rbac');
});
afterAll(() => admin.close());

/** The status with which the node's own API answers for its pods. */
async function askPods({ nodeObject }: ProviderNode, token: string): Promise<number | undefined> {
  const port = nodeObject.node?.status?.daemonEndpoints?.kubeletEndpoint?.Port ?? 0;
  const headers = { authorization: `Bearer ${token}` };
  const asked = get({ host: '127.0.0.1', port, path: '/pods', headers, agent: false, rejectUnauthorized: false });
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  answer.resume();
  return answer.statusCode;
}

async function pod(name: string): Promise<WirePod> {
  const spec = { nodeName, containers: [{ name: 'app', image: 'app:1' }], terminationGracePeriodSeconds: 30 };
  return podOf(await admin.createPod(namespace, { metadata: { name }, spec }));
}

describe('the rights in deploy/rbac.yaml', () => {
  it('are enough for a pod source and the whole life of a pod', async () => {
    await roles.applyFile('rbac.yaml');
    const kubeConfig = await roles.configOf('pod-status-manager');
    const podManager = new BasicPodManager();
    await using source = new ApiServerPodSource({ logger: null, kubeConfig, nodeName, podManager });
    await using podClient = KubePodClient.fromKubeConfig(kubeConfig);
    const errors: SyncErrorEvent[] = [];
    await using manager = new StatusManager({
      logger: null,
      podClient,
      podManager,
      podSource: source,
      podDeletionSafety: { podCouldHaveRunningContainers: () => false, podResourcesAreReclaimed: () => true },
    });
    manager.on('syncError', (error) => errors.push(error));
    const created = await pod('lives');
    await source.start();
    manager.start();
    manager.setPodStatus(created, { phase: 'Running' });
    await manager.flush({ timeoutMs: 20_000 });
    expect(podOf(await admin.getPod(namespace, 'lives')).status?.phase).toBe('Running');

    const deleting = podOf(await admin.deletePod(namespace, 'lives'));
    podManager.updatePod(deleting);
    manager.terminatePod(deleting);
    await manager.flush({ timeoutMs: 20_000 });
    await expect.poll(async () => (await admin.getPod(namespace, 'lives')).status, { timeout: 20_000 }).toBe(404);
    expect(errors).toEqual([]);
  });

  it('are enough for mirror pods', async () => {
    await roles.applyFile('rbac.yaml');
    await using transport = new KubeTransport(await roles.configOf('pod-status-manager'));
    await admin.send('POST', '/api/v1/nodes', { body: { metadata: { name: nodeName } } });
    const nodes = new ResourceClient(transport, resources.nodes);
    const client = new MirrorPodClient({ transport, nodeName, getNode: (name) => nodes.get({ name }) });
    const podFullName = `mirrored_${namespace}`;
    const spec = { nodeName, containers: [{ name: 'app', image: 'app:1' }] };
    const staticPod = buildStaticPod({ metadata: { name: 'mirrored', namespace }, spec });
    expect(await client.createMirrorPod(staticPod)).toMatchObject({ outcome: 'created' });
    const mirrorPod = await client.getMirrorPod(podFullName);
    expect(mirrorPod?.metadata?.ownerReferences).toMatchObject([{ kind: 'Node', name: nodeName }]);
    expect(await client.deleteMirrorPod(podFullName, mirrorPod?.metadata?.uid)).toMatchObject({ deleted: true });
  });

  it('are enough for a node with a provider, its Lease and its events', async () => {
    await roles.applyFile('rbac.yaml');
    const warnings: object[] = [];
    const log = (fields: object): unknown => warnings.push(fields);
    const logger = { debug: log, info: () => {}, warn: log, error: log };
    const nodeName = 'rbac-provider';
    await using transport = new KubeTransport(await roles.configOf('pod-status-manager'));
    const running = new Set<string>();
    const provider: PodProvider = {
      createPod: (pod) => running.add(pod.metadata?.uid ?? ''),
      updatePod: () => {},
      deletePod: (pod) => running.delete(pod.metadata?.uid ?? ''),
      getPodStatus: (pod) => (running.has(pod.metadata?.uid ?? '') ? { phase: 'Running' } : undefined),
    };
    await using node = new ProviderNode({
      transport,
      nodeName,
      provider,
      namespace,
      removeOnStop: true,
      leaseDurationSeconds: 1,
      logger,
      server: { ...(await servingFiles()).files, address: '127.0.0.1', port: 0 },
    });
    await node.start();
    // both reviews: of the token, whose owner the server knows, and of a right that he has not
    expect(await askPods(node, await roles.tokenOf('pod-status-manager'))).toBe(403);
    expect(await askPods(node, 'unknown')).toBe(401);
    const nodePath = `/api/v1/nodes/${nodeName}`;
    const leasePath = `/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${nodeName}`;
    const isReady = async () => {
      const { body } = await admin.send('GET', nodePath);
      const { conditions = [] } = (body as WireNode).status ?? {};
      return conditions.find(({ type }) => type === 'Ready')?.status;
    };
    await expect.poll(isReady, { timeout: 20_000 }).toBe('True');
    const renewedAt = async () => ((await admin.send('GET', leasePath)).body as WireLease).spec?.renewTime;
    await expect.poll(renewedAt, { timeout: 20_000 }).toBeDefined();
    const first = await renewedAt();
    await expect.poll(renewedAt, { timeout: 20_000 }).not.toBe(first);
    node.nodeObject.setStatus({ capacity: { cpu: '2', memory: '1Gi', pods: '7' } });
    const podsOf = async () => ((await admin.send('GET', nodePath)).body as WireNode).status?.capacity?.pods;
    await expect.poll(podsOf, { timeout: 20_000 }).toBe('7');

    const core = `/api/v1/namespaces/${namespace}`;
    await admin.send('POST', `${core}/secrets`, { body: { metadata: { name: 'values' }, data: { k: 'dg==' } } });
    await admin.send('POST', `${core}/configmaps`, { body: { metadata: { name: 'values' }, data: { k: 'v' } } });
    await admin.send('POST', `${core}/serviceaccounts`, { body: { metadata: { name: 'robot' } } });
    const envFrom = [{ secretRef: { name: 'values' } }, { configMapRef: { name: 'values' } }];
    const volumes = [{ name: 'identity', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } }];
    const volumeMounts = [{ name: 'identity', mountPath: '/identity' }];
    const containers = [{ name: 'app', image: 'app:1', envFrom, volumeMounts }];
    const spec = { nodeName, serviceAccountName: 'robot', containers, volumes };
    const created = podOf(await admin.createPod(namespace, { metadata: { name: 'provided' }, spec }));
    const phase = async () => podOf(await admin.getPod(namespace, 'provided')).status?.phase;
    await expect.poll(phase, { timeout: 20_000 }).toBe('Running');
    const recorder = new ApiEventRecorder({ transport, nodeName, logger });
    recorder.event(created, 'Normal', 'Tested', 'twice');
    recorder.event(created, 'Normal', 'Tested', 'twice');
    const counts = async () => {
      const { body } = await admin.send('GET', `/api/v1/namespaces/${namespace}/events`);
      return (body as { items: { reason: string; count: number }[] }).items
        .filter(({ reason }) => reason === 'Tested')
        .map(({ count }) => count);
    };
    await expect.poll(counts, { timeout: 20_000 }).toEqual([2]);
    await recorder.stop();
    const reasons = async () => {
      const { body } = await admin.send('GET', `/api/v1/namespaces/default/events?fieldSelector=involvedObject.uid=${nodeName}`);
      return (body as { items: { reason: string }[] }).items.map(({ reason }) => reason);
    };
    await expect.poll(reasons, { timeout: 20_000 }).toEqual(expect.arrayContaining(['Starting', 'NodeReady']));
    await admin.deletePod(namespace, 'provided');
    await expect.poll(async () => (await admin.getPod(namespace, 'provided')).status, { timeout: 40_000 }).toBe(404);

    expect((await node.stop()).node).toEqual({ node: 'removed', lease: 'removed' });
    expect([(await admin.send('GET', nodePath)).status, (await admin.send('GET', leasePath)).status]).toEqual([404, 404]);
    expect(warnings.filter((fields) => 'err' in fields && /forbidden/.test(String(fields.err)))).toEqual([]);
  });

  it('are all needed: without the right to patch a status the syncError names that right', async () => {
    const name = 'reads-only';
    const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] }];
    const account = { kind: 'ServiceAccount', name, namespace: 'kube-system' };
    await roles.apply([
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace: 'kube-system' } },
      { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name }, rules: rules as Json },
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
        subjects: [account],
      },
    ]);
    const podManager = new BasicPodManager();
    await using podClient = KubePodClient.fromKubeConfig(await roles.configOf(name));
    await using manager = new StatusManager({
      logger: null,
      podClient,
      podManager,
      podDeletionSafety: { podCouldHaveRunningContainers: () => true, podResourcesAreReclaimed: () => false },
    });
    const created = await pod('forbidden');
    podManager.addPod(created);
    const failed = new Promise<SyncErrorEvent>((resolve) => manager.once('syncError', resolve));
    manager.start();
    manager.setPodStatus(created, { phase: 'Running' });
    const { errorClass, error, retryInMs } = await failed;
    expect(errorClass).toBe('forbidden');
    expect(isStatusManagerError(error, 'ERR_API') && error.message).toMatch(/cannot patch resource "pods\/status"/);
    expect(retryInMs).toBeGreaterThanOrEqual(0);
    expect(manager.explain(created.metadata?.uid ?? '')).toMatchObject({ lastError: { errorClass: 'forbidden' } });
    await manager.stop({ drainTimeoutMs: 0 });
  });
});

describe('the rights in deploy/scheduler-rbac.yaml', () => {
  it('are enough for a node that asks for the certificate of its API', async () => {
    await roles.applyFile('rbac.yaml');
    await using node = new ProviderNode({
      kubeConfig: await roles.configOf('pod-status-manager'),
      nodeName: 'rbac-certificate',
      ...{ provider: { createPod() {}, deletePod() {}, getPodStatus: () => undefined }, removeOnStop: true, logger: null },
      addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
      server: { serverTLSBootstrap: true, makeCertificateRequest, address: '127.0.0.1', port: 0 },
    });
    await node.start();
    const problem = () => node.snapshot().problems.find(({ kind }) => kind.startsWith('certificate-'));
    await expect.poll(() => problem()?.kind, { timeout: 20_000 }).toBe('certificate-pending');
    const [name] = /csr-[a-z0-9]+/.exec(problem()?.message ?? '') ?? [];
    const path = `/apis/certificates.k8s.io/v1/certificatesigningrequests/${name}`;
    const request = (await admin.send('GET', path)).body as JsonObject;
    const conditions = [{ type: 'Denied', status: 'True', reason: 'Test', message: 'no' }];
    await admin.send('PUT', `${path}/approval`, { body: { ...request, status: { conditions } } });
    await expect.poll(() => problem()?.kind, { timeout: 20_000 }).toBe('certificate-denied');
  });

  it('are enough for a scheduler with leader election, events and preemption, and all of them are used', async () => {
    const objects = await roles.applyFile('scheduler-rbac.yaml');
    await using transport = new KubeTransport(await roles.configOf('pod-status-manager-scheduler'), { logger: null });
    const used = noteRights(transport);
    loseFirstAnswers(transport, [/\/pods\/[^/]+\/binding$/, /\/resourceclaims\/[^/]+\/status$/]);
    const nodePath = '/api/v1/nodes/rbac-schedules';
    const allocatable = { cpu: '2', memory: '8Gi', pods: '10' };
    await admin.send('POST', '/api/v1/nodes', {
      body: { metadata: { name: 'rbac-schedules', labels: { [zoneLabel]: 'a' } }, status: { allocatable } },
    });
    const failures: unknown[] = [];
    const note = (fields: object): unknown => 'err' in fields && failures.push(String(fields.err));
    await using scheduler = new ClusterScheduler({
      transport,
      profiles: [{ schedulerName: namespace }],
      logger: { debug: note, info: () => {}, warn: note, error: note },
    });
    await scheduler.start();
    const create = async (name: string, cpu: string, more: JsonObject = {}): Promise<void> => {
      const containers = [{ name: 'app', image: 'app:1', resources: { requests: { cpu } } }];
      const tolerations = [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists' }];
      const own = { schedulerName: namespace, terminationGracePeriodSeconds: 0, tolerations, containers };
      podOf(await admin.createPod(namespace, { metadata: { name }, spec: { ...own, ...more } }));
    };
    const nodeOf = async (name: string): Promise<string | undefined> => podOf(await admin.getPod(namespace, name)).spec?.nodeName;
    await create('lesser', '2');
    await expect.poll(() => nodeOf('lesser'), { timeout: 30_000 }).toBe('rbac-schedules');
    await create('urgent', '1500m', { priorityClassName: 'system-node-critical' });
    await expect.poll(() => nodeOf('urgent'), { timeout: 30_000 }).toBe('rbac-schedules');
    expect((await admin.getPod(namespace, 'lesser')).status).toBe(404);

    // a node that grows has it tried again, and it fails for the same reason: its event is counted
    await create('never', '3');
    let size = 3000;
    const counts = async (): Promise<boolean> => {
      size += 1;
      await admin.patch(`${nodePath}/status`, { status: { allocatable: { cpu: `${size}m` } } }, 'merge');
      return used.has('patch events.k8s.io/events');
    };
    await expect.poll(counts, { timeout: 60_000, interval: 1000 }).toBe(true);
    await scheduler.flush();

    // nobody here binds volumes: what the scheduler writes for that is enough
    const claimNames = await createStorage();
    for (const claimName of claimNames)
      await create(claimName, '1m', { volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }] });
    const isPatched = async (): Promise<boolean> => {
      const volume = (await admin.send('GET', `/api/v1/persistentvolumes/${namespace}-there`)).body as WirePersistentVolume;
      const claim = (await admin.send('GET', `${claimsPath()}/made`)).body as WirePersistentVolumeClaim;
      return volume.spec?.claimRef?.name === 'there' && selectedNode in (claim.metadata?.annotations ?? {});
    };
    await expect.poll(isPatched, { timeout: 30_000 }).toBe(true);

    // the first write of a claim is lost on its way back: the claim is read
    await createDevices('rbac-schedules');
    const resourceClaims = [{ name: 'device', resourceClaimName: 'device' }];
    const containers = [{ name: 'app', image: 'app:1', resources: { claims: [{ name: 'device' }] } }];
    await create('with-device', '1m', { resourceClaims, containers });
    await expect.poll(() => nodeOf('with-device'), { timeout: 30_000 }).toBe('rbac-schedules');
    const { status } = (await admin.send('GET', devicesPath('resourceclaims/device'))).body as ResourceClaim;
    expect(status?.reservedFor).toMatchObject([{ resource: 'pods', name: 'with-device' }]);
    expect(status?.allocation?.devices?.results).toMatchObject([{ driver: deviceDriver, device: 'one' }]);

    // a device for an extended resource, once the claim is gone that was left from before
    const limits = { cpu: '1m', [deviceResource]: '1' };
    const waits = { schedulingGates: [{ name: 'test.example.com/waits' }] };
    await create('extended', '1m', { ...waits, containers: [{ name: 'app', image: 'app:1', resources: { limits } }] });
    const { uid = '' } = podOf(await admin.getPod(namespace, 'extended')).metadata ?? {};
    await admin.send('POST', devicesPath('resourceclaims'), { body: leftClaim(uid) });
    await admin.patch(`/api/v1/namespaces/${namespace}/pods/extended`, { spec: { schedulingGates: null } }, 'merge');
    await expect.poll(() => nodeOf('extended'), { timeout: 60_000 }).toBe('rbac-schedules');
    const { extendedResourceClaimStatus: given } = podOf(await admin.getPod(namespace, 'extended')).status ?? {};
    const made = (await admin.send('GET', devicesPath(`resourceclaims/${given?.resourceClaimName}`))).body as ResourceClaim;
    expect(made.status).toMatchObject({ reservedFor: [{ name: 'extended', uid }] });
    expect((await admin.send('GET', devicesPath('resourceclaims/left'))).status).toBe(404);
    await scheduler.stop();
    await admin.send('DELETE', nodePath);
    expect(failures.filter((failure) => /forbidden/.test(String(failure)))).toEqual([]);
    const granted = objects.filter(({ kind }) => kind === 'ClusterRole' || kind === 'Role');
    expect([...used].sort()).toEqual(rightsOf(granted.flatMap(({ rules }) => rules as never)));
  });
});

/** As an attempt before has made it for the pod. */
function leftClaim(uid: string): JsonObject {
  const exactly = { deviceClassName: deviceDriver, allocationMode: 'ExactCount', count: 1 };
  return {
    metadata: {
      name: 'left',
      annotations: { 'resource.kubernetes.io/extended-resource-claim': 'true' },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'extended', uid, controller: true }],
    },
    spec: { devices: { requests: [{ name: 'container-0-request-0', exactly }] } },
  };
}

const selectedNode = 'volume.kubernetes.io/selected-node';
const claimsPath = (): string => `/api/v1/namespaces/${namespace}/persistentvolumeclaims`;

/** Two claims that wait for the node of their pod: a volume is there for one of them, and is to be made for the other one. */
async function createStorage(): Promise<string[]> {
  const volumeBindingMode = 'WaitForFirstConsumer';
  const provisioners = { there: 'kubernetes.io/no-provisioner', made: 'test.example.com/nobody' };
  for (const [name, provisioner] of Object.entries(provisioners)) {
    const storageClassName = `${namespace}-${name}`;
    const storageClass = { metadata: { name: storageClassName }, provisioner, volumeBindingMode };
    await admin.send('POST', '/apis/storage.k8s.io/v1/storageclasses', { body: storageClass });
    const volume = zonalVolume(storageClassName, { zone: 'a', storageClassName });
    if (name === 'there') {
      await admin.send('POST', '/api/v1/persistentvolumes', { body: volume });
      await admin.patch(`/api/v1/persistentvolumes/${storageClassName}/status`, { status: { phase: 'Available' } }, 'merge');
    }
    const claim = claimJson(name, storageClassName);
    await admin.send('POST', claimsPath(), { body: claim });
  }
  return Object.keys(provisioners);
}

const deviceDriver = 'rbac.test.example.com';
const deviceResource = 'example.com/rbac-gpu';
const deviceApi = '/apis/resource.k8s.io/v1';
const devicesPath = (path: string): string => `${deviceApi}/namespaces/${namespace}/${path}`;

/** Two devices on the node, a class for them that stands for an extended resource, too, and a claim of one. */
async function createDevices(onNode: string): Promise<void> {
  const pool = { name: onNode, generation: 1, resourceSliceCount: 1 };
  const slice = { driver: deviceDriver, nodeName: onNode, pool, devices: [{ name: 'one' }, { name: 'two' }] };
  const selectors = [{ cel: { expression: `device.driver == "${deviceDriver}"` } }];
  const requests = [{ name: 'device', exactly: { deviceClassName: deviceDriver } }];
  const made = [
    await admin.send('POST', `${deviceApi}/deviceclasses`, {
      body: { metadata: { name: deviceDriver }, spec: { selectors, extendedResourceName: deviceResource } },
    }),
    await admin.send('POST', `${deviceApi}/resourceslices`, { body: { metadata: { name: deviceDriver }, spec: slice } }),
    await admin.send('POST', devicesPath('resourceclaims'), {
      body: { metadata: { name: 'device' }, spec: { devices: { requests } } },
    }),
  ];
  expect(made.map(({ status }) => status)).toEqual([201, 201, 201]);
}

/** The answer to the first request of each kind is lost on its way: the scheduler must read what it has written. */
function loseFirstAnswers(transport: KubeTransport, kinds: readonly RegExp[]): void {
  const request = transport.request.bind(transport);
  const left = new Set(kinds);
  transport.request = async (options) => {
    const answer = await request(options);
    const kind = [...left].find((one) => options.method !== 'GET' && one.test(options.path));
    if (kind === undefined) return answer;
    left.delete(kind);
    throw new ApiError({ reason: 'Timeout', message: 'the answer was lost' });
  };
}
