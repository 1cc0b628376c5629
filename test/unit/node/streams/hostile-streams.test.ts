import { setImmediate } from 'node:timers/promises';
import { constants, deflateSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import type { ForwardedConnection } from '../../../../src/node/streams/container-streams.ts';
import { headerDictionary } from '../../../../src/node/streams/spdy-dictionary.ts';
import { HeaderReader } from '../../../../src/node/streams/spdy-headers.ts';
import { until } from '../../../support/until.ts';
import { askUpgrade, SpdyClient, uint32 } from './spdy-client.ts';
import { type StreamsServer, serveStreams, textOf } from './streams-server.ts';

const v4 = 'v4.channel.k8s.io';
const spdy = { Connection: 'Upgrade', Upgrade: 'SPDY/3.1', 'X-Stream-Protocol-Version': v4 };
const webSocket = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

async function connectExec(server: StreamsServer): Promise<SpdyClient> {
  return await SpdyClient.connect(server.port, '/exec?input=1&output=1', v4);
}

async function connectForward(server: StreamsServer): Promise<SpdyClient> {
  return await SpdyClient.connect(server.port, '/portForward', 'portforward.k8s.io');
}

/** A block of headers as the first of its connection. */
function firstBlock(inflated: Buffer): Buffer {
  return deflateSync(inflated, { dictionary: headerDictionary(), finishFlush: constants.Z_SYNC_FLUSH });
}

describe('a request that is wrong', () => {
  const { 'X-Stream-Protocol-Version': _, ...unversioned } = spdy;
  const exec = '/exec?output=1';
  it.each([
    { what: 'no upgrade that is known', path: exec, method: 'GET', headers: { ...webSocket, Upgrade: 'h2c' }, status: 400 },
    { what: 'no stream', path: '/exec?tty=1', method: 'POST', headers: spdy, status: 400 },
    { what: 'SPDY without a version', path: exec, method: 'POST', headers: unversioned, status: 400 },
    {
      what: 'SPDY of the future',
      path: exec,
      method: 'POST',
      headers: { ...spdy, 'X-Stream-Protocol-Version': 'v9' },
      status: 403,
    },
    { what: 'a wrong key', path: exec, method: 'GET', headers: { ...webSocket, 'Sec-WebSocket-Key': 'x' }, status: 400 },
    { what: 'an old version', path: exec, method: 'GET', headers: { ...webSocket, 'Sec-WebSocket-Version': '7' }, status: 400 },
    { what: 'POST', path: exec, method: 'POST', headers: webSocket, status: 405 },
    {
      what: 'another subprotocol',
      path: exec,
      method: 'GET',
      headers: { ...webSocket, 'Sec-WebSocket-Protocol': 'v9' },
      status: 403,
    },
    { what: 'no port', path: '/portForward', method: 'GET', headers: webSocket, status: 400 },
    { what: 'many ports', path: `/portForward?${'port=1&'.repeat(101)}`, method: 'GET', headers: webSocket, status: 400 },
  ])('is refused with $status: $what', async ({ path, method, headers, status }) => {
    const server = await serveStreams();
    const answer = await askUpgrade(server.port, path, headers, method);
    expect([answer.status, server.refusals[0]?.status]).toEqual([status, status]);
    expect(server.refusals[0]?.message).not.toBe('');
  });
});

describe('a hostile client of SPDY', () => {
  it('sends every byte alone', async () => {
    const server = await serveStreams();
    const client = await connectExec(server);
    const parts: Buffer[] = [];
    const { write } = client.socket;
    client.socket.write = (bytes: Buffer) => parts.push(bytes) > 0;
    for (const streamtype of ['error', 'stdin', 'stdout']) await client.open({ streamtype });
    client.send(3, 'hello', true);
    client.socket.write = write;
    for (const byte of Buffer.concat(parts)) {
      client.socket.write(Buffer.of(byte));
      await setImmediate();
    }
    const { streams } = await server.session();
    expect(await textOf(streams.stdin)).toBe('hello');
  });

  it.each([
    { what: 'headers that inflate without end', block: firstBlock(Buffer.alloc(8 << 20)) },
    {
      what: 'headers of one long value',
      block: firstBlock(Buffer.concat([uint32(1), uint32(1), Buffer.from('a'), uint32(0xffff_ffff)])),
    },
    { what: 'headers that end too early', block: firstBlock(uint32(1)) },
    { what: 'many headers', block: firstBlock(uint32(0xffff_ffff)) },
    { what: 'headers that are not compressed', block: uint32(0) },
    { what: 'no headers', block: Buffer.alloc(0) },
    { what: 'headers with another dictionary', block: deflateSync(uint32(0), { dictionary: Buffer.from('streamtype') }) },
    { what: 'headers that are garbage', block: Buffer.concat([firstBlock(uint32(0)).subarray(0, 6), Buffer.alloc(100, 0xff)]) },
  ])('sends $what', async ({ block }) => {
    const server = await serveStreams();
    const client = await connectExec(server);
    client.sendSynStream(1, block);
    await until(() => client.isClosed);
    expect(client.goAways).toEqual([1]);
    expect((await server.refusal()).status).toBeUndefined();
  });

  it.each([
    { what: 'a long control frame', bytes: Buffer.from('8003000600010000', 'hex') },
    { what: 'SPDY of another version', bytes: Buffer.from('8002000600000004', 'hex') },
    { what: 'data for no stream', bytes: Buffer.from('0000000000000001', 'hex') },
    { what: 'an empty ping', bytes: Buffer.from('8003000600000000', 'hex') },
    { what: 'a short frame that opens a stream', bytes: Buffer.from('800300010000000400000001', 'hex') },
    { what: 'HTTP', bytes: Buffer.from('\xff\xffGET / HTTP/1.1', 'latin1') },
  ])('sends $what', async ({ bytes }) => {
    const server = await serveStreams();
    const client = await connectExec(server);
    client.socket.write(bytes);
    await until(() => client.isClosed);
    expect(client.goAways).toEqual([1]);
  });

  it('opens streams whose number is even, or is not greater than the last', async () => {
    for (const ids of [[2], [3, 3], [3, 1]]) {
      const client = await connectExec(await serveStreams());
      for (const id of ids) client.sendSynStream(id, await client.block({ streamtype: 'x' }));
      await until(() => client.isClosed);
      expect(client.goAways).toEqual([1]);
    }
  });

  it('opens thousands of streams', async () => {
    const server = await serveStreams();
    const client = await connectForward(server);
    const block = firstBlock(
      Buffer.concat([uint32(1), ...['streamtype', 'data'].flatMap((text) => [uint32(text.length), Buffer.from(text)])]),
    );
    expect(block.length).toBeGreaterThan(0);
    const ids: number[] = [];
    for (let n = 0; n < 1200; n += 1) ids.push(await client.open({ streamtype: 'data', port: '80', requestid: String(n) }));
    await until(() => ids.every((id) => client.stream(id).isReplied || client.stream(id).resetStatus === 3));
    expect(ids.filter((id) => client.stream(id).isReplied)).toHaveLength(1024);
    await server.clock.advance(30_000);
    await until(() => ids.every((id) => client.stream(id).resetStatus !== undefined));
    await client.open({ streamtype: 'data', port: '80', requestid: 'a' });
    const last = await client.open({ streamtype: 'error', port: '80', requestid: 'a' });
    await until(() => client.stream(last).isReplied);
    const [connection] = await firstOf(server);
    expect(connection?.port).toBe(80);
  });

  it('opens connections and resets them before anybody takes them', async () => {
    const server = await serveStreams();
    const client = await connectForward(server);
    for (let n = 0; n < 600; n += 1) {
      await client.open({ streamtype: 'error', port: '80', requestid: String(n) }, true);
      client.reset(await client.open({ streamtype: 'data', port: '80', requestid: String(n) }));
    }
    const last = await client.open({ streamtype: 'error', port: '81', requestid: 'last' });
    await client.open({ streamtype: 'data', port: '81', requestid: 'last' });
    await until(() => client.stream(last).isReplied);
    const [connection] = await firstOf(server);
    expect(connection?.port).toBe(81);
  });

  it('sends data after the end, for streams that are closed, and for streams that never were', async () => {
    const server = await serveStreams();
    const client = await connectExec(server);
    for (const streamtype of ['error', 'stdin', 'stdout']) await client.open({ streamtype });
    client.send(3, 'all', true);
    client.send(3, ' and more', true);
    client.send(99, 'x');
    client.send(1, 'for the error stream');
    client.reset(77);
    client.control(9, Buffer.concat([uint32(3), uint32(0x7fff_ffff)]));
    client.control(4, Buffer.concat([uint32(0xffff_ffff)]));
    client.control(0xbad, Buffer.alloc(100));
    client.control(6, uint32(2));
    client.control(6, uint32(3));
    const { streams, signal } = await server.session();
    expect(await textOf(streams.stdin)).toBe('all');
    await until(() => client.pongs.length > 0);
    expect([client.pongs, signal.aborted]).toEqual([[3], false]);
  });

  it('sends pings and reads no answer', async () => {
    const server = await serveStreams();
    const client = await connectExec(server);
    client.socket.pause();
    const ping = Buffer.concat([Buffer.from('8003000600000004', 'hex'), uint32(1)]);
    const pings = Buffer.concat(Array.from({ length: 50_000 }, () => ping));
    let isFull = false;
    const send = (): void => {
      if (!isFull) client.socket.write(pings, send);
    };
    send();
    const [socket] = server.sockets;
    await until(() => socket?.isPaused() === true && socket.writableLength > 0);
    isFull = true;
    expect(socket?.writableLength).toBeLessThan(256 * 1024);
    client.socket.resume();
    await until(() => client.pongs.length >= 50_000 && socket?.isPaused() === false);
  });

  it('sends input that nobody takes, and takes no output', async () => {
    const server = await serveStreams();
    const client = await connectExec(server);
    const ids = [];
    for (const streamtype of ['error', 'stdin', 'stdout']) ids.push(await client.open({ streamtype }));
    const { streams, end } = await server.session();
    client.socket.pause();
    const chunk = Buffer.alloc(1 << 20, 'x');
    let sent = 0;
    const send = (): void => {
      sent += 1;
      if (sent <= 64) client.send(3, chunk);
      if (sent < 64) client.socket.once('drain', send);
    };
    send();
    const [socket] = server.sockets;
    await until(() => socket?.isPaused() === true);
    expect(streams.stdin?.readableLength).toBeLessThan(256 * 1024);
    while (streams.stdout?.write(chunk.subarray(0, 16 * 1024))) await setImmediate();
    expect(socket?.writableLength).toBeLessThan(128 * 1024);
    const ended = end({ exitCode: 0 });
    await server.clock.advance(10_000);
    await server.clock.advance(10_000);
    await ended;
    expect(socket?.destroyed).toBe(true);
  });

  it('sends input to a provider that wants no more of it', async () => {
    const server = await serveStreams();
    const client = await connectExec(server);
    for (const streamtype of ['error', 'stdin', 'stdout']) await client.open({ streamtype });
    const { streams } = await server.session();
    client.send(3, Buffer.alloc(8 << 20));
    await until(() => server.sockets[0]?.isPaused() === true);
    streams.stdin?.destroy();
    client.control(6, uint32(7));
    await until(() => client.pongs.length === 1);
  });

  it('leaves nothing behind when a connection is reset by the provider', async () => {
    const server = await serveStreams();
    const client = await connectForward(server);
    await client.open({ streamtype: 'error', port: '80', requestid: '0' });
    const data = await client.open({ streamtype: 'data', port: '80', requestid: '0' });
    const [connection] = await firstOf(server);
    client.send(data, Buffer.alloc(1 << 20));
    await until(() => server.sockets[0]?.isPaused() === true);
    connection?.stream.destroy(new Error('of the provider'));
    await until(() => client.stream(data).resetStatus === 5 && client.stream(1).isEnded);
    client.send(data, Buffer.alloc(1 << 20));
    client.control(6, uint32(7));
    await until(() => client.pongs.length === 1);
  });
});

describe('a hostile client of a WebSocket', () => {
  it.each([
    {
      what: 'a message of more than 4 MiB',
      send: (socket: WebSocket) => socket.send(Buffer.alloc(4 * 1024 * 1024 + 1)),
      code: 1009,
    },
    {
      what: 'a message of very many parts',
      send: (socket: WebSocket) => {
        for (let n = 0; n < 2000; n += 1) socket.send(Buffer.of(0), { fin: false });
      },
      code: 1008,
    },
    { what: 'a close without a channel', send: (socket: WebSocket) => socket.send(Buffer.of(255)), code: 1002 },
  ])('sends $what', async ({ send, code }) => {
    const server = await serveStreams();
    const socket = new WebSocket(`ws://127.0.0.1:${server.port}/exec?input=1`, 'v5.channel.k8s.io');
    onTestFinished(() => socket.terminate());
    let closeCode: number | undefined;
    socket.on('error', () => {});
    socket.on('close', (told) => {
      closeCode = told;
    });
    await until(() => socket.readyState === WebSocket.OPEN);
    send(socket);
    await until(() => closeCode !== undefined);
    expect(closeCode).toBe(code);
    const session = await server.session();
    await until(() => session.signal.aborted);
  });
});

async function firstOf(server: StreamsServer): Promise<ForwardedConnection[]> {
  const { connections } = await server.forward();
  for await (const connection of connections) return [connection];
  return [];
}

describe('the headers of a connection', () => {
  it('are read in any number, with what came long before', async () => {
    const reader = new HeaderReader();
    const { client } = { client: new SpdyClient(new (await import('node:stream')).PassThrough()) };
    const value = Array.from({ length: 3000 }, (_, n) => n.toString(36)).join('');
    for (let n = 0; n < 50; n += 1) {
      const headers = { streamtype: 'data', requestid: String(n), value: `${n}${value}` };
      expect(Object.fromEntries(reader.read(await client.block(headers)))).toEqual(headers);
    }
  });

  it('are compressed with the dictionary of SPDY/3', () => {
    let [a, b] = [1, 0];
    for (const byte of headerDictionary()) {
      a = (a + byte) % 65_521;
      b = (b + a) % 65_521;
    }
    expect([headerDictionary().length, (b * 65_536 + a).toString(16)]).toEqual([1423, 'e3c6a7c2']);
  });
});
