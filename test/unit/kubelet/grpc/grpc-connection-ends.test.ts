import { readdirSync, readlinkSync } from 'node:fs';
import { constants, createServer, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { callGuarded, ignoreFailure } from '../../../../src/base/guard.ts';
import { RuntimeService } from '../../../../src/kubelet/cri/proto/api_pb.ts';
import { GrpcConnection } from '../../../../src/kubelet/grpc/grpc-connection.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { until } from '../../../support/until.ts';
import { failureOf } from '../cri/setup.ts';

const { version } = RuntimeService.method;

function answer(stream: ServerHttp2Stream): void {
  stream.respond({ ':status': 200 }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
  stream.end(Buffer.from([0, 0, 0, 0, 3, 0x12, 1, 0x76]));
}

/** How many sockets this process holds. */
function openSockets(): number {
  const held = readdirSync('/proc/self/fd').map((fd) => callGuarded(() => readlinkSync(`/proc/self/fd/${fd}`), ignoreFailure));
  return held.filter((what) => what?.startsWith('socket:')).length;
}

/** A server that ends streams and connections as the test says, and keeps its end of a connection open for as long as it can. */
async function setUp(serve: (stream: ServerHttp2Stream) => void, onSession = (_: ServerHttp2Session): void => {}) {
  const socketPath = join(await tempDir(), 'grpc.sock');
  const clock = new FakeClock();
  const sockets: Socket[] = [];
  const streams: ServerHttp2Stream[] = [];
  const server: Http2Server = createServer();
  server.on('connection', (socket: Socket) => sockets.push(socket));
  server.on('session', (session) => {
    session.on('error', () => {});
    onSession(session);
  });
  server.on('stream', (stream) => {
    stream.on('error', () => {});
    streams.push(stream);
    serve(stream);
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(socketPath, resolve);
  await promise;
  const rpcError = (code: string, call: string, description: string): Error => new Error(`${call}: ${code}: ${description}`);
  const connection = new GrpcConnection({ socketPath, clock, maxMessageBytes: 1000, rpcError });
  onTestFinished(() => {
    connection.close();
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const ask = async (): Promise<string> => (await connection.unary(version, () => ({}), { timeoutMs: undefined })).runtimeName;
  return { connection, clock, sockets, streams, ask };
}

describe('a call that the server has not processed', () => {
  it('is made once more, and no more than that', async () => {
    let refusals = 1;
    const { ask, streams } = await setUp((stream) => {
      refusals -= 1;
      if (refusals >= 0) stream.close(constants.NGHTTP2_REFUSED_STREAM);
      else answer(stream);
    });
    expect(await ask()).toBe('v');
    expect(streams).toHaveLength(2);
    refusals = 2;
    expect(String(await failureOf(ask()))).toContain('Version: Unavailable: the server has ended the call with HTTP/2 code 7');
    expect(streams).toHaveLength(4);
  });

  it('since its connection takes no more goes over a new one', async () => {
    let sessions = 0;
    const { ask, streams, sockets } = await setUp(answer, (session) => {
      sessions += 1;
      if (sessions === 1) session.goaway(constants.NGHTTP2_NO_ERROR);
    });
    expect(await ask()).toBe('v');
    expect([streams.length, sockets.length]).toEqual([1, 2]);
  });

  it('of many answers is made once more, too', async () => {
    let refusals = 1;
    const { connection, streams } = await setUp((stream) => {
      refusals -= 1;
      if (refusals >= 0) {
        stream.close(constants.NGHTTP2_REFUSED_STREAM);
        return;
      }
      stream.respond({ ':status': 200 });
      stream.write(Buffer.from([0, 0, 0, 0, 3, 0x0a, 1, 0x61]));
    });
    const { signal } = new AbortController();
    const events = connection.stream(RuntimeService.method.getContainerEvents, () => ({}), signal);
    expect((await events.next()).value).toMatchObject({ containerId: 'a' });
    await events.return();
    expect(streams).toHaveLength(2);
    await until(() => streams[1]?.closed === true);
  });
});

describe('a call that a standing connection ends', () => {
  it('after the server has said that it takes no more is not one without a connection', async () => {
    const { ask } = await setUp((stream) => {
      stream.session?.goaway(constants.NGHTTP2_NO_ERROR, stream.id ?? 0);
      setImmediate(() => stream.close(constants.NGHTTP2_INTERNAL_ERROR));
    });
    expect(String(await failureOf(ask()))).toContain('Version: Internal: the server has ended the call with HTTP/2 code 2');
  });
});

describe('a connection of gRPC', () => {
  it('on which no call begins any more is closed after its last one, also where the server leaves its end open', async () => {
    const { ask, sockets } = await setUp((stream) => {
      stream.session?.goaway(constants.NGHTTP2_NO_ERROR, stream.id ?? 0);
      answer(stream);
    });
    const before = openSockets();
    expect(await ask()).toBe('v');
    // the end of the server stays
    await until(() => openSockets() === before + sockets.length);
    expect(sockets).toHaveLength(1);
  });

  it('that ends soon, time after time, is made again more and more seldom', async () => {
    const { connection, clock, sockets } = await setUp(
      () => {},
      (session) => session.once('localSettings', () => setImmediate(() => session.goaway(constants.NGHTTP2_NO_ERROR))),
    );
    const setTimer = vi.spyOn(clock, 'setTimer');
    const before = openSockets();
    connection.watch(() => {});
    for (const waitMs of [100, 200, 400, 800]) {
      await until(() => clock.pendingTimers === 1);
      expect(setTimer.mock.lastCall?.[1]).toBe(waitMs);
      await clock.advance(waitMs);
    }
    await until(() => sockets.length === 5 && clock.pendingTimers === 1 && openSockets() === before + 5);
  });

  it('is made again where the clock sets no timer', async () => {
    const { connection, clock, sockets } = await setUp(() => {});
    const told: boolean[] = [];
    connection.watch((isConnected) => told.push(isConnected));
    await until(() => told.length === 1);
    vi.spyOn(clock, 'setTimer').mockImplementation(() => {
      throw new Error('no timer');
    });
    sockets[0]?.destroy();
    await until(() => told.length === 3);
    expect(told).toEqual([true, false, true]);
  });
});

describe('a call of gRPC that cannot be watched', () => {
  it('since it was given up while its request was made is not sent', async () => {
    const { connection, streams, ask } = await setUp(answer);
    const abort = new AbortController();
    const give = (): object => {
      abort.abort(new Error('mine'));
      return {};
    };
    const call = connection.unary(version, give, { timeoutMs: 500, signal: abort.signal });
    expect(String(await failureOf(call))).toBe('Error: mine');
    expect(await ask()).toBe('v');
    expect(streams).toHaveLength(1);
  });

  it('since the clock sets no timer is taken back', async () => {
    const { connection, clock, streams, ask } = await setUp(() => {});
    const first = ask().catch(String);
    await until(() => streams.length === 1);
    vi.spyOn(clock, 'setTimer').mockImplementation(() => {
      throw new Error('no timer');
    });
    const call = connection.unary(version, () => ({}), { timeoutMs: 500 });
    expect(String(await failureOf(call))).toBe('Error: no timer');
    await until(() => streams.slice(1).every((stream) => stream.closed));
    expect(streams[0]?.closed).toBe(false);
    connection.close();
    expect(await first).toContain('the client connection is closing');
  });
});
