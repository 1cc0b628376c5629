import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { objectOf, type ServedObject } from '../../support/answers.ts';
import { startTestServer, type TestServer } from '../../support/servers.ts';
import { createPod } from '../pods-contract/pods-contract-fixture.ts';
import {
  Collection,
  configMaps,
  leases,
  namesOf,
  nodes,
  type Subject,
  secrets,
  uniqueName,
} from './resources-contract-fixture.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const subjects: readonly Subject[] = [secrets, configMaps, nodes, leases];

async function collection(subject: Subject): Promise<Collection> {
  return new Collection(server.admin, subject, await server.admin.createNamespace('watched'));
}

/** A real server watches from a cache, which may lag behind a write just made: a list that is as new waits for it. */
async function cached(objects: Collection, { metadata: { resourceVersion } }: ServedObject): Promise<void> {
  await objects.list({ resourceVersion, resourceVersionMatch: 'NotOlderThan' });
}

describe.each(subjects.map((subject) => [subject.resource.resource, subject] as const))('%s', (_, subject) => {
  it('are listed in order, without the kind of each', async () => {
    const objects = await collection(subject);
    const names = ['b', 'a', 'c'].map((each) => `${each}-${uniqueName('x')}`);
    for (const name of names) await objects.create(name);
    const list = await objects.list();
    expect(list).toMatchObject({ kind: `${subject.resource.kind}List`, apiVersion: objects.json('x').apiVersion });
    expect(namesOf(list)).toEqual([...names].sort());
    for (const item of list.items) expect(item).not.toHaveProperty('kind');
  });

  it('are listed in pages, all as they were at the first', async () => {
    const objects = await collection(subject);
    const names = ['a', 'b', 'c', 'd'].map((each) => `${each}-${uniqueName('x')}`);
    for (const name of names) await objects.create(name);
    const first = await objects.list({ limit: '3' });
    expect(namesOf(first)).toEqual(names.slice(0, 3));
    await objects.delete(names[3] ?? '');
    const rest = await objects.list({ limit: '3', continue: first.metadata.continue ?? '' });
    expect(namesOf(rest)).toEqual(names.slice(3));
    expect(rest.metadata).toEqual({ resourceVersion: first.metadata.resourceVersion });
    const exact = { resourceVersion: first.metadata.resourceVersion, resourceVersionMatch: 'Exact' };
    expect(namesOf(await objects.list(exact))).toEqual(names);
    expect(namesOf(await objects.list())).toEqual(names.slice(0, 3));
  });

  it('are selected by name and by label, and by no unknown field', async () => {
    const objects = await collection(subject);
    const [one, two] = [uniqueName('one'), uniqueName('two')];
    await objects.create(one, { metadata: { labels: { which: 'one' } } });
    await objects.create(two);
    expect(namesOf(await objects.list({ fieldSelector: `metadata.name=${one}` }))).toEqual([one]);
    const path = objects.path();
    const byLabel = await server.admin.send('GET', path, { query: { labelSelector: 'which=one,suite' } });
    expect(byLabel).toMatchObject({ body: { items: [{ metadata: { name: one } }] } });
    const unknown = await server.admin.send('GET', path, { query: { fieldSelector: 'spec.shape=round' } });
    expect(unknown).toMatchObject({ status: 400, body: { reason: 'BadRequest' } });
    if (!subject.resource.namespaced) return;
    const everywhere = { labelSelector: 'which=one', fieldSelector: `metadata.namespace=${objects.namespace}` };
    const all = await server.admin.send('GET', path.replace(`/namespaces/${objects.namespace}`, ''), { query: everywhere });
    expect(all).toMatchObject({ body: { items: [{ metadata: { name: one } }] } });
  });

  it('are read at no resourceVersion of the future', async () => {
    const objects = await collection(subject);
    const { metadata } = await objects.create(uniqueName('x'));
    const resourceVersion = String(Number(metadata.resourceVersion) + 1_000_000);
    const refused = { status: 504, body: { reason: 'Timeout', details: { causes: [{ reason: 'ResourceVersionTooLarge' }] } } };
    expect(await objects.get(metadata.name, { resourceVersion })).toMatchObject(refused);
    expect(await server.admin.send('GET', objects.path(), { query: { resourceVersion } })).toMatchObject(refused);
  });

  it('show every change after a resourceVersion', async () => {
    const objects = await collection(subject);
    const [first, second] = [uniqueName('first'), uniqueName('second')];
    const { metadata } = await objects.create(first);
    await objects.merge(first, subject.change);
    await objects.create(second);
    await objects.delete(first);
    const { resourceVersion } = metadata;
    const seen = await objects.take({ resourceVersion }, 3);
    expect(seen).toEqual([`MODIFIED ${first}`, `ADDED ${second}`, `DELETED ${first}`]);
  });

  it('come and go with a selection of one name, as an agent watches one object', async () => {
    const objects = await collection(subject);
    const [mine, other] = [uniqueName('mine'), uniqueName('other')];
    const query = { fieldSelector: `metadata.name=${mine}`, resourceVersion: (await objects.list()).metadata.resourceVersion };
    await objects.create(other);
    await objects.create(mine);
    await objects.delete(mine);
    await objects.create(mine);
    expect(await objects.take(query, 3)).toEqual([`ADDED ${mine}`, `DELETED ${mine}`, `ADDED ${mine}`]);
  });

  it('begin with the present ones and a bookmark with sendInitialEvents', async () => {
    const objects = await collection(subject);
    const name = uniqueName('present');
    await cached(objects, await objects.create(name));
    const query = { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: 'true' };
    const events = [];
    for await (const event of server.admin.watch<ServedObject>(objects.path(), { ...objects.selector, ...query })) {
      events.push(event);
      if (event.type === 'BOOKMARK') break;
    }
    const { kind } = subject.resource;
    const { apiVersion } = objects.json(name);
    const end = { annotations: { 'k8s.io/initial-events-end': 'true' }, resourceVersion: expect.stringMatching(/^\d+$/) };
    expect(events).toMatchObject([
      { type: 'ADDED', object: { kind, apiVersion, metadata: { name } } },
      { type: 'BOOKMARK', object: { kind, apiVersion, metadata: end } },
    ]);
  });

  it('show a DELETED object as it was at last, with the resourceVersion of the deletion', async () => {
    const objects = await collection(subject);
    const last = await objects.create(uniqueName('last'));
    await objects.delete(last.metadata.name);
    const query = { ...objects.selector, resourceVersion: last.metadata.resourceVersion };
    for await (const event of server.admin.watch<ServedObject>(objects.path(), query)) {
      expect(event.type).toBe('DELETED');
      const { metadata, ...rest } = event.object as ServedObject;
      const { resourceVersion, ...others } = metadata;
      expect({ ...rest, metadata: { ...others, resourceVersion: last.metadata.resourceVersion } }).toEqual(last);
      expect(BigInt(resourceVersion)).toBeGreaterThan(BigInt(last.metadata.resourceVersion));
      break;
    }
  });
});

describe('resourceVersions', () => {
  it('are counted together for all resources', async () => {
    const objects = await Promise.all(subjects.map(collection));
    const namespace = await server.admin.createNamespace('versions');
    const versions: bigint[] = [];
    for (let round = 0; round < 2; round += 1) {
      for (const each of objects) versions.push(BigInt((await each.create(uniqueName('x'))).metadata.resourceVersion));
      versions.push(BigInt((await createPod(server.admin, namespace, `pod-${round}`)).metadata.resourceVersion));
    }
    versions.push(BigInt((await (objects[0] as Collection).list()).metadata.resourceVersion));
    expect(versions.slice(0, -1)).toEqual([...new Set(versions.slice(0, -1))].sort((a, b) => (a < b ? -1 : 1)));
    expect(versions.at(-1)).toBeGreaterThanOrEqual(versions.at(-2) ?? 0n);
  });

  it('let a watch of one resource begin at a version that another has made', async () => {
    const [mine, other] = [await collection(secrets), await collection(configMaps)];
    const first = await mine.create(uniqueName('before'));
    const { metadata } = await other.create(uniqueName('between'));
    const second = await mine.create(uniqueName('after'));
    expect(await mine.take({ resourceVersion: metadata.resourceVersion }, 1)).toEqual([`ADDED ${second.metadata.name}`]);
    expect(objectOf(await mine.get(first.metadata.name))).toEqual(first);
  });
});
