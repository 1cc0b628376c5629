import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../../../src/base/logging/logger.ts';
import { ObjectStore } from '../../../../src/client/reflector/object-store.ts';
import { Reflector } from '../../../../src/client/reflector/reflector.ts';
import type { ReflectorOptions } from '../../../../src/client/reflector/reflector-options.ts';
import { resources } from '../../../../src/client/resources/api-resource.ts';
import { ApiError } from '../../../../src/client/transport/api-error.ts';
import { KubeTransport } from '../../../../src/client/transport/kube-transport.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { unhandledRejectionsOf } from '../../../support/unhandled-rejections.ts';
import { failureOf, kubeConfigFor } from '../transport/scripted-server.ts';
import { type ConfigMap, configMap, FakeApi, refusal, setUp, startedSetUp } from './fake-api.ts';

describe('Reflector.stop', () => {
  it.each([
    ['a watch', {}],
    ['a watch, after a list', { streamLists: false }],
  ])('leaves no timer, no request and no callback of %s', async (_what, options) => {
    await using test = await startedSetUp(options);
    const { latest } = test.api;
    await test.reflector.stop();
    latest.send('ADDED', configMap('late', '99'));
    expect([test.clock.pendingTimers, test.api.open, test.calls, test.interruptions]).toEqual([0, [], [], []]);
    expect(test.reflector.state).toBe('stopped');
  });

  it.each([
    ['a streamed list', 'stream', {}],
    ['a list', 'list', { streamLists: false }],
  ] as const)('ends %s under way, and a start that is not awaited does no harm', async (_what, kind, options) => {
    await using test = setUp(options);
    test.api.failures[kind].push('hold');
    void test.reflector.start();
    await test.settle();
    await test.reflector.stop();
    expect([test.clock.pendingTimers, test.api.open, test.calls, test.interruptions]).toEqual([0, [], [], []]);
  });

  it('asks for no list again that fails as it stops', async () => {
    await using test = setUp({ streamLists: false });
    const request = test.api.request.bind(test.api);
    test.api.failures.list.push(refusal(410, 'Expired'));
    test.api.request = (options) => {
      void test.reflector.stop();
      return request(options);
    };
    void test.reflector.start();
    await test.settle();
    expect([test.api.log, test.calls]).toEqual([['list newest/500'], []]);
  });

  it('counts the failures in a row, and says when the next try is', async () => {
    const lines: object[] = [];
    const nothing = (): void => {};
    const logger = { debug: nothing, info: nothing, warn: (fields: object) => void lines.push(fields), error: nothing };
    await using test = setUp({ streamLists: false, logger });
    test.api.failures.list.push(refusal(500, 'InternalError'), refusal(500, 'InternalError'));
    void test.reflector.start().catch(() => {});
    await test.settle();
    await test.clock.advance(60_000);
    await test.settle();
    const waits = test.interruptions.map(({ delayMs }) => delayMs);
    expect(lines).toEqual(
      [1, 2].map((attempt) => ({
        ...{ err: expect.any(Error), errorClass: 'unavailable', resource: 'configmaps', path: '/api/v1/configmaps' },
        ...{ attempt, failingForMs: attempt === 1 ? 0 : waits[0], retryInMs: waits[attempt - 1] },
        ...{ problemKind: 'unavailable', help: expect.stringContaining('See whether the apiserver is up') },
      })),
    );
  });

  it('counts on where a step without a failure lies between two that fail, until the server is heard from', async () => {
    const lines: object[] = [];
    const nothing = (): void => {};
    const logger = { debug: nothing, info: nothing, warn: (fields: object) => void lines.push(fields), error: nothing };
    await using test = setUp({ logger });
    const { clock, reflector, api } = test;
    const since = clock.now();
    // each time a streamed list is tried first; that it fails is no failure yet
    const down = (): ApiError => new ApiError({ reason: 'Network', message: 'connect ECONNREFUSED' });
    api.failures.list.push(down(), down(), down());
    api.failures.stream.push(down(), down(), down());
    void reflector.start().catch(() => {});
    await test.settle();
    expect(reflector.lastFailure()).toMatchObject({ at: since, since, attempt: 1 });
    for (let i = 0; i < 2; i += 1) {
      await clock.advance((reflector.lastFailure()?.retryAt ?? 0) - clock.now());
      await test.settle();
    }
    expect(reflector.lastFailure()).toMatchObject({ at: clock.now(), since, attempt: 3 });
    expect(lines).toMatchObject([{ attempt: 1 }, { attempt: 2 }, { attempt: 3 }]);
    await clock.advance((reflector.lastFailure()?.retryAt ?? 0) - clock.now());
    await test.settle();
    expect([reflector.hasSynced, reflector.lastFailure()]).toEqual([true, undefined]);
    api.latest.fail(down());
    await test.settle();
    expect(reflector.lastFailure()).toMatchObject({ since: clock.now(), attempt: 1 });
  });

  it.each([
    true,
    false,
  ])('counts a watch that is refused after each good list as a run of failures (streams: %s)', async (streamLists) => {
    const lines: object[] = [];
    const nothing = (): void => {};
    const logger = { debug: nothing, info: nothing, warn: (fields: object) => void lines.push(fields), error: nothing };
    await using test = setUp({ logger, streamLists });
    const { clock, reflector, api } = test;
    const forbidden = (): ApiError => refusal(403, 'Forbidden');
    api.failures.watch.push(forbidden(), forbidden(), forbidden());
    api.failures.stream.push(forbidden(), forbidden(), forbidden());
    await reflector.start();
    await test.settle();
    const since = clock.now();
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      expect([reflector.hasSynced, reflector.lastFailure()]).toMatchObject([true, { since, attempt }]);
      await clock.advance((reflector.lastFailure()?.retryAt ?? 0) - clock.now());
      await test.settle();
    }
    expect(lines).toMatchObject([1, 2, 3].map((attempt) => ({ errorClass: 'forbidden', attempt })));
    // a stream shows at once that it works, and a quiet watch in that it goes on
    if (!streamLists) {
      expect(reflector.lastFailure()).toMatchObject({ attempt: 3 });
      await clock.advance(5000);
    }
    expect(reflector.lastFailure()).toBeUndefined();
    expect(api.open).toHaveLength(1);
  });

  it('takes a list for the end of a watch that the server has forgotten, or that broke off', async () => {
    await using test = setUp({ streamLists: false });
    await test.reflector.start();
    await test.settle();
    test.api.latest.expire();
    await test.settle();
    await test.clock.advance(1000);
    await test.settle();
    expect(test.interruptions).toHaveLength(1);
    expect(test.reflector.lastFailure()).toBeUndefined();
  });

  it('says in the log what a failure means to its owner', async () => {
    const lines: object[] = [];
    const nothing = (): void => {};
    const logger = { debug: nothing, info: nothing, warn: (fields: object) => void lines.push(fields), error: nothing };
    let calls = 0;
    const explainFailure = () => {
      calls += 1;
      if (calls === 2) throw new Error('no words');
      return { kind: 'own', help: 'Ask.' };
    };
    await using test = setUp({ streamLists: false, logger, explainFailure });
    test.api.failures.list.push(refusal(403, 'Forbidden'), refusal(403, 'Forbidden'));
    void test.reflector.start().catch(() => {});
    await test.settle();
    await test.clock.advance(60_000);
    expect(lines).toMatchObject([{ problemKind: 'own', help: 'Ask.' }, { problemKind: 'forbidden' }]);
  });

  it('ends a pause between two tries', async () => {
    await using test = setUp({ streamLists: false });
    test.api.failures.list.push(refusal(500, 'InternalError'));
    const started = failureOf(test.reflector.start());
    await test.settle();
    expect(test.clock.pendingTimers).toBe(1);
    await test.reflector.stop();
    expect(await started).toMatchObject({ code: 'ERR_STOPPED' });
    expect(test.clock.pendingTimers).toBe(0);
  });

  it('happens once, also before start, and nothing starts afterwards', async () => {
    await using test = setUp();
    expect(test.reflector.stop()).toBe(test.reflector.stop());
    await test.reflector.stop();
    expect(await failureOf(test.reflector.start())).toMatchObject({ code: 'ERR_STOPPED' });
    expect(() => test.reflector.resume()).toThrow(expect.objectContaining({ code: 'ERR_STOPPED' }));
    await test.reflector.pause();
    expect(test.api.log).toEqual([]);
  });

  it('ends a transport of its own, and leaves a shared one open', async () => {
    const closed: unknown[] = [];
    const api = Object.assign(new FakeApi(), { close: async () => closed.push('shared') });
    const shared = setUp({ transport: api });
    await shared.reflector.start();
    await shared.reflector.stop();
    const own = new Reflector({ logger: null, kubeConfig: kubeConfigFor('http://127.0.0.1:9'), resource: resources.configMaps });
    void own.start();
    await own.stop();
    expect([closed, own.state]).toEqual([[], 'stopped']);
  });
});

describe('a reflector whose clock fails', () => {
  it('goes on after a time that could not be read', async () => {
    const time = new FakeClock();
    let fails = false;
    const now = (): number => (fails ? expect.fail('mistake') : time.now());
    await using test = await startedSetUp({ clock: { now, setTimer: time.setTimer.bind(time) }, streamLists: false });
    fails = true;
    test.api.latest.end();
    await test.settle();
    fails = false;
    await time.advance(60_000);
    expect(test.api.log.at(-1)).toBe('watch 10');
    expect(test.api.open).toHaveLength(1);
  });

  it('says so, ends, and can be stopped', async () => {
    const logged: string[] = [];
    const logger = { ...silentLogger, error: (_fields: object, message: string) => logged.push(message) };
    const clock = { now: () => 0, setTimer: () => expect.fail('mistake') };
    const unhandled = await unhandledRejectionsOf(async () => {
      await using test = setUp({ clock, logger, streamLists: false });
      test.api.failures.list.push(refusal(500, 'InternalError'));
      void test.reflector.start();
      await test.settle();
    });
    expect([logged, unhandled]).toEqual([['a reflector has ended: its clock failed'], []]);
  });
});

describe('Reflector.pause', () => {
  it('leaves no request and no timer; a start goes on waiting, and resume brings it to its end', async () => {
    await using test = setUp();
    test.api.failures.stream.push('hold');
    const started = test.reflector.start();
    await test.settle();
    await test.reflector.pause();
    expect([test.clock.pendingTimers, test.api.open]).toEqual([0, []]);
    test.reflector.resume();
    test.reflector.resume();
    await started;
    expect(test.api.log).toEqual(['stream newest', 'end newest', 'stream newest']);
  });

  it('does nothing to a reflector that has not started', async () => {
    await using test = setUp();
    await test.reflector.pause();
    test.reflector.resume();
    await test.settle();
    expect(test.api.log).toEqual([]);
    await test.reflector.start();
    expect(test.reflector.hasSynced).toBe(true);
  });

  it('ends the run before it begins another one, however quickly they follow', async () => {
    await using test = await startedSetUp();
    for (let index = 0; index < 5; index += 1) {
      void test.reflector.pause();
      test.reflector.resume();
    }
    await test.settle();
    expect(test.api.open).toHaveLength(1);
    expect(test.api.log).toEqual(['end newest', 'stream newest']);
  });
});

describe('new Reflector', () => {
  const good = { transport: new FakeApi(), resource: resources.configMaps };

  it('cannot be started twice', async () => {
    await using test = await startedSetUp();
    expect(await failureOf(test.reflector.start())).toMatchObject({ code: 'ERR_ALREADY_STARTED' });
  });

  it.each<object>([
    { resource: undefined },
    { resource: 'pods' },
    { resource: { resource: 'pods' } },
    { namespace: '' },
    { namespace: 'a/b' },
    { namespace: 'a/b' },
    { namespace: 7 },
    { fieldSelector: 7 },
    { labelSelector: {} },
    { store: {} },
    { transform: {} },
    { handlers: { added: 7 } },
    { handlers: { add: () => {} } },
    { handlers: null },
    { streamLists: 'yes' },
    { listFrom: 'newest' },
    { pageSize: 0 },
    { idleTimeoutMs: 10 },
    { idleTimeoutMs: 2 ** 31 },
    { watchTimeoutMs: 0 },
    { random: 0.5 },
    { clock: {} },
    { transport: {} },
    { unknown: 1 },
  ])('refuses the option %j', (options) => {
    const make = (): unknown => new Reflector({ logger: null, ...good, ...options } as unknown as ReflectorOptions<ConfigMap>);
    expect(make).toThrow(expect.objectContaining({ name: 'StatusManagerError' }));
    expect(make).toThrow(Object.keys(options)[0]);
  });

  it('needs a kubeconfig or a transport, and takes no namespace for a resource of the cluster', () => {
    expect(() => new Reflector({ logger: null, resource: resources.nodes })).toThrow('Expected `kubeConfig` to be given');
    expect(() => new Reflector({ logger: null, ...good, resource: resources.nodes, namespace: 'x' })).toThrow(
      'nodes belong to the cluster',
    );
  });

  it('gives a store of its own unless it gets one, and works over a KubeTransport', async () => {
    await using transport = new KubeTransport(kubeConfigFor('http://127.0.0.1:9'));
    const store = new ObjectStore<ConfigMap>();
    expect(new Reflector({ logger: null, resource: resources.configMaps, transport, store }).store).toBe(store);
    expect(new Reflector({ logger: null, resource: resources.configMaps, transport }).store.list()).toEqual([]);
  });
});
