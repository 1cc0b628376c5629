import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../../src/index.ts';
import type { ObjectManagerOptions } from '../../../../src/object-managers.ts';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import type { ObjectRequest } from '../../../support/object-server.ts';
import { failureOf, podWith, secretWorld, textOf } from './object-managers-world.ts';

const cached = (options: ObjectManagerOptions = {}) => secretWorld({ strategy: 'cache', ...options });

/** A world whose server answers when the test lets it. */
function heldWorld(options: ObjectManagerOptions = {}) {
  const waiting: { readonly request: ObjectRequest; answer(): void; fail(error: unknown): void }[] = [];
  const lag = { versions: 0 };
  const world = secretWorld(
    { strategy: 'cache', ...options },
    {
      before: (request) =>
        new Promise<void>((resolve, reject) => {
          waiting.push({ request, answer: resolve, fail: reject });
        }),
      cachedVersion: () => world.server.version - lag.versions,
    },
  );
  return { ...world, waiting, lag };
}

describe('strategy cache', () => {
  it('asks for a secret when it is read, then serves it for the time to live, the same object each time', async () => {
    const { clock, server, manager, getSecret, requests } = cached({ ttlMs: 10_000 });
    server.put('d', 's', 'one');
    manager.registerPod(podWith('p', ['s']));
    expect(requests()).toBe(0);
    const first = await getSecret('s');
    server.put('d', 's', 'two');
    await clock.advance(9_999);
    expect(await getSecret('s')).toBe(first);
    expect([textOf(first), requests()]).toEqual(['one', 1]);
    await clock.advance(1);
    expect(textOf(await getSecret('s'))).toBe('two');
    expect(server.requests.map(({ resourceVersion }) => resourceVersion)).toEqual([undefined, '0']);
  });

  it("takes the node's time to live at each read, and its own where the node says none or nonsense", async () => {
    let seconds: number | undefined;
    const answers = [() => seconds, () => Number.NaN, () => Promise.reject(new Error('x')) as never];
    let answer = answers[0] as () => number | undefined;
    const { clock, server, manager, getSecret, requests } = cached({ ttlMs: 60_000, getTtlMs: () => answer() });
    server.put('d', 's', 'one');
    manager.registerPod(podWith('p', ['s']));
    await getSecret('s');
    seconds = 1000;
    await clock.advance(1000);
    await getSecret('s');
    expect(requests()).toBe(2);
    for (const other of answers.slice(1)) {
      answer = other as () => number | undefined;
      await clock.advance(1000);
      await getSecret('s');
    }
    expect(requests()).toBe(2);
  });

  it('asks anew for the newest version after another pod has referred to it, and not when a pod comes again', async () => {
    const { server, manager, getSecret, requests } = cached();
    server.put('d', 's', 'one');
    manager.registerPod(podWith('p', ['s']));
    await getSecret('s');
    manager.registerPod(podWith('p', ['s', 't']));
    await getSecret('s');
    expect(requests()).toBe(1);
    server.put('d', 's', 'two');
    manager.registerPod(podWith('q', ['s']));
    expect(textOf(await getSecret('s'))).toBe('two');
    expect(server.requests.at(-1)?.resourceVersion).toBeUndefined();
  });

  it('asks again at every read for a secret that does not exist', async () => {
    const { clock, server, manager, getSecret, requests } = cached();
    manager.registerPod(podWith('p', ['s']));
    for (const count of [1, 2]) {
      const failure = await failureOf(clock, getSecret('s'));
      expect(failure).toMatchObject({ code: 'ERR_NOT_FOUND', message: 'Secret "d"/"s" not found' });
      expect(requests()).toBe(count);
    }
    server.put('d', 's', 'one');
    expect(textOf(await getSecret('s'))).toBe('one');
  });

  it('serves what it knows when a refresh fails, and tries again at the next read', async () => {
    const { clock, server, manager, getSecret, waiting } = heldWorld({ ttlMs: 0 });
    server.put('d', 's', 'one');
    manager.registerPod(podWith('p', ['s']));
    const first = getSecret('s');
    await settle();
    waiting[0]?.fail(new ApiError({ status: 500, reason: 'InternalError', message: 'GET: 500' }));
    expect(await failureOf(clock, first)).toMatchObject({ code: 'ERR_API', status: 500 });
    const second = getSecret('s');
    await settle();
    waiting[1]?.answer();
    expect(textOf(await second)).toBe('one');
    const third = getSecret('s');
    await settle();
    waiting[2]?.fail(new ApiError({ status: 503, reason: 'ServiceUnavailable', message: 'GET: 503' }));
    expect(await third).toBe(await second);
    void getSecret('s');
    await settle();
    expect(waiting).toHaveLength(4);
  });

  it('counts a 404 that is not of the apiserver as a failure, not as a deletion', async () => {
    const { server, manager, getSecret, waiting } = heldWorld({ ttlMs: 0 });
    server.put('d', 's', 'one');
    manager.registerPod(podWith('p', ['s']));
    const first = getSecret('s');
    await settle();
    waiting[0]?.answer();
    await first;
    const second = getSecret('s');
    await settle();
    waiting[1]?.fail(new ApiError({ status: 404, reason: 'NoStatus', message: 'GET: 404' }));
    expect(textOf(await second)).toBe('one');
  });

  it('drops an answer that is older than what it has given out', async () => {
    const { server, manager, getSecret, waiting, lag } = heldWorld({ ttlMs: 0 });
    server.put('d', 's', 'one');
    server.put('d', 's', 'two');
    manager.registerPod(podWith('p', ['s']));
    lag.versions = 1;
    for (const index of [0, 1]) {
      const read = getSecret('s');
      await settle();
      waiting[index]?.answer();
      expect(textOf(await read)).toBe('two');
    }
  });

  it('gives out no older version when an answer from before a new reference comes late', async () => {
    const { clock, server, manager, getSecret, waiting, lag } = heldWorld({ ttlMs: 1000 });
    server.put('d', 's', 'one');
    manager.registerPod(podWith('p', ['s']));
    const first = getSecret('s');
    await settle();
    waiting[0]?.answer();
    await first;
    await clock.advance(1000);
    const late = getSecret('s');
    await settle();
    server.put('d', 's', 'two');
    manager.registerPod(podWith('q', ['s']));
    const fresh = getSecret('s');
    await settle();
    waiting[2]?.answer();
    expect(textOf(await fresh)).toBe('two');
    lag.versions = 1;
    waiting[1]?.answer();
    expect(textOf(await late)).toBe('two');
  });

  it('gives out no older version when an answer from before a new reference is the newest of all', async () => {
    const { clock, server, manager, getSecret, waiting } = heldWorld({ ttlMs: 1000 });
    server.put('d', 's', 'one');
    manager.registerPod(podWith('p', ['s']));
    const first = getSecret('s');
    await settle();
    waiting[0]?.answer();
    await first;
    await clock.advance(1000);
    const late = getSecret('s');
    await settle();
    manager.registerPod(podWith('q', ['s']));
    const fresh = getSecret('s');
    await settle();
    waiting[2]?.answer();
    expect(textOf(await fresh)).toBe('one');
    server.put('d', 's', 'two');
    waiting[1]?.answer();
    expect(textOf(await late)).toBe('two');
    expect(textOf(await getSecret('s'))).toBe('two');
  });

  it('asks once for all who read meanwhile', async () => {
    const { server, manager, getSecret, waiting } = heldWorld();
    server.put('d', 's', 'one');
    manager.registerPod(podWith('p', ['s']));
    const reads = [getSecret('s'), getSecret('s'), getSecret('s')];
    await settle();
    expect(waiting).toHaveLength(1);
    waiting[0]?.answer();
    expect((await Promise.all(reads)).map(textOf)).toEqual(['one', 'one', 'one']);
  });

  it('counts the time to live by what has passed, however the clock is set', async () => {
    const { clock, server, manager, getSecret, requests } = cached();
    server.put('d', 's', 'one');
    manager.registerPod(podWith('p', ['s']));
    await getSecret('s');
    for (const stepMs of [-3_600_000, 7_200_000]) {
      clock.jump(stepMs);
      await getSecret('s');
      expect(requests()).toBe(1);
    }
    clock.jump(-3_600_000);
    await clock.advance(60_000);
    await getSecret('s');
    expect(requests()).toBe(2);
  });

  it('does not give out the answer of a read whose secret is let go of meanwhile', async () => {
    const { clock, server, manager, getSecret, waiting } = heldWorld();
    server.put('d', 's', 'one');
    manager.registerPod(podWith('p', ['s']));
    const read = getSecret('s');
    await settle();
    manager.unregisterPod(podWith('p', []));
    manager.registerPod(podWith('q', ['s']));
    waiting[0]?.answer();
    expect(await failureOf(clock, read)).toMatchObject({ code: 'ERR_NOT_REGISTERED' });
  });
});
