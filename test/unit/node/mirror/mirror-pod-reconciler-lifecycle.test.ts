import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../../../src/base/logging/logger.ts';
import type { MirrorPodReconcilerOptions } from '../../../../src/node/mirror/reconciler-options.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { unhandledRejectionsOf } from '../../../support/unhandled-rejections.ts';
import { mistake, never, ReconcilerWorld, rejecting } from './reconciler-world.ts';
import { refusal } from './recording-transport.ts';

const name = 'web_default';

describe('stop', () => {
  it('ends the subscription, and the waits of a pod that somebody fights over', async () => {
    let subscriptions = 0;
    const world = new ReconcilerWorld();
    const { podManager } = world;
    const counting = new ReconcilerWorld({
      mirrorPodClient: { createMirrorPod: never, deleteMirrorPod: never, getMirrorPod: never } as never,
      podManager: {
        getPodsAndMirrorPods: () => podManager.getPodsAndMirrorPods(),
        getPodByUID: (uid) => podManager.getPodByUID(uid),
        getMirrorPodByPod: (pod) => podManager.getMirrorPodByPod(pod),
        subscribe: (listener) => {
          subscriptions += 1;
          const unsubscribe = podManager.subscribe(listener);
          return () => {
            subscriptions -= 1;
            unsubscribe();
          };
        },
      },
    });
    await counting.start();
    expect(subscriptions).toBe(1);
    await counting.reconciler.stop();
    expect(subscriptions).toBe(0);

    world.addStatic();
    await world.start();
    for (let i = 0; i < 120; i++) {
      world.remove(name);
      await settle();
    }
    expect(world.clock.pendingTimers).toBeGreaterThan(1);
    await world.reconciler.stop();
    expect(world.clock.pendingTimers).toBe(0);
  });

  it('gives up what is under way, and leaves no timer, no subscription and no call', async () => {
    const world = new ReconcilerWorld();
    world.next('create', never);
    world.next('create', rejecting(refusal(422, 'Invalid')));
    for (const pod of ['a', 'b', 'c']) world.addStatic(pod);
    await world.start();
    expect(world.inFlight).toBe(1);
    const stopped = world.reconciler.stop();
    expect(world.reconciler.state).toBe('stopping');
    await stopped;
    expect(world.reconciler.stop()).toBe(stopped);
    expect(world.reconciler.state).toBe('stopped');
    expect({ timers: world.clock.pendingTimers, inFlight: world.inFlight }).toEqual({ timers: 0, inFlight: 0 });
    world.takeCalls();
    world.addStatic('d');
    await world.clock.advance(60_000);
    expect(world.calls).toEqual([]);
    expect(() => world.reconciler.start()).toThrow(expect.objectContaining({ code: 'ERR_STOPPED' }));
    expect(() => world.reconciler.reconcile()).toThrow(expect.objectContaining({ code: 'ERR_STOPPED' }));
  });

  it('before start is fine, and start twice is an error', async () => {
    await using idle = new ReconcilerWorld().reconciler;
    expect(idle.state).toBe('idle');
    const world = new ReconcilerWorld();
    await world.start();
    expect(world.reconciler.state).toBe('running');
    expect(() => world.reconciler.start()).toThrow(expect.objectContaining({ code: 'ERR_ALREADY_STARTED' }));
    await world.reconciler.stop();
  });
});

describe('a mirror pod reconciler', () => {
  it('keeps nothing of pods that are gone, and no short timer when all is well', async () => {
    const world = new ReconcilerWorld();
    await world.start();
    for (let i = 0; i < 30; i++) {
      const pod = world.addStatic(`web-${i}`);
      await settle();
      world.podManager.removePod(pod);
      await settle(10);
    }
    expect(world.pods.size).toBe(0);
    expect(world.clock.pendingTimers).toBe(1);
    await world.reconciler.stop();
  });

  it('does nothing, and says so once, without a client', async () => {
    const world = new ReconcilerWorld();
    world.next('create', () => ({ outcome: 'noClient' }));
    world.addStatic();
    await world.start();
    world.addStatic('other');
    await world.clock.advance(60_000);
    expect(world.takeCalls()).toHaveLength(1);
    await world.reconciler.stop();
  });

  it('goes on when the pod manager fails for a while', async () => {
    const world = new ReconcilerWorld();
    let broken = true;
    const { podManager } = world;
    const failing = new ReconcilerWorld({
      podManager: {
        getPodsAndMirrorPods: () => {
          if (broken) throw new Error('not now');
          return podManager.getPodsAndMirrorPods();
        },
        getPodByUID: (uid) => podManager.getPodByUID(uid),
        getMirrorPodByPod: (pod) => podManager.getMirrorPodByPod(pod),
        subscribe: (listener) => podManager.subscribe(listener),
      },
    });
    world.addStatic();
    await failing.start();
    await failing.clock.advance(2000);
    broken = false;
    await failing.clock.advance(500);
    expect(failing.takeCalls()).toEqual([`create ${name} hash-1`]);
    await failing.reconciler.stop();
  });

  it('goes on with a pod that failed, also when the clock set no timer for its backoff', async () => {
    const time = new FakeClock();
    const logged: string[] = [];
    const logger = { ...silentLogger, error: (_fields: object, message: string) => logged.push(message) };
    let broken = false;
    const clock = {
      now: () => time.now(),
      setTimer: (...args: Parameters<typeof time.setTimer>) => (broken ? mistake() : time.setTimer(...args)),
    };
    const world = new ReconcilerWorld({ clock, logger });
    const pod = world.addStatic();
    world.next('create', () => {
      broken = true;
      throw refusal(500, 'InternalError');
    });
    expect(await unhandledRejectionsOf(() => world.start())).toEqual([]);
    expect(logged).toContain('the clock set no timer; the pod is looked at when the next change comes');
    broken = false;
    world.reconciler.reconcile();
    await settle(20);
    expect(world.isInStep(pod)).toBe(true);
    await world.reconciler.stop();
  });

  it('looks at the next change, also when the clock set no timer for the next look', async () => {
    const time = new FakeClock();
    const logged: string[] = [];
    const logger = { ...silentLogger, error: (_fields: object, message: string) => logged.push(message) };
    let broken = true;
    const clock = {
      now: () => time.now(),
      setTimer: (...args: Parameters<typeof time.setTimer>) => (broken ? mistake() : time.setTimer(...args)),
    };
    const world = new ReconcilerWorld({ clock, logger });
    expect(await unhandledRejectionsOf(() => world.start())).toEqual([]);
    expect(logged).toEqual(['the clock set no timer; mirror pods are looked at when the next change comes']);
    broken = false;
    const pod = world.addStatic();
    await settle(10);
    expect(world.isInStep(pod)).toBe(true);
    await world.reconciler.stop();
  });

  it.each([
    [{ podManager: {} }, 'podManager'],
    [{ mirrorPodClient: {} }, 'mirrorPodClient'],
    [{ podSource: {} }, 'podSource'],
    [{ nodeName: '' }, 'nodeName'],
    [{ concurrency: 0 }, 'concurrency'],
    [{ staticPodsReady: true }, 'staticPodsReady'],
    [{ handlers: { created: () => {} } }, 'handlers.created'],
    [{ interval: 1 }, 'options.interval'],
  ])('refuses %j', (options, option) => {
    expect(() => new ReconcilerWorld(options as Partial<MirrorPodReconcilerOptions>)).toThrow(`Expected \`${option}\``);
  });

  it('refuses a full name that cannot be read', async () => {
    const world = new ReconcilerWorld();
    expect(() => world.reconciler.reconcile('web')).toThrow(expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT' }));
    expect(() => world.reconciler.reconcile(1 as unknown as string)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT' }),
    );
    await world.reconciler.stop();
  });
});
