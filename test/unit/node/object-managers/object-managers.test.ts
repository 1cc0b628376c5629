import { inspect } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import { ApiError, BasicPodManager, KubeTransport, type MetricsSink } from '../../../../src/index.ts';
import { ConfigMapManager, nodeTtlMs, SecretManager } from '../../../../src/object-managers.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { ObjectServer } from '../../../support/object-server.ts';
import { kubeConfigFor, scriptedServer, sendJson } from '../../client/transport/scripted-server.ts';
import { failureOf, podWith, secretWorld, settled, textOf } from './object-managers-world.ts';

const strategies = ['watch', 'cache', 'get'] as const;

describe.each(strategies)('a manager with strategy %s', (strategy) => {
  it('hands out one frozen secret, as JSON, without managedFields', async () => {
    const { clock, server, manager, getSecret } = secretWorld({ strategy });
    server.put('d', 's', 'one');
    manager.registerPod(podWith('p', ['s']));
    const secret = await settled(clock, getSecret('s'));
    expect(secret).toMatchObject({ metadata: { name: 's', namespace: 'd' }, data: { v: 'b25l' } });
    expect(secret.metadata).not.toHaveProperty('managedFields');
    expect(() => {
      (secret.data as Record<string, string>).v = 'changed';
    }).toThrow(TypeError);
    expect(Object.isFrozen(secret.metadata) && Object.isFrozen(secret)).toBe(true);
    if (strategy !== 'get') expect(await getSecret('s')).toBe(secret);
  });

  it('serves config maps in the same way', async () => {
    const clock = new FakeClock();
    const server = new ObjectServer({ resource: 'configmaps', clock });
    const manager = new ConfigMapManager({ logger: null, transport: server, strategy, clock });
    server.put('d', 'm', 'one');
    const spec = { containers: [], volumes: [{ name: 'v', configMap: { name: 'm' } }] };
    manager.registerPod({ metadata: { name: 'p', namespace: 'd', uid: 'u' }, spec });
    expect((await settled(clock, manager.getConfigMap('d', 'm'))).data).toEqual({ v: 'one' });
    await manager.stop();
  });

  it('leaves nothing behind when it is stopped, and fails what is under way and what comes', async () => {
    const before = (_: unknown, signal?: AbortSignal) =>
      new Promise<void>((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(new ApiError({ reason: 'Aborted', message: 'aborted' })));
      });
    const held = { isHeld: false };
    const { clock, server, manager, getSecret, watchesGauge } = secretWorld(
      { strategy },
      { before: (request, signal) => (held.isHeld ? before(request, signal) : undefined) },
    );
    server.put('d', 's', 'one');
    manager.registerPod(podWith('p', ['s']));
    await settled(clock, getSecret('s'));
    held.isHeld = true;
    manager.registerPod(podWith('q', ['t']));
    const read = getSecret('t');
    read.catch(() => {});
    await settle();
    const stopped = manager.stop();
    expect(manager.stop()).toBe(stopped);
    await stopped;
    await expect(read).rejects.toMatchObject({ code: 'ERR_STOPPED' });
    await expect(getSecret('s')).rejects.toMatchObject({ code: 'ERR_STOPPED' });
    expect(() => manager.registerPod(podWith('r', ['s']))).toThrow(expect.objectContaining({ code: 'ERR_STOPPED' }));
    manager.unregisterPod(podWith('p', []));
    expect([clock.pendingTimers, server.watches.size, watchesGauge()]).toEqual([0, 0, 0]);
  });

  it('has stopped only when the last request has settled', async () => {
    const late = Promise.withResolvers<void>();
    const held = (): Promise<never> => late.promise.then(() => Promise.reject(new Error('aborted, and settled late')));
    const transport = { request: held, stream: held };
    const { manager, getSecret, clock } = secretWorld({ strategy, transport });
    manager.registerPod(podWith('p', ['s']));
    const read = failureOf(clock, getSecret('s'));
    await settle();
    let hasStopped = false;
    const stopped = manager.stop().then(() => {
      hasStopped = true;
    });
    await settle();
    expect(hasStopped).toBe(false);
    late.resolve();
    await stopped;
    expect(await read).toMatchObject({ code: 'ERR_STOPPED' });
  });

  it('says no value in anything it logs, throws, measures or shows of itself', async () => {
    const value = 'the-very-secret-value';
    const encoded = Buffer.from(value).toString('base64');
    const said: unknown[] = [];
    const note = (...words: unknown[]) => void said.push(words);
    const logger = { debug: note, info: note, warn: note, error: note };
    const metrics: MetricsSink = { increment: note, observe: note, set: note };
    const failures = { next: undefined as unknown };
    const { clock, server, manager, getSecret } = secretWorld(
      { strategy, logger, metrics, ttlMs: 0 },
      { before: async () => (failures.next === undefined ? undefined : Promise.reject(failures.next)) },
    );
    server.put('d', 's', value);
    server.put('d', 'i', value, true);
    manager.registerPod(podWith('p', ['s', 'i', 'missing']));
    const read = (name: string) => settled(clock, getSecret(name)).catch((error: unknown) => said.push(error));
    await read('i');
    expect(textOf(await settled(clock, getSecret('s')))).toBe(value);
    await read('missing');
    await read('unknown');
    for (const watch of [...server.watches]) watch.send('MODIFIED', { data: { v: encoded } });
    for (const watch of [...server.watches]) watch.send('ODD', server.wire('d', 's', { version: 1, value, immutable: false }));
    failures.next = new ApiError({ status: 500, reason: 'InternalError', message: 'GET: 500' });
    await read('s');
    server.forgetHistory();
    for (const watch of [...server.watches]) watch.expire();
    await clock.advance(200_000);
    await read('s');
    said.push(manager, await manager.stop(), manager);
    await read('s');
    expect(said.length).toBeGreaterThan(5);
    const words = said.map((word) => inspect(word, { depth: 20, showHidden: true })).join('\n');
    expect(words).not.toContain(value);
    expect(words).not.toContain(encoded);
    if (strategy === 'watch') expect(words).toContain('immutable');
  });

  it('refuses a name that fits in no path, and a pod that it cannot tell from others', async () => {
    const { clock, server, manager, getSecret } = secretWorld({ strategy });
    const names = [
      ['d', 'a/b'],
      ['d', '..'],
      ['d', ''],
      ['a%2fb', 's'],
      ['d', 7 as never],
    ] as const;
    for (const [namespace, name] of names) {
      expect(await failureOf(clock, getSecret(name, namespace))).toMatchObject({ code: 'ERR_INVALID_ARGUMENT' });
    }
    for (const pod of [undefined, {}, { metadata: { name: 'p', namespace: 'd' } }, { metadata: { name: 'p', uid: 'u' } }]) {
      expect(() => manager.registerPod(pod as never)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT' }));
      expect(() => manager.unregisterPod(pod as never)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT' }));
    }
    expect(server.requests).toEqual([]);
    await manager.stop();
  });
});

describe('strategy get', () => {
  it('asks for the newest version at every read, registered or not', async () => {
    const { clock, server, read, getSecret, requests } = secretWorld({ strategy: 'get' });
    server.put('d', 's', 'one');
    expect(await read('s')).toBe('one');
    server.put('d', 's', 'two');
    expect(await read('s')).toBe('two');
    expect([requests(), server.requests.every(({ resourceVersion }) => resourceVersion === undefined)]).toEqual([2, true]);
    expect(await failureOf(clock, getSecret('t'))).toMatchObject({ code: 'ERR_NOT_FOUND' });
  });

  it('gives no older version after a newer one while reads of one object overlap, and keeps nothing afterwards', async () => {
    const answers: ((version: string) => void)[] = [];
    const request = () =>
      new Promise<{ metadata: object }>((resolve) => {
        answers.push((resourceVersion) => resolve({ metadata: { name: 's', namespace: 'd', resourceVersion } }));
      });
    const manager = new SecretManager({ logger: null, transport: { request, stream: async () => {} }, strategy: 'get' });
    const read = async (name = 's') => (await manager.getSecret('d', name)).metadata?.resourceVersion;
    const reads = [read(), read(), read('t')];
    await settle();
    answers[1]?.('10');
    expect(await reads[1]).toBe('10');
    answers[0]?.('9');
    answers[2]?.('8');
    expect(await Promise.all(reads)).toEqual(['10', '10', '8']);
    const later = read();
    await settle();
    answers[3]?.('9');
    expect(await later).toBe('9');
    await manager.stop();
  });
});

describe('BasicPodManager with a SecretManager', () => {
  it('has the secrets of its pods watched from the first to the last that is running', async () => {
    const { server, manager, read } = secretWorld();
    server.put('d', 's', 'one');
    const podManager = new BasicPodManager({ secretManager: manager, logger: null });
    podManager.setPods([podWith('p', ['s']), podWith('q', ['s', 't'])]);
    expect(await read('s')).toBe('one');
    expect(server.openWatches).toEqual(['d/s', 'd/t']);
    podManager.updatePod(podWith('q', ['s', 't'], { phase: 'Failed' }));
    expect(server.openWatches).toEqual(['d/s']);
    podManager.removePod(podWith('p', ['s']));
    expect(server.openWatches).toEqual([]);
    await manager.stop();
    podManager.addPod(podWith('r', ['s']));
    expect(podManager.getPodByUID('r')).toBeDefined();
  });
});

describe('the options of a manager', () => {
  const transport = new ObjectServer();
  it.each([
    [{}, /`kubeConfig` to be given, where `transport` is not/],
    [{ transport: {} }, /`transport` to be an object with request, stream/],
    [{ transport, strategy: 'guess' }, /`strategy` to be one of "watch", "cache", "get"/],
    [{ transport, ttlMs: -1 }, /`ttlMs` to be a number from 0/],
    [{ transport, ttlMs: '60' }, /`ttlMs` to be a number from 0/],
    [{ transport, getTtlMs: 60 }, /`getTtlMs` to be a function/],
    [{ transport, resyncIntervalMs: Number.NaN }, /`resyncIntervalMs` to be a number from 0/],
    [{ transport, syncTimeoutMs: 2 ** 31 }, /`syncTimeoutMs` to be a number from 0/],
    [{ transport, streamLists: 'yes' }, /`streamLists` to be a boolean/],
    [{ transport, random: 4 }, /`random` to be a function/],
    [{ transport, clock: {} }, /`clock` to be an object with now, setTimer/],
    [{ transport, ttl: 1 }, /`options.ttl` to be absent/],
  ])('are refused when they break a rule: %j', (options, message) => {
    for (const make of [() => new SecretManager(options as never), () => new ConfigMapManager(options as never)]) {
      expect(make).toThrow(expect.objectContaining({ code: 'ERR_INVALID_OPTION', message: expect.stringMatching(message) }));
    }
  });

  it('may be a kubeconfig: the transport is then its own, and closed with it', async () => {
    await using server = await scriptedServer((_, response) =>
      sendJson(response, { kind: 'Secret', metadata: { resourceVersion: '1' } }),
    );
    const manager = new SecretManager({ logger: null, kubeConfig: kubeConfigFor(server.url), strategy: 'get' });
    expect((await manager.getSecret('d', 's')).metadata?.resourceVersion).toBe('1');
    const close = vi.spyOn(KubeTransport.prototype, 'close');
    await manager[Symbol.asyncDispose]();
    expect(close).toHaveBeenCalledOnce();
    close.mockRestore();
    const shared = new KubeTransport(kubeConfigFor('http://127.0.0.1:1'));
    await new SecretManager({ logger: null, transport: shared, strategy: 'get' }).stop();
    await expect(shared.request({ method: 'GET', path: '/' })).rejects.toMatchObject({ reason: 'Network' });
    await shared.close();
  });
});

describe('nodeTtlMs', () => {
  const node = (ttl?: unknown) => ({ metadata: { annotations: { 'node.alpha.kubernetes.io/ttl': ttl } } }) as never;
  it.each([
    ['0', 0],
    ['30', 30_000],
    ['+5', 5000],
    ['-5', -5000],
    ['5.5', undefined],
    ['5s', undefined],
    ['', undefined],
    [5, undefined],
    [undefined, undefined],
  ])('reads the annotation %j as %j', (ttl, ms) => {
    expect(nodeTtlMs(node(ttl))).toBe(ms);
  });

  it('is undefined without a node or annotations', () => {
    expect([nodeTtlMs(undefined), nodeTtlMs({}), nodeTtlMs({ metadata: {} })]).toEqual([undefined, undefined, undefined]);
  });
});
