import assert from 'node:assert/strict';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../../../src/base/logging/logger.ts';
import type { PodSink } from '../../../../src/node/sources/pod-delivery.ts';
import { unhandledRejectionsOf } from '../../../support/unhandled-rejections.ts';
import { until } from '../../../support/until.ts';
import { sendJson } from '../../client/transport/scripted-server.ts';
import { answerList, type ListScript, pod, refuse, setUp, startAndWatch } from './pod-source-server.ts';

describe('ApiServerPodSource, cut off', () => {
  const next = async (test: Awaited<ReturnType<typeof setUp>>, count = 2): Promise<void> => {
    await until(() => test.interruptions.length === count - 1);
    await test.clock.advance(test.interruptions.at(-1)?.delayMs ?? 0);
    await until(() => test.server.watches.length === count);
  };

  it('goes on from the last event after a reset connection', async () => {
    await using test = await startAndWatch();
    test.server.latestWatch().send('ADDED', pod('b', '11'));
    await until(() => test.calls.includes('added b'));
    test.server.latestWatch().response.socket?.resetAndDestroy();
    await next(test);
    expect(test.server.latestWatch().query.get('resourceVersion')).toBe('11');
    expect(test.server.lists).toHaveLength(1);
  });

  it('goes on from the last bookmark after a silence', async () => {
    await using test = await startAndWatch(undefined, { idleTimeoutMs: 60_000 });
    test.server.latestWatch().send('BOOKMARK', { metadata: { resourceVersion: '42' } });
    await test.clock.advance(1);
    await until(() => test.source.lastObservedAt() !== undefined && test.clock.pendingTimers === 1);
    await test.clock.advance(60_000);
    await next(test);
    expect(test.interruptions[0]?.error).toMatchObject({ reason: 'Timeout' });
    expect(test.server.lists).toHaveLength(1);
  });

  it('drops a line that was cut off and goes on before it', async () => {
    await using test = await startAndWatch();
    test.server.latestWatch().send('ADDED', pod('b', '11'));
    test.server.latestWatch().response.end('{"type":"ADDED","object":{"metadata":{"name":"c"');
    await next(test);
    expect(test.server.latestWatch().query.get('resourceVersion')).toBe('11');
    expect(test.calls).toEqual(['addPod b', 'added b']);
  });

  it('opens the next watch without a pause when the server ends one in good order', async () => {
    await using test = await startAndWatch();
    await test.clock.advance(450_000 / 10);
    test.server.latestWatch().send('BOOKMARK', { metadata: { resourceVersion: '20' } });
    test.server.latestWatch().response.end();
    await until(() => test.server.watches.length === 2);
    expect(test.server.latestWatch().query.get('resourceVersion')).toBe('20');
    expect(test.interruptions).toEqual([]);
  });

  it('backs off from a server that ends every watch at once', async () => {
    await using test = await setUp();
    test.server.refuseWatch = (response) => response.end();
    await test.source.start();
    for (let count = 2; count < 9; count += 1) await next(test, count);
    await until(() => test.interruptions.length === 8);
    expect(test.interruptions.map(({ delayMs }) => delayMs)).toEqual([250, 500, 1000, 2000, 4000, 8000, 15_000, 15_000]);
    const failedAt = test.clock.now();
    const error = test.interruptions.at(-1)?.error;
    // it was heard from in between
    const first = { since: failedAt, attempt: 1 };
    expect(test.source.lastFailure()).toEqual({ error, at: failedAt, retryAt: failedAt + 15_000, ...first });
  });

  it.each([
    ['an ERROR event of 410', 'ERROR', { kind: 'Status', code: 410, reason: 'Expired' }],
    ['an event that is none', 'ADDED', { metadata: {} }],
    ['an unknown type', 'SURPRISE', pod('b', '11')],
  ])('lists again after %s', async (_what, type, object) => {
    await using test = await startAndWatch();
    test.server.scripts = [answerList([pod('b', '20')], '21')];
    test.server.latestWatch().send(type, object);
    await next(test);
    expect(test.server.latestWatch().query.get('resourceVersion')).toBe('21');
    expect(test.calls).toEqual(['removePod a', 'deleted a', 'addPod b', 'added b', 'synced b']);
  });

  it('lists again after garbage', async () => {
    await using test = await startAndWatch();
    test.server.latestWatch().response.write('<html>oops</html>\n');
    await next(test);
    expect(test.server.lists).toHaveLength(2);
  });

  it('lists again after a watch is refused with 410, and backs off when that goes on', async () => {
    await using test = await setUp();
    test.server.refuseWatch = (response) => sendJson(response, { code: 410, reason: 'Gone' }, { status: 410 });
    await test.source.start();
    for (let count = 2; count < 6; count += 1) await next(test, count);
    await until(() => test.interruptions.length === 5);
    expect(test.interruptions.map(({ delayMs }) => delayMs)).toEqual([250, 500, 1000, 2000, 4000]);
    expect(test.server.lists.length).toBeGreaterThanOrEqual(5);
  });

  it('finds what changed while it was away', async () => {
    await using test = await startAndWatch([answerList([pod('stays', '1'), pod('changes', '2'), pod('goes', '3')], '10')]);
    test.server.scripts = [answerList([pod('stays', '1'), pod('changes', '12'), pod('comes', '13')], '20')];
    test.server.latestWatch().send('ERROR', { code: 410 });
    await next(test);
    expect(test.calls).toEqual([
      'removePod goes',
      'deleted goes',
      'updatePod changes',
      'updated changes 2->12',
      'addPod comes',
      'added comes',
      'synced stays changes comes',
    ]);
  });

  it('takes a pod recreated under its name for another', async () => {
    await using test = await startAndWatch();
    test.server.scripts = [answerList([pod('a', '12', 'uid-2')], '20')];
    test.server.latestWatch().send('ERROR', { code: 410 });
    await next(test);
    expect(test.calls).toEqual(['removePod a', 'deleted a', 'addPod a', 'added a', 'synced a']);
  });

  it('waits as long as Retry-After says, on a list and on a watch', async () => {
    await using test = await setUp([refuse(429, { 'retry-after': '7' }), answerList([], '1')]);
    test.server.refuseWatch = (response) => sendJson(response, {}, { status: 503, headers: { 'retry-after': '3' } });
    const started = test.source.start();
    await until(() => test.interruptions.length === 1);
    await test.clock.advance(7249);
    expect(test.server.lists).toHaveLength(1);
    await test.clock.advance(1);
    await started;
    await until(() => test.interruptions.length === 2);
    expect(test.interruptions.map(({ delayMs }) => delayMs)).toEqual([7250, 3250]);
  });

  it('lists until it succeeds, with a growing pause, and begins anew after a success', async () => {
    const broken: ListScript = (_query, response) => response.end('{"items":');
    const reset: ListScript = (_query, response) => response.socket?.resetAndDestroy();
    const noPods: ListScript = (_query, response) => sendJson(response, { metadata: { resourceVersion: '1' }, items: [{}] });
    await using test = await setUp([refuse(500), broken, reset, noPods, answerList([], '1'), refuse(500)]);
    const started = test.source.start();
    for (let count = 1; count <= 4; count += 1) {
      await until(() => test.interruptions.length === count);
      await test.clock.advance(test.interruptions.at(-1)?.delayMs ?? 0);
    }
    await started;
    await until(() => test.server.watches.length === 1);
    test.server.latestWatch().send('ERROR', { code: 410 });
    await until(() => test.interruptions.length === 5);
    await test.clock.advance(250);
    await until(() => test.interruptions.length === 6);
    expect(test.interruptions.map(({ delayMs }) => delayMs)).toEqual([250, 500, 1000, 2000, 250, 250]);
  });

  it('is harmed by no handler, sink or logger that fails', async () => {
    const fail = (): never => {
      throw new Error('mistake');
    };
    const reject = async (): Promise<never> => fail();
    const logged: unknown[] = [];
    const named: unknown[] = [];
    const logger = {
      debug: fail,
      info: fail,
      warn: fail,
      error: (fields: object) => {
        logged.push('method' in fields && fields.method);
        if ('method' in fields && fields.method !== 'synced' && fields.method !== 'interrupted') named.push(fields);
        fail();
      },
    };
    const podManager = { addPod: fail, updatePod: fail, removePod: fail };
    const handlers = { podAdded: reject, podUpdated: fail, podDeleted: reject, synced: fail, interrupted: fail };
    await using test = await setUp(undefined, { podManager, handlers, logger });
    await test.source.start();
    await until(() => test.server.watches.length === 1);
    test.server.latestWatch().send('MODIFIED', pod('a', '11'));
    test.server.latestWatch().send('DELETED', pod('a', '12'));
    await until(() => logged.length === 7);
    for (const fields of named)
      expect(fields).toMatchObject({ podName: 'a', podNamespace: expect.any(String), podUID: expect.any(String) });
    expect(logged.sort()).toEqual(['addPod', 'podAdded', 'podDeleted', 'podUpdated', 'removePod', 'synced', 'updatePod']);
    test.server.latestWatch().send('BOOKMARK', { metadata: { resourceVersion: '13' } });
    test.server.latestWatch().response.end();
    await until(() => logged.length === 8);
    await test.clock.advance(250);
    await until(() => test.server.watches.length === 2);
    expect(test.server.latestWatch().query.get('resourceVersion')).toBe('13');
  });

  it('is harmed by no handler or sink that is async and rejects, however its promise is made', async () => {
    const logged: unknown[] = [];
    const logger = { ...silentLogger, error: (fields: object) => logged.push('method' in fields && fields.method) };
    const reject = async (): Promise<never> => {
      throw new Error('mistake');
    };
    // a promise of another realm is no instance of our Promise
    const rejectElsewhere: () => unknown = runInNewContext('async () => { throw new Error("mistake") }');
    const podManager = {
      addPod: reject,
      updatePod: rejectElsewhere,
      removePod: reject,
      getPodsAndMirrorPods: reject,
    };
    const handlers = { podAdded: reject, podUpdated: rejectElsewhere, podDeleted: reject, synced: reject };
    const unhandled = await unhandledRejectionsOf(async () => {
      await using test = await setUp(undefined, { podManager: podManager as unknown as PodSink, handlers, logger });
      await test.source.start();
      await until(() => test.server.watches.length === 1);
      test.server.latestWatch().send('MODIFIED', pod('a', '11'));
      test.server.latestWatch().send('DELETED', pod('a', '12'));
      await until(() => logged.length === 8);
    });
    const callbacks = [
      'addPod',
      'getPodsAndMirrorPods',
      'podAdded',
      'podDeleted',
      'podUpdated',
      'removePod',
      'synced',
      'updatePod',
    ];
    expect([logged.sort(), unhandled]).toEqual([callbacks, []]);
  });

  it('starts, also when an answer of the pod manager cannot be read', async () => {
    const unreadable = {
      get allPods(): never {
        throw new Error('mistake');
      },
    };
    const seen: unknown[] = [];
    const podManager = { addPod: (pod: unknown) => seen.push(pod), updatePod: () => {}, removePod: () => {} };
    const sink = { ...podManager, getPodsAndMirrorPods: () => unreadable } as unknown as PodSink;
    await using test = await setUp([answerList([pod('a', '1')], '1')], { podManager: sink });
    await test.source.start();
    expect(seen).toHaveLength(1);
  });

  it.each([
    ['throws', () => assert.fail('mistake')],
    ['answers NaN', () => Number.NaN],
    ['answers too much', () => 1e9],
  ])('backs off, too, when `random` %s', async (_what, random) => {
    await using test = await setUp([refuse(500), answerList([], '1')], { random: random as () => number });
    const started = test.source.start();
    await until(() => test.interruptions.length === 1);
    expect(test.interruptions[0]?.delayMs).toBe(250);
    await test.clock.advance(250);
    await started;
    await until(() => test.server.watches.length === 1);
    expect(test.server.latestWatch().query.get('timeoutSeconds')).toBe('450');
  });
});
