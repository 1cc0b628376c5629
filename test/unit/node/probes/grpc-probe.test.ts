import { once } from 'node:events';
import { createServer, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { healthRequest, servingStatus } from '../../../../src/node/probes/grpc-probe.ts';
import { NetworkProber } from '../../../../src/node/probes/network-prober.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { until } from '../../../support/until.ts';
import { closedPort, grpcTarget, noSignal, rawServer, TimeLimit } from './targets.ts';

const prober = new NetworkProber();

interface GrpcServer extends AsyncDisposable {
  readonly port: number;
  readonly sessions: readonly ServerHttp2Session[];
  readonly seen: { readonly headers: Record<string, unknown>; readonly body: string }[];
}

/** A server over HTTP/2; `serve` answers a request that has been read. */
async function grpcServer(serve: (stream: ServerHttp2Stream) => void, port = 0): Promise<GrpcServer> {
  const seen: GrpcServer['seen'] = [];
  const sessions: ServerHttp2Session[] = [];
  const server: Http2Server = createServer();
  server.on('session', (session) => sessions.push(session));
  server.on('stream', (stream, headers) => {
    const chunks: Buffer[] = [];
    stream.on('error', () => {});
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => {
      seen.push({ headers: { ...headers }, body: Buffer.concat(chunks).toString('hex') });
      serve(stream);
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    seen,
    sessions,
    [Symbol.asyncDispose]: async () => {
      for (const session of sessions) session.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function answer(stream: ServerHttp2Stream, body: Buffer, trailers: Record<string, string> = { 'grpc-status': '0' }): void {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers(trailers));
  stream.end(body);
}

const frame = (...message: number[]): Buffer => Buffer.from([0, 0, 0, 0, message.length, ...message]);

describe('a grpc probe', () => {
  it.each([
    [frame(8, 1), 'success', 'service healthy'],
    [frame(8, 2), 'failure', 'service unhealthy (responded with "NOT_SERVING")'],
    [frame(8, 3), 'failure', 'service unhealthy (responded with "SERVICE_UNKNOWN")'],
    [frame(), 'failure', 'service unhealthy (responded with "UNKNOWN")'],
    [frame(8, 200, 1), 'failure', 'service unhealthy (responded with "200")'],
    [frame(0x12, 2, 65, 66, 8, 1), 'success', 'service healthy'],
  ])('reads the answer %o', async (body, result, output) => {
    await using server = await grpcServer((stream) => answer(stream, body));
    expect(await prober.grpc(grpcTarget(server.port), noSignal)).toEqual({ result, output });
  });

  it('asks for the service, and says who it is', async () => {
    await using server = await grpcServer((stream) => answer(stream, frame(8, 1)));
    await prober.grpc(grpcTarget(server.port, 'shop'), noSignal);
    await prober.grpc(grpcTarget(server.port), noSignal);
    expect(server.seen.map(({ body }) => body)).toEqual(['00000000060a0473686f70', '0000000000']);
    expect(server.seen[0]?.headers).toMatchObject({
      ':method': 'POST',
      ':path': '/grpc.health.v1.Health/Check',
      'content-type': 'application/grpc',
      'user-agent': 'kube-probe/1.36',
      te: 'trailers',
      'grpc-timeout': '1000m',
    });
  });

  it.each([
    [
      { 'grpc-status': '12', 'grpc-message': 'no%20health' },
      'error: this server does not implement the grpc health protocol (grpc.health.v1.Health): no health',
    ],
    [
      { 'grpc-status': '5', 'grpc-message': 'service %C3%A9' },
      'error: health rpc probe failed: rpc error: code = NotFound desc = service é',
    ],
    [{ 'grpc-status': '99' }, 'error: health rpc probe failed: rpc error: code = Code(99) desc = '],
    [{}, 'error: health rpc probe failed: rpc error: code = Internal desc = server closed the stream without sending trailers'],
  ])('says what the server says: %j', async (trailers, output) => {
    await using server = await grpcServer((stream) => answer(stream, frame(8, 1), trailers as Record<string, string>));
    expect(await prober.grpc(grpcTarget(server.port), noSignal)).toEqual({ result: 'failure', output });
  });

  it('closes its connection', async () => {
    await using server = await grpcServer((stream) => answer(stream, frame(8, 1)));
    await prober.grpc(grpcTarget(server.port), noSignal);
    await until(() => server.sessions.every(({ destroyed }) => destroyed));
    expect(server.sessions).toHaveLength(1);
  });

  it('reads a status that comes with the headers', async () => {
    await using server = await grpcServer((stream) => {
      stream.respond({ ':status': 200, 'grpc-status': '12', 'grpc-message': 'unknown service' }, { endStream: true });
    });
    expect((await prober.grpc(grpcTarget(server.port), noSignal)).output).toMatch(/grpc\.health\.v1\.Health\): unknown service$/);
  });

  it.each([
    [404, 'error: this server does not implement the grpc health protocol (grpc.health.v1.Health): unexpected HTTP status code'],
    [503, 'error: health rpc probe failed: rpc error: code = Unavailable desc = unexpected HTTP status code'],
    [418, 'error: health rpc probe failed: rpc error: code = Unknown desc = unexpected HTTP status code'],
  ])('fails at a server that answers %i', async (code, begin) => {
    await using server = await grpcServer((stream) => stream.respond({ ':status': code }, { endStream: true }));
    const { result, output } = await prober.grpc(grpcTarget(server.port), noSignal);
    expect(result).toBe('failure');
    expect(output).toContain(`${begin} received from server: ${code} (`);
    expect(output).toMatch(/\); malformed header: missing HTTP content-type$/);
  });

  it.each([
    ['is compressed', Buffer.from([1, 0, 0, 0, 2, 8, 1])],
    ['is cut', Buffer.from([0, 0, 0, 0, 9, 8, 1])],
    ['ends in the middle of a number', frame(8, 0x80)],
    ['ends in the middle of a field', frame(0x12, 9, 1)],
    ['has a group', frame(0x0b)],
    ['is empty', Buffer.alloc(0)],
  ])('fails at an answer that %s', async (_, body) => {
    await using server = await grpcServer((stream) => answer(stream, body));
    const { result, output } = await prober.grpc(grpcTarget(server.port), noSignal);
    expect(result).toBe('failure');
    expect(output).toMatch(/code = Internal desc = grpc: failed to unmarshal the received message: /);
  });

  it('fails at an answer without an end', async () => {
    await using server = await grpcServer((stream) => {
      stream.respond({ ':status': 200 });
      const more = (): void => {
        while (!stream.destroyed && stream.write(Buffer.alloc(16_384)));
      };
      stream.on('drain', more);
      more();
    });
    const { result, output } = await prober.grpc(grpcTarget(server.port), noSignal);
    expect(result).toBe('failure');
    expect(output).toMatch(/received message larger than max/);
  });

  it('fails when the server ends the call', async () => {
    await using server = await grpcServer((stream) => stream.close(2));
    const { result, output } = await prober.grpc(grpcTarget(server.port), noSignal);
    expect(result).toBe('failure');
    expect(output).toMatch(/code = Unavailable/);
  });

  it('fails when the answer does not come in time', async () => {
    const limit = new TimeLimit();
    await using server = await grpcServer(() => limit.end());
    expect(await prober.grpc(grpcTarget(server.port), limit.signal)).toEqual({
      result: 'failure',
      output: 'timeout: health rpc did not complete within 1s',
    });
  });

  it('fails at a server that never speaks HTTP/2', async () => {
    const limit = new TimeLimit();
    await using server = await rawServer((socket) => void socket.once('data', () => limit.end()));
    expect(await prober.grpc(grpcTarget(server.port), limit.signal)).toEqual({
      result: 'failure',
      output: `timeout: failed to connect service "127.0.0.1:${server.port}" within 1s: context deadline exceeded`,
    });
    await server.closed();
  });

  it('tries to connect until its time is over', async () => {
    const clock = new FakeClock();
    const port = await closedPort();
    const limit = new TimeLimit();
    const outcome = new NetworkProber({ clock }).grpc(grpcTarget(port), limit.signal);
    await until(() => clock.pendingTimers > 0);
    await using _server = await grpcServer((stream) => answer(stream, frame(8, 1)), port);
    await clock.advance(1000);
    expect(await outcome).toEqual({ result: 'success', output: 'service healthy' });
    expect(clock.pendingTimers).toBe(0);
  });

  it('leaves no timer when its time is over', async () => {
    const clock = new FakeClock();
    const limit = new TimeLimit();
    const port = await closedPort();
    const outcome = new NetworkProber({ clock }).grpc(grpcTarget(port), limit.signal);
    await until(() => clock.pendingTimers > 0);
    limit.end();
    expect((await outcome).output).toMatch(/^timeout: failed to connect service/);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('the messages of a health check', () => {
  it('have lengths of more than one byte', () => {
    const request = healthRequest('x'.repeat(300));
    expect(request.subarray(0, 8).toString('hex')).toBe('000000012f0aac02');
    expect(request).toHaveLength(5 + 303);
  });

  it('skip fields of every sort', () => {
    expect(servingStatus(frame(0x19, 1, 2, 3, 4, 5, 6, 7, 8, 0x25, 1, 2, 3, 4, 0x28, 0x80, 1, 8, 1))).toBe('SERVING');
  });
});
