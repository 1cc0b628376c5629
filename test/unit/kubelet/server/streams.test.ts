import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { RuntimeError } from '../../../../src/kubelet/runtime/container-runtime.ts';
import type { KubeletApiHost } from '../../../../src/kubelet/server/api-options.ts';
import { apiWorld, fakeHost, readAll, type WorldOptions } from './api-world.ts';

/** What the runtime's streaming server was asked for. */
interface Asked {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly socket: Socket;
}

/** A runtime's streaming server that switches protocols, and a host that gives its URL. */
async function streamWorld(options: WorldOptions = {}, listen?: (server: Server) => void) {
  const asked: Asked[] = [];
  const calls: unknown[][] = [];
  const server = createServer();
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket));
  if (listen === undefined) {
    server.on('upgrade', ({ method, url, headers }, socket: Socket, head) => {
      asked.push({ method, url, headers, socket });
      socket.on('error', () => {});
      socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: SPDY/3.1\r\nx-stream-protocol-version: v4\r\n\r\n',
      );
      socket.write(`early ${head}`);
    });
  } else {
    listen(server);
  }
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/stream/TOKEN?x=1`;
  const answer =
    (name: string) =>
    async (...given: unknown[]) => {
      calls.push([name, ...given.slice(0, -1)]);
      return url;
    };
  const runtime = { exec: answer('exec'), attach: answer('attach'), portForward: answer('portForward') };
  const host = fakeHost({ runtime: { ...fakeHost().runtime, ...runtime } as unknown as KubeletApiHost['runtime'] });
  const world = await apiWorld({ host, ...options });
  const upgrade = async (target: string, { method = 'POST', more = '' } = {}): Promise<TLSSocket> => {
    const socket = await world.raw();
    socket.on('error', () => {});
    const head = `${method} ${target} HTTP/1.1\r\nHost: node\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n`;
    socket.write(`${head}X-Stream-Protocol-Version: v4.channel.k8s.io\r\nContent-Length: 0\r\n${more}\r\n`);
    return socket;
  };
  return { ...world, asked, calls, upgrade };
}

/** Reads until a text has come. */
async function readUntil(socket: TLSSocket, text: string): Promise<string> {
  let read = '';
  while (!read.includes(text)) {
    const [chunk] = await once(socket, 'data');
    read += chunk;
  }
  return read;
}

const exec = '/exec/default/web/app?command=sh&command=-c&command=ls+%2F&input=1&output=1&error=1';

describe('a stream', () => {
  it('of exec goes to the URL of the runtime, without credentials, and back', async () => {
    const { upgrade, asked, calls } = await streamWorld();
    const socket = await upgrade(exec, { more: 'Authorization: Bearer secret\r\nCookie: a=b\r\nX-Forwarded-For: 192.0.2.1\r\n' });
    const head = await readUntil(socket, 'early');
    expect(head).toMatch(/^HTTP\/1.1 101 Switching Protocols\r\n/);
    expect(head).toContain('x-stream-protocol-version: v4\r\n');
    expect(calls).toEqual([['exec', 'app-1', ['sh', '-c', 'ls /'], { tty: false, stdin: true, stdout: true, stderr: true }]]);
    const [{ method, url, headers } = {} as Asked] = asked;
    expect([method, url, headers.upgrade, headers['x-stream-protocol-version']]).toEqual([
      ...['POST', '/stream/TOKEN?x=1', 'SPDY/3.1', 'v4.channel.k8s.io'],
    ]);
    expect([headers.authorization, headers.cookie, headers.host === 'node']).toEqual([undefined, undefined, false]);
    socket.write('ping');
    const [ping] = await once(asked[0]?.socket as Socket, 'data');
    asked[0]?.socket.write('pong');
    expect([`${ping}`, await readUntil(socket, 'pong')]).toEqual(['ping', 'pong']);
  });

  it('carries bytes that came with the request', async () => {
    const { asked, raw } = await streamWorld();
    const socket = await raw();
    socket.write(
      `POST ${exec} HTTP/1.1\r\nHost: node\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nContent-Length: 0\r\n\r\nwith it`,
    );
    await readUntil(socket, 'early');
    const [chunk] = await once(asked[0]?.socket as Socket, 'data');
    expect(`${chunk}`).toBe('with it');
  });

  it('of attach has the terminal that the container has', async () => {
    const { upgrade, calls } = await streamWorld();
    await readUntil(await upgrade('/attach/default/web/u1/app?output=1&error=1&tty=1'), 'early');
    expect(calls).toEqual([['attach', 'app-1', { tty: false, stdin: false, stdout: true, stderr: false }]]);
  });

  it('to a port goes to the sandbox, whose ports a WebSocket names', async () => {
    const { upgrade, calls, raw } = await streamWorld();
    await readUntil(await upgrade('/portForward/default/web'), 'early');
    const socket = await raw();
    const head = 'GET /portForward/default/web/u1?port=80,81&port=443 HTTP/1.1\r\nHost: node\r\nConnection: Upgrade\r\n';
    socket.write(`${head}Upgrade: websocket\r\n\r\n`);
    await readUntil(socket, 'early');
    expect(calls).toEqual([
      ['portForward', 's-1', []],
      ['portForward', 's-1', [80, 81, 443]],
    ]);
  });

  it.each([
    ['/exec/default/web/app', 400, 'you must specify at least 1 of stdin, stdout, stderr'],
    ['/exec/default/other/app?output=1', 404, 'pod does not exist'],
    ['/exec/default/web/u2/app?output=1', 404, 'pod does not exist'],
    ['/exec/default/web/other?output=1', 500, 'container not found ("other")'],
    ['/portForward/default/other', 404, 'pod does not exist'],
  ])('for %s is refused with %d', async (target, status, text) => {
    const { upgrade, calls } = await streamWorld();
    const answer = await readAll(await upgrade(target));
    expect(answer).toContain(`HTTP/1.1 ${status} `);
    expect(answer).toContain(text);
    expect(calls).toEqual([]);
  });

  it.each(['port=0', 'port=65536', 'port=a', 'port=', ''])('to the port %j of a WebSocket is refused', async (query) => {
    const { raw } = await streamWorld();
    const socket = await raw();
    socket.write(
      `GET /portForward/default/web?${query} HTTP/1.1\r\nHost: node\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
    );
    expect(await readAll(socket)).toContain('HTTP/1.1 400 ');
  });

  it('needs a request to switch protocols', async () => {
    const { get } = await streamWorld();
    expect(await get(exec, { method: 'POST' })).toMatchObject({ status: 400, text: 'Upgrade request required' });
  });

  it('needs the right to the node, before anything is done', async () => {
    const { upgrade, reviews, calls } = await streamWorld();
    reviews.access = () => ({ status: { allowed: false } });
    expect(await readAll(await upgrade(exec))).toContain('HTTP/1.1 403 ');
    expect(calls).toEqual([]);
  });

  it('that the runtime refuses is refused with its words', async () => {
    const { upgrade } = await streamWorld({}, (server) => {
      server.on('upgrade', (_, socket) => socket.end('HTTP/1.1 404 Not Found\r\ncontent-length: 7\r\n\r\nno such'));
    });
    const answer = await readAll(await upgrade(exec));
    expect(answer).toContain('HTTP/1.1 404 ');
    expect(answer).toContain('no such');
  });

  it('that the runtime answers with something else is refused', async () => {
    const { upgrade } = await streamWorld({}, (server) => server.on('request', (_, response) => response.end('hello')));
    expect(await readAll(await upgrade(exec))).toContain('invalid upgrade response: status code 200');
  });

  it('that the runtime does not answer is refused in time', async () => {
    const reached = Promise.withResolvers<void>();
    const { upgrade, clock } = await streamWorld({}, (server) => server.on('upgrade', () => reached.resolve()));
    const socket = await upgrade(exec);
    await reached.promise;
    await clock.advance(30_000);
    expect(await readAll(socket)).toContain('HTTP/1.1 500 ');
  });

  it.each([
    ['no-url', 500],
    ['https://127.0.0.1:1/x', 500],
    ['http://127.0.0.1:1/x', 500],
  ])('to %s is refused', async (url, status) => {
    const runtime = { ...fakeHost().runtime, exec: async () => url };
    const { upgrade } = await streamWorld({ host: fakeHost({ runtime }) });
    expect(await readAll(await upgrade(exec))).toContain(`HTTP/1.1 ${status} `);
  });

  it('to a container that is gone is refused with 404, and what else fails with 500', async () => {
    for (const [kind, status] of [
      ['not-found', 404],
      ['failed', 500],
    ] as const) {
      const runtime = { ...fakeHost().runtime, exec: () => Promise.reject(new RuntimeError(kind, 'Exec', 'it said so')) };
      const { upgrade } = await streamWorld({ host: fakeHost({ runtime }) });
      expect(await readAll(await upgrade(exec))).toMatch(new RegExp(`HTTP/1.1 ${status} [^]*it said so`));
    }
  });
});

describe('the end of a stream', () => {
  it('by the runtime comes after all that it wrote', async () => {
    const { upgrade, asked } = await streamWorld();
    const socket = await upgrade(exec);
    await readUntil(socket, 'early');
    asked[0]?.socket.end(Buffer.alloc(5_000_000, 'x'));
    expect((await readAll(socket)).length).toBe(5_000_000);
  });

  it('of one direction leaves the other', async () => {
    const { upgrade, asked } = await streamWorld();
    const socket = await upgrade(exec);
    await readUntil(socket, 'early');
    const runtime = asked[0]?.socket as Socket;
    runtime.resume();
    socket.end('the last words');
    await once(runtime, 'end');
    runtime.end('the answer to them');
    expect(await readAll(socket)).toBe('the answer to them');
  });

  it('by a client that goes away is the end for the runtime', async () => {
    const { upgrade, asked, clock } = await streamWorld();
    const timers = clock.pendingTimers;
    const socket = await upgrade(exec);
    await readUntil(socket, 'early');
    const runtime = (asked[0]?.socket as Socket).resume();
    const closed = new Promise((resolve) => runtime.once('close', resolve));
    runtime.once('end', () => runtime.end());
    socket.destroy();
    await closed;
    while (clock.pendingTimers !== timers) await setImmediate();
    expect(clock.pendingTimers).toBe(timers);
  });

  it('comes when nothing has moved for a time, and not before', async () => {
    const { upgrade, asked, clock } = await streamWorld({ streamIdleTimeoutMs: 60_000 });
    const socket = await upgrade(exec);
    await readUntil(socket, 'early');
    let isOver = false;
    socket.once('end', () => {
      isOver = true;
    });
    for (let minute = 0; minute < 3; minute += 1) {
      asked[0]?.socket.write('tick');
      await readUntil(socket, 'tick');
      await clock.advance(59_000);
    }
    expect(isOver).toBe(false);
    const ended = once(socket.resume(), 'end');
    await clock.advance(120_000);
    await ended;
    expect(isOver).toBe(true);
  });

  it('comes with the end of the server', async () => {
    const { upgrade, asked, api } = await streamWorld();
    const socket = await upgrade(exec);
    await readUntil(socket, 'early');
    const runtime = (asked[0]?.socket as Socket).resume();
    const closed = new Promise((resolve) => runtime.once('close', resolve));
    runtime.once('end', () => runtime.end());
    await api.close();
    await closed;
    expect(runtime.destroyed).toBe(true);
  });
});

describe('the number of streams', () => {
  it('is bounded, and a stream that ends makes room', async () => {
    const { upgrade, asked, get } = await streamWorld({ maxStreams: 1 });
    const first = await upgrade(exec);
    await readUntil(first, 'early');
    const second = await readAll(await upgrade(exec));
    expect(second).toContain('HTTP/1.1 429 ');
    expect(second).toContain('too many streams are open: 1 at most');
    expect((await get('/containerLogs/default/web/app')).status).toBe(429);
    expect((await get('/metrics')).status).toBe(200);
    asked[0]?.socket.end();
    await readAll(first);
    for (let turn = 0; (await get('/containerLogs/default/web/app')).status === 429; turn += 1) expect(turn).toBeLessThan(1000);
    await readUntil(await upgrade(exec), 'early');
  });
});

describe('a command that is run', () => {
  const ran = (exitCode: number) => async (id: string, command: readonly string[]) => {
    return { stdout: Buffer.from(`${id} ${command.join('+')}`), stderr: Buffer.from('!'), exitCode };
  };

  it('is answered with what it wrote', async () => {
    const host = fakeHost({ runtime: { ...fakeHost().runtime, execSync: ran(0) } });
    const { get } = await apiWorld({ host });
    expect(await get('/run/default/web/app?cmd=ls%20-l', { method: 'POST' })).toMatchObject({
      status: 200,
      text: 'app-1 ls+-l!',
    });
  });

  it('says that it failed', async () => {
    const host = fakeHost({ runtime: { ...fakeHost().runtime, execSync: ran(3) } });
    const { get } = await apiWorld({ host });
    const { status, text } = await get('/run/default/web/u1/app?cmd=ls', { method: 'POST' });
    expect([status, text]).toEqual([500, "command 'ls' exited with 3: app-1 ls!"]);
  });
});
