import { request as httpsRequest } from 'node:https';
import { connect } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { KubeTransport } from '../../../../src/index.ts';
import { SchedulerServer, type SchedulerServerOptions, type ServedIdentity } from '../../../../src/scheduler.ts';
import { FakeClock, InMemoryApiServer } from '../../../../src/testing.ts';
import { createCertificateAuthority } from '../../../support/certificate-authority.ts';
import { until } from '../../../support/until.ts';

const authority = createCertificateAuthority('authority of the scheduler');
const clients = createCertificateAuthority('authority of clients');
const strangers = createCertificateAuthority('authority of strangers');
const served = authority.issue();

interface Asked {
  readonly token?: string;
  readonly authorization?: string;
  readonly certificate?: { readonly cert: string; readonly key: string };
  readonly method?: string;
}

/** A server beside an apiserver that knows the token `good`, of the user `robot`. */
async function setUp(options: Partial<SchedulerServerOptions> = {}) {
  const asked: unknown[] = [];
  const api = await InMemoryApiServer.start({
    users: { good: { username: 'robot', groups: ['g'] }, master: { username: 'root', groups: ['system:masters'] } },
    authorize: (spec) => {
      asked.push(spec);
      return spec.user === 'robot' || spec.user === 'by-certificate';
    },
  });
  const clock = new FakeClock({ start: Date.UTC(2026, 0, 1) });
  const transport = new KubeTransport(api.kubeConfig());
  const server = new SchedulerServer({
    transport,
    identity: () => ({ ...served, clientCA: clients.cert }),
    ...{ address: '127.0.0.1', port: 0, clock, logger: null },
    metrics: () => 'scheduler_up 1\n',
    configz: () => ({ kind: 'KubeSchedulerConfiguration' }),
    ...options,
  });
  onTestFinished(async () => {
    await server.close();
    await transport.close();
    await api.stop();
  });
  const { port } = await server.listen();
  const get = (path: string, { token, authorization, certificate, method = 'GET' }: Asked = {}) =>
    new Promise<string>((resolve, reject) => {
      const sent = httpsRequest(
        { host: '127.0.0.1', port, path, method, ca: authority.cert, agent: false, ...certificate },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('end', () => resolve(`${response.statusCode} ${Buffer.concat(chunks)}`));
        },
      );
      const bearer = token === undefined ? authorization : `Bearer ${token}`;
      if (bearer !== undefined) sent.setHeader('authorization', bearer);
      sent.on('error', reject);
      sent.end();
    });
  return { api, asked, clock, server, port, get };
}

describe('the pages of a scheduler', () => {
  it('show to everyone whether it is well', async () => {
    const { get, asked } = await setUp({ readyChecks: [{ name: 'synced', check: () => {} }] });
    expect([await get('/healthz'), await get('/livez'), await get('/readyz')]).toEqual(['200 ok', '200 ok', '200 ok']);
    expect(await get('/readyz?verbose')).toBe('200 [+]ping ok\n[+]synced ok\nreadyz check passed\n');
    expect(asked).toEqual([]);
  });

  it('say which check fails, and neither why, nor anything of the others', async () => {
    const fails = {
      name: 'leader',
      check: () => {
        throw new Error('a secret reason');
      },
    };
    const { get } = await setUp({ healthChecks: [fails], readyChecks: [fails, { name: 'synced', check: () => {} }] });
    expect(await get('/healthz')).toBe('500 [+]ping ok\n[-]leader failed: reason withheld\nhealthz check failed\n');
    expect(await get('/readyz')).toBe('500 [+]ping ok\n[-]leader failed: reason withheld\n[+]synced ok\nreadyz check failed\n');
    expect(await get('/readyz?exclude=leader&verbose')).toBe(
      '200 [+]ping ok\n[+]leader excluded: ok\n[+]synced ok\nreadyz check passed\n',
    );
    expect(await get('/livez')).toBe('200 ok');
    expect(await get('/readyz/synced', { token: 'good' })).toBe('200 ok');
    expect(await get('/readyz/other', { token: 'good' })).toBe('404 404 page not found');
  });

  it('wait for a check that does not settle for as long as they are told, and ask it once', async () => {
    const asked: string[] = [];
    const gate = Promise.withResolvers<void>();
    const slow = (name: string) => ({
      name,
      check: () =>
        gate.promise
          .then(
            () => {},
            () => {},
          )
          .then(() => void asked.push(name)),
    });
    let begun = 0;
    const never = {
      name: 'never',
      check: () => {
        begun += 1;
        return new Promise<void>(() => {});
      },
    };
    const { get, clock } = await setUp({ readyChecks: [never, slow('a'), slow('b')], checkTimeoutMs: 3000 });
    const answers = [get('/readyz'), get('/readyz/never', { token: 'good' }), get('/readyz?exclude=never')];
    await until(() => clock.pendingTimers >= 7);
    gate.resolve();
    expect(await answers[2]).toBe('200 ok');
    await clock.advance(2999);
    expect(await Promise.race([answers[0], Promise.resolve('none yet')])).toBe('none yet');
    await clock.advance(1);
    expect(await Promise.all(answers.slice(0, 2))).toEqual([
      '500 [+]ping ok\n[-]never failed: reason withheld\n[+]a ok\n[+]b ok\nreadyz check failed\n',
      '500 [-]never failed: reason withheld\nreadyz check failed\n',
    ]);
    expect([begun, asked]).toEqual([1, ['a', 'b']]);
  });

  it('let no request of a connection wait for a page that never comes', async () => {
    const { clock, port } = await setUp({ metrics: () => new Promise<string>(() => {}) });
    const socket = connect({ host: '127.0.0.1', port, ca: authority.cert });
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    socket.on('error', () => {});
    const ask = (path: string): string => `GET ${path} HTTP/1.1\r\nhost: s\r\nauthorization: Bearer good\r\n\r\n`;
    socket.write(ask('/metrics') + ask('/livez'));
    const before = clock.pendingTimers;
    await until(() => clock.pendingTimers > before);
    await clock.advance(10_000);
    await until(() => text.includes('HTTP/1.1 200'));
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 500', 'HTTP/1.1 200']);
    socket.destroy();
  });

  it('show metrics and configuration to those alone whom the apiserver allows it', async () => {
    const { get, asked } = await setUp();
    expect(await get('/metrics')).toBe('403 forbidden: User "system:anonymous" cannot get path "/metrics"');
    expect(await get('/metrics', { token: 'good' })).toBe('200 scheduler_up 1\n');
    expect(await get('/configz', { token: 'good' })).toBe('200 {"componentconfig":{"kind":"KubeSchedulerConfiguration"}}');
    expect(asked).toContainEqual(
      expect.objectContaining({
        user: 'robot',
        groups: ['g', 'system:authenticated'],
        nonResourceAttributes: { path: '/metrics', verb: 'get' },
      }),
    );
    expect(await get('/metrics', { token: 'master' })).toBe('200 scheduler_up 1\n');
  });

  it.each<[string, string, Asked]>([
    ['a token that nobody knows', '/metrics', { token: 'bad' }],
    ['a token that nobody knows, where everyone is allowed', '/healthz', { token: 'bad' }],
    ['what is no bearer token', '/metrics', { authorization: 'Basic Z29vZDpnb29k' }],
    ['a certificate of another authority', '/healthz', { certificate: strangers.issueClient({ commonName: 'by-certificate' }) }],
  ])('are refused for %s', async (_what, path, asked) => {
    const { get } = await setUp();
    expect(await get(path, asked)).toBe('401 Unauthorized');
  });

  it('know a sender by its certificate', async () => {
    const { get } = await setUp();
    const certificate = clients.issueClient({ commonName: 'by-certificate' });
    expect(await get('/metrics', { certificate })).toBe('200 scheduler_up 1\n');
    const other = clients.issueClient({ commonName: 'other', organizations: ['o'] });
    expect(await get('/metrics', { certificate: other })).toBe('403 forbidden: User "other" cannot get path "/metrics"');
    const master = clients.issueClient({ commonName: 'any', organizations: ['system:masters'] });
    expect(await get('/metrics', { certificate: master })).toBe('200 scheduler_up 1\n');
  });

  it('know no certificate without authorities of clients', async () => {
    const { get } = await setUp({ identity: () => served });
    const certificate = clients.issueClient({ commonName: 'by-certificate', organizations: ['system:masters'] });
    expect(await get('/metrics', { certificate })).toBe('403 forbidden: User "system:anonymous" cannot get path "/metrics"');
  });

  it('are closed while nobody can say who may see them', async () => {
    const { get, api } = await setUp();
    for (const resource of ['subjectaccessreviews.authorization.k8s.io', 'tokenreviews.authentication.k8s.io']) {
      api.fail({ resource, fault: { kind: 'status', code: 503 }, probability: 1 });
    }
    expect(await get('/metrics')).toBe('500 nobody can say whether this is allowed');
    expect(await get('/metrics', { token: 'good' })).toBe('401 Unauthorized');
    expect(await get('/healthz')).toBe('200 ok');
  });

  it('ask the apiserver once in ten seconds for one sender and path', async () => {
    const { get, asked, clock } = await setUp();
    await get('/metrics', { token: 'good' });
    await get('/metrics', { token: 'good' });
    expect(asked).toHaveLength(1);
    await clock.advance(10_001);
    await get('/metrics', { token: 'good' });
    expect(asked).toHaveLength(2);
  });

  it('take no other method, and show nothing else', async () => {
    const { get } = await setUp({ alwaysAllowPaths: ['/*'] });
    expect(await get('/healthz', { method: 'POST' })).toBe('405 method not allowed');
    expect(await get('/healthz', { method: 'HEAD' })).toBe('200 ');
    expect(await get('/debug/pprof')).toBe('404 404 page not found');
    expect(await get('/metrics/resources')).toBe('404 404 page not found');
    expect(await get('/constructor')).toBe('404 404 page not found');
    expect(await get('//healthz')).toBe('404 404 page not found');
  });

  it('answer 500 where a page fails, and go on', async () => {
    const metrics = () => Promise.reject(new Error('no metrics'));
    const { get } = await setUp({ metrics, alwaysAllowPaths: ['/metrics', '/healthz'] });
    expect(await get('/metrics')).toBe('500 internal server error: the log says why');
    expect(await get('/healthz')).toBe('200 ok');
  });

  it('end a connection that sends many requests and waits for no answer', async () => {
    const { port } = await setUp({ metrics: () => new Promise(() => {}), alwaysAllowPaths: ['/metrics'] });
    const socket = connect({ port, host: '127.0.0.1', ca: authority.cert });
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.on('error', () => {});
    socket.write('GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(50));
    await closed;
  });
});

describe('the certificate of a scheduler', () => {
  it('is read again, and one that cannot be read leaves that of before', async () => {
    let identity: ServedIdentity | undefined = { ...served, clientCA: clients.cert };
    const { clock, port } = await setUp({
      identity: () => {
        if (identity === undefined) throw new Error('no certificate');
        return identity;
      },
    });
    const serial = () =>
      new Promise<string | undefined>((resolve, reject) => {
        const socket = connect({ port, host: '127.0.0.1', ca: authority.cert }, () => {
          resolve(socket.getPeerCertificate().serialNumber);
          socket.destroy();
        });
        socket.on('error', reject);
      });
    const first = await serial();
    identity = undefined;
    await clock.advance(30_000);
    expect(await serial()).toBe(first);
    identity = authority.issue();
    await clock.advance(30_000);
    expect(await serial()).not.toBe(first);
  });

  it.each<[string, Partial<ServedIdentity>]>([
    ['has another key', { key: authority.issue().key }],
    ['is none', { cert: 'x' }],
    ['comes with authorities that are none', { clientCA: 'x' }],
  ])('that %s is refused at the start', async (_what, wrong) => {
    await expect(setUp({ identity: () => ({ ...served, ...wrong }) })).rejects.toThrow();
  });
});

describe('a server of a scheduler', () => {
  it('listens once, and not after its end', async () => {
    const { server } = await setUp();
    await expect(server.listen()).rejects.toThrow(expect.objectContaining({ code: 'ERR_ALREADY_STARTED' }));
    const transport = { request: () => {}, stream: () => {} } as never;
    const closed = new SchedulerServer({ transport, identity: () => served, logger: null });
    await closed.close();
    await expect(closed.listen()).rejects.toThrow(expect.objectContaining({ code: 'ERR_STOPPED' }));
  });

  it.each<[string, object]>([
    ['port', { port: 65_536 }],
    ['address', { address: 1 }],
    ['identity', { identity: served }],
    ['metrics', { metrics: 'x' }],
    ['configz', { configz: {} }],
    ['alwaysAllowPaths', { alwaysAllowPaths: '/healthz' }],
    ['healthChecks', { healthChecks: {} }],
    ['readyChecks[0]', { readyChecks: [{ name: 'x' }] }],
    ['readyChecks[0].name', { readyChecks: [{ check: () => {} }] }],
    ['authorizedCacheMs', { authorizedCacheMs: -1 }],
    ['reloadPeriodMs', { reloadPeriodMs: 1 }],
    ['options.ports', { ports: 1 }],
  ])('has checked the option %s', (name, wrong) => {
    const transport = { request: () => {}, stream: () => {} } as never;
    expect(() => new SchedulerServer({ transport, identity: () => served, ...wrong })).toThrow(`Expected \`${name}\` to be`);
  });
});
