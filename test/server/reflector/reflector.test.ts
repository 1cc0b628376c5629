import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Reflector } from '../../../src/client/reflector/reflector.ts';
import { apiResource, resources } from '../../../src/client/resources/api-resource.ts';
import { ResourceClient } from '../../../src/client/resources/resource-client.ts';
import { KubeTransport } from '../../../src/client/transport/kube-transport.ts';
import { startTestServer, type TestServer } from '../../support/servers.ts';
import { TcpRelay } from '../../support/tcp-relay.ts';
import { Facts } from '../manager/facts.ts';
import { ReflectedConfigMaps } from './reflector-fixture.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const newNamespace = (): Promise<string> => server.admin.createNamespace('reflector');

const ways = [
  ['streamed, latest', { streamLists: true, listFrom: 'latest' }],
  ['listed, latest', { streamLists: false, listFrom: 'latest' }],
  ['streamed, from the cache', { streamLists: true, listFrom: 'cache' }],
  ['listed, from the cache', { streamLists: false, listFrom: 'cache' }],
] as const;

describe.each(ways)('a reflector (%s)', (_way, options) => {
  it('holds what the server has, and follows each change', async () => {
    await using maps = new ReflectedConfigMaps(server, await newNamespace(), options);
    await maps.create('there', { a: '1' });
    await maps.reflector.start();
    // a cache may lag behind what was just created
    await maps.until('the first object is there', () => maps.names.length === 1);
    await maps.create('made', { b: '1' });
    await maps.until('it shows the new object', () => maps.held('made') !== undefined);
    await maps.change('there', { a: '2' });
    await maps.until('it shows the change', () => maps.held('there')?.data?.a === '2');
    expect(new Map(maps.reflector.store.list().map((one) => [one.metadata?.name ?? '', one]))).toEqual(await maps.served());
    await maps.remove('made');
    await maps.until('it shows the deletion', () => maps.held('made') === undefined);
    expect(maps.calls.filter((call) => call !== 'synced')).toEqual([
      'added there',
      'added made',
      'updated there',
      'deleted made',
    ]);
    expect(maps.transport.log[0]).toBe(options.streamLists ? 'stream' : 'list');
  });

  it('shows a recreated object as another one', async () => {
    await using maps = new ReflectedConfigMaps(server, await newNamespace(), options);
    await maps.reflector.start();
    const old = await maps.create('again');
    await maps.until('it shows the first', () => maps.held('again') !== undefined);
    await maps.remove('again');
    const young = await maps.create('again');
    await maps.until('it shows the second', () => maps.held('again')?.metadata?.uid === young.metadata?.uid);
    expect(old.metadata?.uid).not.toBe(young.metadata?.uid);
    expect(maps.calls.filter((call) => call !== 'synced')).toEqual(['added again', 'deleted again', 'added again']);
  });

  it('finds what happened while its watch was refused with 410', async () => {
    await using maps = new ReflectedConfigMaps(server, await newNamespace(), options);
    await maps.reflector.start();
    for (const name of ['stays', 'changes', 'goes']) await maps.create(name);
    await maps.until('it shows the three', () => maps.names.length === 3);
    await maps.until('its watch works', () => maps.transport.log.length > 0);
    maps.transport.expireWatches();
    await maps.change('changes', { a: '2' });
    await maps.remove('goes');
    const made = await maps.create('comes');
    await maps.until('it is cut off', () => maps.calls.includes('interrupted'));
    await maps.until('it lists again', () => maps.calls.filter((call) => call === 'synced').length === 2);
    await maps.until('it shows the last write', () => maps.held('comes')?.metadata?.uid === made.metadata?.uid);
    await maps.until('it shows the change', () => maps.held('changes')?.data?.a === '2' && maps.held('goes') === undefined);
    expect(new Map(maps.reflector.store.list().map((one) => [one.metadata?.name ?? '', one]))).toEqual(await maps.served());
  });

  it('goes on after a cut connection, and finds what happened meanwhile', async () => {
    await using relay = await TcpRelay.start(server.kubeConfig());
    const kubeConfig = relay.through(server.kubeConfig());
    await using maps = new ReflectedConfigMaps(server, await newNamespace(), { ...options, kubeConfig });
    await maps.reflector.start();
    await maps.create('changes');
    await maps.create('goes');
    await maps.until('it shows both', () => maps.names.length === 2);
    relay.cut();
    await maps.until('it is cut off', () => maps.calls.includes('interrupted'));
    await maps.remove('goes');
    await maps.change('changes', { a: '2' });
    await maps.create('comes');
    expect(maps.names.sort()).toEqual(['changes', 'goes']);
    relay.mend();
    await maps.until('it shows all', () => maps.held('changes')?.data?.a === '2' && maps.held('goes') === undefined);
    await maps.until('it shows the new one', () => maps.held('comes') !== undefined);
  });
});

describe('a reflector with selectors', () => {
  it('shows an object that begins to match a label selector, and one that no longer does as deleted', async () => {
    await using maps = new ReflectedConfigMaps(server, await newNamespace(), { labelSelector: 'color in (red, blue)' });
    await maps.create('red', {}, { color: 'red' });
    await maps.create('green', {}, { color: 'green' });
    await maps.reflector.start();
    expect(maps.names).toEqual(['red']);
    const label = (name: string, color: string) =>
      maps.client.patch(
        { namespace: maps.namespace, name },
        { type: 'application/merge-patch+json', body: { metadata: { labels: { color } } } },
      );
    await label('green', 'blue');
    await maps.until('it shows the one that matches now', () => maps.held('green') !== undefined);
    await label('red', 'none');
    await maps.until('it drops the one that does not', () => maps.held('red') === undefined);
    await label('red', 'red');
    await maps.until('it shows that one again', () => maps.held('red')?.metadata?.labels?.color === 'red');
    expect(maps.calls).toEqual(['added red', 'synced', 'added green', 'deleted red', 'added red']);
  });

  it('watches one object by its name', async () => {
    const namespace = await newNamespace();
    await using maps = new ReflectedConfigMaps(server, namespace, { fieldSelector: 'metadata.name=one' });
    await maps.create('other');
    await maps.reflector.start();
    await maps.create('one');
    await maps.create('another');
    await maps.until('it shows the one', () => maps.held('one') !== undefined);
    await maps.remove('one');
    await maps.until('it shows its end', () => maps.held('one') === undefined);
    expect([maps.names, maps.calls]).toEqual([[], ['synced', 'added one', 'deleted one']]);
  });
});

describe('a reflector of many objects', () => {
  it.each([1, 3, 8, 500])('lists them all in pages of %d', async (pageSize) => {
    await using maps = new ReflectedConfigMaps(server, await newNamespace(), { streamLists: false, pageSize });
    const names = Array.from({ length: 8 }, (_, index) => `map-${index}`);
    await Promise.all(names.map((name) => maps.create(name)));
    await maps.reflector.start();
    expect(maps.names).toEqual(names);
    // the page after the last full one is not asked for
    expect(maps.transport.log.filter((request) => request === 'list')).toHaveLength(Math.ceil(8 / pageSize));
  });
});

describe('a reflector of another resource', () => {
  const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' };
  const subjects = [
    ['a resource of a group', resources.leases, lease],
    ['a resource of the cluster', resources.nodes, { apiVersion: 'v1', kind: 'Node' }],
    [
      'a resource that is not among the known ones',
      apiResource({ group: '', version: 'v1', resource: 'resourcequotas', kind: 'ResourceQuota', namespaced: true }),
      { apiVersion: 'v1', kind: 'ResourceQuota' },
    ],
  ] as const;

  it.each(subjects)('follows %s', async (_what, resource, kind) => {
    const namespace = resource.namespaced ? await newNamespace() : undefined;
    const name = `reflected-${Date.now()}`;
    await using transport = new KubeTransport(server.kubeConfig());
    const client = new ResourceClient(transport, resource as typeof resources.leases);
    const facts = new Facts();
    await using reflector = new Reflector({
      logger: null,
      transport,
      resource: resource as typeof resources.leases,
      namespace,
      handlers: { added: facts.changed, updated: facts.changed, deleted: facts.changed },
    });
    await reflector.start();
    await client.create({ metadata: { name, ...(namespace !== undefined && { namespace }) } });
    const held = await facts.until('it shows the new object', () => reflector.store.get(namespace, name));
    expect(held).toMatchObject(kind);
    await client.delete({ namespace, name });
    await facts.until('it shows the deletion', () => reflector.store.get(namespace, name) === undefined);
  });
});

describe('an iterator of a reflector', () => {
  it('yields each change of a server', async () => {
    await using maps = new ReflectedConfigMaps(server, await newNamespace());
    await maps.create('a');
    await maps.reflector.start();
    const seen: string[] = [];
    for await (const { type, object } of maps.reflector) {
      seen.push(`${type} ${object.metadata?.name}`);
      if (seen.length === 1) await maps.change('a', { a: '2' });
      if (seen.length === 2) await maps.remove('a');
      if (seen.length === 3) break;
    }
    expect(seen).toEqual(['added a', 'updated a', 'deleted a']);
  });
});
