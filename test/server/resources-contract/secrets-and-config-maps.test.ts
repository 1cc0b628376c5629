import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { objectOf } from '../../support/answers.ts';
import { startTestServer, type TestServer } from '../../support/servers.ts';
import { Collection, configMaps, namesOf, secrets } from './resources-contract-fixture.ts';

let server: TestServer;
let mySecrets: Collection;
let myMaps: Collection;

beforeAll(async () => {
  server = await startTestServer();
  const namespace = await server.admin.createNamespace('data');
  mySecrets = new Collection(server.admin, secrets, namespace);
  myMaps = new Collection(server.admin, configMaps, namespace);
});
afterAll(() => server.stop());

/** The answer to a change of what an immutable object holds. */
function immutable(kind: string, name: string, fields: readonly string[]) {
  const causes = fields.map((field) => ({
    reason: 'FieldValueForbidden',
    field,
    message: 'Forbidden: field is immutable when `immutable` is set',
  }));
  return { status: 422, body: { reason: 'Invalid', details: { kind, name, causes } } };
}

describe('a secret', () => {
  it('has its stringData in its data, where it wins', async () => {
    const secret = await mySecrets.create('strings', {
      data: { a: 'YQ==', both: 'bGVmdA==' },
      stringData: { b: 'ü', both: 'right' },
    });
    expect(secret).toMatchObject({ type: 'Opaque', data: { a: 'YQ==', b: 'w7w=', both: 'cmlnaHQ=' } });
    expect(secret).not.toHaveProperty('stringData');
    const patched = objectOf(await mySecrets.merge('strings', { stringData: { c: 'c' }, data: { a: null } }));
    expect(patched.data).toEqual({ b: 'w7w=', both: 'cmlnaHQ=', c: 'Yw==' });
  });

  it('has no data for an empty map, and empty text for null', async () => {
    expect(await mySecrets.create('empty', { data: {} })).not.toHaveProperty('data');
    expect((await mySecrets.create('null', { data: { a: null } })).data).toEqual({ a: '' });
  });

  it('is selected by its type, which cannot change', async () => {
    await mySecrets.create('typed', { type: 'example.com/own' });
    expect(namesOf(await mySecrets.list({ fieldSelector: 'type=example.com/own' }))).toEqual(['typed']);
    expect(namesOf(await mySecrets.list({ fieldSelector: 'type!=Opaque' }))).toEqual(['typed']);
    expect(await mySecrets.merge('typed', { type: 'example.com/other' })).toMatchObject({
      status: 422,
      body: { details: { causes: [{ field: 'type', reason: 'FieldValueInvalid' }] } },
    });
  });

  it.each([
    ['kubernetes.io/dockerconfigjson', ['data[.dockerconfigjson]']],
    ['kubernetes.io/dockercfg', ['data[.dockercfg]']],
    ['kubernetes.io/tls', ['data[tls.crt]', 'data[tls.key]']],
    ['kubernetes.io/ssh-auth', ['data[ssh-privatekey]']],
  ])('of type %s needs its keys', async (type, fields) => {
    expect(await mySecrets.post(mySecrets.json('keyless', { type }))).toMatchObject({
      status: 422,
      body: { details: { causes: fields.map((field) => ({ field, reason: 'FieldValueRequired' })) } },
    });
  });

  it.each<[string, object, number]>([
    ['a key with a space', { data: { 'a b': 'YQ==' } }, 422],
    ['data that is no base64', { data: { a: '!!!' } }, 400],
    ['base64 without its padding', { data: { a: 'YQ' } }, 400],
    ['data that is no text', { data: { a: 5 } }, 400],
    ['stringData that is no text', { stringData: { a: 5 } }, 400],
    ['data that is a list', { data: ['a'] }, 400],
    ['an immutable that is no boolean', { immutable: 'yes' }, 400],
    ['more than a megabyte', { data: { a: 'YWFh'.repeat(360_000) } }, 422],
  ])('is refused with %s', async (_, contents, status) => {
    expect((await mySecrets.post(mySecrets.json('refused', contents as never))).status).toBe(status);
  });

  it('keeps its data once it is immutable, and stays immutable, while its labels may change', async () => {
    await mySecrets.create('fixed');
    const fixed = objectOf(await mySecrets.merge('fixed', { immutable: true }));
    expect(fixed.immutable).toBe(true);
    expect(await mySecrets.merge('fixed', { data: { x: 'eA==' } })).toMatchObject(immutable('Secret', 'fixed', ['data']));
    expect(await mySecrets.merge('fixed', { stringData: { x: 'x' } })).toMatchObject(immutable('Secret', 'fixed', ['data']));
    for (const value of [false, null]) {
      const answer = await mySecrets.merge('fixed', { immutable: value });
      expect(answer).toMatchObject(immutable('Secret', 'fixed', ['immutable']));
    }
    const both = { ...fixed, immutable: false, data: { x: 'eA==' } };
    expect(await mySecrets.put('fixed', both)).toMatchObject(immutable('Secret', 'fixed', ['immutable', 'data']));
    expect(objectOf(await mySecrets.merge('fixed', { metadata: { labels: { a: 'b' } } })).metadata.labels).toMatchObject({
      a: 'b',
    });
    expect((await mySecrets.delete('fixed')).status).toBe(200);
  });

  it('goes with an answer that names it', async () => {
    const { metadata } = await mySecrets.create('going');
    expect((await mySecrets.delete('going')).body).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: { name: 'going', kind: 'secrets', uid: metadata.uid },
    });
  });
});

describe('a config map', () => {
  it('has text in data and bytes in binaryData, and no key in both', async () => {
    const map = await myMaps.create('both', { data: { a: 'ü' }, binaryData: { b: 'eA==' } });
    expect(map).toMatchObject({ data: { a: 'ü' }, binaryData: { b: 'eA==' } });
    expect(await myMaps.post(myMaps.json('twice', { data: { a: 'b' }, binaryData: { a: 'eA==' } }))).toMatchObject({
      status: 422,
      body: { details: { causes: [{ field: 'data[a]', reason: 'FieldValueInvalid' }] } },
    });
  });

  it.each<[string, object, number]>([
    ['a key with a slash', { data: { 'a/b': 'x' } }, 422],
    ['data that is no text', { data: { a: 5 } }, 400],
    ['binaryData that is no base64', { data: {}, binaryData: { a: '%' } }, 400],
    ['more than a megabyte', { data: { a: 'x'.repeat(1_050_000) } }, 422],
  ])('is refused with %s', async (_, contents, status) => {
    expect((await myMaps.post(myMaps.json('refused', contents as never))).status).toBe(status);
  });

  it('keeps what it holds once it is immutable', async () => {
    await myMaps.create('fixed', { immutable: true, binaryData: { b: 'eA==' } });
    expect(await myMaps.merge('fixed', { data: { key: 'other' } })).toMatchObject(immutable('ConfigMap', 'fixed', ['data']));
    expect(await myMaps.merge('fixed', { binaryData: null })).toMatchObject(immutable('ConfigMap', 'fixed', ['binaryData']));
    expect(await myMaps.merge('fixed', { immutable: null, data: null })).toMatchObject(
      immutable('ConfigMap', 'fixed', ['immutable', 'data']),
    );
    expect((await myMaps.merge('fixed', { immutable: true })).status).toBe(200);
  });
});
