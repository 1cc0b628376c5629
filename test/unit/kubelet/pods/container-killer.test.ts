import { getEventListeners } from 'node:events';
import { beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../../../src/base/logging/logger.ts';
import { ContainerKiller, type KillRequest } from '../../../../src/kubelet/pods/container-killer.ts';
import type { LifecycleHooks } from '../../../../src/kubelet/pods/lifecycle-hooks.ts';
import { buildPod, FakeClock } from '../../../../src/testing.ts';

const hooked = { name: 'app', lifecycle: { preStop: { exec: { command: ['sync'] } } } };
const pod = buildPod({ metadata: { name: 'web' }, spec: { containers: [hooked] } });

let clock: FakeClock;
let killer: ContainerKiller;
/** How long a hook takes. */
let hookMs: number;
/** What the runtime was told, in seconds. */
let timeouts: number[];
let events: string[];
let answer: () => Promise<void>;
let abort: AbortController;
beforeEach(() => {
  clock = new FakeClock();
  hookMs = 0;
  timeouts = [];
  events = [];
  answer = async () => undefined;
  abort = new AbortController();
  const hooks: Pick<LifecycleHooks, 'run'> = {
    run: () => new Promise((resolve) => clock.setTimer(resolve, hookMs)),
  };
  killer = new ContainerKiller({
    hookFailed: () => {},
    runtime: {
      stopContainer: async (_id, timeoutSeconds) => {
        timeouts.push(timeoutSeconds);
        await answer();
      },
    },
    hooks: hooks as LifecycleHooks,
    eventRecorder: { event: (_pod, _type, reason) => void events.push(reason) },
    clock,
    logger: silentLogger,
  });
});

async function kill(graceSeconds: number, more: Partial<KillRequest> = {}): Promise<void> {
  const request = { pod, containerName: 'app', container: undefined, containerID: 'c1', graceSeconds, podIP: undefined, ...more };
  const ended = killer.kill(request, abort.signal).catch(() => undefined);
  await clock.advance(3_600_000);
  await ended;
}

describe('a container that is to end', () => {
  it('gets what its hook has left of the grace period, and no second less', async () => {
    hookMs = 2500;
    await kill(10, { container: hooked });
    expect(timeouts).toEqual([8]);
  });

  it('has as long as it was promised, wherever the wall clock is set meanwhile', async () => {
    hookMs = 2500;
    clock.setTimer(() => clock.jump(3_600_000), 1000);
    await kill(10, { container: hooked });
    clock.setTimer(() => clock.jump(-7_200_000), 1000);
    await kill(10, { container: hooked });
    expect(timeouts).toEqual([8, 8]);
  });

  it('never gets more time by a later request, and less where that says so', async () => {
    answer = () => Promise.reject(new Error('busy'));
    await kill(7200);
    // an hour has passed
    await kill(36_000);
    await kill(60);
    expect(timeouts).toEqual([7200, 3600, 2]);
    expect(events).toEqual(['Killing']);
  });

  it('is forgotten once it has ended: another one of its id has all of its time', async () => {
    await kill(10);
    await kill(10);
    expect([timeouts, events]).toEqual([
      [10, 10],
      ['Killing', 'Killing'],
    ]);
  });

  it('is forgotten with its pod, also where it could never be ended', async () => {
    answer = () => Promise.reject(new Error('busy'));
    await kill(10);
    killer.forget('another');
    await kill(10);
    killer.forget(pod.metadata?.uid ?? '');
    await kill(10);
    expect([timeouts, events]).toEqual([
      [10, 2, 10],
      ['Killing', 'Killing'],
    ]);
  });

  it('leaves nothing on the signal of its request', async () => {
    hookMs = 100;
    await kill(10, { container: hooked, turn: () => new Promise((resolve) => clock.setTimer(resolve, 100)) });
    expect([getEventListeners(abort.signal, 'abort'), clock.pendingTimers]).toEqual([[], 0]);
  });
});
