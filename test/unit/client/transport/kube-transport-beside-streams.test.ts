import { describe, expect, it } from 'vitest';
import { type KubeRequest, KubeTransport, type KubeTransportOptions } from '../../../../src/client/transport/kube-transport.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { TcpRelay } from '../../../support/tcp-relay.ts';
import { until } from '../../../support/until.ts';
import { type Http2Script, type Http2Server, http2Server } from './http2-server.ts';
import { failureOf, kubeConfigFor, scriptedServer, sendJson } from './scripted-server.ts';
import { base64, selfSigned } from './self-signed.ts';
import { Watches } from './watches.ts';

const certificate = selfSigned({ commonName: 'apiserver', ips: ['127.0.0.1'] });
const list: KubeRequest = { method: 'GET', path: '/list', besideStreams: true };

function transportTo({ url, caPem }: Pick<Http2Server, 'url' | 'caPem'>, options: KubeTransportOptions = {}): KubeTransport {
  return new KubeTransport(kubeConfigFor(url, {}, { caData: base64(caPem) }), options);
}

/** `/w…` is a stream that stays open, `/silent` gets no answer, the body of anything else comes back. */
const script: Http2Script = ({ stream, headers }) => {
  const path = headers[':path'] ?? '';
  if (path === '/silent') return;
  stream.respond({ ':status': 200 });
  if (path.startsWith('/w')) stream.write('first');
  else stream.end(JSON.stringify({ path, method: headers[':method'] }));
};

describe('A request beside the streams', () => {
  it('shares their HTTP/2 connection', async () => {
    await using server = await http2Server(script);
    await using transport = transportTo(server, { connections: 1 });
    const watches = new Watches(transport);
    watches.open('/w');
    const answers = await Promise.all(Array.from({ length: 50 }, () => transport.request(list)));
    expect(answers).toEqual(Array(50).fill({ path: '/list', method: 'GET' }));
    await until(() => watches.text === 'first');
    expect(server.sessions).toHaveLength(1);
  });

  it('has its own limit of time, and leaves its neighbours alone', async () => {
    await using server = await http2Server(script);
    const clock = new FakeClock();
    await using transport = transportTo(server, { clock });
    const watches = new Watches(transport);
    watches.open('/w');
    const silent = failureOf(transport.request({ ...list, path: '/silent', timeoutMs: 2000 }));
    await until(() => server.seen.length === 2 && watches.text === 'first');
    await clock.advance(2000);
    expect(await silent).toMatchObject({ reason: 'Timeout', message: `GET ${server.url}/silent: no answer within 2000 ms` });
    await settle(20);
    expect(await transport.request(list)).toEqual({ path: '/list', method: 'GET' });
    expect([server.sessions.length, server.pings(), watches.failed]).toEqual([1, 0, 0]);
  });

  it('that nothing answers sends the next one over another connection, until a PING is answered', async () => {
    await using server = await http2Server(script);
    await using relay = await TcpRelay.to(server.url);
    const clock = new FakeClock();
    await using transport = transportTo({ url: relay.url, caPem: server.caPem }, { clock });
    const watches = new Watches(transport);
    watches.open('/w');
    await until(() => watches.text === 'first');
    relay.hold();
    const lost = failureOf(transport.request(list));
    await until(() => server.seen.length === 2);
    await clock.advance(10_000);
    expect(await lost).toMatchObject({ reason: 'Timeout' });
    await until(() => server.pings() === 1);
    const next = transport.request(list);
    await until(() => server.open.size === 2);
    relay.release();
    expect(await next).toEqual({ path: '/list', method: 'GET' });
    expect(server.seen.map(({ session }) => session)).toEqual([0, 0, 1]);
    // the answer to the PING may be long in coming on a busy machine
    for (let i = 0; i < 5000 && server.seen.at(-1)?.session !== 0; i += 1) await transport.request(list);
    expect(server.seen.at(-1)?.session).toBe(0);
    expect(watches.failed).toBe(0);
  });

  it('takes its turn on the sockets for requests where the server speaks HTTP/1.1 only', async () => {
    await using server = await scriptedServer((_request, response) => sendJson(response, { ok: true }), certificate);
    await using transport = transportTo({ url: server.url, caPem: certificate.cert }, { connections: 2 });
    const answers = await Promise.all(Array.from({ length: 20 }, () => transport.request(list)));
    expect(answers).toEqual(Array(20).fill({ ok: true }));
    // one of the three asked for HTTP/2
    expect(server.connections.total).toBe(3);
  });

  it('is waited for by close()', async () => {
    let answer = (): void => {};
    await using server = await http2Server(({ stream }) => {
      answer = () => {
        stream.respond({ ':status': 200 });
        stream.end('{"done":true}');
      };
    });
    const transport = transportTo(server);
    const request = transport.request(list);
    await until(() => server.seen.length === 1);
    const closing = transport.close();
    await settle(20);
    expect(server.open.size).toBe(1);
    answer();
    expect(await request).toEqual({ done: true });
    await closing;
    await until(() => server.open.size === 0);
  });

  it('survives a server that resets it while a long body is on its way', async () => {
    await using server = await http2Server(({ stream }) => {
      stream.respond({ ':status': 413 }, { waitForTrailers: true });
      stream.close(2);
    });
    await using transport = transportTo(server);
    const body = { text: 'x'.repeat(2 ** 21) };
    for (let i = 0; i < 10; i += 1) {
      const failure = await failureOf(transport.request({ ...list, method: 'PATCH', body }));
      expect(failure).toMatchObject({ message: expect.stringMatching(/^PATCH https:\/\/127\.0\.0\.1:\d+\/list: /) });
    }
    expect(server.open.size).toBe(1);
  });
});
