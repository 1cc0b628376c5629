import { inspect } from 'node:util';
import type { KubeConfig, User } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { classifyApiError } from '../../../../src/client/resources/error-class.ts';
import { type KubeRequest, KubeTransport, type KubeTransportOptions } from '../../../../src/client/transport/kube-transport.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { until } from '../../../support/until.ts';
import { failureOf, kubeConfigFor, type Script, scriptedServer, sendJson } from './scripted-server.ts';

const token = 'a-very-secret-token';
const get: KubeRequest = { method: 'GET', path: '/api/v1/pods' };
const patch: KubeRequest = { method: 'PATCH', path: '/p', body: { status: {} } };
const ok: Script = (_request, response) => sendJson(response, { ok: true });
const silence: Script = () => {};

describe('KubeTransport', () => {
  it('keeps connections from one request to the next', async () => {
    await using server = await scriptedServer(ok);
    await using transport = new KubeTransport(kubeConfigFor(server.url));
    for (let i = 0; i < 10; i += 1) await transport.request(get);
    expect(server.seen).toHaveLength(10);
    // undici rests a socket for one turn of the event loop, in which the next request may open a second
    expect(server.connections.total).toBeLessThanOrEqual(2);
  });

  it('opens no more connections than the option says', async () => {
    await using server = await scriptedServer(ok);
    await using transport = new KubeTransport(kubeConfigFor(server.url), { connections: 3 });
    await Promise.all(Array.from({ length: 20 }, () => transport.request(get)));
    expect(server.seen).toHaveLength(20);
    expect(server.connections.total).toBe(3);
  });

  it('asks for the credentials on every request', async () => {
    await using server = await scriptedServer(ok);
    const kubeConfig = kubeConfigFor(server.url, { authProvider: { name: 'rotating', config: {} } });
    let asked = 0;
    kubeConfig.addAuthenticator({
      isAuthProvider: () => true,
      applyAuthentication: async (_user, options) => {
        asked += 1;
        options.headers = { ...options.headers, Authorization: `Bearer token-${asked}` };
      },
    });
    await using transport = new KubeTransport(kubeConfig);
    await transport.request(get);
    await transport.request(get);
    expect(server.seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer token-1', 'Bearer token-2']);
  });

  it('sends basic credentials and impersonation as the kubeconfig says', async () => {
    await using server = await scriptedServer(ok);
    const user = { username: 'me', password: 'p', impersonateUser: 'system:node:n1' };
    await using transport = new KubeTransport(kubeConfigFor(server.url, user));
    await transport.request(get);
    const headers = server.seen[0]?.headers;
    expect(headers?.authorization).toBe(`Basic ${Buffer.from('me:p').toString('base64')}`);
    expect(headers?.['impersonate-user']).toBe('system:node:n1');
  });

  it.each([[undefined], [null], ['']])('sends an empty password where the kubeconfig has %j', async (password) => {
    await using server = await scriptedServer(ok);
    await using transport = new KubeTransport(kubeConfigFor(server.url, { username: 'joe', password } as Partial<User>));
    await transport.request(get);
    expect(server.seen[0]?.headers.authorization).toBe(`Basic ${Buffer.from('joe:').toString('base64')}`);
  });

  it('keeps the path prefix of the server URL and encodes the query', async () => {
    await using server = await scriptedServer(ok);
    await using transport = new KubeTransport(kubeConfigFor(`${server.url}/k8s/clusters/c-1/`));
    await transport.request({ ...get, query: new URLSearchParams({ fieldSelector: 'spec.nodeName=n1' }) });
    expect(server.seen[0]?.url).toBe('/k8s/clusters/c-1/api/v1/pods?fieldSelector=spec.nodeName%3Dn1');
  });

  it('follows the kubeconfig to another server', async () => {
    await using first = await scriptedServer(ok);
    await using second = await scriptedServer(ok);
    const kubeConfig = kubeConfigFor(first.url);
    await using transport = new KubeTransport(kubeConfig);
    await transport.request(get);
    kubeConfig.clusters = [{ name: 'test', server: second.url, skipTLSVerify: false }];
    await transport.request(get);
    expect([first.seen.length, second.seen.length]).toEqual([1, 1]);
    await until(() => first.connections.open.size === 0);
  });

  it.each([
    [
      'a server that no token may go to',
      [{ name: 'test', server: 'http://10.0.0.1', skipTLSVerify: false }],
      'Expected `server` to be https',
    ],
    ['no cluster', [], 'Expected `kubeConfig` to be a kubeconfig whose current context names a cluster'],
  ])('fails with an ApiError once the kubeconfig has %s', async (_what, clusters, message) => {
    await using server = await scriptedServer(ok);
    const kubeConfig = kubeConfigFor(server.url);
    await using transport = new KubeTransport(kubeConfig);
    kubeConfig.clusters = clusters;
    const error = await failureOf(transport.request(get));
    expect(error).toMatchObject({ name: 'ApiError', reason: 'NoCredentials', cause: { code: 'ERR_INVALID_OPTION' } });
    expect(error).toMatchObject({ message: expect.stringContaining(`The kubeconfig cannot be used: ${message}`) });
    expect(server.seen).toEqual([]);
  });

  it('leaves the kubeconfig as it was', async () => {
    await using server = await scriptedServer(ok);
    const kubeConfig = kubeConfigFor(server.url, { token });
    const before = kubeConfig.exportConfig();
    await using transport = new KubeTransport(kubeConfig);
    await transport.request(get);
    expect(kubeConfig.exportConfig()).toBe(before);
    await expect(kubeConfig.applyToHTTPSOptions({})).rejects.toThrow('HTTP protocol is not allowed');
  });

  it.each([
    ['no cluster', kubeConfigFor('')],
    ['a server that is no URL', kubeConfigFor('nonsense')],
    ['another protocol', kubeConfigFor('ftp://127.0.0.1')],
    ['plain http to another machine', kubeConfigFor('http://10.0.0.1:8080')],
    ['a proxy it cannot use', kubeConfigFor('https://127.0.0.1', {}, { proxyUrl: 'socks5://127.0.0.1:1080' })],
  ])('refuses a kubeconfig with %s', (_what, kubeConfig) => {
    expect(() => new KubeTransport(kubeConfig)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_OPTION' }));
  });

  it.each([undefined, null, {}, '/etc/kubeconfig'])('refuses %j in place of a kubeconfig', (kubeConfig) => {
    const refused = {
      code: 'ERR_INVALID_OPTION',
      message: expect.stringContaining('Expected `kubeConfig` to be an object with'),
    };
    expect(() => new KubeTransport(kubeConfig as unknown as KubeConfig)).toThrow(expect.objectContaining(refused));
  });

  it('takes plain http to another machine where skipTLSVerify allows it', async () => {
    await using transport = new KubeTransport(kubeConfigFor('http://10.0.0.1:8080', {}, { skipTLSVerify: true }));
    await expect(transport.close()).resolves.toBeUndefined();
  });

  it.each([
    { connections: 0 },
    { connections: 1.5 },
    { requestTimeoutMs: 0 },
    { requestTimeoutMs: 2 ** 31 },
    { requestTimeout: 5 },
    { conections: 3 },
    { clock: {} },
    null,
  ])('refuses the option %j', (options) => {
    expect(() => new KubeTransport(kubeConfigFor('https://127.0.0.1'), options as KubeTransportOptions)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION' }),
    );
  });

  it('ends a request that gets no answer in time, and its connection with it', async () => {
    await using server = await scriptedServer(silence);
    const clock = new FakeClock();
    await using transport = new KubeTransport(kubeConfigFor(server.url, { token }), { clock, requestTimeoutMs: 5000 });
    const failure = failureOf(transport.request(patch));
    await until(() => server.seen.length === 1);
    await clock.advance(4999);
    expect(clock.pendingTimers).toBe(1);
    await clock.advance(1);
    expect(await failure).toMatchObject({
      reason: 'Timeout',
      message: `PATCH ${server.url}/p: no answer within 5000 ms`,
      status: undefined,
    });
    expect(clock.pendingTimers).toBe(0);
    await until(() => server.connections.open.size === 0);
  });

  it('counts an answer that stops half-way as late, too', async () => {
    await using server = await scriptedServer((_request, response) => response.write('{"half":'));
    const clock = new FakeClock();
    await using transport = new KubeTransport(kubeConfigFor(server.url), { clock });
    const failure = failureOf(transport.request(get));
    await until(() => server.seen.length === 1);
    await clock.advance(10_000);
    expect(await failure).toMatchObject({ reason: 'Timeout' });
  });

  it('leaves no timer and no listener behind an answered request', async () => {
    await using server = await scriptedServer(ok);
    const clock = new FakeClock();
    await using transport = new KubeTransport(kubeConfigFor(server.url), { clock });
    const { signal } = new AbortController();
    let listeners = 0;
    const watched = Object.assign(signal, {
      addEventListener: (...args: Parameters<AbortSignal['addEventListener']>) => {
        listeners += 1;
        AbortSignal.prototype.addEventListener.apply(signal, args);
      },
      removeEventListener: (...args: Parameters<AbortSignal['removeEventListener']>) => {
        listeners -= 1;
        AbortSignal.prototype.removeEventListener.apply(signal, args);
      },
    });
    const request = transport.request({ ...get, signal: watched });
    expect([listeners, clock.pendingTimers]).toEqual([1, 1]);
    await request;
    expect([listeners, clock.pendingTimers]).toEqual([0, 0]);
  });

  it('ends a request when the caller aborts', async () => {
    await using server = await scriptedServer(silence);
    await using transport = new KubeTransport(kubeConfigFor(server.url, { token }));
    const stop = new AbortController();
    const failure = failureOf(transport.request({ ...patch, signal: stop.signal }));
    await until(() => server.seen.length === 1);
    stop.abort();
    const error = await failure;
    expect(error).toMatchObject({ reason: 'Aborted' });
    expect(classifyApiError(error)).toBe('aborted');
    await until(() => server.connections.open.size === 0);
  });

  it('calls a timeout of the caller a timeout', async () => {
    await using transport = new KubeTransport(kubeConfigFor('http://127.0.0.1:1'));
    const signal = AbortSignal.abort(new DOMException('too slow', 'TimeoutError'));
    expect(await failureOf(transport.request({ ...get, signal }))).toMatchObject({ reason: 'Timeout' });
  });

  it('sends nothing for a request aborted before it starts, or while it waits for a connection', async () => {
    const held: Array<() => void> = [];
    await using server = await scriptedServer((_request, response) => held.push(() => sendJson(response, {})));
    await using transport = new KubeTransport(kubeConfigFor(server.url), { connections: 1 });
    const early = failureOf(transport.request({ ...get, path: '/early', signal: AbortSignal.abort() }));
    const first = transport.request({ ...get, path: '/first' });
    await until(() => held.length === 1);
    const stop = new AbortController();
    const waiting = failureOf(transport.request({ ...patch, path: '/waiting', signal: stop.signal }));
    stop.abort();
    expect(await early).toMatchObject({ reason: 'Aborted' });
    expect(await waiting).toMatchObject({ reason: 'Aborted' });
    held[0]?.();
    await first;
    const last = transport.request({ ...get, path: '/last' });
    await until(() => held.length === 2);
    held[1]?.();
    await last;
    expect(server.seen.map(({ url }) => url)).toEqual(['/first', '/last']);
  });

  it('refuses a body the apiserver would refuse, before it is sent', async () => {
    await using server = await scriptedServer(ok);
    await using transport = new KubeTransport(kubeConfigFor(server.url));
    const error = await failureOf(transport.request({ ...patch, body: { message: 'x'.repeat(3 * 1024 * 1024) } }));
    expect(error).toMatchObject({ status: 413, reason: 'RequestEntityTooLarge' });
    expect(server.seen).toHaveLength(0);
  });

  it('reads characters split over two chunks', async () => {
    const bytes = Buffer.from(JSON.stringify({ text: 'größer 😀' }));
    const cut = bytes.indexOf(0xf0) + 2;
    await using server = await scriptedServer((_request, response) => {
      response.write(bytes.subarray(0, cut), () => setImmediate(() => response.end(bytes.subarray(cut))));
    });
    await using transport = new KubeTransport(kubeConfigFor(server.url));
    expect(await transport.request(get)).toEqual({ text: 'größer 😀' });
  });

  it('names an unreachable server a network failure', async () => {
    const server = await scriptedServer(ok);
    await server[Symbol.asyncDispose]();
    await using transport = new KubeTransport(kubeConfigFor(server.url));
    const error = await failureOf(transport.request(get));
    const { host } = new URL(server.url);
    const message = `GET ${server.url}${get.path}: connect ECONNREFUSED ${host}`;
    expect(error).toMatchObject({ reason: 'Network', status: undefined, message, cause: { code: 'ECONNREFUSED' } });
    expect(classifyApiError(error)).toBe('unavailable');
  });

  it('keeps tokens out of errors, whatever fails', async () => {
    let step: Script = silence;
    await using server = await scriptedServer((request, response) => step(request, response));
    await using transport = new KubeTransport(kubeConfigFor(server.url, { token, username: 'me', password: token }));
    const fail = (script: Script, signal?: AbortSignal): Promise<unknown> => {
      step = script;
      return failureOf(transport.request({ ...patch, signal }));
    };
    const stop = new AbortController();
    const errors = [
      await fail(({ socket }) => socket.resetAndDestroy()),
      await fail(({ socket }) => socket.end('HTTP/1.1 nonsense\r\n\r\n')),
      await fail(({ socket }) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{')),
      await fail((_request, response) => sendJson(response, {}, { status: 401 })),
      await fail(() => stop.abort(), stop.signal),
    ];
    expect(errors.map(classifyApiError)).toEqual(['unavailable', 'unavailable', 'broken-answer', 'unauthorized', 'aborted']);
    for (const error of errors) expect(inspect(error, { depth: 20, showHidden: true })).not.toContain(token);
  });

  it('says that credentials failed without repeating what the authenticator said', async () => {
    await using server = await scriptedServer(ok);
    const kubeConfig = kubeConfigFor(server.url, { authProvider: { name: 'broken', config: {} } });
    kubeConfig.addAuthenticator({
      isAuthProvider: () => true,
      applyAuthentication: async () => {
        throw new SyntaxError(`Unexpected token in "${token}"`);
      },
    });
    await using transport = new KubeTransport(kubeConfig);
    const error = await failureOf(transport.request(get));
    expect(error).toMatchObject({
      reason: 'NoCredentials',
      message: "The kubeconfig's TLS files or authenticator could not be used (SyntaxError)",
    });
    expect(classifyApiError(error)).toBe('unauthorized');
    expect(inspect(error, { depth: 20, showHidden: true })).not.toContain(token);
    expect(server.seen).toHaveLength(0);
  });

  it('gives up in time while the authenticator hangs, and sends nothing when it comes back', async () => {
    await using server = await scriptedServer(ok);
    const clock = new FakeClock();
    const kubeConfig = kubeConfigFor(server.url, { authProvider: { name: 'slow', config: {} } });
    const { promise, resolve } = Promise.withResolvers<void>();
    kubeConfig.addAuthenticator({ isAuthProvider: () => true, applyAuthentication: () => promise });
    await using transport = new KubeTransport(kubeConfig, { clock });
    const failure = failureOf(transport.request(get));
    await clock.advance(10_000);
    expect(await failure).toMatchObject({ reason: 'Timeout' });
    resolve();
    await clock.advance(0);
    expect(server.connections.total).toBe(0);
  });
});
