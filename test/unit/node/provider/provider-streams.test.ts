import { once } from 'node:events';
import { Readable } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import type { PodProvider } from '../../../../src/node/provider/pod-provider.ts';
import type { ContainerStreams, TerminalSize } from '../../../../src/node/streams/container-streams.ts';
import { until } from '../../../support/until.ts';
import { servedNode } from './served-node.ts';

type Run = NonNullable<PodProvider['runInContainer']>;

async function runWorld(provider: Partial<PodProvider>) {
  const world = await servedNode({ provider });
  const { address, admin } = world;
  const open = (path: string, protocol = 'v5.channel.k8s.io') => {
    const url = `wss://127.0.0.1:${address.port}${path}`;
    const socket = new WebSocket(url, protocol, { ...admin, ca: address.ca });
    const got: string[] = [];
    let status: unknown;
    socket.on('message', (data: Buffer) => {
      if (data[0] === 3) status = JSON.parse(data.subarray(1).toString());
      else got.push(`${data[0]} ${data.subarray(1).toString()}`);
    });
    const refusal = new Promise<number>((resolve) => {
      socket.on('unexpected-response', (_, answer) => resolve(answer.statusCode ?? 0));
    });
    socket.on('error', () => {});
    onTestFinished(() => socket.terminate());
    return { socket, got, status: () => status, refusal };
  };
  return { ...world, open };
}

describe('a command in a container', () => {
  it('has the streams of the client, and ends with its exit code', async () => {
    const asked: unknown[] = [];
    const { open } = await runWorld({
      runInContainer: (async (pod, container, command, streams) => {
        asked.push([pod.metadata.name, container, command, streams.tty]);
        const typed = await textOf(streams.stdin ?? Readable.from([]));
        streams.stdout?.write(`out ${typed}`);
        streams.stderr?.write('err');
        return 3;
      }) satisfies Run,
    });
    const { socket, got, status } = open('/exec/default/web/app?command=sh&command=-c&input=1&output=1&error=1');
    await once(socket, 'open');
    socket.send(Buffer.from('\0typed'));
    socket.send(Buffer.from([255, 0]));
    await once(socket, 'close');
    expect(asked).toEqual([['web', 'app', ['sh', '-c'], false]]);
    expect(got.filter((piece) => piece.length > 2).sort()).toEqual(['1 out typed', '2 err']);
    expect(status()).toMatchObject({ status: 'Failure', reason: 'NonZeroExitCode', details: { causes: [{ message: '3' }] } });
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('no shell');
      },
      'no shell',
    ],
    ['rejects', () => Promise.reject(new Error('no shell')), 'no shell'],
    ['says nothing', async () => 'x' as never, 'runInContainer() of the provider answered with no exit code'],
  ])('whose provider %s ends with words', async (_, runInContainer, words) => {
    const { open } = await runWorld({ runInContainer: runInContainer as Run });
    const { socket, status } = open('/exec/default/web/app?command=sh&output=1');
    await once(socket, 'close');
    expect(status()).toMatchObject({ status: 'Failure', message: expect.stringContaining(words) });
  });

  it('is aborted when its client goes; what it writes then harms nobody', async () => {
    let given: ContainerStreams | undefined;
    let signal: AbortSignal | undefined;
    const ending = Promise.withResolvers<number>();
    const { open } = await runWorld({
      runInContainer: ((_pod, _container, _command, streams, call) => {
        given = streams;
        signal = call.signal;
        return ending.promise;
      }) satisfies Run,
    });
    const { socket } = open('/exec/default/web/app?command=sh&output=1');
    await until(() => given !== undefined);
    socket.terminate();
    await until(() => signal?.aborted === true);
    given?.stdout?.write('late');
    ending.reject(new Error('late'));
    await until(() => given?.stdout?.destroyed === true);
  });

  it.each([
    ['/exec/default/other/app?command=sh&output=1', 404],
    ['/exec/default/web/other?command=sh&output=1', 404],
    ['/exec/default/web/app?output=1', 400],
    ['/exec/default/web/app?command=sh', 400],
    ['/attach/default/web/app?output=1', 501],
    ['/portForward/default/web?port=0', 400],
  ])('is refused before the protocol is switched: %s', async (path, status) => {
    const { open } = await runWorld({ runInContainer: async () => 0, portForward: async () => {} });
    expect(await open(path).refusal).toBe(status);
  });

  it('needs a request to switch the protocol', async () => {
    const { get } = await runWorld({ runInContainer: async () => 0 });
    const answer = await get('/exec/default/web/app?command=sh&output=1', 'POST');
    expect(answer).toEqual({ status: 400, text: 'Upgrade request required' });
  });
});

describe('a client that is attached', () => {
  it('has the terminal that the container has, and its sizes', async () => {
    const sizes: TerminalSize[] = [];
    let tty: unknown;
    const { open } = await runWorld({
      attachToContainer: async (_pod, _container, streams) => {
        tty = [streams.tty, streams.stderr];
        streams.onResize((size) => sizes.push(size));
        await textOf(streams.stdin ?? Readable.from([]));
        return 0;
      },
    });
    const { socket, status } = open('/attach/default/web/debug?input=1&output=1&error=1');
    await once(socket, 'open');
    socket.send(Buffer.from('\u0004{"Width":80,"Height":24}'));
    await until(() => sizes.length === 1);
    expect([tty, sizes]).toEqual([[true, undefined], [{ columns: 80, rows: 24 }]]);
    socket.send(Buffer.from([255, 0]));
    await once(socket, 'close');
    expect(status()).toMatchObject({ status: 'Success' });
  });
});

describe('a forwarded port', () => {
  it('is connected with what the provider has there', async () => {
    const { open } = await runWorld({
      portForward: async (pod, port, stream) => {
        stream.write(`${pod.metadata.name}:${port} `);
        for await (const piece of stream) {
          stream.write(piece);
          break;
        }
      },
    });
    const { socket, got } = open('/portForward/default/web?port=8080', 'v4.channel.k8s.io');
    await once(socket, 'open');
    socket.send(Buffer.from('\0hello'));
    await until(() => got.join('|').includes('hello'));
    expect(got.join('|')).toContain('web:8080');
  });
});

describe('a command that is run at once', () => {
  const runOf = async (runInContainer: Run) => (await servedNode({ provider: { runInContainer } })).get;
  const path = '/run/default/web/app?cmd=ls+-l';

  it('answers what it has written', async () => {
    const get = await runOf(async (_pod, _container, command, { stdin, stdout, stderr }) => {
      stdout?.write(`${command.join(',')} `);
      stderr?.end(String(stdin));
      return undefined;
    });
    expect(await get(path, 'POST')).toEqual({ status: 200, text: 'ls,-l undefined' });
    expect((await get('/run/default/web/other?cmd=ls', 'POST')).text).toBe('container not found ("other")');
    expect((await get('/run/default/other/app?cmd=ls', 'POST')).text).toBe('pod does not exist');
  });

  it('says its exit code', async () => {
    const get = await runOf(async (_pod, _container, _command, { stdout }) => {
      stdout?.write('no');
      return 2;
    });
    expect(await get(path, 'POST')).toEqual({ status: 500, text: "command 'ls -l' exited with 2: no" });
  });

  it('is ended when it writes too much', async () => {
    const get = await runOf(async (_pod, _container, _command, { stdout }, { signal }) => {
      while (!signal.aborted) {
        stdout?.write(Buffer.alloc(64 * 1024));
        await Promise.resolve();
      }
      return 0;
    });
    expect(await get(path, 'POST')).toEqual({ status: 500, text: "command 'ls -l' wrote more than 1048576 bytes" });
  });

  it('says in words what failed', async () => {
    const get = await runOf(() => Promise.reject(new Error('no shell')));
    expect(await get(path, 'POST')).toEqual({ status: 500, text: 'no shell' });
  });
});
