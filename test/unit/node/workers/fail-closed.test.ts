import { describe, expect, it } from 'vitest';
import type { PodSyncer, RuntimeStatusCache } from '../../../../src/node/workers/pod-syncer.ts';
import { pod, World } from './workers-world.ts';

const never = () => new Promise<never>(() => {});
const throws = () => {
  throw new Error('broken');
};

/** Workers of which methods of the syncer are replaced. */
function worldWith(broken: Partial<Record<keyof PodSyncer, unknown>>): World {
  const world = new World({}, broken);
  world.isQuick = true;
  return world;
}

function worldOfCache(runtimeStatusCache: Partial<Record<keyof RuntimeStatusCache, unknown>>): World {
  const world: World = new World({
    runtimeStatusCache: {
      get: (uid: string) => world.runtimeStatus(uid),
      getNewerThan: async (uid: string) => world.runtimeStatus(uid),
      ...runtimeStatusCache,
    } as RuntimeStatusCache,
  });
  world.isQuick = true;
  return world;
}

describe('a syncer', () => {
  const hostile = {
    // biome-ignore lint/suspicious/noThenProperty: an answer that throws when it is looked at
    get then() {
      throw new Error('hostile');
    },
  };
  it.each([
    ['throws', throws],
    ['gives no promise', () => undefined],
    ['gives a value', () => ({ isTerminal: true })],
    ['gives an object that throws', () => hostile],
    ['rejects with nothing', () => Promise.reject()],
    ['rejects with an error that throws', () => Promise.reject(Object.defineProperty(new Error(), 'message', { get: throws }))],
    ['rejects with an error that holds itself', () => Promise.reject(circular())],
  ])('that %s has failed: the pod goes on, and the call is repeated', async (_what, broken) => {
    for (const method of ['syncPod', 'syncTerminatingPod', 'syncTerminatedPod'] as const) {
      const world = worldWith({ [method]: broken });
      await world.update(method === 'syncPod' ? 'create' : 'kill', pod('u1'));
      expect(world.workers.shouldPodBeFinished('u1')).toBe(false);
      expect(world.workers.isPodKnownTerminated('u1')).toBe(method === 'syncTerminatedPod');
      expect(world.warnings).toEqual(['a pod was not synced and will be synced again']);
      expect(await world.waits('u1')).toBe(10);
    }
  });

  it.each([
    ['says', () => ({ kind: 'quota', help: 'Raise it.' }), { problemKind: 'quota', help: 'Raise it.' }],
    ['says nothing of', () => undefined, { problemKind: 'sync' }],
    ['throws when asked', throws, { problemKind: 'sync' }],
    ['answers with an object that throws', () => Object.defineProperty({}, 'kind', { get: throws }), { problemKind: 'sync' }],
  ])('that %s what is wrong with a pod: the log line', async (_what, problemOf, told) => {
    const lines: object[] = [];
    const nothing = (): void => {};
    const logger = { debug: nothing, info: nothing, warn: (fields: object) => void lines.push(fields), error: nothing };
    const world: World = new World({ logger }, { syncPod: throws, problemOf });
    await world.update('create', pod('u1'));
    expect(lines).toEqual([
      {
        ...{ err: expect.any(Error), podUID: 'u1', podName: expect.any(String), podNamespace: expect.any(String), state: 'sync' },
        ...{ attempt: 1, failingForMs: 0, retryInMs: 10_000, ...told },
      },
    ]);
  });

  it.each([
    [undefined],
    [null],
    [true],
    [{ isTerminal: 'yes' }],
    [{}],
    ['terminal'],
  ])('that resolves to %j has not ended the pod', async (answer) => {
    const world = worldWith({ syncPod: async () => answer });
    await world.update('create', pod('u1'));
    expect(world.workers.isPodTerminationRequested('u1')).toBe(false);
    expect(await world.waits('u1')).toBe(60);
  });

  it('that answers with a lazy promise is asked for its answer once', async () => {
    let asked = 0;
    const lazy = {
      // biome-ignore lint/suspicious/noThenProperty: a promise that begins its work when it is awaited
      then(resolve: (answer: object) => void) {
        asked += 1;
        resolve({ isTerminal: false });
      },
    };
    const world = worldWith({ syncPod: () => lazy });
    await world.update('create', pod('u1'));
    expect(asked).toBe(1);
  });

  it('that never settles holds up its pod alone', async () => {
    const world = worldWith({
      syncPod: ({ pod: { metadata } }: { pod: ReturnType<typeof pod> }) => (metadata?.uid === 'u1' ? never() : Promise.resolve()),
    });
    await world.update('create', pod('u1'));
    await world.update('kill', pod('u1'));
    await world.update('create', pod('u2'));
    await world.update('kill', pod('u2'));
    await world.clock.advance(3_600_000);
    expect(world.workers.couldHaveRunningContainers('u1')).toBe(true);
    expect(world.workers.shouldPodBeFinished('u2')).toBe(true);
  });
});

describe('a runtime status cache', () => {
  it.each([
    ['throws', throws],
    ['rejects', () => Promise.reject(new Error('broken'))],
  ])('that %s fails the call, with an event', async (_what, getNewerThan) => {
    const world = worldOfCache({ getNewerThan });
    await world.update('create', pod('u1'));
    expect(world.takeLog()).toEqual([]);
    expect(world.events).toEqual(['Warning FailedSync error determining status: broken']);
    expect(await world.waits('u1')).toBe(10);
  });

  it.each([
    [undefined],
    [null],
    ['running'],
    [{}],
    [{ containers: [] }],
    [{ containers: {}, sandboxes: [] }],
  ])('that answers with %j fails the call', async (status) => {
    for (const getNewerThan of [() => status, async () => status]) {
      const world = worldOfCache({ getNewerThan });
      await world.update('kill', pod('u1'));
      expect(world.takeLog()).toEqual([]);
      expect(world.workers.couldHaveRunningContainers('u1')).toBe(true);
      expect(await world.waits('u1')).toBe(10);
    }
  });

  it('is asked for what is newer than the end of the last call', async () => {
    const times: number[] = [];
    const world: World = worldOfCache({
      getNewerThan: async (uid: string, time: number) => {
        times.push(time);
        return world.runtimeStatus(uid);
      },
    });
    await world.update('create', pod('u1'));
    const endedAt = world.clock.now();
    await world.clock.advance(5000);
    await world.update('sync', pod('u1'));
    expect(times).toEqual([0, endedAt]);
  });

  it('is asked for what is at most a second old where the last call says that the cache knows the pod as it is', async () => {
    const times: number[] = [];
    const world: World = worldOfCache({
      getNewerThan: async (uid: string, time: number) => {
        times.push(time - world.clock.now());
        return world.runtimeStatus(uid);
      },
    });
    world.isQuick = false;
    await world.update('create', pod('u1'));
    await world.end('u1', { isTerminal: false, isStatusKnown: true });
    await world.clock.advance(400);
    await world.update('sync', pod('u1'));
    await world.end('u1', { isTerminal: false, isStatusKnown: true });
    await world.clock.advance(5000);
    await world.update('sync', pod('u1'));
    await world.end('u1', { isTerminal: false, isStatusKnown: 'yes' });
    await world.clock.advance(300);
    await world.update('sync', pod('u1'));
    await world.fail('u1');
    await world.clock.advance(200);
    await world.update('sync', pod('u1'));
    expect(times.slice(1)).toEqual([-1000, -5000, -300, -200]);
  });

  it('that never settles is not waited for once the pod is to end, and no call is made with an aborted signal', async () => {
    let answers = 0;
    const world: World = worldOfCache({
      getNewerThan: (uid: string) => {
        answers += 1;
        return answers === 1 ? never() : Promise.resolve(world.runtimeStatus(uid));
      },
    });
    await world.update('create', pod('u1'));
    expect(world.takeLog()).toEqual([]);
    await world.update('kill', pod('u1'));
    expect(world.takeLog()).toEqual(['terminating u1 1 1', 'terminated u1']);
    expect(world.events).toEqual([]);
  });

  it('that never settles does not keep the workers from stopping', async () => {
    const world = worldOfCache({ getNewerThan: never });
    await world.update('create', pod('u1'));
    expect(await world.workers.stop()).toEqual({ unsettled: [] });
    expect(world.takeLog()).toEqual([]);
  });
});

describe('a listener', () => {
  it('that throws or rejects harms nobody', async () => {
    const world = new World();
    const completed: string[] = [];
    await world.update('kill', pod('u1'), { completed: throws });
    await world.update('kill', pod('u1'), { completed: (() => Promise.reject(new Error('broken'))) as never });
    await world.update('kill', pod('u1'), { completed: () => completed.push('u1'), podStatusFn: throws });
    await world.fail('u1');
    expect(world.takeLog()).toEqual(['terminating u1 1 1', 'terminating u1 1 1']);
    await world.end('u1');
    expect(completed).toEqual(['u1']);
    expect(world.takeLog()).toEqual(['terminated u1']);
    expect(world.warnings).toContain('the listener for the end of a pod failed');
    expect(world.warnings).toContain('the function that changes the status of a pod failed');
  });

  it('may update the pods from within', async () => {
    const world = new World();
    world.isQuick = true;
    const forget = () => {
      world.workers.syncKnownPods([]);
      world.workers.updatePod({ updateType: 'create', pod: pod('u1', { version: '2' }) });
    };
    await world.update('kill', pod('u1'));
    await world.update('kill', pod('u1'), { completed: forget });
    expect(world.takeLog()).toEqual(['terminating u1 1 1', 'terminated u1', 'sync u1 create 2']);
  });

  it.each([
    ['a work queue', { workQueue: { enqueue: throws } }],
    ['an event recorder', { eventRecorder: { event: throws } }],
    ['a logger', { logger: { debug: throws, info: throws, warn: throws, error: throws } }],
    ['a clock', { clock: { now: throws, setTimer: throws } }],
    ['a random', { random: throws }],
    ['a metrics sink', { metrics: { increment: throws, observe: throws, set: throws } }],
  ])('does no worse where %s throws', async (_what, options) => {
    const world = new World(options as never);
    await world.updateWith({ updateType: 'create', pod: pod('u1'), startTime: 0 });
    await world.fail('u1');
    await world.update('kill', pod('u1'));
    await world.end('u1');
    await world.end('u1');
    expect(world.workers.shouldPodBeFinished('u1')).toBe(true);
  });
});

function circular(): Error {
  const error = new Error('one');
  error.cause = error;
  return error;
}
