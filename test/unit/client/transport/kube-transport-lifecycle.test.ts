import { describe, expect, it } from 'vitest';
import { type KubeRequest, KubeTransport } from '../../../../src/client/transport/kube-transport.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { until } from '../../../support/until.ts';
import { failureOf, kubeConfigFor, type Script, scriptedServer, sendJson } from './scripted-server.ts';

const get: KubeRequest = { method: 'GET', path: '/api/v1/pods' };
const patch: KubeRequest = { method: 'PATCH', path: '/p', body: { status: {} } };
const ok: Script = (_request, response) => sendJson(response, { ok: true });

describe('KubeTransport.close', () => {
  it('waits for the request under way, then leaves no socket', async () => {
    let answer = (): void => {};
    await using server = await scriptedServer((_request, response) => {
      answer = () => sendJson(response, { done: true });
    });
    const transport = new KubeTransport(kubeConfigFor(server.url));
    const request = transport.request(patch);
    await until(() => server.seen.length === 1);
    let isClosed = false;
    const closing = transport.close().then(() => {
      isClosed = true;
    });
    await until(() => server.connections.open.size === 1);
    expect(isClosed).toBe(false);
    answer();
    expect(await request).toEqual({ done: true });
    await closing;
    await until(() => server.connections.open.size === 0);
  });

  it('refuses what comes afterwards, and closes once', async () => {
    await using server = await scriptedServer(ok);
    const transport = new KubeTransport(kubeConfigFor(server.url));
    await transport.request(get);
    expect(transport.close()).toBe(transport.close());
    expect(await failureOf(transport.request(get))).toMatchObject({ reason: 'Aborted' });
    expect(server.seen).toHaveLength(1);
  });

  it('ends streams at once', async () => {
    await using server = await scriptedServer((_request, response) => response.write('first'));
    const transport = new KubeTransport(kubeConfigFor(server.url));
    const chunks: string[] = [];
    const stream = failureOf(
      transport.stream({ ...get, idleTimeoutMs: 60_000, onChunk: (chunk) => chunks.push(chunk.toString()) }),
    );
    await until(() => chunks.length === 1);
    await transport.close();
    expect(await stream).toMatchObject({ reason: 'Aborted' });
    await until(() => server.connections.open.size === 0);
  });
});

describe('KubeTransport.stream', () => {
  it('never takes the place of a request', async () => {
    await using server = await scriptedServer((request, response) => {
      if (request.url === '/stream') response.write('first');
      else sendJson(response, {});
    });
    await using transport = new KubeTransport(kubeConfigFor(server.url), { connections: 1 });
    const stop = new AbortController();
    const stream = { ...get, path: '/stream', idleTimeoutMs: 60_000, onChunk: () => {}, signal: stop.signal };
    const streams = [failureOf(transport.stream(stream)), failureOf(transport.stream(stream))];
    await until(() => server.seen.length === 2);
    expect(await transport.request(get)).toEqual({});
    stop.abort();
    for (const ended of streams) expect(await ended).toMatchObject({ reason: 'Aborted' });
  });

  it('ends after a silence, counted from the last sign of life', async () => {
    let write = (_text: string): void => {};
    await using server = await scriptedServer((_request, response) => {
      response.flushHeaders();
      write = (text) => response.write(text);
    });
    const clock = new FakeClock();
    await using transport = new KubeTransport(kubeConfigFor(server.url), { clock });
    const chunks: string[] = [];
    const failure = failureOf(
      transport.stream({ ...get, idleTimeoutMs: 60_000, onChunk: (chunk) => chunks.push(chunk.toString()) }),
    );
    await until(() => server.seen.length === 1);
    await clock.advance(40_000);
    write('still here');
    await until(() => chunks.length === 1);
    await clock.advance(59_999);
    expect(clock.pendingTimers).toBe(1);
    await clock.advance(1);
    expect(await failure).toMatchObject({ reason: 'Timeout' });
  });

  it('tells of an answer that is no stream', async () => {
    await using server = await scriptedServer((_request, response) =>
      sendJson(response, { kind: 'Status', reason: 'Expired', message: 'old' }, { status: 410 }),
    );
    await using transport = new KubeTransport(kubeConfigFor(server.url));
    const chunks: Buffer[] = [];
    const error = await failureOf(transport.stream({ ...get, idleTimeoutMs: 60_000, onChunk: (chunk) => chunks.push(chunk) }));
    expect(error).toMatchObject({ status: 410, reason: 'Expired' });
    expect(chunks).toEqual([]);
  });

  it('ends with what the taker of chunks throws', async () => {
    await using server = await scriptedServer((_request, response) => response.write('first'));
    await using transport = new KubeTransport(kubeConfigFor(server.url));
    const mistake = new Error('mistake');
    const onChunk = (): void => {
      throw mistake;
    };
    expect(await failureOf(transport.stream({ ...get, idleTimeoutMs: 60_000, onChunk }))).toBe(mistake);
    await until(() => server.connections.open.size === 0);
  });
});
