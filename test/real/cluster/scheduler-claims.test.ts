import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject, WirePod } from '../../../src/api/json/types.ts';
import type { ResourceClaim } from '../../../src/scheduler/devices/device-types.ts';
import { ClusterScheduler } from '../../../src/scheduler.ts';
import { objectOf, podOf } from '../../support/answers.ts';
import { SupervisedProcess } from '../../support/control-plane/supervised-process.ts';
import { goTool } from '../../support/go-tools.ts';
import { pollUntil } from '../../support/poll-until.ts';
import { StorageServers } from '../../support/storage/storage-servers.ts';
import { RoleUsers } from './role-users.ts';

/** The pods of each have a namespace, a driver and classes of their own on the same nodes, all named after it. */
const kinds = ['ours', 'theirs'] as const;
type Kind = (typeof kinds)[number];

const api = '/apis/resource.k8s.io/v1';
const nodes = ['one', 'two', 'three'];
const patience = { withinMs: 30_000 };

let servers: StorageServers;
let scheduler: ClusterScheduler;
let kubeScheduler: SupervisedProcess;
let dir: string;
const forbidden: string[] = [];

beforeAll(async () => {
  servers = await StorageServers.start(['resourceclaim-controller', 'garbage-collector-controller']);
  const status = { allocatable: { cpu: '100', memory: '8Gi', pods: '100' } };
  for (const name of nodes) await servers.create('Node', { metadata: { name }, status });
  for (const kind of kinds) await prepare(kind);
  scheduler = await startOurs();
  kubeScheduler = await startTheirs();
});
afterAll(async () => {
  await scheduler.stop();
  await kubeScheduler.stop();
  await servers[Symbol.asyncDispose]();
  await rm(dir, { recursive: true, force: true });
});

/** With the rights of deploy/scheduler-rbac.yaml. */
async function startOurs(): Promise<ClusterScheduler> {
  const roles = new RoleUsers(servers.admin, servers.kubeConfig());
  await roles.applyFile('scheduler-rbac.yaml');
  const note = ({ err }: { readonly err?: unknown }): void => {
    if (/forbidden|invalid/i.test(String(err))) forbidden.push(String(err));
  };
  const started = new ClusterScheduler({
    kubeConfig: await roles.configOf('pod-status-manager-scheduler'),
    profiles: [{ schedulerName: 'ours' }],
    logger: { debug: note, info: note, warn: note, error: note },
  });
  await started.start();
  return started;
}

/** kube-scheduler v1.36.3 as it is. */
async function startTheirs(): Promise<SupervisedProcess> {
  dir = await mkdtemp(join(tmpdir(), 'scheduler-claims-'));
  const [kubeconfig, config] = [join(dir, 'kubeconfig'), join(dir, 'config.json')];
  await servers.controlPlane.writeKubeconfig(kubeconfig);
  const text = JSON.stringify({
    apiVersion: 'kubescheduler.config.k8s.io/v1',
    kind: 'KubeSchedulerConfiguration',
    leaderElection: { leaderElect: false },
    clientConnection: { kubeconfig },
    profiles: [{ schedulerName: 'theirs' }],
  });
  await writeFile(config, text);
  const command = await goTool('kube-scheduler');
  const args = [`--config=${config}`, '--secure-port=0'];
  return SupervisedProcess.start({ command, args, logFile: join(dir, 'kube-scheduler.log') });
}

const selected = (expression: string): JsonObject => ({ selectors: [{ cel: { expression } }] });

/** Two devices on each node, of which the first one is large; classes for both, and templates of claims. */
async function prepare(kind: Kind): Promise<void> {
  await post('/api/v1/namespaces', kind, undefined, { 'resource.kubernetes.io/admin-access': 'true' });
  const driver = driverOf(kind);
  for (const nodeName of nodes) {
    const devices = ['large', 'small'].map((model) => ({
      name: model,
      attributes: { model: { string: model }, ...(nodeName !== 'three' && { rank: { int: 1 } }) },
      capacity: { memory: { value: model === 'large' ? '16Gi' : '4Gi' } },
    }));
    const pool = { name: nodeName, generation: 1, resourceSliceCount: 1 };
    await post(`${api}/resourceslices`, `${kind}-${nodeName}`, { driver, nodeName, pool, devices });
  }
  await post(`${api}/deviceclasses`, `${kind}-any`, selected(`device.driver == "${driver}"`));
  const isLarge = `device.driver == "${driver}" && device.capacity["${driver}"].memory.isGreaterThan(quantity("8Gi"))`;
  await post(`${api}/deviceclasses`, `${kind}-large`, selected(isLarge));
  const requests: Readonly<Record<string, JsonObject>> = {
    any: { exactly: { deviceClassName: `${kind}-any` } },
    large: { exactly: { deviceClassName: `${kind}-large` } },
    all: { exactly: { deviceClassName: `${kind}-any`, allocationMode: 'All' } },
    admin: { exactly: { deviceClassName: `${kind}-any`, adminAccess: true } },
    two: { exactly: { deviceClassName: `${kind}-any`, count: 2 } },
    seven: { exactly: { deviceClassName: `${kind}-any`, count: 7 } },
    late: { exactly: { deviceClassName: `${kind}-late` } },
    // there is no such attribute on the node `three`
    broken: { exactly: { deviceClassName: `${kind}-any`, ...selected(`device.attributes["${driver}"].rank > 0`) } },
    wrong: { exactly: { deviceClassName: `${kind}-any`, ...selected(`device.attributes["${driver}"].nothing == "x"`) } },
    first: {
      firstAvailable: ['large', 'any'].map((name) => ({ name, deviceClassName: `${kind}-${name}` })),
    },
  };
  for (const [name, request] of Object.entries(requests)) {
    const spec = { devices: { requests: [{ name: 'it', ...request }] } };
    await post(`${api}/namespaces/${kind}/resourceclaimtemplates`, name, { spec });
  }
}

function driverOf(kind: Kind): string {
  return `${kind}.test.example.com`;
}

async function post(path: string, name: string, spec?: JsonObject, labels: JsonObject = {}): Promise<void> {
  objectOf(await servers.admin.send('POST', path, { body: { metadata: { name, labels }, ...(spec && { spec }) } }));
}

interface PodShape {
  readonly templates?: readonly string[];
  /** Claims that are there. */
  readonly claims?: readonly string[];
  readonly onNode?: string;
}

async function createPod(kind: Kind, name: string, { templates = [], claims = [], onNode }: PodShape): Promise<string> {
  const resourceClaims = [
    ...templates.map((template, index) => ({ name: `made-${index}`, resourceClaimTemplateName: template })),
    ...claims.map((claim, index) => ({ name: `named-${index}`, resourceClaimName: claim })),
  ];
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [onNode ?? ''] }];
  const required = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields }] } };
  const spec = {
    ...{ schedulerName: kind, terminationGracePeriodSeconds: 0, automountServiceAccountToken: false, resourceClaims },
    ...(onNode !== undefined && { affinity: { nodeAffinity: required } }),
    tolerations: [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists' }],
    containers: [{ name: 'app', image: 'app:1', resources: { claims: resourceClaims.map(({ name }) => ({ name })) } }],
  };
  return podOf(await servers.admin.createPod(kind, { metadata: { name }, spec })).metadata.uid;
}

async function pod(kind: Kind, name: string): Promise<WirePod> {
  return podOf(await servers.admin.getPod(kind, name));
}

/** What was done with the pod: its node, or why it has none, with the names as ours has them. */
async function outcome(kind: Kind, name: string): Promise<string> {
  let said = '';
  const fact = async (): Promise<boolean> => {
    const { spec, status } = await pod(kind, name);
    const message = status?.conditions?.find(({ type }) => type === 'PodScheduled')?.message ?? '';
    said = spec?.nodeName ? 'bound' : message;
    return said !== '';
  };
  await pollUntil(`${name} is bound or refused`, fact, { ...patience, seen: () => said });
  return said.replaceAll('theirs', 'ours');
}

async function deletePod(kind: Kind, name: string): Promise<void> {
  await servers.admin.deletePod(kind, name, { gracePeriodSeconds: 0 });
}

async function isBound(kind: Kind, name: string): Promise<void> {
  const fact = async () => (await pod(kind, name)).spec?.nodeName ?? false;
  await pollUntil(`${kind}/${name} is bound`, fact, { ...patience, seen: () => scheduler.snapshot().notes });
}

async function claimsOf(kind: Kind): Promise<ResourceClaim[]> {
  const { body } = await servers.admin.send('GET', `${api}/namespaces/${kind}/resourceclaims`);
  return (body as { items: ResourceClaim[] }).items;
}

/** Of all claims that have devices: which devices, and for which pods. */
async function given(kind: Kind): Promise<string[]> {
  const claims = (await claimsOf(kind)).filter(({ status }) => status?.allocation != null);
  return claims
    .map(({ status }) => {
      const results = (status?.allocation?.devices?.results ?? []).map(
        ({ request, pool, device, adminAccess }) => `${request} ${pool}/${device}${adminAccess ? ' (admin)' : ''}`,
      );
      return `${results.join(', ')} for ${(status?.reservedFor ?? []).map(({ name }) => name).join(', ')}`;
    })
    .sort();
}

/** A step of both: pods that come, each once the one before it has its answer. */
async function both(name: string, shape: PodShape): Promise<string> {
  const said: string[] = [];
  for (const kind of kinds) {
    await createPod(kind, name, shape);
    said.push(await outcome(kind, name));
  }
  expect(said[0], `${name}: ours, and kube-scheduler's`).toBe(said[1]);
  return said[0] ?? '';
}

/** Both have the same claims with the same devices. */
async function sameDevices(): Promise<string[]> {
  const [ours = [], theirs = []] = await Promise.all(kinds.map(given));
  expect(ours).toEqual(theirs);
  return ours;
}

async function clear(): Promise<void> {
  for (const kind of kinds) {
    await servers.admin.send('DELETE', `/api/v1/namespaces/${kind}/pods`, { body: { gracePeriodSeconds: 0 } });
    const areFree = async () => (await given(kind)).length === 0;
    await pollUntil('the devices are given back', areFree, { ...patience, seen: () => kind });
  }
}

/** What `explain` says of a pod of ours once it says this. */
async function explained(uid: string, words: string): Promise<string> {
  const text = (): string => scheduler.explain(uid).text;
  await pollUntil(`explain says ${words}`, () => text().includes(words), { ...patience, seen: text });
  return text();
}

describe('a scheduler with the rights of deploy/scheduler-rbac.yaml, and kube-scheduler beside it', () => {
  it('give the same pods devices, with the same writes, and say the same of those that have to wait', async () => {
    expect(await both('pair', { templates: ['large', 'any'], onNode: 'one' })).toBe('bound');
    expect(await both('first', { templates: ['first'], onNode: 'two' })).toBe('bound');
    expect(await both('second', { templates: ['first'], onNode: 'two' })).toBe('bound');
    expect(await both('admin', { templates: ['admin'], onNode: 'two' })).toBe('bound');
    expect(await both('full', { templates: ['any'], onNode: 'two' })).toMatch(/cannot allocate all claims/);
    expect(await both('all', { templates: ['all'], onNode: 'three' })).toBe('bound');
    expect(await both('never', { templates: ['seven'] })).toMatch(/^0\/3 nodes are available: 3 cannot allocate all claims/);
    expect(await sameDevices()).toEqual([
      'it one/large for pair',
      'it one/small for pair',
      'it three/large, it three/small for all',
      'it two/large (admin) for admin',
      'it/any two/small for second',
      'it/large two/large for first',
    ]);
    await clear();
  });

  it('place pods that share a claim on its node, and give it away once the last one is gone', async () => {
    for (const kind of kinds) {
      const requests = [{ name: 'it', exactly: { deviceClassName: `${kind}-any` } }];
      await post(`${api}/namespaces/${kind}/resourceclaims`, 'shared', { devices: { requests } });
    }
    for (const name of ['a', 'b']) expect(await both(name, { claims: ['shared'] })).toBe('bound');
    for (const kind of kinds) expect((await pod(kind, 'a')).spec?.nodeName).toBe((await pod(kind, 'b')).spec?.nodeName);
    const { spec } = await pod('ours', 'a');
    const elsewhere = nodes.find((node) => node !== spec?.nodeName);
    const far = await createPod('ours', 'far', { claims: ['shared'], ...(elsewhere !== undefined && { onNode: elsewhere }) });
    expect(await outcome('ours', 'far')).toMatch(/1 resourceclaim not available on the node/);
    expect(await explained(far, 'not available on the node')).toMatch(/Claims of devices of the pod: ours\/shared\./);
    await clear();
  });

  it('try pods again that wait, once devices come free, a class is made, or a claim', async () => {
    for (const kind of kinds) {
      await createPod(kind, 'holds', { templates: ['two'], onNode: 'one' });
      await isBound(kind, 'holds');
    }
    expect(await both('next', { templates: ['any'], onNode: 'one' })).toMatch(/cannot allocate all claims/);
    expect(await both('classless', { templates: ['late'], onNode: 'two' })).toMatch(/device class ours-late does not exist/);
    for (const kind of kinds) {
      await createPod(kind, 'claimless', { claims: ['not-there'], onNode: 'three' });
      await deletePod(kind, 'holds');
      await isBound(kind, 'next');
      await post(`${api}/deviceclasses`, `${kind}-late`, selected(`device.driver == "${driverOf(kind)}"`));
      await isBound(kind, 'classless');
      const requests = [{ name: 'it', exactly: { deviceClassName: `${kind}-any` } }];
      await post(`${api}/namespaces/${kind}/resourceclaims`, 'not-there', { devices: { requests } });
      await isBound(kind, 'claimless');
    }
    await clear();
  });

  it('end the attempt at a pod whose selector fails, and say which claim and why', async () => {
    const said = [];
    for (const kind of kinds) {
      await createPod(kind, 'wrong', { templates: ['wrong'] });
      said.push(await outcome(kind, 'wrong'));
    }
    const [ours = '', theirs = ''] = said;
    // each in its own words
    expect(theirs).toMatch(/claim ours\/wrong-made-0-\w+: selector #0: CEL runtime error: no such key: nothing/);
    expect(ours).toMatch(/claim ours\/wrong-made-0-\w+: selector #0: The device selector .*nothing/);
    const { metadata } = await pod('ours', 'wrong');
    expect(await explained(metadata?.uid ?? '', 'selector #0')).toContain('Correct what the message names, in the claim');
    await clear();
  });

  it('tells in explain of each claim that keeps a pod waiting, and what would help', async () => {
    const waits = await createPod('ours', 'waits', { templates: ['seven'] });
    expect(await explained(waits, 'cannot allocate')).toMatch(/Claims of devices of the pod: ours\/waits-made-0-\w+\./);
    const gone = await createPod('ours', 'gone', { claims: ['nowhere'] });
    expect(await explained(gone, 'nowhere')).toMatch(/could not find ResourceClaim "ours\/nowhere"[\s\S]*Make the claim/);
    const unmade = await createPod('ours', 'unmade', { templates: ['no-template'] });
    const help = await explained(unmade, 'not created yet');
    expect(help).toMatch(/ours\/unmade[\s\S]*no-template/);
    await clear();
  });

  // the last one: of all that the others have left
  it('was refused nothing', () => {
    expect(forbidden).toEqual([]);
  });
});
