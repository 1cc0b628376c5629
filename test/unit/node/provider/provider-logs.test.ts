import { once } from 'node:events';
import { PassThrough, Readable } from 'node:stream';
import { connect } from 'node:tls';
import { describe, expect, it } from 'vitest';
import type { ContainerLogRequest, PodProvider } from '../../../../src/node/provider/pod-provider.ts';
import { KubeletApiRefusal } from '../../../../src/node/server/exchange.ts';
import { until } from '../../../support/until.ts';
import { servedNode } from './served-node.ts';

type GetLogs = NonNullable<PodProvider['getContainerLogs']>;
const path = '/containerLogs/default/web/app';
const logsOf = (getContainerLogs: unknown) => servedNode({ provider: { getContainerLogs: getContainerLogs as GetLogs } });

async function* pieces(...texts: readonly (string | Uint8Array)[]) {
  yield* texts;
}

describe('the log of a container', () => {
  it.each([
    ['a text', () => 'one\ntwo\n'],
    ['bytes', async () => Buffer.from('one\ntwo\n')],
    ['pieces', () => pieces('one\n', new Uint8Array(), '', Buffer.from('two\n'))],
    ['a stream', () => Readable.from(['one\n', 'two\n'])],
    ['a stream of the web', () => new Blob(['one\ntwo\n']).stream()],
  ])('may be %s', async (_, log) => {
    const { get } = await logsOf(log);
    expect(await get(path)).toEqual({ status: 200, text: 'one\ntwo\n' });
    expect(await get(`${path}?follow=true`)).toEqual({ status: 200, text: 'one\ntwo\n' });
  });

  it('is asked for with the pod, the container, and what the client wants', async () => {
    const asked: [string | undefined, string, ContainerLogRequest][] = [];
    const { get, clock } = await logsOf(((pod, container, request) => {
      asked.push([pod.metadata.name, container, request]);
      return '';
    }) satisfies GetLogs);
    const since = new Date(clock.now() - 60_000);
    await get(`${path}?tailLines=3&sinceSeconds=60&timestamps=true&previous=true&limitBytes=9`);
    await get(`/containerLogs/default/web/debug?sinceTime=2026-01-01T00:00:00.5Z&stream=Stderr&follow=1`);
    await get('/containerLogs/default/web/setup');
    const none = { tailLines: undefined, sinceTime: undefined, limitBytes: undefined, stream: undefined };
    const not = { follow: false, timestamps: false, previous: false };
    expect(asked).toEqual([
      ['web', 'app', { ...none, tailLines: 3, sinceTime: since, limitBytes: 9, follow: false, timestamps: true, previous: true }],
      ['web', 'debug', { ...none, ...not, follow: true, stream: 'stderr', sinceTime: new Date('2026-01-01T00:00:00.500Z') }],
      ['web', 'setup', { ...none, ...not }],
    ]);
  });

  it.each([
    ['/containerLogs/default/other/app', 404, 'pod "other" does not exist'],
    ['/containerLogs/default/web/other', 404, 'container "other" not found in pod "web"'],
    [`${path}?tailLines=x`, 400, '{"message": "Unable to decode query."}'],
    [`${path}?limitBytes=0`, 422, '{"message": "Invalid request."}'],
  ])('is refused as by a kubelet: %s', async (asked, status, text) => {
    const { get } = await logsOf(() => 'x');
    expect(await get(asked)).toEqual({ status, text });
  });

  it('ends after the bytes that the client wants at most', async () => {
    const { get } = await logsOf(() => pieces('0123', '4567', '89'));
    expect((await get(`${path}?limitBytes=6`)).text).toBe('012345');
    const endless = new PassThrough();
    endless.write('0123');
    const followed = await logsOf(() => endless);
    expect((await followed.get(`${path}?limitBytes=4&follow=1`)).text).toBe('0123');
    expect(endless.destroyed).toBe(true);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('no such log');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no such log'))],
    [
      'fails before its first piece',
      () =>
        new Readable({
          read() {
            this.destroy(new Error('no such log'));
          },
        }),
    ],
  ])('that %s is an answer in words', async (_, log) => {
    const { get } = await logsOf(log);
    const text = 'unable to read the log of container "app": no such log';
    expect(await get(path)).toEqual({ status: 500, text });
  });

  it('may be refused with a status of its own', async () => {
    const { get } = await logsOf(() => Promise.reject(new KubeletApiRefusal(404, 'it was rotated away')));
    expect(await get(path)).toEqual({ status: 404, text: 'it was rotated away' });
  });

  it.each([[undefined], [{}], [7], [[1]]])('is nothing else: %j', async (log) => {
    const { get } = await logsOf(() => log);
    const { status, text } = await get(path);
    expect(status).toBe(500);
    expect(text).toContain('getContainerLogs() of the provider must answer with a text');
    expect(text).not.toContain('.ts');
  });

  it('that fails on its way is cut off', async () => {
    const { send, logged } = await logsOf(async function* () {
      yield 'one\n';
      throw new Error('gone');
    });
    const answer = await send(path);
    await expect(answer.toArray()).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(logged.map(([, message]) => message)).toContain("an answer of the node's API was cut off");
  });

  it('that is followed begins at once, and goes on until its end', async () => {
    const log = new PassThrough();
    const { send } = await logsOf(() => log);
    const answer = await send(`${path}?follow=true`);
    expect(answer.statusCode).toBe(200);
    log.write('late\n');
    expect(String((await once(answer, 'data'))[0])).toBe('late\n');
    log.end('end\n');
    expect(String((await once(answer, 'data'))[0])).toBe('end\n');
    await once(answer, 'end');
  });

  it('is closed when its client goes', async () => {
    let aborted: AbortSignal | undefined;
    const log = new PassThrough();
    const { send } = await logsOf(((_pod, _container, _request, { signal }) => {
      aborted = signal;
      return log;
    }) satisfies GetLogs);
    const answer = await send(`${path}?follow=true`);
    answer.destroy();
    await until(() => log.destroyed && aborted?.aborted === true);
  });

  it('that comes after its client has gone is closed, and a call that goes on is told of', async () => {
    const opening = Promise.withResolvers<PassThrough>();
    let [asked, aborted] = [false, false];
    const { clock, logged, address, admin } = await logsOf(((_pod, _container, _request, { signal }) => {
      asked = true;
      signal.addEventListener('abort', () => {
        aborted = true;
      });
      return opening.promise;
    }) satisfies GetLogs);
    const socket = connect({ ...address, ...admin });
    await once(socket, 'secureConnect');
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    socket.on('error', () => {});
    await until(() => asked);
    socket.destroy();
    await until(() => aborted);
    const words = 'a call of the provider goes on, although its client is gone';
    await until(async () => {
      await clock.advance(1000);
      return logged.some(([, message]) => message === words);
    });
    expect(logged.find(([, message]) => message === words)?.[0]).toMatchObject({ method: 'getContainerLogs', podName: 'web' });
    const log = new PassThrough();
    opening.resolve(log);
    await until(() => log.destroyed);
  });

  it('is sent together with its head where it is there at once', async () => {
    const { address, admin } = await logsOf(() => 'one\n');
    const socket = connect({ ...address, ...admin });
    await once(socket, 'secureConnect');
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    const [first] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    expect(first.toString()).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*one\n/);
  });

  it('waits for its client: what nobody takes is not asked for', async () => {
    let made = 0;
    const { send } = await logsOf(async function* () {
      for (; made < 1000; made += 1) yield Buffer.alloc(64 * 1024);
    });
    const answer = await send(path);
    await once(answer, 'readable');
    let before = -1;
    await until(() => {
      const isStill = made === before;
      before = made;
      return isStill;
    });
    expect(made).toBeLessThan(900);
    answer.resume();
    await once(answer, 'end');
    expect(made).toBe(1000);
  });

  it('counts as a stream: one too many is refused', async () => {
    const { send, get } = await servedNode({
      server: { maxStreams: 1 },
      provider: { getContainerLogs: () => new PassThrough() },
    });
    const first = await send(`${path}?follow=1`);
    expect((await get(path)).status).toBe(429);
    first.destroy();
    await until(async () => (await send(`${path}?follow=1`)).statusCode === 200);
  });
});
