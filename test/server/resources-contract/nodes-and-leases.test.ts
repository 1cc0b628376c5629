import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { objectOf } from '../../support/answers.ts';
import { startTestServer, type TestServer } from '../../support/servers.ts';
import { podJson } from '../pods-contract/pods-contract-fixture.ts';
import { Collection, leases, namesOf, nodes, secrets, uniqueName } from './resources-contract-fixture.ts';

let server: TestServer;
let namespace: string;
let myNodes: Collection;
let myLeases: Collection;

beforeAll(async () => {
  server = await startTestServer();
  namespace = await server.admin.createNamespace('node');
  myNodes = new Collection(server.admin, nodes, namespace);
  myLeases = new Collection(server.admin, leases, namespace);
});
afterAll(() => server.stop());

const notReady = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };

describe('a node', () => {
  it('is tainted at first, and has the members that are always there', async () => {
    const node = await myNodes.create(uniqueName('node'), { metadata: { namespace: 'nowhere' }, status: { phase: 'Running' } });
    expect(node.metadata).not.toHaveProperty('namespace');
    expect(node).toMatchObject({
      spec: { podCIDR: '10.1.0.0/24', podCIDRs: ['10.1.0.0/24'], taints: [notReady] },
      status: { daemonEndpoints: { kubeletEndpoint: { Port: 0 } }, nodeInfo: { kubeletVersion: '' } },
    });
  });

  it('has a status of its own: a write of the one leaves the other', async () => {
    const name = uniqueName('node');
    const { spec } = await myNodes.create(name);
    const path = myNodes.path(name, 'status');
    const status = { conditions: [{ type: 'Ready', status: 'True' }], capacity: { cpu: '2' } };
    const body = { metadata: { labels: { a: 'b' } }, spec: { unschedulable: true }, status };
    const first = objectOf(await server.admin.patch(path, body));
    expect(first).toMatchObject({ spec, metadata: { labels: { a: 'b' } } });
    expect(first.status).toMatchObject({
      capacity: { cpu: '2' },
      allocatable: { cpu: '2' },
      conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: null, lastTransitionTime: null }],
    });
    const more = { status: { conditions: [{ type: 'DiskPressure', status: 'False' }] } };
    const second = objectOf(await server.admin.patch(path, more));
    expect(second.status).toMatchObject({ conditions: [{ type: 'DiskPressure' }, { type: 'Ready' }] });
    const third = objectOf(await myNodes.merge(name, { spec: { unschedulable: true }, status: null }));
    expect(third).toMatchObject({ spec: { unschedulable: true }, status: second.status });
    expect(objectOf(await server.admin.send('GET', path))).toEqual(third);
    const replaced = objectOf(await myNodes.put(name, { ...third, spec: {}, status: {} }, 'status'));
    expect(replaced.spec).toEqual(third.spec);
    expect(replaced.status).not.toHaveProperty('conditions');
  });

  it('has addresses of one type twice once they are replaced whole, and never one address twice', async () => {
    const name = uniqueName('node');
    const path = myNodes.path(name, 'status');
    await myNodes.create(name, { status: { addresses: [{ type: 'InternalIP', address: '10.0.0.1' }] } });
    const two = [
      { type: 'InternalIP', address: '10.0.0.2' },
      { type: 'InternalIP', address: 'fd00::2' },
      { type: 'Hostname', address: name },
    ];
    const replaced = await server.admin.patch(path, { status: { addresses: [...two, { $patch: 'replace' }] } });
    expect(objectOf(replaced).status).toMatchObject({ addresses: two });
    const twice = [two[0], two[0], { $patch: 'replace' }];
    expect(await server.admin.patch(path, { status: { addresses: twice } })).toMatchObject({
      status: 422,
      body: { details: { causes: [{ field: 'status.addresses[1]', reason: 'FieldValueDuplicate' }] } },
    });
  });

  it('keeps the conditions of others, in place, when one is changed', async () => {
    const name = uniqueName('node');
    const conditions = ['Theirs', 'Ready', 'Other'].map((type) => ({ type, status: 'Unknown' }));
    await myNodes.create(name, { status: { conditions } });
    const order = ['Theirs', 'Ready', 'Other', 'DiskPressure'].map((type) => ({ type }));
    const changes = [
      { type: 'Ready', status: 'True' },
      { type: 'DiskPressure', status: 'False' },
    ];
    const body = { status: { conditions: changes, '$setElementOrder/conditions': order } };
    const { status } = objectOf(await server.admin.patch(myNodes.path(name, 'status'), body));
    expect(status).toMatchObject({
      conditions: [
        { type: 'Theirs', status: 'Unknown' },
        { type: 'Ready', status: 'True' },
        { type: 'Other', status: 'Unknown' },
        { type: 'DiskPressure', status: 'False' },
      ],
    });
  });

  it('is patched only with its own uid', async () => {
    const name = uniqueName('node');
    const { metadata } = await myNodes.create(name);
    const path = myNodes.path(name, 'status');
    const patchFor = (uid: string) => server.admin.patch(path, { metadata: { uid }, status: { capacity: { cpu: '3' } } });
    const refused = await patchFor('another-uid');
    expect(refused).toMatchObject({
      status: 422,
      body: { details: { causes: expect.arrayContaining([expect.objectContaining({ field: 'metadata.uid' })]) } },
    });
    expect((await patchFor(metadata.uid)).status).toBe(200);
  });

  it.each<[string, object, string]>([
    ['a negative capacity', { capacity: { cpu: '-1' } }, 'status.capacity.cpu'],
    ['half a pod', { capacity: { pods: '1500m' } }, 'status.capacity.pods'],
    ['half a device to allocate', { allocatable: { 'example.com/device': '500m' } }, 'status.allocatable.example.com/device'],
  ])('is refused with %s, as a new one and as an old one', async (_, status, field) => {
    const name = uniqueName('node');
    const cause = expect.objectContaining({ field, reason: 'FieldValueInvalid' });
    const refusal = { status: 422, body: { details: { causes: expect.arrayContaining([cause]) } } };
    expect(await myNodes.post(myNodes.json(name, { status: status as never }))).toMatchObject(refusal);
    await myNodes.create(name);
    expect(await server.admin.patch(myNodes.path(name, 'status'), { status })).toMatchObject(refusal);
  });

  it.each<[string, object[], string, string]>([
    ['a taint of an unknown effect', [{ key: 'a', effect: 'Never' }], 'metadata.taints[0].effect', 'FieldValueNotSupported'],
    ['a taint without effect', [{ key: 'a' }], 'metadata.taints[0].effect', 'FieldValueRequired'],
    ['a taint of a bad key', [{ key: 'a b', effect: 'NoExecute' }], 'metadata.taints[0].key', 'FieldValueInvalid'],
    [
      'a taint of a bad value',
      [{ key: 'a', value: 'a b', effect: 'NoExecute' }],
      'metadata.taints[0].value',
      'FieldValueInvalid',
    ],
    [
      'a taint twice',
      [
        { key: 'a', effect: 'NoExecute' },
        { key: 'a', value: 'b', effect: 'NoExecute' },
      ],
      'metadata.taints[1]',
      'FieldValueDuplicate',
    ],
  ])('is refused with %s', async (_, taints, field, reason) => {
    expect(await myNodes.post(myNodes.json(uniqueName('tainted'), { spec: { taints: taints as never } }))).toMatchObject({
      status: 422,
      body: { details: { causes: [{ field, reason }] } },
    });
  });

  it('is selected by spec.unschedulable, and not by a namespace', async () => {
    const name = uniqueName('node');
    await myNodes.create(name, { spec: { unschedulable: true } });
    expect(namesOf(await myNodes.list({ fieldSelector: `spec.unschedulable=true,metadata.name=${name}` }))).toEqual([name]);
    const query = { fieldSelector: 'metadata.namespace=default' };
    expect((await server.admin.send('GET', myNodes.path(), { query })).status).toBe(400);
    expect((await server.admin.send('GET', `/api/v1/namespaces/${namespace}/nodes/${name}`)).status).toBe(404);
  });
});

describe('a lease', () => {
  it('is made by a PUT when there is none', async () => {
    const answer = await myLeases.put('put', myLeases.json('put', { metadata: { resourceVersion: '7' } }));
    expect(answer.status).toBe(201);
    expect(objectOf(answer)).toMatchObject({ spec: { holderIdentity: 'one' } });
    const { metadata } = objectOf(await myLeases.get('put'));
    expect(metadata.resourceVersion).not.toBe('7');
  });

  it('is replaced only with its resourceVersion', async () => {
    const { metadata } = await myLeases.create('renewed');
    const json = myLeases.json('renewed', { spec: { renewTime: '2026-01-02T03:04:05.123456Z' } });
    expect(await myLeases.put('renewed', json)).toMatchObject({
      status: 422,
      body: { details: { causes: [{ field: 'metadata.resourceVersion', reason: 'FieldValueInvalid' }] } },
    });
    const versioned = { ...json, metadata: { ...(json.metadata as object), resourceVersion: metadata.resourceVersion } };
    expect(objectOf(await myLeases.put('renewed', versioned as never)).spec).toEqual(json.spec);
    expect((await myLeases.put('renewed', versioned as never)).status).toBe(409);
  });

  it.each<[string, object, number]>([
    ['a duration of zero', { leaseDurationSeconds: 0 }, 422],
    ['a negative number of transitions', { leaseTransitions: -1 }, 422],
    ['a duration that is text', { leaseDurationSeconds: '40' }, 400],
    ['a time in whole seconds', { renewTime: '2026-01-02T03:04:05Z' }, 400],
  ])('is refused with %s', async (_, spec, status) => {
    expect((await myLeases.post(myLeases.json('refused', { spec: spec as never }))).status).toBe(status);
  });

  it('may have a finalizer without a domain, as a node may not', async () => {
    const metadata = { finalizers: ['bare'] };
    expect((await myLeases.post(myLeases.json('bare', { metadata }))).status).toBe(201);
    expect(await myNodes.post(myNodes.json(uniqueName('bare'), { metadata }))).toMatchObject({
      status: 422,
      body: { details: { causes: [{ field: 'metadata.finalizers[0]' }] } },
    });
  });

  it('is refused with another uid than the one that is there, also when there is none', async () => {
    const { metadata } = await myLeases.create('identified');
    const json = (uid: string) => myLeases.json('identified', { metadata: { uid, resourceVersion: metadata.resourceVersion } });
    expect((await myLeases.put('identified', json('another-uid'))).status).toBe(409);
    await myLeases.delete('identified');
    expect((await myLeases.put('identified', json(metadata.uid))).status).toBe(409);
    expect((await myLeases.get('identified')).status).toBe(404);
  });

  it('has no status', async () => {
    await myLeases.create('statusless');
    const answer = await server.admin.patch(myLeases.path('statusless', 'status'), {}, 'merge');
    expect(answer).toMatchObject({ status: 404, body: { reason: 'NotFound' } });
  });
});

describe('paths and methods', () => {
  it('are refused with 404 and 405 where there are none', async () => {
    const secretsPath = `/api/v1/namespaces/${namespace}/secrets`;
    const send = async (...[method, path, body]: [method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: object]) =>
      (await server.admin.send(method, path, body === undefined ? {} : { body })).status;
    expect(await send('GET', '/api/v1/gizmos')).toBe(404);
    expect(await send('GET', '/apis/no-such.example.com/v1/gizmos')).toBe(404);
    expect(await send('GET', '/apis/coordination.k8s.io/v9/leases')).toBe(404);
    expect(await send('GET', `${secretsPath}/a/b/c`)).toBe(404);
    expect(await send('DELETE', '/api/v1/secrets')).toBe(405);
    expect(await send('POST', '/api/v1/secrets', { metadata: { name: 'x' } })).toBe(405);
    expect(await send('PUT', secretsPath, { metadata: { name: 'x' } })).toBe(405);
    expect(await send('DELETE', '/api/v1/namespaces')).toBe(405);
    const homeless = new Collection(server.admin, secrets, 'no-such-namespace');
    expect(await homeless.post(homeless.json('x'))).toMatchObject({ status: 404, body: { details: { kind: 'namespaces' } } });
  });
});

describe('a mirror pod', () => {
  const annotations = {
    'kubernetes.io/config.hash': 'abc',
    'kubernetes.io/config.mirror': 'abc',
    'kubernetes.io/config.source': 'file',
  };

  it('is accepted with its annotations and its node as owner', async () => {
    const owner = { apiVersion: 'v1', kind: 'Node', name: 'node-a', uid: 'node-uid', controller: true };
    const metadata = { annotations, ownerReferences: [owner] };
    const answer = await server.admin.createPod(namespace, podJson('mirror', { metadata }));
    expect(objectOf(answer)).toMatchObject({ metadata: { annotations, ownerReferences: [owner] } });
    const other = { metadata: { annotations: { 'kubernetes.io/config.mirror': 'other' } } };
    expect((await server.admin.patchPod(namespace, 'mirror', other, 'merge')).status).toBe(422);
    const { uid } = objectOf(answer).metadata;
    const options = { gracePeriodSeconds: 0, preconditions: { uid } };
    expect((await server.admin.deletePod(namespace, 'mirror', options)).status).toBe(200);
    expect((await server.admin.getPod(namespace, 'mirror')).status).toBe(404);
  });

  it('is refused without a node, and with two controllers', async () => {
    const unbound = podJson('unbound', { metadata: { annotations }, spec: { nodeName: null } });
    const field = 'metadata.annotations[kubernetes.io/config.mirror]';
    expect(await server.admin.createPod(namespace, unbound)).toMatchObject({
      status: 422,
      body: { details: { causes: [{ field, reason: 'FieldValueInvalid' }] } },
    });
    const owners = ['a', 'b'].map((name) => ({ apiVersion: 'v1', kind: 'Node', name, uid: name, controller: true }));
    const owned = podJson('owned', { metadata: { annotations, ownerReferences: owners } });
    expect((await server.admin.createPod(namespace, owned)).status).toBe(422);
  });
});
