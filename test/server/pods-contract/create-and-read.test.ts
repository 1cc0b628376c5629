import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { podListOf, podOf } from '../../support/answers.ts';
import { startTestServer, type TestServer } from '../../support/servers.ts';
import { createPod, podJson, runningStatus } from './pods-contract-fixture.ts';

let server: TestServer;
let namespace: string;

beforeAll(async () => {
  server = await startTestServer();
  namespace = await server.admin.createNamespace('create');
});
afterAll(() => server.stop());

describe('creating a pod', () => {
  it('gives it a uid, a resourceVersion, a whole-second creation time and generation 1', async () => {
    const answer = await server.admin.createPod(namespace, podJson('fresh'));
    expect(answer.status).toBe(201);
    const { metadata } = podOf(answer);
    expect(metadata).toMatchObject({ name: 'fresh', namespace, generation: 1 });
    expect(metadata.uid).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(metadata.resourceVersion).toMatch(/^[1-9]\d*$/);
    expect(metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  });

  it('sets phase Pending and the QoS class of its resources, whatever status was sent', async () => {
    const sent = { ...podJson('status-sent'), status: runningStatus() };
    expect(podOf(await server.admin.createPod(namespace, sent)).status).toEqual({ phase: 'Pending', qosClass: 'BestEffort' });
    const resources = { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '1', memory: '1Gi' } };
    const containers = [{ name: 'main', image: 'example.test/main:1', resources }];
    expect((await createPod(server.admin, namespace, 'guaranteed', { spec: { containers } })).status.qosClass).toBe('Guaranteed');
    const burstable = [{ name: 'main', image: 'example.test/main:1', resources: { requests: { cpu: '1' } } }];
    expect((await createPod(server.admin, namespace, 'burstable', { spec: { containers: burstable } })).status.qosClass).toBe(
      'Burstable',
    );
  });

  it('fills in the defaults that an agent relies on', async () => {
    const { spec } = await createPod(server.admin, namespace, 'defaults');
    expect(spec).toMatchObject({ nodeName: 'node-a', restartPolicy: 'Always', terminationGracePeriodSeconds: 30 });
  });

  it('makes up a name from generateName', async () => {
    const { name: _, ...metadata } = { name: '', generateName: 'made-up-' };
    const answer = await server.admin.createPod(namespace, { ...podJson('unused'), metadata });
    expect(podOf(answer).metadata.name).toMatch(/^made-up-[a-z0-9]{5}$/);
  });

  it('answers 409 AlreadyExists for the name of an existing pod', async () => {
    await createPod(server.admin, namespace, 'taken');
    expect(await server.admin.createPod(namespace, podJson('taken'))).toMatchObject({
      status: 409,
      body: {
        kind: 'Status',
        apiVersion: 'v1',
        status: 'Failure',
        code: 409,
        reason: 'AlreadyExists',
        message: 'pods "taken" already exists',
        details: { name: 'taken', kind: 'pods' },
      },
    });
  });

  it('answers 404 NotFound for a namespace that does not exist', async () => {
    expect(await server.admin.createPod('no-such-namespace', podJson('homeless'))).toMatchObject({
      status: 404,
      body: { code: 404, reason: 'NotFound', message: 'namespaces "no-such-namespace" not found' },
    });
  });

  it('answers 422 Invalid for a pod without containers', async () => {
    expect(await server.admin.createPod(namespace, podJson('empty', { spec: { containers: [] } }))).toMatchObject({
      status: 422,
      body: { kind: 'Status', code: 422, reason: 'Invalid', details: { name: 'empty', kind: 'Pod' } },
    });
  });

  it('answers 400 BadRequest for a body that is not JSON', async () => {
    const answer = await server.admin.send('POST', `/api/v1/namespaces/${namespace}/pods`, { body: '{"kind":' });
    expect(answer).toMatchObject({ status: 400, body: { code: 400, reason: 'BadRequest' } });
  });
});

describe('metadata of a pod to create', () => {
  it('is refused with a resourceVersion, which only a stored pod has', async () => {
    const answer = await server.admin.createPod(namespace, podJson('read-before', { metadata: { resourceVersion: '5' } }));
    expect(answer).toMatchObject({ status: 500, body: { code: 500, status: 'Failure' } });
    await createPod(server.admin, namespace, 'version-0', { metadata: { resourceVersion: '0' } });
  });

  it('may not say what the server says: identity, times, a deletion', async () => {
    const sent = {
      uid: '11111111-2222-3333-4444-555555555555',
      generation: 7,
      creationTimestamp: '2020-01-01T00:00:00Z',
      deletionTimestamp: '2020-01-01T00:00:00Z',
      deletionGracePeriodSeconds: 5,
      selfLink: '/of/another',
    };
    const { metadata } = await createPod(server.admin, namespace, 'presumptuous', { metadata: sent });
    expect(metadata).toMatchObject({ generation: 1 });
    expect(metadata.uid).not.toBe(sent.uid);
    expect(metadata.creationTimestamp).not.toBe(sent.creationTimestamp);
    for (const key of ['deletionTimestamp', 'deletionGracePeriodSeconds', 'selfLink']) expect(metadata).not.toHaveProperty(key);
  });

  it.each(['labels', 'annotations'])('has only text in %s: null is empty text, and anything else is refused', async (key) => {
    const name = `text-in-${key}`;
    const created = await createPod(server.admin, namespace, name, { metadata: { [key]: { a: null, b: 'c' } } });
    expect(created.metadata).toMatchObject({ [key]: { a: '', b: 'c' } });
    for (const value of [1, true, {}]) {
      const pod = podJson(name, { metadata: { [key]: { a: value } } });
      expect(await server.admin.createPod(namespace, pod)).toMatchObject({ status: 400, body: { reason: 'BadRequest' } });
      expect((await server.admin.replacePod(namespace, name, pod)).status).toBe(400);
    }
    const patch = { metadata: { [key]: { a: 1 } } };
    expect((await server.admin.patchPod(namespace, name, patch, 'merge')).status).toBe(422);
  });
});

describe('reading one pod', () => {
  it('answers with the whole pod', async () => {
    const created = await createPod(server.admin, namespace, 'read');
    const answer = await server.admin.getPod(namespace, 'read');
    expect(answer.status).toBe(200);
    expect(podOf(answer)).toEqual(created);
  });

  it('reads the same pod through the status subresource', async () => {
    const created = await createPod(server.admin, namespace, 'read-status');
    const answer = await server.admin.send('GET', `/api/v1/namespaces/${namespace}/pods/read-status/status`);
    expect(podOf(answer)).toEqual(created);
  });

  it('answers 404 NotFound with a Status object when there is no such pod', async () => {
    expect(await server.admin.getPod(namespace, 'nobody')).toMatchObject({
      status: 404,
      body: {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message: 'pods "nobody" not found',
        reason: 'NotFound',
        details: { name: 'nobody', kind: 'pods' },
        code: 404,
      },
    });
  });
});

describe('listing pods', () => {
  it('lists a namespace in the order of names, at a resourceVersion', async () => {
    const own = await server.admin.createNamespace('list');
    await createPod(server.admin, own, 'b');
    const last = await createPod(server.admin, own, 'a');
    const list = podListOf(await server.admin.listPods(own));
    expect(list.items.map((pod) => pod.metadata.name)).toEqual(['a', 'b']);
    expect(BigInt(list.metadata.resourceVersion)).toBeGreaterThanOrEqual(BigInt(last.metadata.resourceVersion));
    // The items of a list carry neither kind nor apiVersion.
    expect(list.items[0]).not.toHaveProperty('kind');
    expect({ kind: 'Pod', apiVersion: 'v1', ...list.items[0] }).toEqual(last);
  });

  it('lists an empty namespace as an empty list', async () => {
    const own = await server.admin.createNamespace('list');
    expect(podListOf(await server.admin.listPods(own)).items).toEqual([]);
  });

  it('selects by spec.nodeName over all namespaces', async () => {
    const [one, two] = [await server.admin.createNamespace('list'), await server.admin.createNamespace('list')];
    const nodeName = `node-of-${one}`;
    await createPod(server.admin, one, 'mine', { spec: { nodeName } });
    await createPod(server.admin, two, 'mine-too', { spec: { nodeName } });
    await createPod(server.admin, two, 'not-mine');
    await createPod(server.admin, two, 'unbound', { spec: { nodeName: null } });
    const { items } = podListOf(await server.admin.listPods(undefined, { fieldSelector: `spec.nodeName=${nodeName}` }));
    expect(items.map((pod) => pod.metadata.name).sort()).toEqual(['mine', 'mine-too']);
  });

  it('selects by name and by phase', async () => {
    const own = await server.admin.createNamespace('list');
    await createPod(server.admin, own, 'pending');
    await createPod(server.admin, own, 'running');
    await server.admin.patchPodStatus(own, 'running', { status: { phase: 'Running' } });
    const namesFor = async (fieldSelector: string): Promise<string[]> =>
      podListOf(await server.admin.listPods(own, { fieldSelector })).items.map((pod) => pod.metadata.name);
    expect(await namesFor('metadata.name=pending')).toEqual(['pending']);
    expect(await namesFor('status.phase=Running')).toEqual(['running']);
    expect(await namesFor('status.phase!=Running,spec.nodeName=node-a')).toEqual(['pending']);
  });

  it('selects by label', async () => {
    const own = await server.admin.createNamespace('list');
    await createPod(server.admin, own, 'web', { metadata: { labels: { app: 'web' } } });
    await createPod(server.admin, own, 'other');
    const { items } = podListOf(await server.admin.listPods(own, { labelSelector: 'app=web' }));
    expect(items.map((pod) => pod.metadata.name)).toEqual(['web']);
  });

  it('answers 400 BadRequest for an unknown field selector', async () => {
    const answer = await server.admin.listPods(namespace, { fieldSelector: 'spec.priority=1' });
    expect(answer).toMatchObject({ status: 400, body: { code: 400, reason: 'BadRequest' } });
  });
});
