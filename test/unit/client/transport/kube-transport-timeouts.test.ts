import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { type KubeRequest, KubeTransport } from '../../../../src/client/transport/kube-transport.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { until } from '../../../support/until.ts';
import { failureOf, kubeConfigFor, scriptedServer, sendJson } from './scripted-server.ts';

const get: KubeRequest = { method: 'GET', path: '/api/v1/pods' };
const patch: KubeRequest = { method: 'PATCH', path: '/p', body: { status: {} } };

/** Takes connections and says nothing, so that no TLS connection is ever made. */
async function deafServer() {
  const open = new Set<Socket>();
  const counted = { url: '', total: 0, open };
  const server = createServer((socket) => {
    counted.total += 1;
    open.add(socket);
    socket.on('error', () => {}).on('close', () => open.delete(socket));
    socket.resume();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  counted.url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return Object.assign(counted, { [Symbol.asyncDispose]: async () => void server.close() });
}

describe('KubeTransport, the limit of a request', () => {
  it.each([30_000, 300])('waits as long as the caller does, where the caller says how long: %i ms', async (timeoutMs) => {
    await using server = await scriptedServer(() => {});
    const clock = new FakeClock();
    await using transport = new KubeTransport(kubeConfigFor(server.url), { clock, requestTimeoutMs: 5000 });
    const failure = failureOf(transport.request({ ...patch, timeoutMs }));
    await until(() => server.seen.length === 1);
    await clock.advance(timeoutMs - 1);
    expect(clock.pendingTimers).toBe(1);
    await clock.advance(1);
    expect(await failure).toMatchObject({
      reason: 'Timeout',
      message: `PATCH ${server.url}/p: no answer within ${timeoutMs} ms`,
    });
  });

  it.each([0, -1, Number.NaN, 2 ** 31])('refuses a timeoutMs of %d and sends nothing', async (timeoutMs) => {
    await using server = await scriptedServer(() => {});
    await using transport = new KubeTransport(kubeConfigFor(server.url));
    expect(await failureOf(transport.request({ ...get, timeoutMs }))).toMatchObject({ code: 'ERR_INVALID_OPTION' });
    expect(server.connections.total).toBe(0);
  });

  it('opens another connection after one that was never made, as long as a request waits for one', async () => {
    await using server = await deafServer();
    const clock = new FakeClock();
    await using transport = new KubeTransport(kubeConfigFor(server.url), { clock, connections: 1 });
    const short = failureOf(transport.request({ ...patch, timeoutMs: 300 }));
    await until(() => server.open.size === 1);
    const long = failureOf(transport.request({ ...get, timeoutMs: 1000 }));
    await clock.advance(300);
    expect(await short).toMatchObject({ reason: 'Timeout', message: `PATCH ${server.url}/p: no connection within 300 ms` });
    await until(() => server.total === 2 && server.open.size === 1);
    await clock.advance(700);
    expect(await long).toMatchObject({
      reason: 'Timeout',
      message: `GET ${server.url}/api/v1/pods: no connection within 1000 ms`,
    });
    await clock.advance(300);
    await until(() => server.open.size === 0);
    expect([server.total, clock.pendingTimers]).toEqual([2, 0]);
  });

  it('opens no connection for requests that are over', async () => {
    await using server = await deafServer();
    const clock = new FakeClock();
    await using transport = new KubeTransport(kubeConfigFor(server.url), { clock, connections: 1, requestTimeoutMs: 300 });
    const failures = [patch, patch, get].map((request) => failureOf(transport.request(request)));
    await until(() => server.open.size === 1);
    await clock.advance(300);
    for (const failure of failures) expect(await failure).toMatchObject({ reason: 'Timeout' });
    await until(() => server.open.size === 0);
    await settle();
    expect([server.total, clock.pendingTimers]).toEqual([1, 0]);
  });

  it('keeps the connection for the requests that come after some that waited for it in vain', async () => {
    let answerFirst = (): void => {};
    await using server = await scriptedServer((request, response) => {
      const answer = (): void => sendJson(response, { path: request.url });
      if (request.url === '/first') answerFirst = answer;
      else answer();
    });
    const clock = new FakeClock();
    await using transport = new KubeTransport(kubeConfigFor(server.url), { clock, connections: 1 });
    const first = transport.request({ ...get, path: '/first' });
    await until(() => server.seen.length === 1);
    const late = Array.from({ length: 20 }, () => failureOf(transport.request({ ...patch, timeoutMs: 300 })));
    await settle();
    await clock.advance(300);
    for (const failure of late)
      expect(await failure).toMatchObject({ message: `PATCH ${server.url}/p: no connection within 300 ms` });
    const next = transport.request({ ...get, path: '/next' });
    answerFirst();
    expect(await Promise.all([first, next])).toEqual([{ path: '/first' }, { path: '/next' }]);
    expect(server.seen.map(({ url }) => url)).toEqual(['/first', '/next']);
    expect([server.connections.total, clock.pendingTimers]).toEqual([1, 0]);
  });

  it('does not let a stream wait for its connection longer than a request', async () => {
    await using server = await deafServer();
    const clock = new FakeClock();
    await using transport = new KubeTransport(kubeConfigFor(server.url), { clock, requestTimeoutMs: 1000 });
    const failure = failureOf(transport.stream({ ...get, idleTimeoutMs: 150_000, onChunk: () => {} }));
    await until(() => server.open.size === 1);
    await clock.advance(1000);
    expect(await failure).toMatchObject({
      reason: 'Timeout',
      message: `GET ${server.url}/api/v1/pods: no connection within 1000 ms`,
    });
    await until(() => server.open.size === 0);
  });

  it('does not let a stream wait for an authenticator longer than a request', async () => {
    const kubeConfig = kubeConfigFor('https://127.0.0.1:1', { authProvider: { name: 'hanging', config: {} } });
    kubeConfig.addAuthenticator({ isAuthProvider: () => true, applyAuthentication: () => new Promise(() => {}) });
    const clock = new FakeClock();
    await using transport = new KubeTransport(kubeConfig, { clock, requestTimeoutMs: 1000 });
    const failure = failureOf(transport.stream({ ...get, idleTimeoutMs: 150_000, onChunk: () => {} }));
    await settle();
    await clock.advance(1000);
    expect(await failure).toMatchObject({
      reason: 'Timeout',
      message: 'GET https://127.0.0.1:1/api/v1/pods: no credentials within 1000 ms',
    });
    expect(clock.pendingTimers).toBe(0);
  });

  it.each([0, Number.NaN, 2 ** 31])('refuses an idleTimeoutMs of %d and sends nothing', async (idleTimeoutMs) => {
    await using server = await scriptedServer(() => {});
    await using transport = new KubeTransport(kubeConfigFor(server.url));
    const failure = failureOf(transport.stream({ ...get, idleTimeoutMs, onChunk: () => {} }));
    expect(await failure).toMatchObject({ code: 'ERR_INVALID_OPTION' });
    expect(server.connections.total).toBe(0);
  });
});
