import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { TerminalSize } from '../../../../src/node/streams/container-streams.ts';
import { until } from '../../../support/until.ts';
import { SpdyClient } from './spdy-client.ts';
import { idleTimeoutMs, type StreamsServer, serveStreams, textOf } from './streams-server.ts';

const v4 = 'v4.channel.k8s.io';

async function openAll<Type extends string>(client: SpdyClient, types: readonly Type[]): Promise<Record<Type, number>> {
  const ids: [Type, number][] = [];
  for (const streamtype of types) ids.push([streamtype, await client.open({ streamtype })]);
  return Object.fromEntries(ids) as Record<Type, number>;
}

async function openExec(server: StreamsServer, protocol = v4) {
  const client = await SpdyClient.connect(server.port, '/exec?input=1&output=1&error=1', protocol);
  const ids = await openAll(client, ['error', 'stdin', 'stdout', 'stderr']);
  return { client, ids, session: await server.session() };
}

describe('exec over SPDY', () => {
  it('carries what is typed and shown, and the exit code', async () => {
    const server = await serveStreams();
    const { client, ids, session } = await openExec(server);
    client.send(ids.stdin, 'hel');
    client.send(ids.stdin, 'lo', true);
    expect(await textOf(session.streams.stdin)).toBe('hello');
    session.streams.stdout?.write('out');
    session.streams.stderr?.write('err');
    const ended = session.end({ exitCode: 7 });
    expect(await client.ended(ids.stdout)).toBe('out');
    expect(await client.ended(ids.stderr)).toBe('err');
    const status = JSON.parse(await client.ended(ids.error));
    expect(status).toMatchObject({ status: 'Failure', reason: 'NonZeroExitCode' });
    expect(status.details.causes).toEqual([{ reason: 'ExitCode', message: '7' }]);
    await ended;
    expect(client.goAways).toEqual([0]);
    expect(await client.repliesInflated()).toBe('00000000'.repeat(4));
    expect(session.signal.aborted).toBe(true);
    await session.end({ exitCode: 0 });
  });

  it.each([
    { end: { exitCode: 0 }, told: { status: 'Success' } },
    { end: { exitCode: -1 }, told: { details: { causes: [{ reason: 'ExitCode', message: '255' }] } } },
    { end: { error: 'no shell' }, told: { reason: 'InternalError', message: 'Internal error occurred: no shell', code: 500 } },
  ])('tells $end as a status', async ({ end, told }) => {
    const { client, ids, session } = await openExec(await serveStreams());
    const ended = session.end(end);
    expect(JSON.parse(await client.ended(ids.error))).toMatchObject(told);
    await ended;
  });

  it('tells clients of older protocols an error as text', async () => {
    const { client, ids, session } = await openExec(await serveStreams(), 'v2.channel.k8s.io, channel.k8s.io');
    const ended = session.end({ exitCode: 3 });
    expect(await client.ended(ids.error)).toBe('command terminated with non-zero exit code: 3');
    await ended;
  });

  it('gives a terminal its sizes, and one output', async () => {
    const server = await serveStreams();
    const client = await SpdyClient.connect(server.port, '/exec?input=1&output=1&error=1&tty=1', v4);
    const ids = await openAll(client, ['error', 'stdin', 'stdout', 'resize']);
    const session = await server.session();
    expect(session.streams).toMatchObject({ tty: true, stderr: undefined });
    const sizes: TerminalSize[] = [];
    client.send(ids.resize, '{"Width":80,"Height":24}\n{"Width":80,"Hei');
    client.send(ids.resize, 'ght":25}{"Width":0,"Height":1}{"Width":"x"}}}{"Width":81,"Height":25}');
    session.streams.onResize(() => {
      throw new Error('of the listener');
    });
    session.streams.onResize((size) => sizes.push(size));
    await until(() => sizes.at(-1)?.columns === 81);
    const late: TerminalSize[] = [];
    session.streams.onResize((size) => late.push(size));
    expect(late).toEqual([{ columns: 81, rows: 25 }]);
  });

  it('has no session before the last stream is there, and gives up after the time for it', async () => {
    const server = await serveStreams();
    const client = await SpdyClient.connect(server.port, '/exec?output=1', v4);
    await openAll(client, ['error']);
    await server.clock.advance(29_999);
    await setImmediate();
    expect([server.sessions, server.refusals]).toEqual([[], []]);
    await server.clock.advance(1);
    const refusal = await server.refusal();
    expect(refusal).toMatchObject({ status: undefined, message: 'the client did not open its streams in time' });
    await until(() => client.isClosed);
    expect(server.clock.pendingTimers).toBe(0);
  });

  it('refuses a stream that was not asked for, and one that is there already', async () => {
    const server = await serveStreams();
    const client = await SpdyClient.connect(server.port, '/exec?output=1', v4);
    const ids = await openAll(client, ['stdin', 'error', 'x', 'stdout']);
    const again = await client.open({ streamtype: 'stdout' });
    await server.session();
    await until(() => client.stream(again).resetStatus !== undefined);
    expect([client.stream(ids.stdin).resetStatus, client.stream(ids.x).resetStatus, client.stream(again).resetStatus]).toEqual([
      3, 3, 3,
    ]);
    expect(client.stream(ids.stdout).isReplied).toBe(true);
  });

  it('aborts, ends stdin and breaks stdout when the client goes away', async () => {
    const { client, session } = await openExec(await serveStreams());
    client.socket.destroy();
    expect(await textOf(session.streams.stdin)).toBe('');
    await until(() => session.signal.aborted);
    expect(session.streams.stdout?.destroyed).toBe(true);
    await session.end({ exitCode: 0 });
  });

  it('aborts when the client says goodbye, and when the server closes', async () => {
    const first = await openExec(await serveStreams());
    first.client.control(7, Buffer.alloc(8));
    await until(() => first.session.signal.aborted);
    const server = await serveStreams();
    const second = await openExec(server);
    server.closing.abort(new Error('the server closes'));
    expect(second.session.signal.reason).toEqual(new Error('the server closes'));
    await until(() => second.client.isClosed);
  });

  it('ends when nothing has moved for too long, and not before', async () => {
    const server = await serveStreams();
    const { client, session } = await openExec(server);
    await server.clock.advance(idleTimeoutMs);
    client.control(6, Buffer.from('00000001', 'hex'));
    await until(() => client.pongs.length === 1);
    await server.clock.advance(idleTimeoutMs);
    expect(session.signal.aborted).toBe(false);
    await server.clock.advance(idleTimeoutMs);
    expect(session.signal.reason).toEqual(new Error('nothing has moved for too long'));
    await until(() => client.isClosed);
  });
});
