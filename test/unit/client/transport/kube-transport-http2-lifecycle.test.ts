import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { createServer, TLSSocket } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { KubeTransport, type KubeTransportOptions } from '../../../../src/client/transport/kube-transport.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { TcpRelay } from '../../../support/tcp-relay.ts';
import { unhandledRejectionsOf } from '../../../support/unhandled-rejections.ts';
import { until } from '../../../support/until.ts';
import { beginStream, type Http2Server, http2Server } from './http2-server.ts';
import { failureOf, kubeConfigFor, type Script, scriptedServer } from './scripted-server.ts';
import { base64, selfSigned } from './self-signed.ts';
import { Watches } from './watches.ts';

const certificate = selfSigned({ commonName: 'apiserver', ips: ['127.0.0.1'] });
const caData = base64(certificate.cert);

function transportTo({ url, caPem }: Pick<Http2Server, 'url' | 'caPem'>, options: KubeTransportOptions = {}): KubeTransport {
  return new KubeTransport(kubeConfigFor(url, {}, { caData: base64(caPem) }), options);
}

/** A stream of a server that offers both protocols and would rather speak HTTP/1.1. */
const firstOverHttp1: Script = ({ socket }, response) => {
  response.write(socket instanceof TLSSocket ? socket.alpnProtocol : 'plain');
};

describe('An HTTP/2 connection of KubeTransport', () => {
  it('is asked for a sign of life after 30 s of silence, and stays when it gives one', async () => {
    await using server = await http2Server(beginStream);
    const clock = new FakeClock();
    await using transport = transportTo(server, { clock });
    const watches = new Watches(transport);
    watches.open('/w');
    await until(() => watches.text === 'first');
    await clock.advance(29_999);
    expect(server.pings()).toBe(0);
    for (let asked = 1; asked <= 4; asked += 1) {
      await clock.advance(30_000);
      await until(() => server.pings() === asked);
      await settle(20);
    }
    expect([watches.failed, server.sessions.length]).toEqual([0, 1]);
  });

  it('is given up when it answers nothing for 15 s more, with every stream on it', async () => {
    await using server = await http2Server(beginStream);
    await using relay = await TcpRelay.to(server.url);
    const clock = new FakeClock();
    await using transport = transportTo({ url: relay.url, caPem: server.caPem }, { clock });
    const watches = new Watches(transport);
    const failures = ['/a', '/b'].map((path) => failureOf(watches.result(path)));
    await until(() => watches.text === 'firstfirst');
    relay.hold();
    await clock.advance(44_999);
    expect(watches.failed).toBe(0);
    await clock.advance(1);
    for (const failure of failures) {
      expect(await failure).toMatchObject({
        reason: 'Network',
        message: expect.stringMatching(/^GET https:.*\/[ab]: no answer to a PING within 15000 ms \(ETIMEDOUT\)$/),
      });
    }
    await until(() => server.open.size === 0);
    relay.release();
    watches.open('/next');
    await until(() => watches.text === 'firstfirstfirst');
  });

  it('is not asked while its streams bring something', async () => {
    await using server = await http2Server(beginStream);
    const clock = new FakeClock();
    await using transport = transportTo(server, { clock });
    const watches = new Watches(transport);
    watches.open('/w');
    await until(() => watches.text === 'first');
    for (let i = 1; i <= 4; i += 1) {
      await clock.advance(20_000);
      server.seen[0]?.stream.write('+');
      await until(() => watches.text === `first${'+'.repeat(i)}`);
    }
    expect(server.pings()).toBe(0);
  });

  it('carries on when a stream on it has been silent for too long', async () => {
    await using server = await http2Server(beginStream);
    const clock = new FakeClock();
    await using transport = transportTo(server, { clock });
    const watches = new Watches(transport);
    const silent = failureOf(watches.result('/silent', { idleTimeoutMs: 20_000 }));
    watches.open('/other');
    await until(() => watches.text === 'firstfirst');
    await clock.advance(20_000);
    expect(await silent).toMatchObject({ reason: 'Timeout', message: `GET ${server.url}/silent: nothing heard within 20000 ms` });
    await until(() => server.seen[0]?.resetCode === constants.NGHTTP2_CANCEL);
    server.seen[1]?.stream.write('second');
    await until(() => watches.text === 'firstfirstsecond');
    expect(server.open.size).toBe(1);
  });

  it('serves the next stream for 60 s after its last one, and is then closed', async () => {
    await using server = await http2Server(({ stream }) => {
      stream.respond({ ':status': 200 });
      stream.end('all');
    });
    const clock = new FakeClock();
    await using transport = transportTo(server, { clock });
    const watches = new Watches(transport);
    await watches.result('/p');
    await clock.advance(59_000);
    await watches.result('/p');
    expect(server.sessions).toHaveLength(1);
    await clock.advance(29_999);
    await settle(20);
    await clock.advance(30_000);
    expect(server.open.size).toBe(1);
    await clock.advance(1);
    await until(() => server.open.size === 0);
    expect(clock.pendingTimers).toBe(0);
    await watches.result('/p');
    expect(server.sessions).toHaveLength(2);
  });

  it('lets the server send 4 MiB of one stream and 32 MiB of all before it is told that they were read', async () => {
    await using server = await http2Server(beginStream);
    await using transport = transportTo(server);
    const watches = new Watches(transport);
    watches.open('/w');
    await until(() => watches.text === 'first');
    const [session] = server.sessions;
    expect(session?.remoteSettings.initialWindowSize).toBe(4 * 2 ** 20);
    await until(() => (session?.state.remoteWindowSize ?? 0) > 31 * 2 ** 20);
  });

  it('does not keep the process alive once its streams are over', async () => {
    await using server = await http2Server(({ stream }) => {
      stream.respond({ ':status': 200 });
      stream.end('all');
    });
    const source = (path: string): string => JSON.stringify(new URL(`../../../../src/client/transport/${path}`, import.meta.url));
    const script = `
      import { KubeConfig } from '@kubernetes/client-node';
      import { KubeTransport } from ${source('kube-transport.ts')};
      const kubeConfig = new KubeConfig();
      kubeConfig.loadFromClusterAndUser({ name: 'c', server: '${server.url}', skipTLSVerify: true }, { name: 'u' });
      const transport = new KubeTransport(kubeConfig);
      await transport.stream({ method: 'GET', path: '/p', idleTimeoutMs: 60_000, onChunk: (chunk) => console.log(chunk.toString()) });`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      const [output] = await Promise.all([text(child.stdout), once(child, 'exit')]);
      expect([output, child.exitCode]).toEqual(['all\n', 0]);
    } finally {
      child.kill('SIGKILL');
    }
  });

  it('stays while a stream runs that began after a rest', async () => {
    await using server = await http2Server((request, self) => {
      if (request.headers[':path'] === '/w') return beginStream(request, self);
      request.stream.respond({ ':status': 200 });
      request.stream.end('all');
    });
    const clock = new FakeClock();
    await using transport = transportTo(server, { clock });
    const watches = new Watches(transport);
    await watches.result('/p');
    await clock.advance(20_000);
    watches.open('/w');
    await until(() => watches.text === 'allfirst');
    for (let i = 0; i < 3; i += 1) {
      await clock.advance(29_000);
      await settle(20);
    }
    expect([watches.failed, server.open.size]).toEqual([0, 1]);
  });

  it('fails its streams when the server says nothing of HTTP/2 after choosing it', async () => {
    const open = new Set<Socket>();
    const server = createServer({ ...certificate, ALPNProtocols: ['h2'] }, (socket) => {
      open.add(socket);
      socket.on('error', () => {}).on('close', () => open.delete(socket));
      socket.resume();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const clock = new FakeClock();
    const transport = transportTo({ url: `https://127.0.0.1:${port}`, caPem: certificate.cert }, { clock });
    const failure = failureOf(new Watches(transport).result('/p'));
    await until(() => open.size === 1 && clock.pendingTimers > 1);
    await clock.advance(10_000);
    expect(await failure).toMatchObject({
      reason: 'Timeout',
      message: `GET https://127.0.0.1:${port}/p: no connection within 10000 ms`,
    });
    await until(() => open.size === 0);
    await transport.close();
    server.close();
    await once(server, 'close');
  });

  it('fails its streams with what TLS said', async () => {
    await using server = await http2Server(beginStream);
    await using transport = transportTo({ url: server.url, caPem: certificate.cert });
    const failure = await failureOf(new Watches(transport).result('/p'));
    expect(failure).toMatchObject({ reason: 'Network', cause: { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' } });
    expect(server.seen).toHaveLength(0);
  });

  it.each(['running', 'opening'])('is gone after close(), with a stream that was %s', async (state) => {
    await using server = await http2Server(beginStream);
    const transport = transportTo(server);
    const watches = new Watches(transport);
    const stream = failureOf(watches.result('/w'));
    if (state === 'running') await until(() => watches.text === 'first');
    await transport.close();
    expect(await stream).toMatchObject({ reason: 'Aborted', message: 'The client is closed' });
    await until(() => server.open.size === 0);
    expect(await failureOf(watches.result('/w'))).toMatchObject({ reason: 'Aborted' });
  });

  it('ends in peace when the client certificate changes, and new streams go to a new one', async () => {
    const clients = [selfSigned({ commonName: 'client-one' }), selfSigned({ commonName: 'client-two' })];
    await using server = await http2Server(
      ({ stream }) => {
        const socket = stream.session?.socket;
        stream.respond({ ':status': 200 });
        stream.write(socket instanceof TLSSocket ? `${socket.getPeerCertificate().subject.CN} ` : 'nobody ');
      },
      { requestCert: true, rejectUnauthorized: false },
    );
    const user = { authProvider: { name: 'rotating', config: {} } };
    const kubeConfig = kubeConfigFor(server.url, user, { caData: base64(server.caPem) });
    let current = clients[0];
    kubeConfig.addAuthenticator({
      isAuthProvider: () => true,
      applyAuthentication: async (_user, options) => {
        Object.assign(options, current);
      },
    });
    await using transport = new KubeTransport(kubeConfig);
    const watches = new Watches(transport);
    const first = watches.result('/first');
    await until(() => watches.text === 'client-one ');
    current = clients[1];
    watches.open('/second');
    await until(() => watches.text === 'client-one client-two ');
    expect(server.open.size).toBe(2);
    server.seen[0]?.stream.end('end');
    await first;
    await until(() => server.open.size === 1);
    expect(watches.failed).toBe(0);
  });
});

describe('KubeTransport.close, with a pool that another has replaced', () => {
  it.each([true, false])('ends a stream that still runs on it, and rejects nothing unhandled: http2 %s', async (http2) => {
    const script: Script = (_request, response) => response.write('first');
    await using server = http2 ? await http2Server(beginStream) : await scriptedServer(script, certificate);
    const open = 'open' in server ? server.open : server.connections.open;
    const kubeConfig = kubeConfigFor(server.url, {}, { skipTLSVerify: true });
    const transport = new KubeTransport(kubeConfig, { http2 });
    const watches = new Watches(transport);
    const streams = [failureOf(watches.result('/first'))];
    await until(() => watches.text === 'first');
    kubeConfig.loadFromClusterAndUser({ name: 'other', server: `${server.url}/`, skipTLSVerify: true }, { name: 'agent' });
    streams.push(failureOf(watches.result('/second')));
    await until(() => watches.text === 'firstfirst');
    expect(open.size).toBe(2);
    const unhandled = await unhandledRejectionsOf(async () => {
      await transport.close();
      for (const stream of streams) expect(await stream).toMatchObject({ reason: 'Aborted' });
      await until(() => open.size === 0);
    });
    expect(unhandled).toEqual([]);
  });
});

describe('KubeTransport.stream to a server without HTTP/2', () => {
  it('has a connection of its own over HTTP/1.1', async () => {
    await using server = await scriptedServer(firstOverHttp1, certificate);
    await using transport = new KubeTransport(kubeConfigFor(server.url, {}, { caData }));
    const watches = new Watches(transport);
    for (let i = 0; i < 3; i += 1) watches.open('/w');
    await until(() => watches.text === 'http/1.1'.repeat(3));
    await until(() => server.connections.open.size === 3);
  });

  it('asks the server for HTTP/2 again after ten minutes', async () => {
    await using server = await scriptedServer((_request, response) => response.end('all'), certificate);
    const clock = new FakeClock();
    await using transport = new KubeTransport(kubeConfigFor(server.url, {}, { caData }), { clock });
    const watches = new Watches(transport);
    const opened: number[] = [];
    for (const passed of [0, 599_999, 1, 0]) {
      await clock.advance(passed);
      await watches.result('/p');
      opened.push(server.connections.total);
    }
    expect(opened).toEqual([2, 2, 3, 3]);
  });

  it.each([-4 * 365, 4 * 365])('does not ask the server for HTTP/2 again because a clock was moved by %d days', async (days) => {
    await using server = await scriptedServer((_request, response) => response.end('all'), certificate);
    const clock = new FakeClock();
    await using transport = new KubeTransport(kubeConfigFor(server.url, {}, { caData }), { clock });
    const watches = new Watches(transport);
    const opened: number[] = [];
    for (const jump of [0, days, 0]) {
      clock.jump(jump * 86_400_000);
      // the socket of the stream before is free again
      await settle(20);
      await watches.result('/p');
      opened.push(server.connections.total);
    }
    expect(opened).toEqual([2, 2, 2]);
  });

  it('ends in peace when the kubeconfig changes while the server is asked', async () => {
    await using server = await scriptedServer(firstOverHttp1, certificate);
    const kubeConfig = kubeConfigFor(server.url, {}, { caData });
    await using transport = new KubeTransport(kubeConfig);
    const watches = new Watches(transport);
    watches.open('/first');
    await settle(1);
    kubeConfig.loadFromClusterAndUser({ name: 'other', server: server.url, skipTLSVerify: true }, { name: 'agent' });
    watches.open('/second');
    await until(() => watches.text === 'http/1.1'.repeat(2));
    expect(watches.failed).toBe(0);
  });

  it('is what `http2: false` makes of every server', async () => {
    await using server = await scriptedServer(firstOverHttp1, { ...certificate, ALPNProtocols: ['h2', 'http/1.1'] });
    await using transport = new KubeTransport(kubeConfigFor(server.url, {}, { caData }), { http2: false });
    const watches = new Watches(transport);
    watches.open('/w');
    await until(() => watches.text === 'http/1.1');
    expect(server.connections.total).toBe(1);
  });
});

describe('KubeTransport', () => {
  it('refuses an option `http2` that is no boolean', () => {
    const http2: unknown = 'yes';
    const create = (): KubeTransport => new KubeTransport(kubeConfigFor('https://127.0.0.1:1'), { http2: http2 as boolean });
    expect(create).toThrow(expect.objectContaining({ code: 'ERR_INVALID_OPTION' }));
  });
});
