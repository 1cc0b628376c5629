import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../../src/index.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { ObjectServer } from '../../../support/object-server.ts';
import { failureOf, podWith, secretWorld, settled, textOf } from './object-managers-world.ts';

const minute = 60_000;

describe('strategy watch', () => {
  it('opens one watch a secret when the first pod names it, and closes it with the last', async () => {
    const { server, manager, watchesGauge, referencedGauge } = secretWorld();
    server.put('d', 's', 'one');
    for (let pod = 0; pod < 100; pod++) manager.registerPod(podWith(`p${pod}`, ['s', `own-${pod}`]));
    await settle();
    expect(server.watches.size).toBe(101);
    expect([watchesGauge(), referencedGauge()]).toEqual([101, 101]);
    for (let pod = 0; pod < 99; pod++) manager.unregisterPod(podWith(`p${pod}`, []));
    expect(server.openWatches).toEqual(['d/own-99', 'd/s']);
    manager.unregisterPod(podWith('p99', []));
    expect(server.openWatches).toEqual([]);
    expect([watchesGauge(), referencedGauge()]).toEqual([0, 0]);
  });

  it('serves every change as it comes, without a request', async () => {
    const { server, manager, read, requests, clock, getSecret } = secretWorld();
    server.put('d', 's', 'one');
    manager.registerPod(podWith('p', ['s']));
    expect(await read('s')).toBe('one');
    server.put('d', 's', 'two');
    expect(await read('s')).toBe('two');
    server.delete('d', 's');
    expect(await failureOf(clock, getSecret('s'))).toMatchObject({ code: 'ERR_NOT_FOUND', message: 'Secret "d"/"s" not found' });
    server.put('d', 's', 'three');
    expect(await read('s')).toBe('three');
    expect(requests()).toBe(1);
  });

  it('keeps the watch of a name that an updated pod still has, and swaps the others without a gap', async () => {
    const { server, manager, read } = secretWorld();
    for (const name of ['kept', 'dropped', 'new']) server.put('d', name, name);
    manager.registerPod(podWith('p', ['kept', 'dropped']));
    await settle();
    const [kept] = [...server.watches].filter(({ name }) => name === 'kept');
    manager.registerPod(podWith('p', ['new', 'kept']));
    expect(server.openWatches).toContain('d/kept');
    await settle();
    expect(server.openWatches).toEqual(['d/kept', 'd/new']);
    expect([...server.watches]).toContain(kept);
    expect(await read('new')).toBe('new');
  });

  it('lets go of what a pod names once it has ended', async () => {
    const { clock, server, manager, getSecret } = secretWorld();
    manager.registerPod(podWith('p', ['s']));
    manager.registerPod(podWith('p', ['s'], { phase: 'Succeeded' }));
    expect(server.openWatches).toEqual([]);
    expect(await failureOf(clock, getSecret('s'))).toMatchObject({
      code: 'ERR_NOT_REGISTERED',
      message: 'object "d"/"s" not registered',
    });
  });

  it('keeps pods of one name apart by uid, and namespaces apart', async () => {
    const { server, manager, clock, getSecret, read } = secretWorld();
    server.put('d', 's', 'one');
    server.put('e', 's', 'other');
    manager.registerPod(podWith('p', ['s']));
    manager.registerPod(podWith('p', ['s'], { namespace: 'e' }));
    manager.unregisterPod({ metadata: { name: 'p', namespace: 'd', uid: 'another' } });
    expect(await read('s', 'd')).toBe('one');
    expect(await read('s', 'e')).toBe('other');
    manager.unregisterPod(podWith('p', []));
    expect(await failureOf(clock, getSecret('s'))).toMatchObject({ code: 'ERR_NOT_REGISTERED' });
    expect(await read('s', 'e')).toBe('other');
  });

  it('waits for the first list, a second at the longest, and says what went wrong', async () => {
    const refusal = new ApiError({ status: 403, reason: 'Forbidden', message: 'GET: 403 no' });
    let isRefused = true;
    const { clock, server, manager, getSecret } = secretWorld(
      {},
      { before: async () => (isRefused ? Promise.reject(refusal) : undefined) },
    );
    server.put('d', 's', 'one');
    manager.registerPod(podWith('p', ['s']));
    const failure = await failureOf(clock, getSecret('s'), 1000);
    expect(failure).toMatchObject({ code: 'ERR_SYNC_TIMEOUT', cause: refusal });
    expect(failure.message).toMatch(/^Secret "d"\/"s" has not come within 1000 ms/);
    isRefused = false;
    const read = getSecret('s');
    await clock.advance(900);
    expect(textOf(await read)).toBe('one');
  });

  it('blames no failure that a list has come after', async () => {
    const answers: ('refuse' | 'answer' | 'hang')[] = ['refuse', 'refuse'];
    const before = (): Promise<void> | undefined => {
      const answer = answers.shift() ?? 'answer';
      if (answer === 'hang') return new Promise(() => {});
      return answer === 'refuse' ? Promise.reject(new ApiError({ status: 403, reason: 'Forbidden', message: 'no' })) : undefined;
    };
    const { clock, server, manager, getSecret } = secretWorld({}, { before });
    manager.registerPod(podWith('p', ['s']));
    await clock.advance(2 * minute);
    expect([server.openWatches, clock.pendingTimers]).toEqual([[], 0]);
    answers.push('hang');
    const failure = await failureOf(clock, getSecret('s'), 1000);
    expect(failure).toMatchObject({ code: 'ERR_SYNC_TIMEOUT' });
    expect(failure.cause).toBeUndefined();
  });

  it('has the time to wait for a first list from the option syncTimeoutMs', async () => {
    const { clock, manager, getSecret } = secretWorld({ syncTimeoutMs: 5 }, { before: () => new Promise(() => {}) });
    manager.registerPod(podWith('p', ['s']));
    expect(await failureOf(clock, getSecret('s'), 5)).toMatchObject({ code: 'ERR_SYNC_TIMEOUT' });
  });

  it('ends the waiting of a read when the last pod lets go of the secret', async () => {
    const { clock, manager, getSecret } = secretWorld({}, { before: () => new Promise(() => {}) });
    manager.registerPod(podWith('p', ['s']));
    const read = getSecret('s');
    manager.unregisterPod(podWith('p', []));
    expect(await failureOf(clock, read)).toMatchObject({ code: 'ERR_NOT_REGISTERED' });
    expect(clock.pendingTimers).toBe(0);
  });

  it('closes a watch that nobody has used for five intervals, looking once a minute, and opens it again at the next read', async () => {
    const { clock, server, manager, read } = secretWorld({ resyncIntervalMs: minute });
    server.put('d', 's', 'one');
    manager.registerPod(podWith('p', ['s']));
    await clock.advance(minute / 2);
    expect(await read('s')).toBe('one');
    await clock.advance(5 * minute);
    expect(server.openWatches).toEqual(['d/s']);
    await clock.advance(minute);
    expect(server.openWatches).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
    server.put('d', 's', 'two');
    expect(await read('s')).toBe('two');
    expect(server.openWatches).toEqual(['d/s']);
    expect(server.requests.at(-1)).toMatchObject({ verb: 'watch', streams: true, resourceVersion: '101' });
  });

  it('looks once a minute also where the time has parts of a millisecond that no number has', async () => {
    const clock = new FakeClock();
    await clock.advance(28_478.9);
    const { server, manager, getSecret } = secretWorld({ clock, resyncIntervalMs: minute }, { clock });
    await clock.advance(40_278 - 28_478.9);
    server.put('d', 's', 'one');
    manager.registerPod(podWith('p', ['s']));
    expect(textOf(await settled(clock, getSecret('s')))).toBe('one');
    await clock.advance(8 * minute);
    expect(server.openWatches).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('closes a watch that was never used at the first look after its list, and never sooner than a minute otherwise', async () => {
    const { clock, server, manager, read } = secretWorld({ resyncIntervalMs: 0 });
    manager.registerPod(podWith('p', ['unread', 'read']));
    server.put('d', 'read', 'one');
    await clock.advance(minute - 1);
    expect(server.openWatches).toEqual(['d/read', 'd/unread']);
    await read('read');
    await clock.advance(1);
    expect(server.openWatches).toEqual(['d/read']);
    await clock.advance(2 * minute);
    expect(server.openWatches).toEqual([]);
  });

  it('watches an immutable secret no more once it was read, and serves it as it was until the last pod lets go', async () => {
    const { clock, server, manager, read, getSecret, requests } = secretWorld();
    server.put('d', 's', 'one', true);
    manager.registerPod(podWith('p', ['s']));
    await settle();
    expect(server.openWatches).toEqual(['d/s']);
    expect(await read('s')).toBe('one');
    expect(server.openWatches).toEqual([]);
    server.delete('d', 's');
    server.put('d', 's', 'two');
    await clock.advance(10 * minute);
    manager.registerPod(podWith('q', ['s']));
    manager.unregisterPod(podWith('p', []));
    expect(await read('s')).toBe('one');
    expect(requests()).toBe(1);
    manager.unregisterPod(podWith('q', []));
    manager.registerPod(podWith('q', ['s']));
    expect(textOf(await settled(clock, getSecret('s')))).toBe('two');
  });

  it('watches no name that no secret can have', async () => {
    const { clock, server, manager, getSecret } = secretWorld();
    manager.registerPod(podWith('p', ['../pods', 'a%2Fb', 's']));
    await settle();
    expect(server.openWatches).toEqual(['d/s']);
    expect(await failureOf(clock, getSecret('../pods'))).toMatchObject({ code: 'ERR_INVALID_ARGUMENT' });
    manager.unregisterPod(podWith('p', []));
    expect(server.openWatches).toEqual([]);
  });

  it('cannot be made to select another secret by a name with signs in it', async () => {
    const selectors: unknown[] = [];
    const { request, stream } = new ObjectServer();
    const spy: typeof stream = (asked) => {
      selectors.push(asked.query?.get('fieldSelector'));
      return stream(asked);
    };
    const { manager } = secretWorld({ transport: { request, stream: spy } });
    manager.registerPod(podWith('p', ['a,metadata.name!=b\\']));
    await settle();
    expect(selectors).toEqual([String.raw`metadata.name=a\,metadata.name!\=b\\`]);
    await manager.stop();
  });
});
