import { EventEmitter, once } from 'node:events';
import { type ConnectionOptions, connect } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { KubeletApiOptions } from '../../../../src/kubelet/server/api-options.ts';
import { KubeletApi } from '../../../../src/kubelet/server/kubelet-api.ts';
import { apiWorld, fakeHost, readAll } from './api-world.ts';

const exec = '/exec/default/web/app?command=id&output=1';

describe('an API without debugging handlers', () => {
  it.each([
    ['POST', exec],
    ['GET', exec],
    ['POST', '/run/default/web/app?cmd=id'],
    ['POST', '/attach/default/web/app?output=1'],
    ['POST', '/portForward/default/web'],
    ['GET', '/containerLogs/default/web/app'],
    ['GET', '/containerLogs'],
    ['GET', '/runningpods/'],
    ['DELETE', '/logs/'],
    ['GET', '/debug/pprof/'],
  ])('answers %s %s with 405, once the sender has the right', async (method, path) => {
    const { get, reviews } = await apiWorld({ enableDebuggingHandlers: false });
    expect(await get(path, { method })).toMatchObject({ status: 405, text: 'Debug endpoints are disabled.' });
    expect(reviews.rights).not.toEqual([]);
    expect((await get(path, { method, client: undefined })).status).toBe(401);
  });

  it('opens no stream, shows no configuration, and still says how the node is', async () => {
    let execs = 0;
    const { runtime } = fakeHost();
    const host = fakeHost({
      runtime: {
        ...runtime,
        exec: async () => {
          execs += 1;
          return 'http://127.0.0.1:1';
        },
      },
    });
    const { get, raw } = await apiWorld({ host, enableDebuggingHandlers: false });
    const socket = await raw();
    socket.write(`POST ${exec} HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: SPDY/3.1\r\n\r\n`);
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1.1 405 /);
    expect(execs).toBe(0);
    expect((await get('/configz')).status).toBe(404);
    for (const path of ['/pods', '/healthz', '/metrics', '/stats/summary']) expect((await get(path)).status).toBe(200);
  });
});

describe('a connection that sends requests without waiting for answers', () => {
  const request = (path: string) => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`;

  /** An API whose statistics are read until the test lets them go. */
  async function held() {
    const asked: (() => void)[] = [];
    const asks = new EventEmitter();
    const statsSummary = async () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      asked.push(resolve);
      asks.emit('asked');
      await promise;
      return { node: { nodeName: 'node-1', startTime: '2026-01-01T00:00:00Z' }, pods: [] };
    };
    const isAsked = () => once(asks, 'asked');
    return { asked, isAsked, ...(await apiWorld({ host: fakeHost({ statsSummary }) })) };
  }

  it('gets them one after another, in their order', async () => {
    const { asked, isAsked, raw, get } = await held();
    const socket = await raw();
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    const readTo = async (pattern: RegExp) => {
      while (!pattern.test(text)) await once(socket, 'data');
    };
    const first = isAsked();
    socket.write(request('/stats/summary') + request('/healthz') + request('/stats/summary'));
    await first;
    // meanwhile another connection has its answer
    expect((await get('/healthz')).text).toBe('ok');
    expect([asked.length, text]).toEqual([1, '']);
    const second = isAsked();
    asked[0]?.();
    await second;
    expect(asked).toHaveLength(2);
    await readTo(/nodeName[\s\S]*ok$/);
    expect(text.match(/HTTP\/1\.1 200/g)).toHaveLength(2);
    asked[1]?.();
    await readTo(/ok[\s\S]*nodeName[\s\S]*\}\s*$/);
    expect(text.match(/HTTP\/1\.1 200/g)).toHaveLength(3);
  });

  it.each([
    ['too many of them', request('/healthz').repeat(50)],
    ['another protocol after them', `${request('/healthz').slice(0, -2)}connection: upgrade\r\nupgrade: SPDY/3.1\r\n\r\n`],
  ])('is ended when it sends %s, and leaves no listeners', async (_what, more) => {
    const { asked, isAsked, raw } = await held();
    const warnings: Error[] = [];
    const note = (warning: Error): void => void warnings.push(warning);
    process.on('warning', note);
    onTestFinished(() => void process.off('warning', note));
    const socket = await raw();
    const first = isAsked();
    socket.write(request('/stats/summary'));
    await first;
    socket.write(more);
    expect(await readAll(socket).catch(() => '')).toBe('');
    expect(asked).toHaveLength(1);
    asked[0]?.();
    expect(warnings).toEqual([]);
  });
});

describe('the TLS of the API', () => {
  /** What a client gets that speaks so: version and cipher; undefined: no connection. */
  async function spoken(tls: Partial<KubeletApiOptions['tls']>, client: ConnectionOptions): Promise<string[] | undefined> {
    const world = await apiWorld();
    const { certFile, keyFile } = world.files;
    const api = new KubeletApi({
      ...{
        host: fakeHost(),
        nodeName: 'node-1',
        transport: world.reviews.transport,
        address: '127.0.0.1',
        port: 0,
        logger: null,
      },
      tls: { certFile, keyFile, ...tls },
    });
    onTestFinished(() => api.close());
    const { port } = await api.listen();
    const socket = connect({ host: '127.0.0.1', port, ca: [world.serving.cert], ...client });
    onTestFinished(() => void socket.destroy());
    const isOpen = await once(socket, 'secureConnect').then(
      () => true,
      () => false,
    );
    return isOpen ? [socket.getProtocol() ?? '', socket.getCipher().name] : undefined;
  }

  const aes128 = ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256', 'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256'];
  const version12: ConnectionOptions = { maxVersion: 'TLSv1.2' };

  it('is spoken from the version on that is set', async () => {
    expect(await spoken({}, version12)).toEqual(['TLSv1.2', expect.any(String)]);
    expect(await spoken({ tlsMinVersion: 'VersionTLS13' }, version12)).toBeUndefined();
    expect((await spoken({ tlsMinVersion: 'VersionTLS13' }, {}))?.[0]).toBe('TLSv1.3');
  });

  it('has the suites of version 1.2 that are set, and those of 1.3', async () => {
    const tls = { tlsCipherSuites: aes128 };
    const [version, cipher] = (await spoken(tls, { ...version12, ciphers: 'AES256:AES128' })) ?? [];
    expect([version, cipher]).toEqual(['TLSv1.2', expect.stringMatching(/^ECDHE-.*-AES128-GCM-SHA256$/)]);
    expect(
      await spoken(tls, { ...version12, ciphers: 'ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES256-GCM-SHA384' }),
    ).toBeUndefined();
    expect((await spoken(tls, {}))?.[0]).toBe('TLSv1.3');
  });

  it.each([
    [{ tlsMinVersion: 'VersionTLS11' }, 'tls.tlsMinVersion'],
    [{ tlsCipherSuites: ['TLS_RSA_WITH_RC4_128_SHA'] }, 'tls.tlsCipherSuites'],
    [{ tlsCipherSuites: ['constructor'] }, 'tls.tlsCipherSuites'],
    [{ tlsCipherSuites: 'TLS_AES_128_GCM_SHA256' }, 'tls.tlsCipherSuites'],
  ])('is refused where nobody can speak it: %o', (bad, name) => {
    const tls = { certFile: 'a', keyFile: 'b', ...bad };
    const options = { host: fakeHost(), nodeName: 'node-1', transport: { request: () => 1, stream: () => 1 }, tls };
    expect(() => new KubeletApi(options as unknown as KubeletApiOptions)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION', message: expect.stringContaining(name) }),
    );
  });
});
