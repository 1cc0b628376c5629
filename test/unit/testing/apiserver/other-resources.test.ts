import { afterEach, describe, expect, it } from 'vitest';
import { apiResource, resources } from '../../../../src/client/resources/api-resource.ts';
import { InMemoryApiServer, type InMemoryApiServerOptions } from '../../../../src/testing/apiserver/in-memory-apiserver.ts';
import { buildPod } from '../../../../src/testing/fakes/builders.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { until } from '../../../support/until.ts';
import { pods, TestClient } from './client.ts';

const cleanUps: (() => Promise<void>)[] = [];
const secrets = '/api/v1/namespaces/default/secrets';
const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
const widget = apiResource({
  group: 'example.com',
  version: 'v1',
  resource: 'widgets',
  kind: 'Widget',
  namespaced: true,
});

async function serve(options: InMemoryApiServerOptions = {}) {
  const server = await InMemoryApiServer.start({ clock: new FakeClock(), ...options });
  const client = new TestClient(server);
  cleanUps.push(
    () => client.close(),
    () => server.stop(),
  );
  const watch = (path: string, query = '') => client.watch(query, {}, path);
  return { server, client, watch, secrets: server.objects(resources.secrets) };
}

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

describe('server.objects', () => {
  it('seeds objects that requests read, and reads what requests write', async () => {
    const { server, client, secrets: store } = await serve();
    const seeded = store.create({ metadata: { name: 'a' }, stringData: { key: 'value' } });
    expect(seeded.data).toEqual({ key: 'dmFsdWU=' });
    expect((await client.send('GET', `${secrets}/a`)).json()).toEqual(seeded);
    await client.send('POST', leases, { body: { metadata: { name: 'node-1' }, spec: { holderIdentity: 'me' } } });
    const lease = server.objects(resources.leases).get({ name: 'node-1' });
    expect(lease.spec?.holderIdentity).toBe('me');
    store.delete({ namespace: 'default', name: 'a' });
    expect((await client.send('GET', `${secrets}/a`)).status).toBe(404);
    server.objects(resources.nodes).create({ metadata: { name: 'node-1' } });
    expect((await client.send('GET', '/api/v1/nodes/node-1')).json().metadata).not.toHaveProperty('namespace');
  });

  it('has the pods of server.store', async () => {
    const { server } = await serve();
    server.store.put(buildPod());
    expect(server.objects(resources.pods).list()).toEqual(server.store.list());
  });

  it('serves a resource from then on that the server does not have, as the option `resources` does', async () => {
    const { server, client } = await serve();
    const path = '/apis/example.com/v1/namespaces/default/widgets';
    expect((await client.send('GET', path)).text).toBe('404 page not found\n');
    server.objects(widget).create({ metadata: { name: 'a' }, spec: { size: 1 } });
    expect((await client.send('GET', path)).json()).toMatchObject({ kind: 'WidgetList', items: [{ kind: 'Widget' }] });
    const other = await serve({ resources: [widget] });
    expect((await other.client.send('GET', path)).json()).toMatchObject({ kind: 'WidgetList', items: [] });
    expect((await other.client.send('GET', '/apis/example.com/v1/gadgets')).json()).toMatchObject({ code: 404, kind: 'Status' });
  });

  it.each([
    [{ kind: 'Hidden' }, 'kind Secret, namespaced'],
    [{ namespaced: false }, 'kind Secret, namespaced'],
  ])('refuses a resource that is another than the one of the server: %o', async (change, rule) => {
    const { server } = await serve();
    expect(() => server.objects(apiResource({ ...resources.secrets, ...change }))).toThrow(rule);
  });

  it('writes what no client could with put and remove', async () => {
    const { client, secrets: store } = await serve();
    const raw = store.put({ metadata: { name: 'raw', finalizers: ['held'] }, data: { a: 'not base64' } });
    expect(raw).not.toHaveProperty('type');
    const patch = { body: {}, headers: { 'content-type': 'application/merge-patch+json' } };
    expect((await client.send('PATCH', `${secrets}/raw`, patch)).status).toBe(422);
    const mended = { body: { data: { a: 'YQ==' } }, headers: patch.headers };
    expect((await client.send('PATCH', `${secrets}/raw`, mended)).json()).toMatchObject({ type: 'Opaque', data: { a: 'YQ==' } });
    expect(store.put({ metadata: { name: 'raw', finalizers: ['held'] }, data: { a: 'YQ==' } }).metadata?.uid).not.toBe(
      raw.metadata?.uid,
    );
    const { resourceVersion } = store;
    // What the server fills in is no change.
    expect((await client.send('PATCH', `${secrets}/raw`, patch)).status).toBe(200);
    expect(store.resourceVersion).toBe(resourceVersion);
    expect(store.remove({ name: 'raw' })).toBe(true);
    expect(store.remove({ name: 'raw' })).toBe(false);
  });
});

describe('resourceVersions', () => {
  it('are those of one counter, which the namespaces of the beginning do not use up', async () => {
    const { server, client, secrets: store } = await serve();
    expect((await client.send('GET', '/api/v1/namespaces')).json().items).toHaveLength(4);
    expect(store.create({ metadata: { name: 'a' } }).metadata?.resourceVersion).toBe('1');
    expect(server.store.put(buildPod()).metadata?.resourceVersion).toBe('2');
    expect(server.objects(resources.nodes).create({ metadata: { name: 'n' } }).metadata?.resourceVersion).toBe('3');
    expect(server.store.resourceVersion).toBe('3');
    expect((await client.send('GET', leases)).json().metadata.resourceVersion).toBe('3');
  });

  it('are forgotten by one resource alone: a watch of it begins with 410, one of another does not', async () => {
    const { server, secrets: store, watch } = await serve();
    store.create({ metadata: { name: 'a' } });
    server.store.put(buildPod());
    store.create({ metadata: { name: 'b' } });
    store.compact();
    const ended = await watch(secrets, '&resourceVersion=1');
    await until(() => ended.ended !== undefined);
    expect(ended.events).toMatchObject([{ type: 'ERROR', object: { code: 410, reason: 'Expired' } }]);
    const open = await watch(pods, '&resourceVersion=1');
    await until(() => open.events.length === 1);
    expect(open.names).toEqual(['ADDED pod-1']);
    await watch(secrets, '&resourceVersion=3');
  });

  it('go back for all resources with a restore, which cuts all their watches', async () => {
    const { server, client, secrets: store, watch } = await serve();
    store.create({ metadata: { name: 'kept' } });
    await client.send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', { body: definition });
    const snapshot = server.store.snapshot();
    store.create({ metadata: { name: 'lost' } });
    server.store.put(buildPod());
    const { uid } = store.get({ name: 'kept' }).metadata ?? {};
    store.delete({ name: 'kept' });
    const cut = await watch(secrets, '&resourceVersion=0');
    server.store.restore(snapshot);
    await until(() => cut.ended !== undefined);
    expect(store.list().map(({ metadata }) => metadata?.name)).toEqual(['kept']);
    expect(store.get({ name: 'kept' }).metadata?.uid).toBe(uid);
    expect(server.store.list()).toEqual([]);
    expect(store.resourceVersion).toBe('2');
    const made = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' } };
    expect((await client.send('POST', '/apis/example.com/v1/namespaces/default/widgets', { body: made })).status).toBe(201);
  });

  it('go back for definitions too: what one brought after the snapshot is gone, and what one took away is back', async () => {
    const { server, client, watch } = await serve();
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    const widgets = '/apis/example.com/v1/namespaces/default/widgets';
    const body = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' } };
    const before = server.store.snapshot();
    await client.send('POST', path, { body: definition });
    await client.send('POST', widgets, { body });
    const between = server.store.snapshot();
    const cut = await watch(widgets, '&resourceVersion=2');
    server.store.restore(between);
    await until(() => cut.ended !== undefined);
    server.store.restore(before);
    expect((await client.send('GET', widgets)).status).toBe(404);
    await client.send('POST', path, { body: definition });
    expect((await client.send('GET', widgets)).json().items).toEqual([]);
    await client.send('DELETE', `${path}/widgets.example.com`);
    expect((await client.send('GET', widgets)).status).toBe(404);
    server.store.restore(between);
    expect((await client.send('GET', widgets)).json()).toMatchObject({ items: [{ metadata: { name: 'a' } }] });
  });

  it('leave the other resources as they are in a restore of a snapshot of pods alone', async () => {
    const { server, secrets: store } = await serve();
    store.create({ metadata: { name: 'kept' } });
    server.store.restore({ resourceVersion: '7', pods: [] });
    expect(store.has({ name: 'kept' })).toBe(true);
    expect(store.create({ metadata: { name: 'next' } }).metadata?.resourceVersion).toBe('8');
  });
});

const definition = {
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [{ name: 'v1', served: true, storage: true }],
  },
};

describe('requests, faults and watches', () => {
  it('count and list the requests on pods where no resource is named, and those on the resource where one is', async () => {
    const { server, client } = await serve();
    await client.send('GET', pods);
    await client.send('GET', `${secrets}/a`);
    await client.send('GET', leases);
    await client.send('GET', '/api/v1/namespaces');
    await client.send('GET', `${pods}/a`);
    expect(server.requests.map(({ resource }) => resource)).toEqual(['pods', 'pods']);
    expect(server.requestsOn('secrets')).toEqual([
      { resource: 'secrets', verb: 'get', namespace: 'default', name: 'a', subresource: undefined, status: 404 },
    ]);
    const all = ['pods', 'secrets', 'leases.coordination.k8s.io', 'namespaces', 'pods'];
    expect(server.requestsOn('*').map(({ resource }) => resource)).toEqual(all);
    const counts = ['secrets', 'leases', 'leases.coordination.k8s.io', 'leases.example.com', '*'].map((resource) =>
      server.countRequests(undefined, { resource }),
    );
    expect(counts).toEqual([1, 1, 1, 0, 5]);
    expect([server.countRequests(), server.countRequests('list', { resource: '*' })]).toEqual([2, 3]);
    server.clearRequests();
    expect(server.countRequests(undefined, { resource: '*' })).toBe(0);
  });

  it('keep the last requests of each resource, however many there are on another', async () => {
    const { server, client } = await serve({ requestLogSize: 1 });
    await client.send('GET', pods);
    for (const name of ['a', 'b', 'c']) await client.send('GET', `${secrets}/${name}`);
    expect(server.requests).toHaveLength(1);
    expect(server.requestsOn('secrets').map(({ name }) => name)).toEqual(['c']);
  });

  it('fail requests on pods where the rule names no resource', async () => {
    const { server, client } = await serve();
    server.fail({ fault: { kind: 'status', code: 503 }, times: 2 });
    expect((await client.send('GET', secrets)).status).toBe(200);
    expect((await client.send('GET', pods)).status).toBe(503);
    server.clearFaults();
    server.fail({ resource: 'secrets', verb: 'list', fault: { kind: 'status', code: 500 } });
    expect((await client.send('GET', pods)).status).toBe(200);
    expect((await client.send('GET', secrets)).status).toBe(500);
    server.fail({ resource: '*', fault: { kind: 'reset' }, times: 2 });
    expect(await client.outcome('GET', leases)).toBe('ECONNRESET');
    expect(await client.outcome('GET', '/api/v1/nodes/n')).toBe('ECONNRESET');
    expect((await client.send('GET', leases)).status).toBe(200);
  });

  it('count and end the watches of a resource', async () => {
    const { server, watch } = await serve();
    const ofPods = await watch(pods);
    const ofSecrets = [await watch(secrets), await watch('/api/v1/secrets', '&fieldSelector=metadata.name%3Da')];
    const counts = () => ['pods', 'secrets', 'leases', '*'].map((resource) => server.countOpenWatches({ resource }));
    expect([server.openWatches, server.countOpenWatches(), ...counts()]).toEqual([1, 1, 1, 2, 0, 3]);
    expect(server.dropWatches({ kind: 'reset', resource: 'secrets' })).toBe(2);
    for (const each of ofSecrets) await until(() => each.ended !== undefined);
    await until(() => server.countOpenWatches({ resource: '*' }) === 1);
    expect(ofPods.ended).toBeUndefined();
    expect(server.dropWatches({ kind: '410', resource: '*' })).toBe(1);
    await until(() => ofPods.ended === 'end');
  });
});

describe('a namespace', () => {
  it('takes all its objects with it, which their watches see', async () => {
    const { server, client, secrets: store, watch } = await serve({ requireNamespaces: true });
    const own = '/api/v1/namespaces/own';
    expect((await client.send('POST', `${own}/secrets`, { body: { metadata: { name: 'a' } } })).status).toBe(404);
    await client.send('POST', '/api/v1/namespaces', { body: { metadata: { name: 'own' } } });
    expect((await client.send('POST', `${own}/secrets`, { body: { metadata: { name: 'a' } } })).status).toBe(201);
    server.objects(resources.leases).create({ metadata: { name: 'l', namespace: 'own', finalizers: ['held'] } });
    store.create({ metadata: { name: 'other' } });
    const seen = await watch(`${own}/secrets`);
    const stale = { body: { preconditions: { uid: 'another' } } };
    expect((await client.send('DELETE', own, stale)).status).toBe(409);
    expect((await client.send('DELETE', `${own}?dryRun=All`)).status).toBe(200);
    expect((await client.send('DELETE', own)).json().status.phase).toBe('Terminating');
    await until(() => seen.names.length === 2);
    expect(seen.names).toEqual(['ADDED a', 'DELETED a']);
    expect(server.objects(resources.leases).list()).toEqual([]);
    expect((await client.send('GET', own)).status).toBe(404);
    expect(store.list()).toHaveLength(1);
  });

  it('keeps its label and its finalizers in every update', async () => {
    const { client } = await serve();
    const { metadata } = (await client.send('GET', '/api/v1/namespaces/default')).json();
    const body = { metadata: { name: 'default', resourceVersion: metadata.resourceVersion, labels: { a: 'b' } } };
    expect((await client.send('PUT', '/api/v1/namespaces/default', { body })).json()).toMatchObject({
      metadata: { labels: { a: 'b', 'kubernetes.io/metadata.name': 'default' } },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    });
  });
});

describe('a CustomResourceDefinition', () => {
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const widgets = '/apis/example.com/v1/namespaces/default/widgets';

  it('brings its resource, and takes it away with all objects when it is deleted', async () => {
    const { server, client, watch } = await serve();
    const created = (await client.send('POST', path, { body: definition })).json();
    expect(created.status.conditions).toMatchObject([{ type: 'NamesAccepted' }, { type: 'Established', status: 'True' }]);
    const body = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' }, spec: {} };
    expect((await client.send('POST', widgets, { body })).status).toBe(201);
    const seen = await watch(widgets);
    await client.send('DELETE', `${path}/widgets.example.com`);
    await until(() => seen.names.length === 2);
    expect(seen.names).toEqual(['ADDED a', 'DELETED a']);
    expect((await client.send('GET', widgets)).status).toBe(404);
    await client.send('POST', path, { body: definition });
    expect((await client.send('GET', widgets)).json().items).toEqual([]);
    expect(server.countRequests('create', { resource: 'widgets' })).toBe(1);
  });

  it.each([
    ['a name that is not that of the resource', { metadata: { name: 'gadgets.example.com' } }],
    ['no storage version', { spec: { ...definition.spec, versions: [{ name: 'v1', served: true, storage: false }] } }],
  ])('is refused with %s', async (_, change) => {
    const { client } = await serve();
    expect((await client.send('POST', path, { body: { ...definition, ...change } })).status).toBe(422);
  });
});
