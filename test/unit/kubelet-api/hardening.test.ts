import { once } from 'node:events';
import { type ConnectionOptions, connect } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { KubeletApiOptions } from '../../../src/kubelet-api/api-options.ts';
import { KubeletApi } from '../../../src/kubelet-api/kubelet-api.ts';
import { apiWorld, fakeHost } from './api-world.ts';

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
