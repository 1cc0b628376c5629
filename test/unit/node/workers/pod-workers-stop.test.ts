import { describe, expect, it } from 'vitest';
import { PodWorkers } from '../../../../src/node/workers/pod-workers.ts';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { pod, World } from './workers-world.ts';

describe('stop', () => {
  it('resolves at once where no call is under way', async () => {
    const world = new World();
    world.isQuick = true;
    await world.update('create', pod('u1'));
    expect(world.workers.state).toBe('running');
    expect(await world.workers.stop()).toEqual({ unsettled: [] });
    expect(world.workers.state).toBe('stopped');
    expect(world.clock.pendingTimers).toBe(0);
  });

  it('aborts the calls under way, waits for them, and calls nothing more', async () => {
    const world = new World();
    const completed: string[] = [];
    await world.update('create', pod('u1'));
    await world.update('kill', pod('u2'), { completed: () => completed.push('u2') });
    await world.update('update', pod('u1', { version: '2' }));
    world.workers.updatePod({ updateType: 'create', pod: pod('u3') });
    world.takeLog();
    const stopped = world.workers.stop();
    expect(world.open.get('u1')?.signal.aborted).toBe(true);
    expect(world.workers.stop()).toBe(stopped);
    expect(world.workers.state).toBe('stopping');
    await world.fail('u1', world.open.get('u1')?.signal.reason);
    expect(world.workers.state).toBe('stopping');
    await world.end('u2');
    expect(await stopped).toEqual({ unsettled: [] });
    expect(completed).toEqual([]);
    expect(world.takeLog()).toEqual([]);
    expect(world.queue.size).toBe(0);
    expect(world.clock.pendingTimers).toBe(0);
  });

  it('gives up on calls that do not settle, names their pods, and ignores how they end', async () => {
    const world = new World();
    await world.update('create', pod('u1'));
    const stopped = world.workers.stop();
    await world.clock.advance(4999);
    expect(world.workers.state).toBe('stopping');
    await world.clock.advance(1);
    expect(await stopped).toEqual({ unsettled: ['u1'] });
    await world.end('u1', { isTerminal: true });
    expect(world.takeLog()).toEqual(['sync u1 create 1']);
    expect(world.workers.isPodTerminationRequested('u1')).toBe(false);
    expect(world.clock.pendingTimers).toBe(0);
  });

  it('leaves the answers as they were, and refuses updates', async () => {
    const world = new World();
    await world.update('create', pod('u1'));
    await world.end('u1');
    await world.workers.stop();
    expect(world.workers.couldHaveRunningContainers('u1')).toBe(true);
    expect(() => world.workers.updatePod({ updateType: 'sync', pod: pod('u1') })).toThrow(/stopped/);
    expect(() => world.workers.syncKnownPods([])).toThrow(/stopped/);
  });

  it('comes with the end of the scope', async () => {
    const world = new World();
    {
      await using workers = world.workers;
      expect(workers.state).toBe('running');
    }
    await settle();
    expect(world.workers.state).toBe('stopped');
  });

  it.each([{ timeoutMs: -1 }, { timeout: 1 }, null])('refuses options that break a rule: %j', (options) => {
    const { workers } = new World();
    expect(() => workers.stop(options as never)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_OPTION' }));
  });
});

describe('the constructor', () => {
  const { podSyncer } = new World();
  const runtimeStatusCache = { get: () => undefined, getNewerThan: () => undefined };
  it.each([
    [undefined, 'options'],
    [{ runtimeStatusCache }, 'podSyncer'],
    [{ podSyncer: { ...podSyncer, syncPod: 1 }, runtimeStatusCache }, 'podSyncer'],
    [{ podSyncer }, 'runtimeStatusCache'],
    [{ podSyncer, runtimeStatusCache, workQueue: {} }, 'workQueue'],
    [{ podSyncer, runtimeStatusCache, eventRecorder: {} }, 'eventRecorder'],
    [{ podSyncer, runtimeStatusCache, clock: {} }, 'clock'],
    [{ podSyncer, runtimeStatusCache, random: 4 }, 'random'],
    [{ podSyncer, runtimeStatusCache, resyncIntervalMs: -1 }, 'resyncIntervalMs'],
    [{ podSyncer, runtimeStatusCache, backOffPeriodMs: Number.NaN }, 'backOffPeriodMs'],
    [{ podSyncer, runtimeStatusCache, exactlyAsKubelet: 'yes' }, 'exactlyAsKubelet'],
    [{ podSyncer, runtimeStatusCache, backoffPeriodMs: 1 }, 'options.backoffPeriodMs'],
  ])('refuses %j, naming %s', (options, name) => {
    expect(() => new PodWorkers(options as never)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION', message: expect.stringContaining(`\`${name}\``) }),
    );
  });

  it('makes a work queue where none is given', async () => {
    const world = new World();
    const workers = new PodWorkers({ podSyncer, runtimeStatusCache: runtimeStatusCache as never, clock: world.clock });
    expect(workers.workQueue).toHaveProperty('enqueue');
    await workers.stop();
  });
});

describe('an update', () => {
  it.each([
    [undefined],
    [{}],
    [{ updateType: 'sync' }],
    [{ updateType: 'start', pod: pod('u1') }],
    [{ updateType: 'sync', pod: {} }],
    [{ updateType: 'sync', pod: { metadata: { uid: 'u1', name: 'a/b', namespace: 'd' } } }],
    [{ updateType: 'sync', pod: pod('u1'), mirrorPod: 'm' }],
    [{ updateType: 'sync', pod: pod('u1'), startTime: Number.NaN }],
    [{ updateType: 'sync', runningPod: { uid: 'r', name: 'a', namespace: 'd' } }],
    [{ updateType: 'kill', runningPod: { uid: 'r', name: 'a' } }],
    [{ updateType: 'kill', runningPod: 'r' }],
    [{ updateType: 'kill', pod: pod('u1'), killPodOptions: { gracePeriodSeconds: 1.5 } }],
    [{ updateType: 'kill', pod: pod('u1'), killPodOptions: { evict: 'yes' } }],
    [{ updateType: 'kill', pod: pod('u1'), killPodOptions: { completed: {} } }],
    [{ updateType: 'kill', pod: pod('u1'), killPodOptions: 5 }],
  ])('that breaks a rule changes nothing: %j', (options) => {
    const { workers } = new World();
    expect(() => workers.updatePod(options as never)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT' }));
    expect(workers.syncKnownPods([]).size).toBe(0);
  });

  it.each([
    [{ updateType: 'sync', pod: pod('u1'), mirror: pod('m') }, 'options.mirror'],
    [{ updateType: 'kill', pod: pod('u1'), killOptions: {} }, 'options.killOptions'],
    [{ updateType: 'kill', pod: pod('u1'), killPodOptions: { gracePeriod: 5 } }, 'killPodOptions.gracePeriod'],
    [{ updateType: 'kill', pod: pod('u1'), killPodOptions: { evicted: true } }, 'killPodOptions.evicted'],
  ])('with a member that is not known changes nothing: %j', (options, name) => {
    const { workers } = new World();
    expect(() => workers.updatePod(options as never)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT', message: expect.stringContaining(`\`${name}\``) }),
    );
    expect(workers.syncKnownPods([]).size).toBe(0);
  });

  it('of pods that are no list, or without a uid, is refused', () => {
    const { workers } = new World();
    const refused = expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT' });
    expect(() => workers.syncKnownPods(undefined as never)).toThrow(refused);
    expect(() => workers.syncKnownPods([{}])).toThrow(refused);
    expect(() => workers.podResourcesAreReclaimed({})).toThrow(refused);
    expect(() => workers.isPodForMirrorPodTerminatingByFullName('')).toThrow(refused);
    expect(workers.shouldPodBeFinished('never-seen')).toBe(false);
  });
});
