import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import type { TerminalSize } from '../../../../src/node/streams/container-streams.ts';
import { until } from '../../../support/until.ts';
import { idleTimeoutMs, type StreamsServer, serveStreams, textOf } from './streams-server.ts';

const v5 = 'v5.channel.k8s.io';
const v4 = 'v4.channel.k8s.io';

interface Client {
  readonly socket: WebSocket;
  /** What came on a channel. */
  on(channel: number): string;
  readonly messages: Buffer[];
  closeCode: number | undefined;
}

async function connect(server: StreamsServer, path: string, protocol: string | undefined): Promise<Client> {
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}${path}`, protocol === undefined ? [] : [protocol]);
  const messages: Buffer[] = [];
  const on = (channel: number): string =>
    messages.flatMap((message) => (message[0] === channel ? [message.subarray(1).toString()] : [])).join('');
  const client: Client = { socket, messages, on, closeCode: undefined };
  socket.on('error', () => {});
  socket.on('message', (data) => messages.push(data as Buffer));
  socket.on('close', (code) => {
    client.closeCode = code;
  });
  onTestFinished(() => socket.terminate());
  await once(socket, 'open');
  return client;
}

function message(channel: number, text: string): Buffer {
  return Buffer.concat([Buffer.of(channel), Buffer.from(text)]);
}

describe('exec over a WebSocket', () => {
  it.each([v5, v4])('carries what is typed and shown, and the exit code: %s', async (protocol) => {
    const server = await serveStreams();
    const client = await connect(server, '/exec?input=1&output=1&error=1', protocol);
    expect([client.socket.protocol, client.socket.extensions]).toEqual([protocol, '']);
    const { streams, end } = await server.session();
    await until(() => client.messages.length === 1);
    expect(client.messages[0]).toEqual(Buffer.of(1));
    client.socket.send(message(0, 'hello'));
    const [typed] = await once(streams.stdin ?? client.socket, 'data');
    expect(String(typed)).toBe('hello');
    streams.stdout?.write('out');
    streams.stderr?.write('err');
    const ended = end({ exitCode: 7 });
    await until(() => client.closeCode !== undefined);
    expect([client.closeCode, client.on(1), client.on(2)]).toEqual([1000, 'out', 'err']);
    expect(JSON.parse(client.on(3)).details.causes).toEqual([{ reason: 'ExitCode', message: '7' }]);
    await ended;
  });

  it('lets a client of v5 close stdin, and ends the connection for a close of nothing', async () => {
    const server = await serveStreams();
    const client = await connect(server, '/exec?input=1&output=1', v5);
    const { streams, signal } = await server.session();
    client.socket.send(message(0, 'all'));
    client.socket.send(Buffer.of(255, 0));
    client.socket.send(message(0, ' and more'));
    expect(await textOf(streams.stdin)).toBe('all');
    expect(signal.aborted).toBe(false);
    client.socket.send(Buffer.of(255, 9));
    await until(() => client.closeCode !== undefined);
    expect(client.closeCode).toBe(1002);
    await until(() => signal.aborted);
  });

  it.each([
    { protocol: 'v4.base64.channel.k8s.io', status: '{"metadata":{},"status":"Success"}' },
    { protocol: 'base64.channel.k8s.io', status: '' },
  ])('speaks base64: $protocol', async ({ protocol, status }) => {
    const server = await serveStreams();
    const client = await connect(server, '/exec?input=1&output=1', protocol);
    const { streams, end } = await server.session();
    client.socket.send(`0${Buffer.from('hello').toString('base64')}`);
    const [typed] = await once(streams.stdin ?? client.socket, 'data');
    streams.stdout?.write(String(typed));
    await end({ exitCode: 0 });
    await until(() => client.closeCode === 1000);
    const sent = client.messages.map(
      (one) => String.fromCharCode(one[0] ?? 0) + Buffer.from(one.toString('latin1', 1), 'base64'),
    );
    expect(sent).toEqual(['1', '1hello', `3${status}`]);
  });

  it.each([undefined, 'channel.k8s.io'])('tells clients of the first protocol an error as text: %s', async (protocol) => {
    const server = await serveStreams();
    const client = await connect(server, '/exec?output=1', protocol);
    const { end } = await server.session();
    await end({ error: 'no shell' });
    await until(() => client.closeCode === 1000);
    expect(client.on(3)).toBe('Internal error occurred: no shell');
  });

  it('gives a terminal its sizes, and drops what comes for no channel', async () => {
    const server = await serveStreams();
    const client = await connect(server, '/attach?input=1&output=1&error=1&tty=1', v5);
    const { streams } = await server.session();
    expect(streams.stderr).toBeUndefined();
    const sizes: TerminalSize[] = [];
    streams.onResize((size) => sizes.push(size));
    for (const channel of [1, 2, 3, 5, 77]) client.socket.send(message(channel, 'lost'));
    client.socket.send(Buffer.alloc(0));
    client.socket.send(message(4, '{"Width":80,"Height":24}'));
    await until(() => sizes.length === 1);
    expect(sizes).toEqual([{ columns: 80, rows: 24 }]);
  });

  it('answers pings, and ends a connection over which nothing moves', async () => {
    const server = await serveStreams();
    const client = await connect(server, '/exec?output=1', v5);
    const { signal } = await server.session();
    await server.clock.advance(idleTimeoutMs);
    client.socket.ping('alive');
    await once(client.socket, 'pong');
    await server.clock.advance(idleTimeoutMs);
    expect(signal.aborted).toBe(false);
    await server.clock.advance(idleTimeoutMs);
    expect(signal.aborted).toBe(true);
  });

  it('aborts, ends stdin and breaks stdout when the client is gone', async () => {
    const server = await serveStreams();
    const client = await connect(server, '/exec?input=1&output=1', v5);
    const { streams, signal, end } = await server.session();
    client.socket.terminate();
    expect(await textOf(streams.stdin)).toBe('');
    await until(() => signal.aborted && streams.stdout?.destroyed === true);
    await end({ exitCode: 0 });
  });

  it('waits for a slow client, and says the end after all output', async () => {
    const server = await serveStreams();
    const client = await connect(server, '/exec?output=1', v5);
    const { streams, end } = await server.session();
    client.socket.pause();
    const { stdout } = streams;
    const chunk = Buffer.alloc(256 * 1024, 'x');
    let written = 0;
    while (stdout?.write(chunk) || written < 40 * chunk.length) written += chunk.length;
    await server.clock.advance(1000);
    expect(stdout?.writableNeedDrain).toBe(true);
    const ended = end({ exitCode: 0 });
    client.socket.resume();
    await ended;
    await until(() => client.closeCode === 1000);
    expect(client.on(1).length).toBe(written + chunk.length);
    expect(client.messages.at(-1)?.[0]).toBe(3);
  });

  it('stops reading a client whose input nobody takes', async () => {
    const server = await serveStreams();
    const client = await connect(server, '/exec?input=1', v5);
    const { streams } = await server.session();
    const most = 512;
    let sent = 0;
    const part = message(0, 'x'.repeat(64 * 1024));
    const send = (): void => {
      if (sent === most) return;
      sent += 1;
      client.socket.send(part, send);
    };
    send();
    await until(() => server.sockets[0]?.isPaused() === true);
    expect(streams.stdin?.readableLength).toBeLessThan(512 * 1024);
    let length = 0;
    streams.stdin?.on('data', (chunk: Buffer) => {
      length += chunk.length;
    });
    await until(() => length === most * 64 * 1024);
  });
});

describe('a port forward over the channels of a WebSocket', () => {
  it.each([v4, undefined])('has two channels for each port, which begin with it: %s', async (protocol) => {
    const server = await serveStreams();
    const client = await connect(server, '/portForward?port=80&port=8080', protocol);
    const connections = [];
    const session = await server.forward();
    for await (const connection of session.connections) if (connections.push(connection) === 2) break;
    const [first, second] = connections;
    expect([first?.port, second?.port]).toEqual([80, 8080]);
    await until(() => client.messages.length === 4);
    const begin = Buffer.concat(client.messages).toString('hex');
    expect(begin).toBe('005000' + '015000' + '02901f' + '03901f');
    client.socket.send(message(0, 'question'));
    const [chunk] = await once(first?.stream ?? client.socket, 'data');
    expect(String(chunk)).toBe('question');
    first?.stream.end('answer');
    second?.fail('nothing listens');
    await until(() => client.closeCode === 1000);
    expect([client.on(0).slice(2), client.on(3).slice(2)]).toEqual(['answer', 'nothing listens']);
    expect(session.signal.aborted).toBe(true);
  });
});
