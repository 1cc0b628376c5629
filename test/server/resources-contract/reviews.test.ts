import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../../src/api/json/types.ts';
import type { Answer } from '../../support/answers.ts';
import { startTestServer, type TestServer } from '../../support/servers.ts';

let server: TestServer;
let token: string;
let headers: Readonly<Record<string, string>>;

beforeAll(async () => {
  server = await startTestServer({ token: 'of-the-administrator' });
  token = server.kubeConfig().getCurrentUser()?.token ?? '';
  headers = { authorization: `Bearer ${token}` };
});
afterAll(() => server.stop());

const paths = {
  TokenReview: '/apis/authentication.k8s.io/v1/tokenreviews',
  SubjectAccessReview: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
  SelfSubjectAccessReview: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
};
type Kind = keyof typeof paths;
const resourceAttributes = { verb: 'get', resource: 'nodes', subresource: 'proxy', name: 'node-1' };
const nonResourceAttributes = { path: '/healthz', verb: 'get' };

function ask(kind: Kind, spec: Json, more: JsonObject = {}): Promise<Answer> {
  return server.admin.send('POST', paths[kind], { body: { spec, ...more }, headers });
}

/** The answer without what only a real server has. */
async function review(kind: Kind, spec: JsonObject): Promise<unknown> {
  const { status, body } = await ask(kind, spec);
  const { metadata, ...rest } = body as { metadata: object };
  const { managedFields: _, ...bare } = metadata as { managedFields?: unknown };
  expect(status).toBe(201);
  return { metadata: bare, ...rest };
}

const headOf = (kind: Kind) => ({ kind, apiVersion: paths[kind].split('/').slice(2, 4).join('/'), metadata: {} });

describe('a TokenReview', () => {
  const head = headOf('TokenReview');

  it('says whose token it is', async () => {
    const user = { username: 'admin', groups: ['system:masters', 'system:authenticated'] };
    const status = { authenticated: true, user, audiences: [expect.any(String)] };
    expect(await review('TokenReview', { token })).toMatchObject({ ...head, spec: { token }, status });
  });

  it('does not know another token, nor a good one for another audience', async () => {
    const status = { user: {}, error: 'invalid bearer token' };
    expect(await review('TokenReview', { token: 'unknown' })).toEqual({ ...head, spec: { token: 'unknown' }, status });
    const spec = { token, audiences: ['other'] };
    expect(await review('TokenReview', spec)).toEqual({ ...head, spec, status });
  });
});

describe('a review of an access', () => {
  it('says that an administrator may do all, and repeats what it has understood', async () => {
    const spec = { user: 'u', groups: ['system:masters'], resourceAttributes };
    const answer = { ...headOf('SubjectAccessReview'), spec, status: { allowed: true } };
    expect(await review('SubjectAccessReview', { ...spec, unknown: 1, uid: '', extra: null })).toEqual(answer);
    const path = { groups: ['system:masters'], nonResourceAttributes };
    expect(await review('SubjectAccessReview', path)).toMatchObject({ spec: path, status: { allowed: true } });
  });

  it('asks for its sender, where it names nobody', async () => {
    const status = { allowed: true };
    const answer = { ...headOf('SelfSubjectAccessReview'), spec: { resourceAttributes }, status };
    expect(await review('SelfSubjectAccessReview', { resourceAttributes, user: 'u' })).toEqual(answer);
  });
});

describe('a review that makes no sense', () => {
  const one = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';

  it.each<[Kind, Json, string]>([
    ['TokenReview', {}, 'token is required for TokenReview in authentication'],
    ['TokenReview', { token: 5 }, 'number into Go struct field TokenReviewSpec.spec.token of type string'],
    ['SubjectAccessReview', { user: 5 }, 'number into Go struct field SubjectAccessReviewSpec.spec.user of type string'],
    ['SubjectAccessReview', { groups: 'g' }, 'string into Go struct field SubjectAccessReviewSpec.spec.groups of type []string'],
    ['SubjectAccessReview', { groups: [5] }, 'number into Go struct field SubjectAccessReviewSpec.spec.groups of type string'],
  ])('%s %o is refused with 400', async (kind, spec, message) => {
    const refusal = { kind: 'Status', reason: 'BadRequest', code: 400, message: expect.stringContaining(message) };
    expect(await ask(kind, spec)).toMatchObject({ status: 400, body: refusal });
  });

  it.each<[Kind, JsonObject, string]>([
    ['SubjectAccessReview', { user: 'u' }, `spec.resourceAttributes: Invalid value: null: ${one}`],
    ['SelfSubjectAccessReview', {}, `spec.resourceAttributes: Invalid value: null: ${one}`],
    [
      'SubjectAccessReview',
      { user: 'u', resourceAttributes, nonResourceAttributes },
      'spec.nonResourceAttributes: Invalid value: {"Path":"/healthz","Verb":"get"}: cannot be specified in combination with resourceAttributes',
    ],
    [
      'SubjectAccessReview',
      { groups: [], resourceAttributes },
      'spec.user: Invalid value: "": at least one of user or group must be specified',
    ],
  ])('%s %o is refused with 422', async (kind, spec, why) => {
    const [field = ''] = why.split(':');
    const message = why.slice(field.length + 2);
    expect(await ask(kind, spec)).toMatchObject({
      status: 422,
      body: {
        ...{ kind: 'Status', reason: 'Invalid', code: 422, message: `.authorization.k8s.io "" is invalid: ${why}` },
        details: { group: 'authorization.k8s.io', causes: [{ reason: 'FieldValueInvalid', message, field }] },
      },
    });
  });

  it('is refused with 422 where the review of an access has a name', async () => {
    const answer = await ask('SubjectAccessReview', { user: 'u', resourceAttributes }, { metadata: { name: 'x' } });
    expect(answer).toMatchObject({ status: 422, body: { details: { causes: [{ field: 'metadata' }] } } });
  });

  it.each(Object.values(paths))('%s can only be posted', async (path) => {
    const codes = [];
    for (const [method, name] of [
      ['GET', ''],
      ['DELETE', ''],
      ['GET', '/x'],
      ['PUT', '/x'],
    ] as const) {
      codes.push((await server.admin.send(method, path + name, { headers })).status);
    }
    expect(codes).toEqual([405, 405, 404, 404]);
  });
});
