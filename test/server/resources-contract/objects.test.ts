import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { objectOf } from '../../support/answers.ts';
import { startTestServer, type TestServer } from '../../support/servers.ts';
import {
  Collection,
  configMaps,
  leases,
  namesOf,
  nodes,
  type Subject,
  secrets,
  serviceAccounts,
  services,
  uniqueName,
} from './resources-contract-fixture.ts';

let server: TestServer;
let namespace: string;

beforeAll(async () => {
  server = await startTestServer();
  namespace = await server.admin.createNamespace('objects');
});
afterAll(() => server.stop());

const otherUID = '11111111-2222-3333-4444-555555555555';
const subjects: readonly Subject[] = [secrets, configMaps, nodes, leases, services, serviceAccounts];

describe.each(subjects.map((subject) => [subject.resource.resource, subject] as const))('%s', (resource, subject) => {
  const { group, kind } = subject.resource;
  const qualified = group === '' ? resource : `${resource}.${group}`;
  const details = group === '' ? { kind: resource } : { kind: resource, group };
  let objects: Collection;
  let name: string;

  beforeAll(async () => {
    objects = new Collection(server.admin, subject, namespace);
    name = uniqueName('subject');
    await objects.create(name);
  });

  it('are created with a uid, a resourceVersion and a creation time', async () => {
    const own = uniqueName('fresh');
    const answer = await objects.post(objects.json(own));
    expect(answer.status).toBe(201);
    const { metadata, ...rest } = objectOf(answer);
    expect(rest).toMatchObject({ kind, apiVersion: objects.json(own).apiVersion, ...subject.contents });
    expect(metadata.uid).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(metadata.resourceVersion).toMatch(/^[1-9]\d*$/);
    expect(metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(metadata).not.toHaveProperty('generation');
    expect(await objects.read(own)).toEqual({ metadata, ...rest });
  });

  it.each([
    ['made-up-', /^made-up-[a-z0-9]{5}$/],
    ['x'.repeat(60), /^x{58}[a-z0-9]{5}$/],
  ])('get a name of at most 63 letters made from generateName %s', async (generateName, pattern) => {
    const object = objects.json('unused', { metadata: { generateName, name: '' } });
    expect(objectOf(await objects.post(object)).metadata.name).toMatch(pattern);
  });

  it('are refused with 409 AlreadyExists when the name is taken', async () => {
    expect(await objects.post(objects.json(name))).toMatchObject({
      status: 409,
      body: { reason: 'AlreadyExists', message: `${qualified} "${name}" already exists`, details: { name, ...details } },
    });
  });

  it('are refused with 422 for a name, labels, owners or finalizers that break the rules', async () => {
    for (const metadata of [
      { name: 'Not_a_name' },
      { name: '' },
      { name: 'good', generateName: 'Not_a_prefix-' },
      { labels: { 'no key': 'x' } },
      { labels: { key: 'no value' } },
      { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'a' }] },
      { finalizers: ['not/a/name'] },
    ]) {
      const answer = await objects.post(objects.json(uniqueName('bad'), { metadata }));
      expect(answer).toMatchObject({ status: 422, body: { reason: 'Invalid', details: { kind } } });
    }
  });

  it('are refused with 400 when they are of another kind or of another namespace', async () => {
    const other = { ...objects.json('other'), kind: kind === 'Secret' ? 'ConfigMap' : 'Secret', apiVersion: 'v1' };
    expect(await objects.post(other)).toMatchObject({ status: 400, body: { reason: 'BadRequest' } });
    if (!subject.resource.namespaced) return;
    const elsewhere = objects.json('other', { metadata: { namespace: 'kube-system' } });
    expect((await objects.post(elsewhere)).status).toBe(400);
  });

  it('answer 404 NotFound with their names', async () => {
    const expected = { code: 404, reason: 'NotFound', message: `${qualified} "nobody" not found` };
    const body = { ...expected, details: { name: 'nobody', ...details } };
    expect(await objects.get('nobody')).toMatchObject({ status: 404, body });
    expect(await objects.merge('nobody', {})).toMatchObject({ status: 404, body });
    expect(await objects.delete('nobody')).toMatchObject({ status: 404, body });
  });

  it('take an update with the newest resourceVersion, and refuse one with an older or with another uid', async () => {
    const own = uniqueName('updated');
    const first = await objects.create(own);
    const second = objectOf(await objects.merge(own, subject.change));
    expect(second).toMatchObject(subject.change);
    expect(BigInt(second.metadata.resourceVersion)).toBeGreaterThan(BigInt(first.metadata.resourceVersion));
    expect(await objects.put(own, first)).toMatchObject({
      status: 409,
      body: { reason: 'Conflict', details: { name: own, ...details }, message: expect.stringContaining('has been modified') },
    });
    const stranger = { ...second, metadata: { ...second.metadata, uid: otherUID } };
    expect(await objects.put(own, stranger)).toMatchObject({ status: 409, body: { reason: 'Conflict' } });
    const labels = { ...(second.metadata.labels as object), added: 'yes' };
    const third = objectOf(await objects.put(own, { ...second, metadata: { ...second.metadata, labels } }));
    expect(third.metadata.labels).toEqual(labels);
    expect(await objects.read(own)).toEqual(third);
  });

  it('keep their resourceVersion in an update that changes nothing', async () => {
    const before = await objects.read(name);
    expect(objectOf(await objects.put(name, before))).toEqual(before);
    expect(objectOf(await objects.merge(name, {}))).toEqual(before);
  });

  it('take a JSON patch, and a strategic merge of finalizers and owners', async () => {
    const own = uniqueName('patched');
    await objects.create(own);
    const operations = [{ op: 'add', path: '/metadata/annotations', value: { a: 'b' } }];
    expect(objectOf(await server.admin.patch(objects.path(own), operations, 'json')).metadata.annotations).toEqual({ a: 'b' });
    for (const each of ['one', 'two']) {
      const owner = { apiVersion: 'v1', kind: 'Node', name: each, uid: each };
      const metadata = { finalizers: [`example.com/${each}`], ownerReferences: [owner] };
      expect((await server.admin.patch(objects.path(own), { metadata })).status).toBe(200);
    }
    const { metadata } = await objects.read(own);
    expect(metadata.finalizers).toEqual(['example.com/two', 'example.com/one']);
    expect(metadata.ownerReferences).toMatchObject([{ name: 'two' }, { name: 'one' }]);
    const failed = [{ op: 'test', path: '/metadata/name', value: 'other' }];
    expect((await server.admin.patch(objects.path(own), failed, 'json')).status).toBe(422);
    expect((await objects.merge(own, { metadata: { name: 'other' } })).status).toBe(400);
    expect((await objects.merge(own, { metadata: { resourceVersion: '1' } })).status).toBe(409);
    expect((await objects.merge(own, { metadata: { uid: otherUID } })).status).toBe(422);
    expect((await objects.merge(own, { kind: 'Pod' })).status).toBe(422);
    await objects.merge(own, { metadata: { finalizers: null } });
  });

  it('are deleted with the right preconditions alone, and at once', async () => {
    const own = uniqueName('deleted');
    const { metadata } = await objects.create(own);
    for (const preconditions of [{ uid: otherUID }, { resourceVersion: '1' }]) {
      const answer = await objects.delete(own, { preconditions });
      expect(answer).toMatchObject({ status: 409, body: { reason: 'Conflict', details: { name: own, kind } } });
    }
    const answer = await objects.delete(own, { gracePeriodSeconds: 30, preconditions: { uid: metadata.uid } });
    expect(answer.status).toBe(200);
    expect((await objects.get(own)).status).toBe(404);
    const again = await objects.create(own);
    expect(again.metadata.uid).not.toBe(metadata.uid);
  });

  it('wait for their finalizers when they are deleted', async () => {
    const own = uniqueName('held');
    await objects.create(own, { metadata: { finalizers: ['example.com/hold'] } });
    const held = objectOf(await objects.delete(own));
    expect(held.metadata).toMatchObject({ deletionGracePeriodSeconds: 0, finalizers: ['example.com/hold'] });
    expect(objectOf(await objects.delete(own))).toEqual(held);
    const another = { metadata: { finalizers: ['example.com/hold', 'example.com/late'] } };
    expect((await objects.merge(own, another)).status).toBe(422);
    const released = objectOf(await objects.merge(own, { metadata: { finalizers: null } }));
    expect(released.metadata).toMatchObject({ uid: held.metadata.uid, deletionTimestamp: held.metadata.deletionTimestamp });
    expect((await objects.get(own)).status).toBe(404);
  });

  it('wait for the garbage collector when a deletion says so', async () => {
    const own = uniqueName('collected');
    await objects.create(own);
    const { metadata } = objectOf(await objects.delete(own, { propagationPolicy: 'Orphan' }));
    expect(metadata).toMatchObject({ finalizers: ['orphan'], deletionGracePeriodSeconds: 0 });
    expect((await objects.delete(own, { propagationPolicy: 'Sideways' })).status).toBe(422);
    expect((await objects.delete(own, { propagationPolicy: 'Background' })).status).toBe(200);
    expect((await objects.get(own)).status).toBe(404);
  });

  it('are not changed by dry runs, which answer as the request would be', async () => {
    const dry = { dryRun: 'All' };
    const created = objectOf(await objects.post(objects.json('never'), dry));
    expect(created.metadata).not.toHaveProperty('resourceVersion');
    expect((await objects.get('never')).status).toBe(404);
    expect((await objects.post(objects.json(name), dry)).status).toBe(409);
    const before = await objects.read(name);
    const shown = objectOf(await objects.merge(name, subject.change, dry));
    expect(shown).toMatchObject({ ...subject.change, metadata: { resourceVersion: before.metadata.resourceVersion } });
    expect((await objects.delete(name, { dryRun: ['All'] })).status).toBe(200);
    expect(await objects.read(name)).toEqual(before);
  });

  it('are deleted as a collection of a selection', async () => {
    const own = new Collection(server.admin, subject, await server.admin.createNamespace('collection'));
    for (const each of ['a', 'b']) await own.create(uniqueName(each));
    const kept = await own.create(uniqueName('kept'));
    const query = { ...own.selector, fieldSelector: `metadata.name!=${kept.metadata.name}` };
    const answer = await server.admin.send('DELETE', own.path(), { query });
    expect(answer).toMatchObject({ status: 200, body: { kind: `${kind}List` } });
    expect(namesOf(await own.list())).toEqual([kept.metadata.name]);
  });
});
