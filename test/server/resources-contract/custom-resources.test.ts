import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiResource, resourcePath } from '../../../src/client/resources/api-resource.ts';
import { objectOf } from '../../support/answers.ts';
import { startTestServer, type TestServer } from '../../support/servers.ts';
import { Collection, namesOf, type Subject, uniqueName } from './resources-contract-fixture.ts';

let server: TestServer;
let widgets: Collection;
let gadgets: Collection;

// A group of its own: a server that tests share may still be at the deletion of another run's definitions.
const group = `g${randomBytes(5).toString('hex')}.example.com`;
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

function subject(resource: string, kind: string, namespaced: boolean): Subject {
  const definition = apiResource({ group, version: 'v1', resource, kind, namespaced });
  return { resource: definition, contents: { spec: { size: 1 } }, change: { spec: { size: 2 } } };
}

async function define({ resource: { resource: plural, kind, namespaced } }: Subject, hasStatus: boolean): Promise<void> {
  const version = {
    name: 'v1',
    served: true,
    storage: true,
    subresources: hasStatus ? { status: {} } : {},
    schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
  };
  const names = { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` };
  const spec = { group, scope: namespaced ? 'Namespaced' : 'Cluster', names, versions: [version] };
  const body = { metadata: { name: `${plural}.${group}` }, spec };
  objectOf(await server.admin.send('POST', definitions, { body }));
}

/** A real server serves a definition a moment after it is there. */
async function untilServed({ resource }: Subject): Promise<void> {
  while ((await server.admin.send('GET', resourcePath(resource))).status !== 200) {
    await server.admin.send('GET', `${definitions}/${resource.resource}.${group}`);
  }
}

beforeAll(async () => {
  server = await startTestServer();
  const [widget, gadget] = [subject('widgets', 'Widget', true), subject('gadgets', 'Gadget', false)];
  await define(widget, true);
  await define(gadget, false);
  for (const each of [widget, gadget]) await untilServed(each);
  const namespace = await server.admin.createNamespace('custom');
  widgets = new Collection(server.admin, widget, namespace);
  gadgets = new Collection(server.admin, gadget, namespace);
});
afterAll(async () => {
  for (const plural of ['widgets', 'gadgets']) await server.admin.send('DELETE', `${definitions}/${plural}.${group}`);
  await server.stop();
});

describe('a custom resource', () => {
  it('counts generations, and has its status apart', async () => {
    const created = await widgets.create('counted', { status: { phase: 'Sent' } });
    expect(created).toMatchObject({ apiVersion: `${group}/v1`, kind: 'Widget', metadata: { generation: 1 } });
    expect(created).not.toHaveProperty('status');
    const changed = objectOf(await widgets.merge('counted', { spec: { size: 2 }, status: { phase: 'Sent' } }));
    expect(changed).toMatchObject({ spec: { size: 2 }, metadata: { generation: 2 } });
    expect(changed).not.toHaveProperty('status');
    const path = widgets.path('counted', 'status');
    const body = { metadata: { labels: { a: 'b' } }, spec: { size: 3 }, status: { phase: 'Kept' } };
    const { metadata, spec, status } = objectOf(await server.admin.patch(path, body, 'merge'));
    expect({ spec, status }).toEqual({ spec: { size: 2 }, status: { phase: 'Kept' } });
    expect(metadata).toMatchObject({ generation: 2, labels: changed.metadata.labels });
    const labelled = objectOf(await widgets.merge('counted', { metadata: { labels: { a: 'b' } } }));
    expect(labelled).toMatchObject({ metadata: { generation: 2, labels: { a: 'b' } }, status: { phase: 'Kept' } });
  });

  it('has its status as any other member without the subresource', async () => {
    const name = uniqueName('plain');
    expect(await gadgets.create(name, { status: { phase: 'Kept' } })).toMatchObject({ status: { phase: 'Kept' } });
    expect(objectOf(await gadgets.merge(name, { status: { phase: 'Other' } })).metadata.generation).toBe(2);
    expect((await server.admin.patch(gadgets.path(name, 'status'), {}, 'merge')).status).toBe(404);
  });

  it('answers with its group in names', async () => {
    await widgets.create('taken');
    const details = { group, kind: 'widgets' };
    expect(await widgets.post(widgets.json('taken'))).toMatchObject({
      status: 409,
      body: { message: `widgets.${group} "taken" already exists`, details },
    });
    expect(await widgets.get('nobody')).toMatchObject({ status: 404, body: { details } });
    expect((await widgets.delete('taken')).body).toMatchObject({ status: 'Success', details: { name: 'taken', ...details } });
  });

  it('needs a kind, a resourceVersion in a PUT, and another patch than a strategic one', async () => {
    const { metadata } = await widgets.create('needy');
    const { kind: _, ...kindless } = widgets.json('kindless');
    expect((await widgets.post(kindless)).status).toBe(400);
    expect((await widgets.put('needy', widgets.json('needy'))).status).toBe(422);
    const versioned = widgets.json('needy', { metadata: { resourceVersion: metadata.resourceVersion }, spec: { size: 5 } });
    expect(objectOf(await widgets.put('needy', versioned))).toMatchObject({ spec: { size: 5 } });
    expect((await server.admin.patch(widgets.path('needy'), { spec: { size: 6 } })).status).toBe(415);
  });

  it('is listed with the kind of each, and watched', async () => {
    const own = new Collection(server.admin, widgets.subject, await server.admin.createNamespace('custom'));
    const { metadata } = await own.create('first');
    await own.create('second');
    await own.delete('first');
    const list = await own.list();
    expect(list).toMatchObject({ kind: 'WidgetList', items: [{ kind: 'Widget', apiVersion: `${group}/v1` }] });
    expect(namesOf(list)).toEqual(['second']);
    const { resourceVersion } = metadata;
    expect(await own.take({ resourceVersion }, 2)).toEqual(['ADDED second', 'DELETED first']);
    const query = { fieldSelector: 'spec.size=1' };
    expect((await server.admin.send('GET', own.path(), { query })).status).toBe(400);
  });
});
