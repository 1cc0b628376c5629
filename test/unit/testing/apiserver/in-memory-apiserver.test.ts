import { CoreV1Api } from '@kubernetes/client-node';
import { afterEach, describe, expect, it } from 'vitest';
import { InMemoryApiServer, type InMemoryApiServerOptions } from '../../../../src/testing/apiserver/in-memory-apiserver.ts';
import { buildPod } from '../../../../src/testing/fakes/builders.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { PodStore } from '../../../../src/testing/pods-api/pod-store.ts';
import { until } from '../../../support/until.ts';
import { pods, TestClient } from './client.ts';

const cleanUps: (() => Promise<void>)[] = [];

async function serve(options: InMemoryApiServerOptions = {}) {
  const server = await InMemoryApiServer.start(options);
  const client = new TestClient(server);
  cleanUps.push(
    () => client.close(),
    () => server.stop(),
  );
  return { server, client, store: server.store };
}

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

const metadataOnly = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';

const namesOf = (list: { items: { metadata: { name: string } }[] }): string[] => list.items.map((pod) => pod.metadata.name);

describe('InMemoryApiServer, pods', () => {
  it('creates, reads, lists, patches, replaces and deletes pods', async () => {
    const { client } = await serve();
    const created = await client.send('POST', pods, { body: { metadata: { name: 'a' }, spec: buildPod().spec } });
    expect(created.status).toBe(201);
    expect(created.json()).toMatchObject({
      kind: 'Pod',
      apiVersion: 'v1',
      metadata: { namespace: 'default' },
      status: { phase: 'Pending' },
    });
    const patched = await client.send('PATCH', `${pods}/a/status`, { body: { status: { phase: 'Running' } } });
    expect(patched.json().status.phase).toBe('Running');
    const read = (await client.send('GET', `${pods}/a`)).json();
    expect(read).toEqual(patched.json());
    read.metadata.labels = { x: '1' };
    expect((await client.send('PUT', `${pods}/a`, { body: read })).json().metadata.labels).toEqual({ x: '1' });
    expect(
      (await client.send('PUT', `${pods}/a/status`, { body: { ...read, metadata: { name: 'a', labels: { x: '1' } } } })).status,
    ).toBe(200);
    const list = (await client.send('GET', '/api/v1/pods?labelSelector=x%3D1')).json();
    expect(list).toMatchObject({ kind: 'PodList', items: [{ metadata: { name: 'a' } }] });
    expect(list.items[0]).not.toHaveProperty('kind');
    const deleted = await client.send('DELETE', `${pods}/a`, {
      body: { gracePeriodSeconds: 0, preconditions: { uid: read.metadata.uid } },
    });
    expect(deleted.json()).toMatchObject({ kind: 'Pod', metadata: { deletionGracePeriodSeconds: 0 } });
    expect((await client.send('GET', `${pods}/a`)).status).toBe(404);
  });

  it('reads the grace period of a DELETE from its query, and accepts a DELETE without a body', async () => {
    const { client, store } = await serve();
    store.put(buildPod({ metadata: { name: 'a' } }));
    const answer = await client.send('DELETE', `${pods}/a?gracePeriodSeconds=7`);
    expect(answer.json().metadata.deletionGracePeriodSeconds).toBe(7);
  });

  it('binds a pod to a node', async () => {
    const { client, store } = await serve();
    store.put(buildPod({ metadata: { name: 'a' }, spec: { nodeName: '' } }));
    const body = { target: { kind: 'Node', name: 'node-9' } };
    expect((await client.send('POST', `${pods}/a/binding`, { body })).status).toBe(201);
    expect(store.get('default', 'a').spec?.nodeName).toBe('node-9');
    expect((await client.send('POST', `${pods}/a/binding`, { body })).status).toBe(409);
  });

  it('deletes a collection', async () => {
    const { client, store } = await serve();
    for (const name of ['a', 'b']) store.put(buildPod({ metadata: { name, labels: { name } } }));
    await client.send('DELETE', `${pods}?labelSelector=name%3Da`, { body: { gracePeriodSeconds: 0 } });
    expect(store.list().map(({ metadata }) => metadata?.name)).toEqual(['b']);
  });

  it('answers with metadata alone when the client asks for it, for a pod and for a list', async () => {
    const { client, store } = await serve();
    store.put(buildPod({ metadata: { name: 'a' } }));
    const body = { status: { phase: 'Running' } };
    const answer = (await client.send('PATCH', `${pods}/a/status`, { body, headers: { accept: metadataOnly } })).json();
    expect(answer).toEqual({
      kind: 'PartialObjectMetadata',
      apiVersion: 'meta.k8s.io/v1',
      metadata: store.get('default', 'a').metadata,
    });
    const accept = metadataOnly.replace('Metadata;', 'MetadataList;');
    expect((await client.send('GET', pods, { headers: { accept } })).json()).toMatchObject({
      kind: 'PartialObjectMetadataList',
      items: [{ kind: 'PartialObjectMetadata', metadata: { name: 'a' } }],
    });
    expect((await client.send('GET', pods, { headers: { accept: metadataOnly } })).status).toBe(406);
    expect((await client.send('GET', `${pods}/a`, { headers: { accept } })).status).toBe(406);
    expect((await client.send('GET', `${pods}/a`, { headers: { accept: 'application/xml' } })).status).toBe(406);
    expect((await client.send('GET', `${pods}/a`, { headers: { accept: 'application/xml, */*' } })).json().kind).toBe('Pod');
  });

  it.each([
    'application/json',
    'application/apply-patch+yaml',
    'text/plain',
  ])('answers 415 to a PATCH of type %s', async (type) => {
    const { client, store } = await serve();
    store.put(buildPod({ metadata: { name: 'a' } }));
    const answer = await client.send('PATCH', `${pods}/a/status`, { body: {}, headers: { 'content-type': type } });
    expect(answer.json()).toMatchObject({ code: 415, reason: 'UnsupportedMediaType' });
  });

  it('answers 413 to a body over 3 MiB, and still answers the next request', async () => {
    const { client, store } = await serve();
    store.put(buildPod({ metadata: { name: 'a' } }));
    const body = (length: number) => ({ status: { message: 'x'.repeat(length) } });
    const answer = await client.send('PATCH', `${pods}/a/status`, { body: body(3 * 1024 * 1024) });
    expect(answer.json()).toMatchObject({ code: 413, reason: 'RequestEntityTooLarge' });
    expect((await client.send('PATCH', `${pods}/a/status`, { body: body(2 * 1024 * 1024) })).status).toBe(200);
  });

  it('answers Status objects: 404, 405, 409, 400', async () => {
    const { client, store } = await serve();
    store.put(buildPod({ metadata: { name: 'a' } }));
    expect((await client.send('GET', '/api/v1/zork')).json()).toMatchObject({ kind: 'Status', code: 404 });
    expect((await client.send('PUT', pods, { body: {} })).json()).toMatchObject({ code: 405, reason: 'MethodNotAllowed' });
    expect((await client.send('POST', pods, { body: buildPod({ metadata: { name: 'a' } }) })).json()).toMatchObject({
      reason: 'AlreadyExists',
    });
    expect((await client.send('POST', pods, { body: '{"metadata":' })).json()).toMatchObject({ code: 400, reason: 'BadRequest' });
    expect((await client.send('PUT', `${pods}/a`, { body: buildPod({ metadata: { name: 'b' } }) })).status).toBe(400);
    expect((await client.send('POST', pods, { body: buildPod({ metadata: { namespace: 'other' } }) })).status).toBe(400);
    expect((await client.send('GET', `${pods}?resourceVersion=abc`)).status).toBe(400);
  });

  it('answers 504 for a future resourceVersion, the state of then for an exact one, and 410 once that is forgotten', async () => {
    const { client, store } = await serve();
    store.put(buildPod({ metadata: { name: 'a' } }));
    store.put(buildPod({ metadata: { name: 'b' } }));
    expect((await client.send('GET', `${pods}?resourceVersion=99`)).json()).toMatchObject({ code: 504, reason: 'Timeout' });
    const exact = `${pods}?resourceVersion=1&resourceVersionMatch=Exact`;
    expect(namesOf((await client.send('GET', exact)).json())).toEqual(['a']);
    store.compact();
    expect((await client.send('GET', exact)).json()).toMatchObject({ code: 410, reason: 'Expired' });
    expect((await client.send('GET', `${pods}?resourceVersion=2&resourceVersionMatch=Exact`)).status).toBe(200);
  });
});

describe('InMemoryApiServer, lists in pages', () => {
  it('shows the pods as they were at the first page, whatever happened since', async () => {
    const { client, store } = await serve();
    for (const name of ['a', 'b', 'c', 'd']) store.put(buildPod({ metadata: { name } }));
    const first = (await client.send('GET', `${pods}?limit=2`)).json();
    store.put(buildPod({ metadata: { name: 'c', labels: { late: 'yes' } } }));
    store.remove('default', 'd');
    store.put(buildPod({ metadata: { name: 'bb' } }));
    const second = (await client.send('GET', `${pods}?limit=9&continue=${first.metadata.continue}`)).json();
    expect([...namesOf(first), ...namesOf(second)]).toEqual(['a', 'b', 'c', 'd']);
    expect(second.items[0].metadata).not.toHaveProperty('labels');
    expect(second.metadata).toEqual({ resourceVersion: first.metadata.resourceVersion });
  });

  it('answers 410 for a token whose state is forgotten', async () => {
    const { client, store } = await serve();
    for (const name of ['a', 'b', 'c']) store.put(buildPod({ metadata: { name } }));
    const { metadata } = (await client.send('GET', `${pods}?limit=2`)).json();
    store.remove('default', 'c');
    store.compact();
    const answer = await client.send('GET', `${pods}?continue=${metadata.continue}`);
    expect(answer.json()).toMatchObject({ code: 410, reason: 'Expired' });
  });
});

describe('InMemoryApiServer, other resources and the connection', () => {
  it('answers /version and /readyz', async () => {
    const { client } = await serve();
    expect((await client.send('GET', '/version')).json().gitVersion).toMatch(/^v1\.\d+/);
    expect((await client.send('GET', '/readyz')).text).toBe('ok');
  });

  it('tries out the creation of a namespace in a dry run', async () => {
    const { client } = await serve();
    const create = { body: { metadata: { name: 'mine' } } };
    expect((await client.send('POST', '/api/v1/namespaces?dryRun=All', create)).status).toBe(201);
    expect((await client.send('GET', '/api/v1/namespaces/mine')).status).toBe(404);
  });

  it('logs the deletion of a collection under its own verb', async () => {
    const { client, server, store } = await serve();
    store.put(buildPod({ metadata: { name: 'a' } }));
    await client.send('DELETE', `${pods}?gracePeriodSeconds=0`);
    expect(store.list()).toEqual([]);
    expect(server.requests.map(({ verb }) => verb)).toEqual(['deletecollection']);
    expect([server.countRequests('deletecollection'), server.countRequests('delete')]).toEqual([1, 0]);
  });

  it('creates, lists and deletes namespaces, with all pods in them', async () => {
    const { client, store } = await serve();
    expect((await client.send('POST', '/api/v1/namespaces', { body: { metadata: { name: 'mine' } } })).status).toBe(201);
    expect((await client.send('POST', '/api/v1/namespaces', { body: { metadata: { name: 'mine' } } })).json().reason).toBe(
      'AlreadyExists',
    );
    const names = (await client.send('GET', '/api/v1/namespaces'))
      .json()
      .items.map(({ metadata }: { metadata: { name: string } }) => metadata.name);
    expect(names).toEqual(expect.arrayContaining(['default', 'mine']));
    store.put(buildPod({ metadata: { namespace: 'mine', finalizers: ['x.io/held'] } }));
    store.put(buildPod());
    expect((await client.send('DELETE', '/api/v1/namespaces/mine')).status).toBe(200);
    expect((await client.send('GET', '/api/v1/namespaces/mine')).status).toBe(404);
    expect(store.list().map(({ metadata }) => metadata?.namespace)).toEqual(['default']);
  });

  it('needs no namespace for a pod, unless requireNamespaces is set', async () => {
    const path = '/api/v1/namespaces/nowhere/pods';
    const body = buildPod({ metadata: { namespace: 'nowhere' } });
    const { client } = await serve();
    expect((await client.send('POST', path, { body })).status).toBe(201);
    const strict = await serve({ requireNamespaces: true });
    expect((await strict.client.send('POST', path, { body })).json()).toMatchObject({
      code: 404,
      message: 'namespaces "nowhere" not found',
    });
  });

  it('answers 401 to a wrong token or none, and has the right one in its KubeConfig', async () => {
    const { client, server } = await serve({ token: 'secret' });
    expect((await client.send('GET', pods)).json()).toMatchObject({ code: 401, reason: 'Unauthorized' });
    expect((await client.send('GET', pods, { headers: { authorization: 'Bearer other' } })).status).toBe(401);
    server.store.put(buildPod());
    const list = await server.kubeConfig().makeApiClient(CoreV1Api).listNamespacedPod({ namespace: 'default' });
    expect(list.items.map(({ metadata }) => metadata?.name)).toEqual(['pod-1']);
  });

  it('logs requests on pods, counts them by verb, and lists a bounded number', async () => {
    const { client, server } = await serve({ requestLogSize: 2 });
    server.store.put(buildPod());
    await client.send('GET', `${pods}/nope`);
    await client.send('GET', pods);
    await client.send('PATCH', `${pods}/pod-1/status`, { body: { status: { phase: 'Running' } } });
    await client.send('GET', '/version');
    expect(server.requests).toEqual([
      { resource: 'pods', verb: 'list', namespace: 'default', name: undefined, subresource: undefined, status: 200 },
      { resource: 'pods', verb: 'patch', namespace: 'default', name: 'pod-1', subresource: 'status', status: 200 },
    ]);
    expect([
      server.countRequests('get'),
      server.countRequests('patch'),
      server.countRequests('watch'),
      server.countRequests(),
    ]).toEqual([1, 1, 0, 3]);
    server.clearRequests();
    expect(server.countRequests()).toBe(0);
  });

  it('lists no request where none is to be kept, and counts them all the same', async () => {
    const { client, server } = await serve({ requestLogSize: 0 });
    for (let i = 0; i < 3; i++) await client.send('GET', pods);
    expect(server.requests).toEqual([]);
    expect(server.countRequests('list')).toBe(3);
  });

  it('serves the given store', async () => {
    const store = new PodStore({ validate: false, clock: new FakeClock() });
    const { client, server } = await serve({ store });
    expect(server.store).toBe(store);
    await client.send('POST', pods, { body: { metadata: { name: 'odd' } } });
    expect(store.get('default', 'odd').metadata?.creationTimestamp).toBe('2000-01-01T00:00:00Z');
  });

  it('keeps an idle connection open for the next request', async () => {
    const { client, server } = await serve();
    const connections = new Set<string | string[] | undefined>();
    for (let i = 0; i < 3; i += 1) connections.add((await client.send('GET', '/readyz')).headers.connection);
    expect([...connections]).toEqual(['keep-alive']);
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });

  it('ends every connection on stop, and may be stopped twice or by `await using`', async () => {
    const { client, server } = await serve();
    const watch = await client.watch();
    server.fail({ verb: 'get', fault: { kind: 'hang' } });
    const hanging = client.outcome('GET', `${pods}/a`);
    await until(() => server.countRequests('get') === 1);
    await Promise.all([server.stop(), server.stop()]);
    await server[Symbol.asyncDispose]();
    expect(await hanging).toBe('UND_ERR_SOCKET');
    await until(() => watch.ended !== undefined);
    expect(watch.ended).not.toBe('end');
    expect(await client.outcome('GET', pods)).toBe('ECONNREFUSED');
  });
});

describe('the option port', () => {
  it('lets a server come back at the same address', async () => {
    const first = await InMemoryApiServer.start();
    const port = Number(new URL(first.url).port);
    await expect(InMemoryApiServer.start({ port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
    await first.stop();
    await using second = await InMemoryApiServer.start({ store: first.store, port });
    expect(second.url).toBe(first.url);
  });

  it.each([-1, 65_536, 1.5, '80', null])('is not %j', async (port) => {
    const error = { code: 'ERR_INVALID_OPTION', message: expect.stringContaining('`port`') };
    await expect(InMemoryApiServer.start({ port: port as number })).rejects.toMatchObject(error);
  });

  it('is refused where it is misspelt', async () => {
    const options = { prot: 80 } as object;
    await expect(InMemoryApiServer.start(options)).rejects.toMatchObject({ code: 'ERR_INVALID_OPTION' });
  });
});
