import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { KubeletApiOptions } from '../../../../src/kubelet/server/api-options.ts';
import { KubeletApi } from '../../../../src/kubelet/server/kubelet-api.ts';
import { isApiRefusal, KubeletApiRefusal } from '../../../../src/node/server/exchange.ts';
import { apiWorld, fakeHost, readAll } from './api-world.ts';

/** Unlike `once`, it takes no error for an answer. */
function closeOf(socket: Socket): Promise<void> {
  socket.once('end', () => socket.end());
  return new Promise((resolve) => socket.once('close', () => resolve()));
}

describe('a page of the kubelet API', () => {
  it.each([
    ['/pods', { kind: 'PodList', apiVersion: 'v1', metadata: {}, items: fakeHost().pods() }],
    ['/pods/', { kind: 'PodList', apiVersion: 'v1', metadata: {}, items: fakeHost().pods() }],
    ['/runningpods/', { kind: 'PodList', apiVersion: 'v1', metadata: {}, items: fakeHost().pods() }],
    ['/stats/summary', { node: { nodeName: 'node-1', startTime: '2026-01-01T00:00:00Z' }, pods: [] }],
    ['/configz', { kubeletconfig: { nodeName: 'node-1' } }],
  ])('%s shows what the host has', async (path, shown) => {
    const { get } = await apiWorld();
    const { status, headers, text } = await get(path);
    expect([status, headers['content-type'], JSON.parse(text)]).toEqual([200, 'application/json', shown]);
  });

  it('/metrics/resource says that nothing could be measured', async () => {
    const statsSummary = () => Promise.reject(new Error('the runtime is away'));
    const { get, logged } = await apiWorld({ host: fakeHost({ statsSummary }) });
    const answer = await get('/metrics/resource');
    expect([answer.status, answer.text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))]).toEqual([
      200,
      ['resource_scrape_error 1'],
    ]);
    expect(logged).toContain('what pods take could not be measured');
  });

  it('/metrics shows metrics', async () => {
    const { get } = await apiWorld();
    expect(await get('/metrics')).toMatchObject({ status: 200, text: 'up 1\n' });
    expect((await get('/metrics')).headers['content-type']).toContain('text/plain; version=0.0.4');
  });

  it('/metrics/cadvisor shows what containers take, to whom may see metrics', async () => {
    const { get, reviews } = await apiWorld({ host: fakeHost({ containerMetrics: async () => 'container_memory_rss 1\n' }) });
    const { status, headers, text } = await get('/metrics/cadvisor');
    expect([status, headers['content-type'], text]).toEqual([
      200,
      expect.stringContaining('text/plain; version=0.0.4'),
      'container_memory_rss 1\n',
    ]);
    expect(reviews.rights).toEqual(['get nodes/metrics']);
  });

  it('/metrics/probes shows of all metrics those of probes', async () => {
    const all = [
      ...['# HELP prober_probe_total Probes', '# TYPE prober_probe_total counter', 'prober_probe_total{result="failed"} 2'],
      ...['# HELP up Up', 'up 1', 'process_start_time_seconds 7', 'my_prober_probe_total 3'],
    ];
    const { get, reviews } = await apiWorld({ host: fakeHost({ metrics: () => `${all.join('\n')}\n` }) });
    const { status, text } = await get('/metrics/probes');
    expect([status, text]).toEqual([200, `${[...all.slice(0, 3), 'process_start_time_seconds 7'].join('\n')}\n`]);
    expect(reviews.rights).toEqual(['get nodes/metrics']);
  });

  it.each([
    'cadvisor',
    'slis',
    'resource/more',
    'cadvisor/more',
  ])('/metrics/%s, of which there is nothing, is not there', async (set) => {
    const { get, reviews } = await apiWorld();
    expect((await get(`/metrics/${set}`)).status).toBe(404);
    expect(reviews.rights).toEqual(['get nodes/metrics']);
  });

  it('/checkpoint says that no checkpoints are made, to whom may ask for them', async () => {
    const { get, reviews } = await apiWorld();
    const answer = await get('/checkpoint/default/web/app', { method: 'POST' });
    expect([answer.status, answer.text]).toEqual([501, 'checkpoints of containers are not made by this node agent']);
    expect(reviews.rights).toEqual(['create nodes/checkpoint']);
  });

  it('/healthz says ok, and what is wrong', async () => {
    const state = { fails: false };
    const check = (): void => {
      if (state.fails) throw new Error('the loop has not moved');
    };
    const { get, logged } = await apiWorld({ host: fakeHost({ healthChecks: () => [{ name: 'syncloop', check }] }) });
    expect(await get('/healthz')).toMatchObject({ status: 200, text: 'ok' });
    expect(await get('/healthz/syncloop')).toMatchObject({ status: 200, text: 'ok' });
    expect(await get('/healthz?verbose')).toMatchObject({ text: '[+]ping ok\n[+]syncloop ok\nhealthz check passed\n' });
    state.fails = true;
    expect(await get('/healthz')).toMatchObject({
      status: 500,
      text: '[+]ping ok\n[-]syncloop failed: reason withheld\nhealthz check failed\n',
    });
    expect((await get('/healthz?exclude=syncloop')).status).toBe(200);
    expect((await get('/healthz/ping')).status).toBe(200);
    expect((await get('/healthz/syncloop')).status).toBe(500);
    expect((await get('/healthz/other')).status).toBe(404);
    expect(logged).toContain('a health check of the node fails');
  });

  it.each([
    ['GET', '/nothing', 404],
    ['GET', '/', 404],
    ['GET', '/exec/default/web', 404],
    ['GET', '/exec/default/web/u1/app/more', 404],
    ['GET', '/containerLogs/default/web/u1/app', 404],
    ['GET', '/stats/summary/x', 404],
    ['GET', '/metrics/other', 404],
    ['GET', '/checkpoint/default/web/app', 405],
    ['PUT', '/pods', 405],
    ['POST', '/containerLogs/default/web/app', 405],
    ['GET', '/run/default/web/app', 405],
    ['DELETE', '/exec/default/web/app', 405],
    ['GET', '/logs/', 405],
    ['GET', '/debug/pprof/heap', 405],
    ['GET', '/pods/../exec/default/web/app', 400],
    ['GET', '/pods/%2e%2e/x', 400],
    ['GET', '//pods', 400],
    ['GET', '/containerLogs/default/we%2Fb/app', 400],
    ['GET', '/containerLogs/default/web/ap%00p', 400],
    ['GET', '/containerLogs/default/web/%zz', 400],
    ['GET', '/containerLogs/default%5cweb/x/y', 400],
  ])('%s %s is answered with %d', async (method, path, status) => {
    const { get } = await apiWorld();
    expect((await get(path, { method })).status).toBe(status);
  });

  it('is not lost when the host fails', async () => {
    const refusal = new KubeletApiRefusal(503, 'not yet');
    expect(refusal).toMatchObject({ name: 'KubeletApiRefusal', code: 'ERR_KUBELET_API', status: 503 });
    expect(isApiRefusal(Object.assign(new Error('of another copy'), { code: 'ERR_KUBELET_API', status: 503 }))).toBe(true);
    expect(isApiRefusal(Object.assign(new Error('no status'), { code: 'ERR_KUBELET_API' }))).toBe(false);
    const host = fakeHost({
      pods: () => {
        throw new Error('a secret of the node');
      },
      runningPods: () => Promise.reject(refusal),
      configz: () => ({ size: 1n }),
    });
    const fields: object[] = [];
    const nothing = (): void => {};
    const logger = { debug: nothing, info: nothing, warn: nothing, error: (given: object) => void fields.push(given) };
    const { get } = await apiWorld({ host, logger });
    expect(await get('/pods?token=hush')).toMatchObject({ status: 500, text: expect.not.stringContaining('secret') });
    expect(await get('/runningpods/')).toMatchObject({ status: 503, text: 'not yet' });
    expect((await get('/configz')).status).toBe(500);
    expect(fields).toEqual(['/pods', '/configz'].map((path) => ({ err: expect.any(Error), method: 'GET', path })));
  });

  it('is shown in its ordinary form to who asks for another protocol', async () => {
    const { get } = await apiWorld();
    const headers = { connection: 'Upgrade', upgrade: 'h2c' };
    expect(await get('/metrics', { headers })).toMatchObject({ status: 200, text: 'up 1\n' });
    expect((await get('/metrics', { client: undefined, headers })).status).toBe(401);
  });
});

describe('the server', () => {
  it('refuses a head that is too long, and goes on', async () => {
    const { get, raw } = await apiWorld();
    const socket = await raw();
    // it may be reset while it still writes
    socket.on('error', () => {});
    socket.resume();
    const closed = closeOf(socket);
    socket.end(`GET /metrics HTTP/1.1\r\nhost: x\r\nx-long: ${'x'.repeat(1_100_000)}\r\n\r\n`);
    await closed;
    expect((await get('/metrics')).status).toBe(200);
  });

  it('answers no request that is not over TLS, and goes on after nonsense', async () => {
    const { get, port, raw } = await apiWorld();
    const plain = connect(port, '127.0.0.1');
    plain.on('error', () => {});
    plain.end('GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n');
    let text = '';
    for await (const chunk of plain) text += chunk;
    expect(text).not.toContain('up 1');
    const socket = await raw();
    socket.end('nonsense\r\n\r\n');
    expect(await readAll(socket)).toMatch(/^HTTP\/1.1 400/);
    expect((await get('/metrics')).status).toBe(200);
  });

  it('takes no absolute address', async () => {
    const { raw } = await apiWorld();
    const socket = await raw();
    socket.end('GET https://other/metrics HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
    expect(await readAll(socket)).toMatch(/^HTTP\/1.1 400/);
  });

  it('goes on when a client leaves before the answer', async () => {
    const asked = Promise.withResolvers<void>();
    const statsSummary = async (signal: AbortSignal) => {
      asked.resolve();
      await once(signal, 'abort');
      throw new Error('nobody waits');
    };
    const { raw, get } = await apiWorld({ host: fakeHost({ statsSummary }) });
    for (const upgrade of ['', 'connection: upgrade\r\nupgrade: h2c\r\n']) {
      const socket = await raw();
      socket.write(`GET /stats/summary HTTP/1.1\r\nhost: x\r\n${upgrade}\r\n`);
      await asked.promise;
      socket.destroy();
    }
    expect((await get('/metrics')).status).toBe(200);
  });

  it('closes with requests under way, and with connections that never say who they are', async () => {
    const statsSummary = () => new Promise<never>(() => {});
    const { api, raw, port } = await apiWorld({ host: fakeHost({ statsSummary }) });
    const socket = await raw();
    socket.on('error', () => {});
    socket.write('GET /stats/summary HTTP/1.1\r\nhost: x\r\n\r\n');
    const silent = connect(port, '127.0.0.1');
    silent.on('error', () => {});
    await once(silent, 'connect');
    const ends = [closeOf(socket.resume()), closeOf(silent.resume())];
    await Promise.all([api.close(), api.close()]);
    await Promise.all(ends);
    expect(socket.destroyed && silent.destroyed).toBe(true);
  });

  it('listens once, and not after it was closed', async () => {
    const { api } = await apiWorld();
    await expect(api.listen()).rejects.toMatchObject({ code: 'ERR_ALREADY_STARTED' });
    await api.close();
    await expect(api.listen()).rejects.toMatchObject({ code: 'ERR_STOPPED' });
  });

  it('says that its port is taken', async () => {
    const { port } = await apiWorld();
    await expect(apiWorld({ port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });
});

describe('the options', () => {
  const good = { host: fakeHost(), nodeName: 'n', tls: { certFile: 'c', keyFile: 'k' }, transport: { request: 0, stream: 0 } };

  it.each([
    [{ ...good, nodeName: '' }, 'nodeName'],
    [{ ...good, transport: {} }, 'transport'],
    [{ ...good, host: {} }, 'host'],
    [{ ...good, port: 70_000 }, 'port'],
    [{ ...good, tls: { certFile: 'c' } }, 'tls.keyFile'],
    [{ ...good, tls: { certFile: 'c', keyFile: 'k', ca: 'x' } }, 'tls.ca'],
    [{ ...good, anonymous: 'yes' }, 'anonymous'],
    [{ ...good, maxStreams: 0 }, 'maxStreams'],
    [{ ...good, streams: 1 }, 'options.streams'],
  ])('are refused: %#', (options, name) => {
    const transport =
      options.transport === good.transport ? { request: async () => ({}), stream: async () => {} } : options.transport;
    expect(() => new KubeletApi({ ...options, transport } as unknown as KubeletApiOptions)).toThrow(`Expected \`${name}\``);
  });
});
