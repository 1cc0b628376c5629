import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { TLSSocket } from 'node:tls';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createCertificateAuthority } from '../../../support/certificate-authority.ts';
import { until } from '../../../support/until.ts';
import { apiWorld, fakeHost, readAll, type Sent, type WorldOptions } from './api-world.ts';

const withoutCertificate = { client: undefined };

describe('who sends a request', () => {
  it('is the common name of a certificate, in the groups of its organizations', async () => {
    const { get, reviews, issue } = await apiWorld();
    const client = issue({ commonName: 'eve', organizations: ['ops', 'dev'] });
    expect((await get('/configz', { client })).status).toBe(200);
    expect(reviews.asked[0]?.spec).toMatchObject({ user: 'eve', groups: ['ops', 'dev', 'system:authenticated'] });
  });

  it('is read from the certificate once for all requests of a connection', async () => {
    const { raw } = await apiWorld();
    const reading = vi.spyOn(TLSSocket.prototype, 'getPeerCertificate');
    onTestFinished(() => reading.mockRestore());
    const socket = await raw();
    socket.write(`GET /configz HTTP/1.1\r\nHost: x\r\n\r\nGET /configz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expect((await readAll(socket)).match(/HTTP\/1\.1 200/g)).toHaveLength(2);
    // a client asks for the whole chain, with an argument
    expect(reading.mock.calls.filter((args) => args.length === 0)).toHaveLength(1);
  });

  it('is who the apiserver says a token belongs to', async () => {
    const { get, reviews } = await apiWorld();
    expect((await get('/configz', { ...withoutCertificate, token: 'good' })).status).toBe(200);
    expect(reviews.asked[0]?.spec).toEqual({ token: 'good' });
    expect(reviews.asked[1]?.spec).toMatchObject({ user: 'alice', groups: ['dev', 'system:authenticated'] });
  });

  it('is asked once in two minutes for each token', async () => {
    const { get, reviews, clock } = await apiWorld();
    const tokens = (): number => reviews.asked.filter(({ spec }) => spec.token !== undefined).length;
    for (let time = 0; time < 3; time += 1) await get('/configz', { ...withoutCertificate, token: 'good' });
    expect(tokens()).toBe(1);
    await clock.advance(120_001);
    await get('/configz', { ...withoutCertificate, token: 'good' });
    expect(tokens()).toBe(2);
  });

  it('is asked as often as authenticationCacheMs says', async () => {
    const { get, reviews, clock } = await apiWorld({ authenticationCacheMs: 5000 });
    const tokens = (): number => reviews.asked.filter(({ spec }) => spec.token !== undefined).length;
    await get('/configz', { ...withoutCertificate, token: 'good' });
    await clock.advance(4999);
    await get('/configz', { ...withoutCertificate, token: 'good' });
    expect(tokens()).toBe(1);
    await clock.advance(1);
    await get('/configz', { ...withoutCertificate, token: 'good' });
    expect(tokens()).toBe(2);
  });

  it.each([
    ['nothing', {}],
    ['a token that is not known', { token: 'bad' }],
    ['another sort of credentials', { headers: { authorization: 'Basic YTpi' } }],
    ['two words for a token', { headers: { authorization: 'Bearer a b' } }],
  ])('is not known with %s', async (_, sent) => {
    const { get, reviews } = await apiWorld();
    expect(await get('/configz', { ...withoutCertificate, ...sent })).toMatchObject({ status: 401, text: 'Unauthorized' });
    expect(reviews.rights).toEqual([]);
  });

  it('is not known with a certificate of another authority', async () => {
    const { get } = await apiWorld();
    const client = createCertificateAuthority('clients').issueClient({ commonName: 'eve', organizations: ['system:masters'] });
    expect((await get('/configz', { client })).status).toBe(401);
  });

  it('is not known with a certificate of a server', async () => {
    const { get, clients } = await apiWorld();
    expect((await get('/configz', { client: clients.issue() })).status).toBe(401);
  });

  it('is not known with a certificate that has expired', async () => {
    const { get, issue } = await apiWorld();
    expect((await get('/configz', { client: issue({ commonName: 'eve', notAfter: '210101000000Z' }) })).status).toBe(401);
  });

  it('is not known once the certificate of a connection expires', async () => {
    const { get, raw, issue, clock } = await apiWorld();
    const client = issue({ commonName: 'eve', notAfter: '450101000000Z' });
    expect((await get('/configz', { client })).status).toBe(200);
    const socket = await raw(client);
    socket.write('GET /configz HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(String(await once(socket, 'data'))).toContain('HTTP/1.1 200');
    clock.set(Date.UTC(2045, 0, 1, 0, 0, 1));
    expect((await get('/configz', { client })).status).toBe(401);
    socket.write('GET /configz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect(await readAll(socket)).toContain('HTTP/1.1 401');
  });

  it('is not known with a certificate without a name', async () => {
    const { get, issue } = await apiWorld();
    expect((await get('/configz', { client: issue({ commonName: '', organizations: ['system:masters'] }) })).status).toBe(401);
  });

  it('is known by the token beside a certificate that does not count', async () => {
    const { get, reviews } = await apiWorld();
    const client = createCertificateAuthority('other').issueClient({ commonName: 'eve' });
    expect((await get('/configz', { client, token: 'good' })).status).toBe(200);
    expect(reviews.asked.at(-1)?.spec.user).toBe('alice');
  });

  it('is not known by a certificate without authorities that sign for clients', async () => {
    const { get } = await apiWorld({ trustsClients: false });
    expect((await get('/configz')).status).toBe(401);
    expect((await get('/configz', { token: 'good' })).status).toBe(200);
  });

  it.each([
    ['is no review', {}],
    ['is null', null],
    ['has no user', { status: { authenticated: true } }],
    ['has a user without a name', { status: { authenticated: true, user: { username: '' } } }],
    ['is the word true', { status: { authenticated: 'true', user: { username: 'alice' } } }],
  ])('is not known when the answer %s', async (_, answer) => {
    const { get, reviews } = await apiWorld();
    reviews.token = () => answer;
    expect((await get('/configz', { ...withoutCertificate, token: 'good' })).status).toBe(401);
  });

  it('is not known when the review fails, and asked again the next time', async () => {
    const { get, reviews } = await apiWorld();
    const answer = reviews.token;
    reviews.token = () => Promise.reject(new Error('the apiserver is away'));
    expect((await get('/configz', { ...withoutCertificate, token: 'good' })).status).toBe(401);
    reviews.token = answer;
    expect((await get('/configz', { ...withoutCertificate, token: 'good' })).status).toBe(200);
  });

  it('is not known when the review never ends', async () => {
    const { get, reviews, clock } = await apiWorld();
    reviews.token = () => new Promise(() => {});
    const answer = get('/configz', { ...withoutCertificate, token: 'good' });
    await until(() => reviews.asked.length > 0);
    await clock.advance(10_000);
    expect((await answer).status).toBe(401);
  });
});

describe('why a sender is not known', () => {
  const debugWorld = async (options: WorldOptions = {}) => {
    const lines: object[] = [];
    const nothing = (): void => {};
    const debug = (fields: object): void => void lines.push(fields);
    return { ...(await apiWorld({ ...options, logger: { debug, info: nothing, warn: nothing, error: nothing } })), lines };
  };
  const foreign = createCertificateAuthority('foreign').issueClient({ commonName: 'eve' });

  it.each<[string, Sent, string, WorldOptions?]>([
    [
      'a certificate of another authority',
      { client: foreign },
      'no authority of `clientCAFile` has signed the certificate of the client for clients: UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    ],
    ['nothing', withoutCertificate, 'the client shows neither a certificate nor a token'],
    ['another token', { ...withoutCertificate, token: 'bad' }, 'the apiserver does not know the token'],
    [
      'another sort of credentials',
      { ...withoutCertificate, headers: { authorization: 'Basic YTpi' } },
      'the header Authorization has no bearer token',
    ],
    [
      'a certificate for which nobody asks',
      {},
      'the client shows no token, and without `clientCAFile` the server asks for no certificate',
      { trustsClients: false },
    ],
  ])('is in the log at debug, without a secret: %s', async (_, sent, reason, options) => {
    const { get, lines } = await debugWorld(options);
    expect((await get(`/configz?token=hidden`, sent)).status).toBe(401);
    expect(lines).toEqual([{ method: 'GET', path: '/configz', reason }]);
  });

  it('has at most 20 lines a minute, each with a short path', async () => {
    const { get, lines, clock } = await debugWorld();
    for (let i = 0; i < 25; i++) await get(`/${'x'.repeat(1000)}`, withoutCertificate);
    expect(lines).toHaveLength(20);
    expect(lines[0]).toMatchObject({ path: `/${'x'.repeat(199)}` });
    await clock.advance(60_000);
    await get('/configz', withoutCertificate);
    expect(lines).toHaveLength(21);
  });
});

describe('a request without credentials', () => {
  it('is that of system:anonymous where that is allowed, and needs rights', async () => {
    const { get, reviews } = await apiWorld({ anonymous: true });
    expect((await get('/configz', withoutCertificate)).status).toBe(200);
    expect(reviews.asked[0]?.spec).toMatchObject({ user: 'system:anonymous', groups: ['system:unauthenticated'] });
    reviews.access = () => ({ status: { allowed: false } });
    expect((await get('/metrics', withoutCertificate)).status).toBe(403);
  });

  it('is none when the credentials are wrong', async () => {
    const { get } = await apiWorld({ anonymous: true });
    const client = createCertificateAuthority('other').issueClient({ commonName: 'eve' });
    expect((await get('/configz', { ...withoutCertificate, token: 'bad' })).status).toBe(401);
    expect((await get('/configz', { client })).status).toBe(401);
  });
});

describe('the right to a request', () => {
  it.each([
    ['GET', '/pods', ['get nodes/pods', 'get nodes/proxy']],
    ['GET', '/pods/', ['get nodes/pods', 'get nodes/proxy']],
    ['GET', '/runningpods/', ['get nodes/pods', 'get nodes/proxy']],
    ['GET', '/healthz', ['get nodes/healthz', 'get nodes/proxy']],
    ['GET', '/healthz/ping', ['get nodes/healthz', 'get nodes/proxy']],
    ['GET', '/configz', ['get nodes/configz', 'get nodes/proxy']],
    ['GET', '/stats/summary', ['get nodes/stats']],
    ['POST', '/stats/summary', ['create nodes/stats']],
    ['GET', '/metrics', ['get nodes/metrics']],
    ['GET', '/metrics/resource', ['get nodes/metrics']],
    ['GET', '/logs/syslog', ['get nodes/log']],
    ['POST', '/checkpoint/a/b/c', ['create nodes/checkpoint']],
    ['GET', '/statusz', ['get nodes/statusz']],
    ['GET', '/flagz', ['get nodes/configz']],
    ['GET', '/containerLogs/default/web/app', ['get nodes/proxy']],
    ['POST', '/exec/default/web/app', ['create nodes/proxy']],
    ['POST', '/run/default/web/app', ['create nodes/proxy']],
    ['GET', '/podsx', ['get nodes/proxy']],
    ['GET', '/metricsx', ['get nodes/proxy']],
    ['GET', '/', ['get nodes/proxy']],
    ['PUT', '/pods', ['update nodes/pods', 'update nodes/proxy']],
    ['PATCH', '/x', ['patch nodes/proxy']],
    ['DELETE', '/x', ['delete nodes/proxy']],
    ['OPTIONS', '/x', [' nodes/proxy']],
    ['GET', '/pods/../exec/default/web/app', ['get nodes/pods', 'get nodes/proxy']],
  ])('%s %s is %j, and without it the answer is 403', async (method, path, rights) => {
    const { get, reviews } = await apiWorld();
    reviews.access = () => ({ status: { allowed: false } });
    const { status, text } = await get(path, { method });
    expect(status).toBe(403);
    expect(text).toContain('user=apiserver');
    if (!path.includes('..')) expect(reviews.rights).toEqual(rights);
  });

  it('is that to one of several subresources', async () => {
    const { get, reviews } = await apiWorld();
    reviews.access = ({ resourceAttributes }) => ({ status: { allowed: resourceAttributes?.subresource === 'proxy' } });
    expect((await get('/pods')).status).toBe(200);
    expect(reviews.asked[0]?.spec.resourceAttributes).toMatchObject({
      group: '',
      version: 'v1',
      resource: 'nodes',
      name: 'node-1',
    });
  });

  it('is asked for as often as authorizedCacheMs and unauthorizedCacheMs say', async () => {
    const { get, reviews, clock } = await apiWorld({ authorizedCacheMs: 0, unauthorizedCacheMs: 60_000 });
    await get('/configz');
    await get('/configz');
    const { length: asked } = reviews.rights;
    expect(asked).toBe(2);
    reviews.access = () => ({ status: { allowed: false } });
    expect((await get('/configz')).status).toBe(403);
    const { length: refused } = reviews.rights;
    await clock.advance(59_999);
    expect((await get('/configz')).status).toBe(403);
    expect(reviews.rights).toHaveLength(refused);
    await clock.advance(1);
    await get('/configz');
    expect(reviews.rights.length).toBeGreaterThan(refused);
  });

  it('is asked for once in five minutes where it is given, and in half a minute where not', async () => {
    const { get, reviews, clock } = await apiWorld();
    for (let time = 0; time < 3; time += 1) await get('/metrics');
    expect(reviews.asked.length).toBe(1);
    await clock.advance(300_001);
    reviews.access = () => ({ status: { allowed: false } });
    expect((await get('/metrics')).status).toBe(403);
    reviews.access = () => ({ status: { allowed: true } });
    await clock.advance(29_999);
    expect((await get('/metrics')).status).toBe(403);
    await clock.advance(2);
    expect((await get('/metrics')).status).toBe(200);
  });

  it('is kept for each sender alone', async () => {
    const { get, reviews, issue } = await apiWorld();
    reviews.access = ({ user }) => ({ status: { allowed: user === 'apiserver' } });
    expect((await get('/metrics')).status).toBe(200);
    expect((await get('/metrics', { client: issue({ commonName: 'eve', organizations: ['system:masters'] }) })).status).toBe(403);
    expect((await get('/metrics', { ...withoutCertificate, token: 'good' })).status).toBe(403);
  });

  it.each([
    ['is no review', {}],
    ['has no status', { status: null }],
    ['is the word true', { status: { allowed: 'true' } }],
    ['allows and denies', { status: { allowed: true, denied: true } }],
  ])('is none when the answer %s', async (_, answer) => {
    const { get, reviews } = await apiWorld();
    reviews.access = () => answer;
    expect((await get('/metrics')).status).toBe(403);
  });

  it('is not known when the review fails', async () => {
    const { get, reviews } = await apiWorld();
    reviews.access = () => Promise.reject(new Error('the apiserver is away'));
    expect(await get('/metrics')).toMatchObject({ status: 500, text: expect.stringContaining('Authorization error') });
    reviews.access = () => ({ status: { allowed: true } });
    expect((await get('/metrics')).status).toBe(200);
  });

  it('is not known when the review never ends', async () => {
    const { get, reviews, clock } = await apiWorld();
    reviews.access = () => new Promise(() => {});
    const answer = get('/metrics');
    await until(() => reviews.asked.length > 0);
    await clock.advance(10_000);
    expect((await answer).status).toBe(500);
  });

  it('is asked for many at a time, and no more', async () => {
    const { get, reviews, clock } = await apiWorld();
    reviews.token = () => new Promise(() => {});
    const answers = Array.from({ length: 70 }, (_, index) => get('/metrics', { ...withoutCertificate, token: `t${index}` }));
    const early = await Promise.race(answers);
    expect(early.status).toBe(401);
    await until(() => reviews.asked.length === 64);
    await clock.advance(10_000);
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(answers.map(() => 401));
    expect(reviews.asked.length).toBe(64);
  });
});

describe('the certificates of the server', () => {
  it('are read again when they change, and connections of before count no more', async () => {
    const { get, files, clock, logged, admin } = await apiWorld();
    expect((await get('/configz')).status).toBe(200);
    const others = createCertificateAuthority('others');
    await writeFile(files.clientCAFile, others.cert);
    await clock.advance(30_000);
    await until(() => logged.includes("the certificates of the node's API were read again"));
    expect((await get('/configz', { client: admin })).status).toBe(401);
    expect((await get('/configz', { client: others.issueClient({ commonName: 'new' }) })).status).toBe(200);
  });

  it.each<['clientCAFile' | 'certFile' | 'keyFile']>([
    ['clientCAFile'],
    ['certFile'],
    ['keyFile'],
  ])('stay when the new %s is empty', async (name) => {
    const { get, files, clock, logged } = await apiWorld();
    await writeFile(files[name], '');
    await clock.advance(30_000);
    await until(() => logged.some((message) => message.startsWith('the certificates')));
    expect(logged).toEqual(["the certificates of the node's API could not be read again; those of before stay"]);
    expect((await get('/configz')).status).toBe(200);
  });

  it('are needed to begin', async () => {
    const { files } = await apiWorld();
    await writeFile(files.keyFile, 'nonsense');
    await expect(apiWorld({ tls: files, host: fakeHost() })).rejects.toThrow();
    await writeFile(files.keyFile, '');
    await expect(apiWorld({ tls: files, host: fakeHost() })).rejects.toThrow(
      `the file ${files.keyFile} (option \`tls.keyFile\`) is empty`,
    );
  });
});
