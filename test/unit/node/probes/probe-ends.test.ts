import { describe, expect, it } from 'vitest';
import { exec, failure, ProbeWorld, podOf, running, started } from './probe-world.ts';

describe('the end of probes', () => {
  const both = podOf({ livenessProbe: exec(), readinessProbe: exec(), startupProbe: exec() });

  it('comes for liveness and startup when the pod is being ended', async () => {
    const world = new ProbeWorld();
    await world.add(both);
    world.manager.stopLivenessAndStartup(both);
    expect(world.manager.result('liveness', 'x://a0')).toBeUndefined();
    expect(world.manager.result('readiness', 'x://a0')).toBe('Success');
    expect(world.clock.pendingTimers).toBe(1);
    await world.manager.stop();
  });

  it('comes with the pod: its call is given up, its results are forgotten, and it may come again', async () => {
    const world = new ProbeWorld();
    world.answer = () => new Promise(() => {});
    await world.add(podOf({ readinessProbe: exec() }));
    const [call] = world.calls;
    expect(call?.signal.aborted).toBe(false);
    world.manager.removePod(both);
    expect(call?.signal.aborted).toBe(true);
    expect([world.clock.pendingTimers, world.manager.result('readiness', 'x://a0')]).toEqual([0, undefined]);
    await world.add(podOf({ readinessProbe: exec() }));
    expect(world.calls).toHaveLength(2);
    world.manager.cleanupPods(new Set(['u1']));
    expect(world.clock.pendingTimers).toBe(2);
    world.manager.cleanupPods(new Set(['u2']));
    expect(world.clock.pendingTimers).toBe(0);
  });

  it('comes for all with the manager, which then adds none', async () => {
    const world = new ProbeWorld();
    world.answer = (_, signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    await world.add(both);
    expect(world.manager.state).toBe('running');
    const stopped = world.manager.stop();
    expect(world.manager.stop()).toBe(stopped);
    await stopped;
    expect([world.manager.state, world.clock.pendingTimers]).toEqual(['stopped', 0]);
    expect(() => world.manager.addPod(both)).toThrow(expect.objectContaining({ code: 'ERR_STOPPED' }));
    expect([world.events, world.results.filter((one) => one.endsWith('Success'))]).toEqual([[], ['liveness Success']]);
  });

  it('waits a second for a call that does not heed its signal', async () => {
    const world = new ProbeWorld();
    world.answer = () => new Promise(() => {});
    await world.add(podOf({ readinessProbe: exec() }));
    let isStopped = false;
    const stopped = world.manager.stop().then(() => {
      isStopped = true;
    });
    await world.clock.advance(999);
    expect(isStopped).toBe(false);
    await world.clock.advance(1);
    await stopped;
    expect(world.logged).toContain('stopped before every call of the prober had settled');
    expect(world.clock.pendingTimers).toBe(0);
  });

  it('may come from whoever hears of a result', async () => {
    const world = new ProbeWorld({ handlers: { resultChanged: () => world.manager.removePod(both) } });
    await world.add(both);
    await world.seconds(30);
    expect([world.times, world.clock.pendingTimers]).toEqual([[], 0]);
  });
});

describe('a pod that is removed while a probe ends', () => {
  it.each([0, 1, 2, 3, 4, 5, 6, 7, 8])('%i turns of the queue after the answer: nothing is said afterwards', async (turns) => {
    const world = new ProbeWorld();
    const answer = Promise.withResolvers<unknown>();
    world.answer = () => answer.promise;
    const pod = await world.add(podOf({ readinessProbe: exec({ failureThreshold: 1 }), livenessProbe: exec() }));
    answer.resolve(failure);
    for (let turn = 0; turn < turns; turn += 1) await undefined;
    world.manager.removePod(pod);
    const said = [world.events.length, world.updates.length];
    await world.seconds(30);
    expect([world.events.length, world.updates.length]).toEqual(said);
    expect(world.manager.result('liveness', 'x://a0')).toBeUndefined();
  });

  it('and whoever hears the first of two results hears no second', async () => {
    const initContainers = [{ name: 's', restartPolicy: 'Always', startupProbe: exec() }];
    const pod = podOf({}, { initContainers } as object);
    const heard: string[] = [];
    const world: ProbeWorld = new ProbeWorld({
      handlers: {
        resultChanged: ({ result }) => {
          heard.push(result);
          world.manager.removePod(pod);
        },
      },
    });
    const { containerStatuses } = running({ ...started, name: 's' });
    world.status = running({}, { initContainerStatuses: containerStatuses });
    await world.add(pod);
    expect([heard, world.manager.result('startup', 'x://a0')]).toEqual([['Success'], undefined]);
  });
});
