import { describe, expect, it } from 'vitest';
import { resources } from '../../../../src/client/resources/api-resource.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { secretRules } from '../../../../src/testing/kinds/data-objects.ts';
import { nodeRules } from '../../../../src/testing/kinds/node-rules.ts';
import { Database } from '../../../../src/testing/objects/object-history.ts';
import { ResourceStore } from '../../../../src/testing/objects/resource-store.ts';
import { refusal } from './refusal.ts';

const secretStore = (options = {}) => new ResourceStore(resources.secrets, secretRules, options);

describe('a store of objects', () => {
  it('hands out frozen objects, and keeps none that it is given', () => {
    const store = secretStore({ clock: new FakeClock() });
    const given = { metadata: { name: 'a', labels: { a: 'b' } }, data: { a: 'YQ==' } };
    const created = store.create(given);
    given.data.a = 'Yg==';
    expect(store.get({ name: 'a' })).toBe(created);
    expect(created).toMatchObject({ data: { a: 'YQ==' }, metadata: { creationTimestamp: '2000-01-01T00:00:00Z' } });
    expect(() => Object.assign(created.metadata ?? {}, { name: 'b' })).toThrow(TypeError);
  });

  it('has objects of the cluster without a namespace, whatever namespace is asked for', () => {
    const store = new ResourceStore(resources.nodes, nodeRules);
    const node = store.create({ metadata: { name: 'n', namespace: 'nowhere' } });
    expect(node.metadata).not.toHaveProperty('namespace');
    expect(store.get({ name: 'n', namespace: 'anywhere' })).toBe(node);
  });

  it('says nothing of an unseen object: no event, and no new resourceVersion', () => {
    const store = secretStore();
    const seen: string[] = [];
    store.watch(({ type }) => seen.push(type));
    expect(store.createUnseen({ metadata: { name: 'a' } }).metadata?.resourceVersion).toBe('0');
    expect(store.create({ metadata: { name: 'b' } }).metadata?.resourceVersion).toBe('1');
    expect(seen).toEqual(['ADDED']);
    expect(refusal(() => store.createUnseen({ metadata: { name: 'a' } })).code).toBe(409);
  });

  it('makes no other event of a deletion that takes effect at once', () => {
    const store = secretStore();
    store.create({ metadata: { name: 'a' } });
    store.delete({ name: 'a' }, { propagationPolicy: 'Background', gracePeriodSeconds: 30 });
    expect(store.eventsSince('1').map(({ type }) => type)).toEqual(['DELETED']);
  });

  it('makes a trial that changes neither it nor the counter of its database', () => {
    const database = new Database();
    const store = secretStore({ database });
    const before = store.create({ metadata: { name: 'a' } });
    const trial = store.trial();
    expect(trial.create({ metadata: { name: 'b' } }).metadata).not.toHaveProperty('resourceVersion');
    expect(trial.delete({ name: 'a' }).gone).toBe(true);
    expect(store.list()).toEqual([before]);
    expect(database.resourceVersion).toBe('1');
    expect(database.othersThan('pods').get('secrets')).toEqual([before]);
  });

  it('lists its objects as they were at an earlier resourceVersion, also one that another resource made', () => {
    const database = new Database();
    const store = secretStore({ database });
    const nodes = new ResourceStore(resources.nodes, nodeRules, { database });
    const first = store.create({ metadata: { name: 'a' } });
    nodes.create({ metadata: { name: 'n' } });
    store.remove({ name: 'a' });
    store.create({ metadata: { name: 'b' } });
    expect(store.list({}, '2')).toEqual([first]);
    expect(store.list({}, '3')).toEqual([]);
    store.compact();
    expect(refusal(() => store.list({}, '2'))).toMatchObject({ code: 410, reason: 'Expired' });
  });

  it('refuses a wrong type of a member as a server refuses it: 400 in an object, 422 in a patch', () => {
    const store = secretStore();
    store.create({ metadata: { name: 'a' } });
    expect(refusal(() => store.create({ metadata: 'a' }))).toMatchObject({
      code: 400,
      message: expect.stringContaining('of type v1.ObjectMeta'),
    });
    expect(refusal(() => store.create({ metadata: { name: 'b' }, data: { a: true } })).message).toContain(
      'cannot unmarshal bool',
    );
    const body = { data: { a: [] } };
    expect(refusal(() => store.patch({ name: 'a' }, { type: 'application/merge-patch+json', body }))).toMatchObject({
      code: 422,
      details: { causes: [{ field: 'patch' }] },
    });
    expect(
      refusal(() => store.patch({ name: 'a' }, { type: 'application/merge-patch+json', body: {}, subresource: 'status' })).code,
    ).toBe(404);
  });

  it('checks nothing but the identity without validation, and fills in nothing without fill-ins', () => {
    const store = secretStore({ validate: false, fillIns: false });
    const odd = store.create({ metadata: { name: 'Odd Name' }, data: 5 });
    expect(odd).toMatchObject({ data: 5 });
    expect(odd).not.toHaveProperty('type');
    expect(store.update({ ...odd, immutable: true }).immutable).toBe(true);
    expect(refusal(() => store.update({ ...odd, metadata: { name: 'Odd Name', uid: 'other' } })).code).toBe(409);
    expect(refusal(() => store.create({ metadata: {} })).code).toBe(400);
  });
});
