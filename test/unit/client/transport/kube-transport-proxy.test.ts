import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { type KubeRequest, KubeTransport } from '../../../../src/client/transport/kube-transport.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { until } from '../../../support/until.ts';
import { failureOf, kubeConfigFor, type Script, scriptedServer, sendJson } from './scripted-server.ts';
import { base64, selfSigned } from './self-signed.ts';
import { testProxy } from './test-proxy.ts';
import { trustedBySystem } from './trusted-cas.ts';

const token = 'a-very-secret-token';
const get: KubeRequest = { method: 'GET', path: '/api/v1/pods' };
const patch: KubeRequest = { method: 'PATCH', path: '/p', body: { status: {} } };
const certificate = selfSigned({ commonName: 'apiserver', ips: ['127.0.0.1'] });
const ofProxy = selfSigned({ commonName: 'proxy', ips: ['127.0.0.1'] });
const client = selfSigned({ commonName: 'client' });
const caData = base64(certificate.cert);
const ok: Script = (_request, response) => sendJson(response, { ok: true });

describe('KubeTransport behind a proxy', () => {
  it('tunnels through it, verifies the server, and shows the proxy no token', async () => {
    await using server = await scriptedServer(ok, certificate);
    await using proxy = await testProxy();
    const transport = new KubeTransport(kubeConfigFor(server.url, { token }, { caData, proxyUrl: proxy.url }));
    expect(await transport.request(get)).toEqual({ ok: true });
    expect(server.seen[0]?.headers.authorization).toBe(`Bearer ${token}`);
    expect(proxy.seen).toMatchObject([{ method: 'CONNECT', target: new URL(server.url).host, authorization: undefined }]);
    expect(proxy.seen[0]?.text).not.toContain(token);
    await transport.close();
    await until(() => proxy.open.size === 0 && server.connections.open.size === 0);
  });

  it('keeps a tunnel from one request to the next', async () => {
    await using server = await scriptedServer(ok, certificate);
    await using proxy = await testProxy();
    const cluster = { caData, proxyUrl: proxy.url };
    await using transport = new KubeTransport(kubeConfigFor(server.url, {}, cluster), { connections: 1 });
    for (let i = 0; i < 5; i += 1) await transport.request(get);
    expect([proxy.seen.length, server.connections.total]).toEqual([1, 1]);
  });

  it('leaves it to the proxy to find the server, and names the port of https', async () => {
    await using proxy = await testProxy({ onConnect: () => 'HTTP/1.1 502 Bad Gateway\r\n\r\n' });
    await using transport = new KubeTransport(kubeConfigFor('https://apiserver.invalid', {}, { caData, proxyUrl: proxy.url }));
    expect(await failureOf(transport.request(get))).toMatchObject({ message: expect.stringContaining('it answered with 502') });
    expect(proxy.seen).toMatchObject([{ method: 'CONNECT', target: 'apiserver.invalid:443' }]);
  });

  it('shows the user and the password of a proxy URL to the proxy only', async () => {
    await using server = await scriptedServer(ok, certificate);
    await using proxy = await testProxy();
    const proxyUrl = proxy.url.replace('//', '//me:p%40ss@');
    await using transport = new KubeTransport(kubeConfigFor(server.url, {}, { caData, proxyUrl }));
    await transport.request(get);
    expect(proxy.seen[0]?.authorization).toBe(`Basic ${Buffer.from('me:p@ss').toString('base64')}`);
    expect(server.seen[0]?.headers['proxy-authorization']).toBeUndefined();
  });

  it('lets the proxy forward plain http to a server, where both are loopback', async () => {
    await using server = await scriptedServer(ok);
    await using proxy = await testProxy();
    const proxyUrl = proxy.url.replace('//', '//me@');
    await using transport = new KubeTransport(kubeConfigFor(`${server.url}/prefix`, { token }, { proxyUrl }));
    expect(await transport.request({ ...get, query: new URLSearchParams({ limit: '1' }) })).toEqual({ ok: true });
    expect(proxy.seen).toMatchObject([
      { method: 'GET', target: `${server.url}/prefix/api/v1/pods?limit=1`, authorization: 'Basic bWU6' },
    ]);
    expect(server.seen).toMatchObject([
      { url: '/prefix/api/v1/pods?limit=1', headers: { host: new URL(server.url).host, authorization: `Bearer ${token}` } },
    ]);
  });

  it.each([
    'http://10.0.0.1:3128',
    'https://10.0.0.1:3128',
    'http://proxy.example:3128',
  ])('refuses to send a token in the clear to the proxy %s, for a server on loopback too', async (proxyUrl) => {
    const refused = expect.objectContaining({
      code: 'ERR_INVALID_OPTION',
      message: expect.stringContaining('`proxy-url` to be a loopback address'),
    });
    expect(() => new KubeTransport(kubeConfigFor('http://localhost:8080', { token }, { proxyUrl }))).toThrow(refused);
    const remote = kubeConfigFor('http://10.0.0.2:8080', { token }, { proxyUrl, skipTLSVerify: true });
    expect(() => new KubeTransport(remote)).toThrow(refused);
  });

  it('looks at the proxy again when the kubeconfig changes', async () => {
    const kubeConfig = kubeConfigFor('http://127.0.0.1:8080', { token });
    await using transport = new KubeTransport(kubeConfig);
    const [cluster] = kubeConfig.clusters;
    if (cluster !== undefined) kubeConfig.clusters = [{ ...cluster, proxyUrl: 'http://10.0.0.1:3128' }];
    expect(await failureOf(transport.request(get))).toMatchObject({ name: 'ApiError', reason: 'NoCredentials' });
  });

  it.each([
    ['socks5://127.0.0.1:1080', 'got "socks5" (string)'],
    ['not a URL with a secret', 'got "no URL" (string)'],
    ['http://me:%E0%A4%A@127.0.0.1:3128', 'percent-encoded'],
  ])('refuses the proxy %s without showing its password', (proxyUrl, message) => {
    expect(() => new KubeTransport(kubeConfigFor('https://127.0.0.1', {}, { proxyUrl }))).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION', message: expect.stringContaining(message) }),
    );
  });
});

describe('KubeTransport behind an https proxy', () => {
  const tls = { cert: ofProxy.cert, key: ofProxy.key };
  const user = { token, certData: base64(client.cert), keyData: base64(client.key) };
  const nameOf: Script = ({ socket }, response) => {
    const subject = 'getPeerCertificate' in socket ? Object(socket.getPeerCertificate).call(socket).subject : undefined;
    sendJson(response, { name: subject?.CN });
  };

  it('takes its certificate by the CA of the cluster, and shows it no certificate of ours', async () => {
    await using server = await scriptedServer(nameOf, { ...certificate, requestCert: true, rejectUnauthorized: false });
    await using proxy = await testProxy({ tls });
    const cluster = { caData: base64(certificate.cert + ofProxy.cert), proxyUrl: proxy.url };
    const transport = new KubeTransport(kubeConfigFor(server.url, user, cluster));
    expect(await transport.request(get)).toEqual({ name: 'client' });
    expect(proxy.seen).toMatchObject([{ method: 'CONNECT', client: undefined }]);
    await transport.close();
    await until(() => proxy.open.size === 0 && server.connections.open.size === 0);
  });

  it('takes its certificate by a CA of the system, which does not vouch for the server', async () => {
    await using server = await scriptedServer(ok, certificate);
    await using proxy = await testProxy({ tls });
    using _ = trustedBySystem(ofProxy.cert);
    await using transport = new KubeTransport(kubeConfigFor(server.url, user, { caData, proxyUrl: proxy.url }));
    expect(await transport.request(get)).toEqual({ ok: true });
    const wrong = { caData: base64(client.cert), proxyUrl: proxy.url };
    await using other = new KubeTransport(kubeConfigFor(server.url, user, wrong));
    expect(await failureOf(other.request(get))).toMatchObject({ cause: { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' } });
  });

  it.each([
    ['whose CA is unknown', ofProxy, { caData }],
    ['whose CA is unknown, skip-tls or not: that is for the server', ofProxy, { skipTLSVerify: true }],
    [
      'of another name, tls-server-name or not: that is for the server',
      selfSigned({ commonName: 'proxy', dnsNames: ['kubernetes.test'] }),
      { tlsServerName: 'kubernetes.test' },
    ],
  ])('says nothing to a proxy %s', async (_what, { cert, key }, cluster) => {
    await using server = await scriptedServer(ok, certificate);
    await using proxy = await testProxy({ tls: { cert, key } });
    const trusted = 'tlsServerName' in cluster ? { ...cluster, caData: base64(cert) } : cluster;
    const proxyUrl = proxy.url.replace('//', `//me:${token}@`);
    await using transport = new KubeTransport(kubeConfigFor(server.url, user, { ...trusted, proxyUrl }));
    const error = await failureOf(transport.request(get));
    expect(error).toMatchObject({ reason: 'Network', message: expect.stringContaining('the proxy: ') });
    expect(inspect(error, { depth: 20, showHidden: true })).not.toContain(token);
    expect(proxy.seen).toEqual([]);
  });
});

describe('KubeTransport behind a proxy that fails', () => {
  const setUp = (serverUrl: string, proxyUrl: string, clock = new FakeClock()): KubeTransport => {
    const kubeConfig = kubeConfigFor(serverUrl, { token }, { caData, proxyUrl });
    return new KubeTransport(kubeConfig, { connections: 1, clock, requestTimeoutMs: 1000 });
  };

  it('ends a CONNECT that is not answered with its request, and opens another one for the next', async () => {
    await using server = await scriptedServer(ok, certificate);
    await using proxy = await testProxy({ onConnect: (number) => (number === 1 ? 'hold' : 'tunnel') });
    const clock = new FakeClock();
    await using transport = setUp(server.url, proxy.url, clock);
    const failure = failureOf(transport.request(patch));
    await until(() => proxy.seen.length === 1);
    await clock.advance(999);
    expect(proxy.open.size).toBe(1);
    await clock.advance(1);
    expect(await failure).toMatchObject({ reason: 'Timeout', message: `PATCH ${server.url}/p: no connection within 1000 ms` });
    await until(() => proxy.open.size === 0);
    expect(await transport.request(get)).toEqual({ ok: true });
    expect([proxy.seen.length, server.seen.length, clock.pendingTimers]).toEqual([2, 1, 0]);
  });

  it('opens another connection for a request that waits behind one that is not answered', async () => {
    await using server = await scriptedServer(ok, certificate);
    await using proxy = await testProxy({ onConnect: (number) => (number === 1 ? 'hold' : 'tunnel') });
    const clock = new FakeClock();
    await using transport = setUp(server.url, proxy.url, clock);
    const failure = failureOf(transport.request(patch));
    await until(() => proxy.seen.length === 1);
    await clock.advance(600);
    const waiting = transport.request(get);
    await clock.advance(400);
    expect(await failure).toMatchObject({ reason: 'Timeout' });
    const next = transport.request(get);
    expect(await Promise.all([waiting, next])).toEqual([{ ok: true }, { ok: true }]);
  });

  it('sends nothing of a request that was over before its CONNECT was answered', async () => {
    await using server = await scriptedServer(ok, certificate);
    await using proxy = await testProxy({ onConnect: (number) => (number === 1 ? 'hold' : 'tunnel') });
    await using transport = setUp(server.url, proxy.url);
    const stop = new AbortController();
    const failure = failureOf(transport.request({ ...patch, signal: stop.signal }));
    await until(() => proxy.seen.length === 1);
    stop.abort();
    expect(await failure).toMatchObject({ reason: 'Aborted' });
    proxy.release();
    await until(() => server.connections.total === 1);
    expect(await transport.request(get)).toEqual({ ok: true });
    expect(server.seen.map(({ method }) => method)).toEqual(['GET']);
  });

  it.each([undefined, { cert: ofProxy.cert, key: ofProxy.key }])('ends the tunnel of a request that is ended', async (tls) => {
    await using server = await scriptedServer(() => {}, certificate);
    await using proxy = await testProxy({ ...(tls && { tls }) });
    const kubeConfig = kubeConfigFor(server.url, {}, { caData: base64(certificate.cert + ofProxy.cert), proxyUrl: proxy.url });
    await using transport = new KubeTransport(kubeConfig);
    const stop = new AbortController();
    const failure = failureOf(transport.request({ ...patch, signal: stop.signal }));
    await until(() => server.seen.length === 1);
    stop.abort();
    await failure;
    await until(() => proxy.open.size === 0 && server.connections.open.size === 0);
  });

  it('leaves no connection half open when it is closed', async () => {
    await using server = await scriptedServer(ok, certificate);
    await using proxy = await testProxy({ onConnect: () => 'hold' });
    const clock = new FakeClock();
    const transport = setUp(server.url, proxy.url, clock);
    const stop = new AbortController();
    const failure = failureOf(transport.request({ ...patch, signal: stop.signal }));
    await until(() => proxy.seen.length === 1);
    stop.abort();
    await failure;
    await transport.close();
    await until(() => proxy.open.size === 0);
    expect(clock.pendingTimers).toBe(0);
  });

  it.each([
    ['refuses', 'HTTP/1.1 407 Proxy Authentication Required\r\n\r\n', 'it answered with 407'],
    ['hangs up', '', 'socket hang up'],
    ['talks nonsense', `nonsense ${token}\r\n\r\n`, 'Parse Error'],
  ])('fails the request of a CONNECT that the proxy %s, and asks again for the next', async (_how, answer, message) => {
    await using server = await scriptedServer(ok, certificate);
    await using proxy = await testProxy({ onConnect: (number) => (number === 1 ? answer : 'tunnel') });
    await using transport = setUp(server.url, proxy.url);
    const error = await failureOf(transport.request(patch));
    expect(error).toMatchObject({ reason: 'Network', message: expect.stringContaining(message) });
    expect(error).toMatchObject({ message: expect.stringContaining(`the proxy, asked for ${new URL(server.url).host}: `) });
    expect(inspect(error, { depth: 20, showHidden: true })).not.toContain(token);
    expect(await transport.request(get)).toEqual({ ok: true });
    expect(server.seen).toHaveLength(1);
  });

  it('sends a request once, though its tunnel breaks', async () => {
    await using server = await scriptedServer(({ socket }) => socket.destroy(), certificate);
    await using proxy = await testProxy();
    await using transport = setUp(server.url, proxy.url);
    expect(await failureOf(transport.request(patch))).toMatchObject({ reason: 'Network' });
    await settle();
    expect([server.seen.length, proxy.seen.length]).toEqual([1, 1]);
  });

  it('names a proxy that is not there', async () => {
    const proxy = await testProxy();
    await proxy[Symbol.asyncDispose]();
    await using transport = setUp('https://127.0.0.1:1', proxy.url);
    expect(await failureOf(transport.request(get))).toMatchObject({
      reason: 'Network',
      message: expect.stringMatching(/^GET https:\/\/127\.0\.0\.1:1\/\S+: the proxy: connect ECONNREFUSED 127\.0\.0\.1:\d+$/),
      cause: { code: 'ECONNREFUSED' },
    });
  });
});
