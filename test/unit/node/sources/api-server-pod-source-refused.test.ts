import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { until } from '../../../support/until.ts';
import { sendJson } from '../../client/transport/scripted-server.ts';
import { answerList, pod, setUp } from './pod-source-server.ts';

type Test = Awaited<ReturnType<typeof setUp>>;
type Refusal = (response: ServerResponse) => void;

/** Waits out the pause after the interruption number `count`, until the next watch is asked for. */
async function nextWatch(test: Test, count: number): Promise<void> {
  await until(() => test.interruptions.length === count);
  await test.clock.advance(test.interruptions.at(-1)?.delayMs ?? 0);
  await until(() => test.server.watches.length === count + 1);
}

const httpError =
  (code: number, headers = {}): Refusal =>
  (response) =>
    sendJson(response, { kind: 'Status', status: 'Failure', code, reason: 'Refused' }, { status: code, headers });

const line =
  (text: string): Refusal =>
  (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(`${text}\n`);
  };
const errorEvent = (object: unknown): Refusal => line(JSON.stringify({ type: 'ERROR', object }));

const refusals: readonly (readonly [string, Refusal])[] = [
  ...[301, 400, 401, 403, 404, 405, 410, 429, 500, 501, 503, 504].map((code) => [`HTTP ${code}`, httpError(code)] as const),
  ...[200, 403, 410, 500].map((code) => [`an ERROR event of code ${code}`, errorEvent({ kind: 'Status', code })] as const),
  ['an ERROR event that says nothing', errorEvent(null)],
  ['a page of HTML', line('<html>login</html>')],
  ['an empty answer', (response) => response.end()],
];

describe('ApiServerPodSource, whose watch is refused', () => {
  it.each(refusals)('with %s, lists again after a pause and finds what happened meanwhile', async (_with, refuse) => {
    await using test = await setUp();
    test.server.refuseWatch = refuse;
    await test.source.start();
    await until(() => test.interruptions.length === 1);
    expect(test.server.lists).toHaveLength(1);
    test.server.scripts = [answerList([pod('a', '12'), pod('b', '11')], '12')];
    test.calls.length = 0;
    await nextWatch(test, 1);
    expect(test.calls).toEqual(['updatePod a', 'updated a 1->12', 'addPod b', 'added b', 'synced a b']);
    expect(test.server.latestWatch().query.get('resourceVersion')).toBe('12');
  });

  it.each([
    200,
    403,
    410,
    500,
    undefined,
  ])('by an ERROR event of code %s, lists again also when it worked before', async (code) => {
    await using test = await setUp();
    await test.source.start();
    await until(() => test.server.watches.length === 1);
    test.server.latestWatch().send('ADDED', pod('b', '11'));
    test.server.latestWatch().send('ERROR', { kind: 'Status', code });
    await nextWatch(test, 1);
    expect(test.server.lists).toHaveLength(2);
  });

  it.each([
    ['with an HTTP error', httpError(403)],
    ['with an HTTP error whose Retry-After is 0', httpError(503, { 'retry-after': '0' })],
    ['with an HTTP error whose Retry-After is in the past', httpError(429, { 'retry-after': 'Sat, 01 Jan 1994 00:00:00 GMT' })],
    ['with an HTTP error whose Retry-After is negative', httpError(429, { 'retry-after': '-5' })],
    ['with an ERROR event', errorEvent({ kind: 'Status', code: 500 })],
  ])('again and again, %s, is listed in growing pauses though every list works', async (_how, refuse) => {
    await using test = await setUp();
    test.server.refuseWatch = refuse;
    await test.source.start();
    for (let count = 1; count < 9; count += 1) await nextWatch(test, count);
    await until(() => test.interruptions.length === 9);
    const pauses = [250, 500, 1000, 2000, 4000, 8000, 15_000, 15_000, 15_000];
    expect(test.interruptions.map(({ delayMs }) => delayMs)).toEqual(pauses);
    expect(test.server.lists).toHaveLength(9);
  });

  it('by a server that takes its time, is listed in growing pauses, too', async () => {
    await using test = await setUp();
    test.server.refuseWatch = () => {};
    await test.source.start();
    for (let count = 1; count <= 4; count += 1) {
      await until(() => test.server.watches.length === count);
      await test.clock.advance(29_000);
      httpError(504)(test.server.latestWatch().response);
      if (count < 4) await nextWatch(test, count);
    }
    await until(() => test.interruptions.length === 4);
    expect(test.interruptions.map(({ delayMs }) => delayMs)).toEqual([250, 500, 1000, 2000]);
  });

  it('waits as long as Retry-After says', async () => {
    await using test = await setUp();
    test.server.refuseWatch = httpError(403, { 'retry-after': '7' });
    await test.source.start();
    await until(() => test.interruptions.length === 1);
    await test.clock.advance(7249);
    expect(test.server.lists).toHaveLength(1);
    await test.clock.advance(1);
    await until(() => test.server.lists.length === 2);
  });

  it('begins with short pauses again once a watch has worked', async () => {
    await using test = await setUp();
    test.server.refuseWatch = httpError(403);
    await test.source.start();
    for (let count = 1; count < 4; count += 1) await nextWatch(test, count);
    await until(() => test.interruptions.length === 4);
    test.server.refuseWatch = undefined;
    await test.clock.advance(2000);
    await until(() => test.server.watches.length === 5);
    test.server.latestWatch().send('BOOKMARK', { metadata: { resourceVersion: '42' } });
    await test.clock.advance(60_000);
    test.server.latestWatch().send('ERROR', { code: 410 });
    await until(() => test.interruptions.length === 5);
    expect(test.interruptions.map(({ delayMs }) => delayMs)).toEqual([250, 500, 1000, 2000, 250]);
  });
});

describe('ApiServerPodSource, whose watch brings nothing', () => {
  const reset: Refusal = (response) => response.socket?.resetAndDestroy();

  it('goes on from where it was, without a list, when the connection breaks twice before any answer', async () => {
    await using test = await setUp();
    test.server.refuseWatch = reset;
    await test.source.start();
    for (let count = 1; count < 3; count += 1) await nextWatch(test, count);
    expect(test.server.lists).toHaveLength(1);
    expect(test.server.latestWatch().query.get('resourceVersion')).toBe('10');
  });

  it('lists again after every third watch whose connection breaks before any answer, in growing pauses', async () => {
    await using test = await setUp();
    test.server.refuseWatch = reset;
    await test.source.start();
    test.server.scripts = [answerList([pod('a'), pod('late', '11')], '12')];
    test.calls.length = 0;
    const listsBefore: number[] = [];
    for (let count = 1; count < 8; count += 1) {
      listsBefore.push(test.server.lists.length);
      await nextWatch(test, count);
    }
    expect(listsBefore).toEqual([1, 1, 1, 2, 2, 2, 3]);
    expect(test.calls).toEqual(['addPod late', 'added late', 'synced a late', 'synced a late']);
    expect(test.server.latestWatch().query.get('resourceVersion')).toBe('12');
    expect(test.interruptions.slice(0, 5).map(({ delayMs }) => delayMs)).toEqual([250, 500, 1000, 2000, 4000]);
  });

  it('counts broken connections anew once a watch has brought something', async () => {
    await using test = await setUp();
    test.server.refuseWatch = reset;
    await test.source.start();
    await nextWatch(test, 1);
    test.server.refuseWatch = undefined;
    await nextWatch(test, 2);
    test.server.latestWatch().send('BOOKMARK', { metadata: { resourceVersion: '42' } });
    test.server.refuseWatch = reset;
    test.server.latestWatch().response.end();
    for (let count = 3; count < 6; count += 1) await nextWatch(test, count);
    expect(test.server.lists).toHaveLength(1);
    await nextWatch(test, 6);
    expect(test.server.lists).toHaveLength(2);
  });

  it('lists again after a silence from the first moment on', async () => {
    await using test = await setUp(undefined, { idleTimeoutMs: 60_000 });
    await test.source.start();
    await until(() => test.server.watches.length === 1);
    await test.clock.advance(60_000);
    await nextWatch(test, 1);
    expect(test.interruptions[0]?.error).toMatchObject({ reason: 'Timeout' });
    expect(test.server.lists).toHaveLength(2);
  });

  it('lists again after an answer that breaks off before the first event', async () => {
    await using test = await setUp();
    await test.source.start();
    await until(() => test.server.watches.length === 1);
    await test.clock.advance(60_000);
    test.server.latestWatch().response.socket?.resetAndDestroy();
    await nextWatch(test, 1);
    expect(test.server.lists).toHaveLength(2);
  });

  it('lists again, without a pause, after a long watch that the server ends in good order', async () => {
    await using test = await setUp();
    await test.source.start();
    await until(() => test.server.watches.length === 1);
    await test.clock.advance(60_000);
    test.server.latestWatch().response.end();
    await until(() => test.server.watches.length === 2);
    expect(test.server.lists).toHaveLength(2);
    expect(test.interruptions).toEqual([]);
  });
});
