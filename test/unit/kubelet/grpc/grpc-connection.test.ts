import {
  constants,
  createServer,
  type Http2Server,
  type Http2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { RuntimeService } from '../../../../src/kubelet/cri/proto/api_pb.ts';
import { GrpcConnection } from '../../../../src/kubelet/grpc/grpc-connection.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { until } from '../../../support/until.ts';
import { failureOf } from '../cri/setup.ts';

const { version, getContainerEvents } = RuntimeService.method;
const limits = { timeoutMs: undefined };
/** An answer of `Version` with the runtime's name. */
const named = (name: string): Buffer => framed(Buffer.from([0x12, name.length, ...Buffer.from(name)]));
const framed = (message: Buffer): Buffer => Buffer.concat([Buffer.from([0, 0, 0, 0, message.length]), message]);

type Serve = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, request: Buffer) => void;

const opened = (stream: ServerHttp2Stream): ServerHttp2Stream => {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
  return stream;
};

/** A server that answers each call by hand, and a connection to it. */
async function setUp(serve: Serve, maxMessageBytes = 1000) {
  const socketPath = join(await tempDir(), 'grpc.sock');
  const clock = new FakeClock();
  const sessions: Http2Session[] = [];
  let server: Http2Server | undefined;
  const stop = (): void => {
    for (const session of sessions.splice(0)) session.destroy();
    server?.close();
  };
  const listen = (): Promise<void> => {
    server = createServer({ maxSendHeaderBlockLength: 1_000_000 });
    server.on('session', (session) => sessions.push(session));
    server.on('stream', (stream, headers) => {
      const chunks: Buffer[] = [];
      stream.on('error', () => {});
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => serve(stream, headers, Buffer.concat(chunks)));
    });
    const { promise, resolve } = Promise.withResolvers<void>();
    server.listen(socketPath, resolve);
    return promise;
  };
  await listen();
  const rpcError = (code: string, call: string, description: string): Error => new Error(`${call}: ${code}: ${description}`);
  const connection = new GrpcConnection({ socketPath, clock, maxMessageBytes, rpcError });
  onTestFinished(() => {
    connection.close();
    stop();
  });
  const ask = async (): Promise<string> => (await connection.unary(version, () => ({}), limits)).runtimeName;
  return { connection, clock, sessions, stop, listen, ask };
}

describe('a call of gRPC', () => {
  it('sends one request as the protocol has it', async () => {
    const seen: unknown[] = [];
    const { connection } = await setUp((stream, headers, request) => {
      seen.push(headers, request);
      opened(stream).end(named('a'));
    });
    await connection.unary(version, () => ({ version: 'v1' }), limits);
    const path = '/runtime.v1.RuntimeService/Version';
    const headers = { ':method': 'POST', ':path': path, te: 'trailers', 'content-type': 'application/grpc' };
    expect(seen).toEqual([expect.objectContaining(headers), framed(Buffer.from([0x0a, 2, ...Buffer.from('v1')]))]);
  });

  it.each([1, 2, 5, 6])('is answered, also in pieces of %i bytes', async (size) => {
    const { ask } = await setUp(async (stream) => {
      const bytes = named('containerd');
      opened(stream);
      for (let at = 0; at < bytes.length; at += size) {
        await new Promise<void>((resolve) => stream.write(bytes.subarray(at, at + size), () => resolve()));
      }
      stream.end();
    });
    expect(await ask()).toBe('containerd');
  });

  it.each<[string, Serve, string]>([
    ['compressed', (stream) => opened(stream).end(Buffer.from([1, 0, 0, 0, 0])), 'Internal: the answer is compressed'],
    [
      'too long',
      (stream) => opened(stream).write(Buffer.from([0, 0, 0, 4, 0])),
      'ResourceExhausted: received message larger than max (1024 vs. 1000)',
    ],
    [
      'there twice',
      (stream) => opened(stream).end(Buffer.concat([named('a'), named('b')])),
      'Internal: there is more than one answer',
    ],
    ['missing', (stream) => opened(stream).end(), 'Internal: the answer is missing'],
    ['cut off', (stream) => opened(stream).end(named('abc').subarray(0, 6)), 'Internal: the answer is missing'],
    [
      'a page',
      (stream) => {
        stream.respond({ ':status': 404 });
        stream.end('<p>');
      },
      'Unimplemented: the server has answered with HTTP status 404',
    ],
    ['of no known status', (stream) => stream.respond({ ':status': 200, 'grpc-status': '99' }, { endStream: true }), 'Unknown: '],
    [
      'refused in words',
      (stream) => stream.respond({ ':status': 200, 'grpc-status': '9', 'grpc-message': 'in%20use%2' }, { endStream: true }),
      'FailedPrecondition: in use%2',
    ],
    [
      'refused in words that are cut',
      (stream) => {
        const text = `a${encodeURIComponent('é').repeat(4000)}`;
        stream.respond({ ':status': 200, 'grpc-status': '2', 'grpc-message': text }, { endStream: true });
      },
      'Unknown: aéé',
    ],
    [
      'of more headers than are read',
      (stream) => stream.respond({ ':status': 200, 'x-long': 'x'.repeat(70_000) }, { endStream: true }),
      'Internal: ',
    ],
    ['refused before it began', (stream) => stream.close(constants.NGHTTP2_REFUSED_STREAM), 'Unavailable: '],
    [
      'broken off',
      (stream) => stream.close(constants.NGHTTP2_INTERNAL_ERROR),
      'Internal: the server has ended the call with HTTP/2 code 2',
    ],
    [
      'without a status',
      (stream) => {
        stream.respond({ ':status': 200 });
        stream.end();
      },
      'Internal: the server has ended the call with HTTP/2 code 0',
    ],
    ['lost with the connection', (stream) => stream.session?.destroy(), 'Unavailable: '],
  ])('fails where its answer is %s, and the next one is made', async (_, serve, message) => {
    let isBroken = true;
    const { ask } = await setUp((stream, headers, request) => {
      if (isBroken) serve(stream, headers, request);
      else opened(stream).end(named('well'));
    });
    expect(String(await failureOf(ask()))).toContain(`Version: ${message}`);
    isBroken = false;
    expect(await ask()).toBe('well');
  });

  it('goes on when the server takes no new ones, and the next one has a new connection', async () => {
    const streams: ServerHttp2Stream[] = [];
    const { ask, sessions } = await setUp((stream) => streams.push(stream));
    const first = ask();
    await until(() => streams.length === 1);
    sessions[0]?.goaway(constants.NGHTTP2_NO_ERROR, streams[0]?.id ?? 0);
    await until(async () => {
      if (sessions.length < 2) void ask().catch(() => {});
      return sessions.length >= 2;
    });
    for (const stream of streams) opened(stream).end(named('old'));
    expect(await first).toBe('old');
  });

  it('of many answers gives each, in order, and keeps those that nobody reads yet', async () => {
    const { connection } = await setUp((stream) => {
      opened(stream).write(Buffer.concat([framed(Buffer.from([0x0a, 1, 0x61])), framed(Buffer.from([0x0a, 1, 0x62]))]));
      stream.end(framed(Buffer.from([0x0a, 1, 0x63])));
    });
    const ids: string[] = [];
    const read = async (): Promise<void> => {
      const { signal } = new AbortController();
      for await (const { containerId } of connection.stream(getContainerEvents, () => ({}), signal)) ids.push(containerId);
    };
    expect(String(await failureOf(read()))).toContain('GetContainerEvents: Unavailable: the server has ended the stream');
    expect(ids).toEqual(['a', 'b', 'c']);
  });
});

describe('a connection of gRPC that is watched', () => {
  it('is made again after 100 ms, and then more seldom, up to every 3 s', async () => {
    const { connection, clock, stop, listen } = await setUp(() => {});
    const told: boolean[] = [];
    const setTimer = vi.spyOn(clock, 'setTimer');
    connection.watch((isConnected) => told.push(isConnected));
    await until(() => told.length === 1);
    stop();
    await until(() => told.length === 2);
    for (const waitMs of [100, 200, 400, 800, 1600, 3000, 3000]) {
      await until(() => clock.pendingTimers === 1);
      expect(setTimer.mock.lastCall?.[1]).toBe(waitMs);
      await clock.advance(waitMs);
    }
    await until(() => clock.pendingTimers === 1);
    await listen();
    await clock.advance(3000);
    await until(() => told.length === 3);
    expect(told).toEqual([true, false, true]);
  });
});
