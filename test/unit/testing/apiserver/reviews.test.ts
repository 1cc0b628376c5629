import { describe, expect, it, onTestFinished } from 'vitest';
import { InMemoryApiServer, type InMemoryApiServerOptions } from '../../../../src/testing/apiserver/in-memory-apiserver.ts';
import type { AccessReviewSpec } from '../../../../src/testing/apiserver/review-options.ts';
import { TestClient } from './client.ts';

const tokenReviews = '/apis/authentication.k8s.io/v1/tokenreviews';
const accessReviews = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
const ownAccessReviews = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
const resourceAttributes = { verb: 'get', resource: 'nodes', subresource: 'proxy', name: 'node-1' };

async function serve(options: InMemoryApiServerOptions = {}) {
  const server = await InMemoryApiServer.start(options);
  const client = new TestClient(server);
  onTestFinished(async () => {
    await client.close();
    await server.stop();
  });
  const post = async (path: string, spec: object, headers: Readonly<Record<string, string>> = {}) => {
    const answer = await client.send('POST', path, { body: { spec }, headers });
    return { code: answer.status, body: answer.json(), ...answer.json() };
  };
  return { server, client, post };
}

describe('the tokens of the option users', () => {
  const users = {
    a: { username: 'alice', groups: ['ops'] },
    b: { username: 'bob' },
    c: { username: 'carol', groups: ['system:authenticated', 'dev'] },
  };

  it.each([
    ['a', { username: 'alice', groups: ['ops', 'system:authenticated'] }],
    ['b', { username: 'bob', groups: ['system:authenticated'] }],
    ['c', { username: 'carol', groups: ['system:authenticated', 'dev'] }],
  ])('%s is that of %o', async (token, user) => {
    const { post } = await serve({ users });
    expect((await post(tokenReviews, { token })).status).toMatchObject({ authenticated: true, user });
  });

  it.each(['d', '__proto__', 'constructor'])('%s is nobody', async (token) => {
    const { post } = await serve({ users });
    expect((await post(tokenReviews, { token })).status).toEqual({ user: {}, error: 'invalid bearer token' });
  });

  it('are good for the audience of the apiserver alone', async () => {
    const { post } = await serve({ users });
    const { audiences } = (await post(tokenReviews, { token: 'a' })).status;
    expect((await post(tokenReviews, { token: 'a', audiences: ['vault', ...audiences] })).status).toMatchObject({ audiences });
    expect((await post(tokenReviews, { token: 'a', audiences: ['vault'] })).status.authenticated).toBeUndefined();
  });

  it('let requests in, where the option token is given, as that one does', async () => {
    const { client } = await serve({ users, token: 't' });
    const codes = [];
    for (const authorization of ['Bearer t', 'Bearer a', 'Bearer d', 'Basic a', 'a', '']) {
      codes.push(await client.outcome('GET', '/api/v1/nodes', { headers: { authorization } }));
    }
    expect(codes).toEqual([200, 200, 401, 401, 401, 401]);
  });

  it('are read once, at the start', async () => {
    const given: Record<string, { username: string }> = { a: { username: 'alice' } };
    const { post } = await serve({ users: given });
    given.b = { username: 'bob' };
    expect((await post(tokenReviews, { token: 'b' })).status.authenticated).toBeUndefined();
  });
});

describe('the option authorize', () => {
  it('is asked with the names of the API, and decides', async () => {
    const asked: AccessReviewSpec[] = [];
    const authorize = (spec: AccessReviewSpec): boolean => asked.push(spec) === 1;
    const { post } = await serve({ authorize });
    const spec = { user: 'alice', groups: ['ops'], uid: '5', extra: { scopes: ['all'] }, resourceAttributes };
    const given = { ...spec, resourceAttributes: { ...resourceAttributes, group: '', namespace: '', unknown: 'x' } };
    expect((await post(accessReviews, given)).body).toMatchObject({ spec, status: { allowed: true } });
    expect((await post(accessReviews, given)).status).toEqual({ allowed: false });
    expect(asked).toEqual([spec, spec]);
  });

  it('is asked of the sender of a SelfSubjectAccessReview: of the token it has, else of the administrator', async () => {
    const asked: (string | undefined)[] = [];
    const authorize = ({ user, groups }: AccessReviewSpec): boolean => asked.push(`${user} ${groups}`) > 0;
    const { post } = await serve({ authorize, users: { a: { username: 'alice' } } });
    await post(ownAccessReviews, { resourceAttributes }, { authorization: 'Bearer a' });
    await post(ownAccessReviews, { resourceAttributes });
    expect(asked).toEqual(['alice system:authenticated', 'admin system:masters,system:authenticated']);
  });

  it('cannot change what is answered', async () => {
    const authorize = (spec: AccessReviewSpec): boolean => Object.assign(spec, { user: 'eve' }) !== undefined;
    const { post } = await serve({ authorize });
    expect((await post(accessReviews, { user: 'alice', resourceAttributes })).body.spec.user).toBe('alice');
  });

  it('does not refuse requests', async () => {
    const { client } = await serve({ authorize: () => false });
    expect(await client.outcome('GET', '/api/v1/nodes')).toBe(200);
  });

  it.each<[string, () => unknown]>([
    [
      'the option authorize failed: Error: no rules',
      () => {
        throw new Error('no rules');
      },
    ],
    [
      'the option authorize failed: undefined',
      () => {
        throw undefined;
      },
    ],
    ['the option authorize returned a value of type object', () => Promise.reject(new Error('later'))],
    ['the option authorize returned a value of type undefined', () => undefined],
  ])('is answered with 500 where it gives no answer: %s', async (why, authorize) => {
    const { post } = await serve({ authorize: authorize as () => boolean });
    const refusal = { kind: 'Status', reason: 'InternalError', message: `Internal error occurred: ${why}` };
    expect(await post(accessReviews, { user: 'u', resourceAttributes })).toMatchObject({ code: 500, body: refusal });
  });
});

describe('reviews', () => {
  it('are in the log of requests, and fail on demand', async () => {
    const { server, post } = await serve();
    server.fail({ resource: 'subjectaccessreviews.authorization.k8s.io', fault: { kind: 'status', code: 503 } });
    expect((await post(accessReviews, { user: 'u', resourceAttributes })).code).toBe(503);
    expect((await post(accessReviews, { user: 'u', resourceAttributes })).code).toBe(201);
    expect(server.requestsOn('subjectaccessreviews').map(({ verb, status }) => [verb, status])).toEqual([
      ['create', 503],
      ['create', 201],
    ]);
  });

  it('are stored nowhere', async () => {
    const { server, client } = await serve({ users: { a: { username: 'alice' } } });
    const { resourceVersion } = server.store;
    const body = { metadata: { name: 'named' }, spec: { token: 'a' } };
    expect((await client.send('POST', tokenReviews, { body })).json()).toMatchObject({ status: { authenticated: true } });
    expect((await client.send('POST', tokenReviews, { body })).status).toBe(201);
    expect(server.store.resourceVersion).toBe(resourceVersion);
  });
});

describe('options of reviews', () => {
  it.each<[string, object]>([
    ['users', { users: [] }],
    ['users', { users: null }],
    ['users', { users: { '': { username: 'u' } } }],
    ['users', { users: { 'a secret': { username: 'u' } } }],
    ['users[TOKEN]', { users: { secret: 'u' } }],
    ['users[TOKEN].name', { users: { secret: { name: 'u' } } }],
    ['users[TOKEN].username', { users: { secret: {} } }],
    ['users[TOKEN].username', { users: { secret: { username: '' } } }],
    ['users[TOKEN].groups', { users: { secret: { username: 'u', groups: 'ops' } } }],
    ['users[TOKEN].groups', { users: { secret: { username: 'u', groups: [5] } } }],
    ['authorize', { authorize: true }],
  ])('%s: %o is refused, and no token is told', async (name, options) => {
    const failed: Error & { code?: string } = await InMemoryApiServer.start(options).then(
      async (server) => {
        await server.stop();
        return new Error('it has started');
      },
      (error) => error,
    );
    expect([failed.code, failed.message]).toEqual(['ERR_INVALID_OPTION', expect.stringContaining(`Expected \`${name}\` to be `)]);
    expect(failed.message).not.toContain('secret');
  });
});
