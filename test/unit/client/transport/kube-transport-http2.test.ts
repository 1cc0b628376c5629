import { constants } from 'node:http2';
import type { Cluster } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { KubeTransport, type KubeTransportOptions } from '../../../../src/client/transport/kube-transport.ts';
import { until } from '../../../support/until.ts';
import { beginStream, type Http2Script, type Http2Server, http2Server } from './http2-server.ts';
import { failureOf, kubeConfigFor, scriptedServer, sendJson } from './scripted-server.ts';
import { base64, selfSigned } from './self-signed.ts';
import { testProxy } from './test-proxy.ts';
import { Watches } from './watches.ts';

const token = 'a-very-secret-token';
const { NGHTTP2_CANCEL, NGHTTP2_INTERNAL_ERROR, NGHTTP2_REFUSED_STREAM } = constants;

function transportTo(server: Http2Server, options: KubeTransportOptions = {}, cluster: Partial<Cluster> = {}): KubeTransport {
  const ca = { caData: base64(server.caPem) };
  return new KubeTransport(kubeConfigFor(server.url, { token }, { ...ca, ...cluster }), options);
}

const refuse: Http2Script = ({ stream }) => stream.close(NGHTTP2_REFUSED_STREAM);

describe('KubeTransport.stream over HTTP/2', () => {
  it('carries many streams over one connection', async () => {
    await using server = await http2Server(beginStream);
    await using transport = transportTo(server, { userAgent: 'agent/1' }, { server: `${server.url}/prefix/` });
    const watches = new Watches(transport);
    for (let i = 0; i < 100; i += 1) watches.open(`/w${i}`, { query: new URLSearchParams({ watch: 'true' }) });
    await until(() => watches.text === 'first'.repeat(100));
    expect([server.sessions.length, server.open.size]).toEqual([1, 1]);
    expect(server.seen[7]?.headers).toMatchObject({
      ':method': 'GET',
      ':path': '/prefix/w7?watch=true',
      ':scheme': 'https',
      ':authority': new URL(server.url).host,
      authorization: `Bearer ${token}`,
      accept: 'application/json',
      'user-agent': 'agent/1',
    });
  });

  it('opens one more connection for each further hundred before the server has said what it allows', async () => {
    await using server = await http2Server(beginStream, { settings: { maxConcurrentStreams: 100 } });
    await using transport = transportTo(server);
    const watches = new Watches(transport);
    for (let i = 0; i < 250; i += 1) watches.open(`/w${i}`);
    await until(() => watches.text === 'first'.repeat(250));
    expect(server.sessions).toHaveLength(3);
  });

  it('takes no more streams to a connection than the server allows, and fills places that become free', async () => {
    await using server = await http2Server(beginStream, { settings: { maxConcurrentStreams: 2 } });
    await using transport = transportTo(server);
    const watches = new Watches(transport);
    const stop = new AbortController();
    const first = watches.result('/first', { signal: stop.signal });
    for (let i = 0; i < 4; i += 1) watches.open(`/w${i}`);
    await until(() => watches.text === 'first'.repeat(5));
    expect(server.sessions).toHaveLength(3);
    stop.abort();
    await failureOf(first);
    await until(() => server.seen[0]?.resetCode === NGHTTP2_CANCEL);
    watches.open('/next');
    watches.open('/last');
    await until(() => watches.text === 'first'.repeat(7));
    expect(server.seen.map(({ session }) => session)).toEqual([0, 0, 1, 1, 2, 0, 2]);
  });

  it('ends one stream by a reset and leaves its neighbours alone', async () => {
    await using server = await http2Server(beginStream);
    await using transport = transportTo(server);
    const watches = new Watches(transport);
    const stop = new AbortController();
    const aborted = watches.result('/aborted', { signal: stop.signal });
    watches.open('/other');
    await until(() => watches.text === 'firstfirst');
    stop.abort();
    expect(await failureOf(aborted)).toMatchObject({ reason: 'Aborted', message: 'GET /aborted: aborted by the caller' });
    await until(() => server.seen[0]?.resetCode === NGHTTP2_CANCEL);
    server.seen[1]?.stream.write('second');
    await until(() => watches.text === 'firstfirstsecond');
    expect(server.open.size).toBe(1);
  });

  it('sends nothing of a stream that is aborted while its connection opens', async () => {
    await using server = await http2Server(beginStream);
    await using transport = transportTo(server);
    const watches = new Watches(transport);
    const stop = new AbortController();
    const aborted = watches.result('/aborted', { signal: stop.signal });
    watches.open('/other');
    stop.abort();
    expect(await failureOf(aborted)).toMatchObject({ reason: 'Aborted' });
    await until(() => watches.text === 'first');
    expect(server.seen.map(({ headers }) => headers[':path'])).toEqual(['/other']);
  });

  it('ends with what the taker of chunks throws, alone', async () => {
    await using server = await http2Server(beginStream);
    await using transport = transportTo(server);
    const watches = new Watches(transport);
    watches.open('/other');
    const mistake = new Error('mistake');
    const onChunk = (): void => {
      throw mistake;
    };
    expect(await failureOf(transport.stream({ method: 'GET', path: '/p', idleTimeoutMs: 60_000, onChunk }))).toBe(mistake);
    await until(() => watches.text === 'first' && server.seen.some(({ resetCode }) => resetCode === NGHTTP2_CANCEL));
    expect(server.open.size).toBe(1);
  });

  it('resolves when the server ends the stream, with all that it said', async () => {
    const long = 'x'.repeat(300_000);
    await using server = await http2Server(({ stream }) => {
      stream.respond({ ':status': 200 });
      stream.end(long);
    });
    await using transport = transportTo(server);
    const watches = new Watches(transport);
    await watches.result('/p');
    expect(watches.text).toBe(long);
  });

  it('tells of an answer that is no stream', async () => {
    await using server = await http2Server(({ stream }) => {
      stream.respond({ ':status': 429, 'retry-after': '7' });
      stream.end(JSON.stringify({ kind: 'Status', reason: 'TooManyRequests', message: 'slow down' }));
    });
    await using transport = transportTo(server);
    const error = await failureOf(new Watches(transport).result('/p'));
    expect(error).toMatchObject({ status: 429, reason: 'TooManyRequests', retryAfterMs: 7000 });
    expect(error).toMatchObject({ message: 'GET /p: 429 slow down' });
  });

  it.each([NGHTTP2_CANCEL, NGHTTP2_INTERNAL_ERROR])('fails with Network when the server resets it with code %i', async (code) => {
    await using server = await http2Server(({ stream }) => {
      // with trailers to come, the reset is all that ends the stream
      stream.respond({ ':status': 200 }, { waitForTrailers: true });
      stream.write('first');
    });
    await using transport = transportTo(server);
    const watches = new Watches(transport);
    const failure = failureOf(watches.result('/reset'));
    watches.open('/other');
    await until(() => watches.text === 'firstfirst');
    server.seen[0]?.stream.close(code);
    expect(await failure).toMatchObject({
      reason: 'Network',
      message: expect.stringMatching(/^GET https:\/\/127\.0\.0\.1:\d+\/reset: .* \(ERR_HTTP2_STREAM_ERROR\)$/),
    });
    server.seen[1]?.stream.write('second');
    await until(() => watches.text === 'firstfirstsecond');
    expect([watches.failed, server.open.size]).toEqual([1, 1]);
  });

  it.each(['destroy', 'resetAndDestroy'] as const)('fails with Network, every stream of a lost connection (%s)', async (how) => {
    await using server = await http2Server(beginStream);
    await using transport = transportTo(server);
    const watches = new Watches(transport);
    const failures = [1, 2, 3].map((i) => failureOf(watches.result(`/w${i}`)));
    await until(() => watches.text === 'firstfirstfirst');
    for (const socket of server.open) socket[how]();
    for (const failure of failures) {
      expect(await failure).toMatchObject({
        reason: 'Network',
        message: expect.stringMatching(/^GET https:\/\/127\.0\.0\.1:\d+\/w\d: .*ECONNRESET/),
      });
    }
    watches.open('/next');
    await until(() => server.seen.length === 4);
  });

  it('lets running streams go on after a GOAWAY, and takes new ones to a new connection', async () => {
    await using server = await http2Server(beginStream);
    await using transport = transportTo(server);
    const watches = new Watches(transport);
    const running = watches.result('/running');
    await until(() => watches.text === 'first');
    server.sessions[0]?.goaway();
    server.seen[0]?.stream.write('second');
    await until(() => watches.text === 'firstsecond');
    watches.open('/next');
    await until(() => server.seen.length === 2);
    expect(server.seen[1]?.session).toBe(1);
    server.seen[0]?.stream.end('end');
    await running;
    await until(() => server.open.size === 1);
    expect(watches.failed).toBe(0);
  });

  it('sends a stream once more that the server has refused unseen, and fails after the second refusal', async () => {
    let refusals = 1;
    await using server = await http2Server((request, self) => {
      if (refusals-- > 0) refuse(request, self);
      else beginStream(request, self);
    });
    await using transport = transportTo(server);
    const watches = new Watches(transport);
    watches.open('/p');
    await until(() => watches.text === 'first');
    expect(server.seen).toHaveLength(2);
    refusals = 2;
    expect(await failureOf(watches.result('/p'))).toMatchObject({ reason: 'Network' });
    expect(server.seen).toHaveLength(4);
  });

  it('sends those streams once more that a GOAWAY leaves out', async () => {
    await using server = await http2Server((request, self) => {
      const path = request.headers[':path'];
      if (request.session > 0 || path === '/w1') beginStream(request, self);
      else if (path === '/w2') request.stream.session?.goaway(0, (request.stream.id ?? 0) - 2);
    });
    await using transport = transportTo(server);
    const watches = new Watches(transport);
    for (const path of ['/w1', '/w2', '/w3']) watches.open(path);
    await until(() => watches.text === 'firstfirstfirst');
    expect(server.sessions).toHaveLength(2);
    expect(watches.failed).toBe(0);
  });

  it('leaves requests to HTTP/1.1, on sockets of their own', async () => {
    await using server = await scriptedServer((_request, response) => sendJson(response, {}), {
      ...selfSigned({ commonName: 'apiserver', ips: ['127.0.0.1'] }),
      ALPNProtocols: ['h2', 'http/1.1'],
    });
    await using transport = new KubeTransport(kubeConfigFor(server.url, {}, { skipTLSVerify: true }));
    expect(await transport.request({ method: 'GET', path: '/p' })).toEqual({});
  });

  it('goes through a tunnel', async () => {
    await using server = await http2Server(beginStream);
    await using proxy = await testProxy();
    await using transport = transportTo(server, {}, { proxyUrl: proxy.url });
    const watches = new Watches(transport);
    for (let i = 0; i < 5; i += 1) watches.open('/p');
    await until(() => watches.text === 'first'.repeat(5));
    expect(proxy.seen).toMatchObject([{ method: 'CONNECT', target: new URL(server.url).host }]);
    expect(proxy.seen[0]?.text).not.toContain(token);
  });
});
