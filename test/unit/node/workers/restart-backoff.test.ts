import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../../src/api/json/types.ts';
import { RestartBackoff, type RestartBackoffOptions } from '../../../../src/node/workers/restart-backoff.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';

const container = { name: 'c', image: 'i:1' };
const pod: Pod = {
  metadata: { name: 'web', namespace: 'd', uid: 'u1' },
  spec: { containers: [container], initContainers: [{ name: 'init' }], ephemeralContainers: [{ name: 'debug' }] },
};

function worldOf(options: RestartBackoffOptions = {}) {
  const clock = new FakeClock();
  const events: unknown[][] = [];
  const eventRecorder = { event: (...args: unknown[]) => void events.push(args) };
  const backoff = new RestartBackoff({ clock, eventRecorder, ...options });
  /** The container exits now, and is to be restarted. */
  const exitAndTry = (one: { name: string; image?: string; resources?: object } = container, of = pod) =>
    backoff.tryRestart(of, one, { containers: [{ id: 'x', name: one.name, state: 'exited', finishedAt: clock.now() }] });
  return { clock, events, backoff, exitAndTry };
}

describe('restart backoff', () => {
  it('lets a container go that the runtime shows no exit of, and counts nothing', () => {
    const { backoff } = worldOf();
    const containers = [{ id: 'x', name: 'c', state: 'running' as const }];
    expect(backoff.tryRestart(pod, container, { containers })).toEqual({ wait: false });
    expect(backoff.tryRestart(pod, container, { containers: [] })).toEqual({ wait: false });
    expect(backoff.nextWaitMs(pod, container)).toBe(0);
  });

  it('doubles the wait with each start, up to the longest', async () => {
    const { clock, exitAndTry, backoff } = worldOf();
    const waits: number[] = [];
    expect(exitAndTry()).toEqual({ wait: false });
    for (let i = 0; i < 7; i++) {
      const answer = exitAndTry();
      if (!answer.wait) throw new Error('the container may go');
      waits.push(answer.remainingMs / 1000);
      const finishedAt = clock.now();
      const containers = [{ id: 'x', name: 'c', state: 'exited' as const, finishedAt }];
      await clock.advance(answer.remainingMs - 1);
      expect(backoff.tryRestart(pod, container, { containers })).toMatchObject({ wait: true, remainingMs: 1 });
      await clock.advance(1);
      expect(backoff.tryRestart(pod, container, { containers })).toEqual({ wait: false });
    }
    expect(waits).toEqual([10, 20, 40, 80, 160, 300, 300]);
  });

  it('says why, in upstream’s words, and tells an event', () => {
    const { exitAndTry, events } = worldOf({ baseMs: 80_000 });
    exitAndTry();
    expect(exitAndTry()).toEqual({
      ...{ wait: true, reason: 'CrashLoopBackOff', remainingMs: 80_000 },
      message: 'back-off 1m20s restarting failed container=c pod=web_d(u1)',
    });
    expect(events).toEqual([
      [pod, 'Warning', 'BackOff', 'Back-off restarting failed container c in pod web_d(u1)', 'spec.containers{c}'],
    ]);
  });

  it.each([
    ['init', 'spec.initContainers{init}'],
    ['debug', 'spec.ephemeralContainers{debug}'],
    ['other', 'implicitly required container other'],
  ])('names the place of the container %s in the event', (name, path) => {
    const { exitAndTry, events } = worldOf();
    exitAndTry({ name });
    exitAndTry({ name });
    expect(events[0]?.[4]).toBe(path);
  });

  it('begins anew where the container exits more than ten minutes after its last start', async () => {
    const { clock, exitAndTry, backoff } = worldOf();
    exitAndTry();
    await clock.advance(600_000);
    expect(exitAndTry()).toMatchObject({ wait: true });
    await clock.advance(1);
    expect(exitAndTry()).toEqual({ wait: false });
    expect(backoff.nextWaitMs(pod, container)).toBe(10_000);
  });

  it('begins anew with another image or other resources, and not with another order of resources', () => {
    const { exitAndTry } = worldOf();
    const resources = { limits: { cpu: '1', memory: '1Gi' }, requests: null };
    exitAndTry({ ...container, resources });
    expect(exitAndTry({ ...container, resources: { limits: { memory: '1Gi', cpu: '1' } } }).wait).toBe(true);
    expect(exitAndTry({ ...container, resources: { limits: { memory: '2Gi', cpu: '1' } } }).wait).toBe(false);
    expect(exitAndTry({ ...container, image: 'i:2', resources }).wait).toBe(false);
    expect(exitAndTry({ name: 'c2', image: 'i:1', resources }).wait).toBe(false);
    expect(exitAndTry({ ...container, resources }, { ...pod, metadata: { ...pod.metadata, uid: 'u2' } }).wait).toBe(false);
  });

  it('takes the first record of the container that has exited', async () => {
    const { clock, backoff, exitAndTry } = worldOf();
    const containers = [
      { id: '3', name: 'c', state: 'created' as const },
      { id: '2', name: 'c', state: 'exited' as const, finishedAt: clock.now() },
      { id: '1', name: 'c', state: 'exited' as const, finishedAt: 0 },
    ];
    exitAndTry();
    await clock.advance(3000);
    expect(backoff.tryRestart(pod, container, { containers })).toMatchObject({ wait: true, remainingMs: 7000 });
  });

  describe('of an exit without a time', () => {
    const exited = (id: string) => ({ containers: [{ id, name: 'c', state: 'exited' as const }] });

    it('waits from the last start where the runtime still shows the exit before it', async () => {
      const { clock, backoff } = worldOf();
      expect(backoff.tryRestart(pod, container, exited('1'))).toEqual({ wait: false });
      expect(backoff.tryRestart(pod, container, exited('1'))).toMatchObject({ wait: true, remainingMs: 10_000 });
      await clock.advance(9999);
      expect(backoff.tryRestart(pod, container, exited('1'))).toMatchObject({ wait: true, remainingMs: 1 });
      await clock.advance(1);
      expect(backoff.tryRestart(pod, container, exited('1'))).toEqual({ wait: false });
      expect(backoff.nextWaitMs(pod, container)).toBe(20_000);
      expect(backoff.tryRestart(pod, container, exited('1'))).toMatchObject({ wait: true, remainingMs: 20_000 });
    });

    it('waits from when it was first seen, and begins anew where that is long after the last start', async () => {
      const { clock, backoff } = worldOf();
      backoff.tryRestart(pod, container, exited('1'));
      await clock.advance(60_000);
      expect(backoff.tryRestart(pod, container, exited('2'))).toMatchObject({ wait: true, remainingMs: 10_000 });
      await clock.advance(4000);
      expect(backoff.tryRestart(pod, container, exited('2'))).toMatchObject({ wait: true, remainingMs: 6000 });
      await clock.advance(6000);
      expect(backoff.tryRestart(pod, container, exited('2'))).toEqual({ wait: false });
      expect(backoff.nextWaitMs(pod, container)).toBe(20_000);
      await clock.advance(600_001);
      expect(backoff.tryRestart(pod, container, exited('3'))).toEqual({ wait: false });
      expect(backoff.nextWaitMs(pod, container)).toBe(10_000);
    });
  });

  it.each([
    ['a clock that is set back', -3_600_000, 0],
    ['an exit from the future', 0, 3_600_000],
  ])('waits no longer than it says because of %s', async (_what, setBackMs, aheadMs) => {
    const { clock, backoff, exitAndTry } = worldOf();
    exitAndTry();
    const containers = [{ id: 'x', name: 'c', state: 'exited' as const, finishedAt: clock.now() + aheadMs }];
    clock.jump(setBackMs);
    expect(backoff.tryRestart(pod, container, { containers })).toMatchObject({ wait: true, remainingMs: 10_000 });
    await clock.advance(4000);
    expect(backoff.tryRestart(pod, container, { containers })).toMatchObject({ wait: true, remainingMs: 6000 });
    await clock.advance(6000);
    expect(backoff.tryRestart(pod, container, { containers })).toEqual({ wait: false });
    expect(backoff.nextWaitMs(pod, container)).toBe(20_000);
  });

  it('waits as long as it says where the clock is set forward', async () => {
    const { clock, backoff, exitAndTry } = worldOf();
    exitAndTry();
    const containers = [{ id: 'x', name: 'c', state: 'exited' as const, finishedAt: clock.now() }];
    expect(backoff.tryRestart(pod, container, { containers })).toMatchObject({ wait: true, remainingMs: 10_000 });
    clock.jump(3_600_000);
    await clock.advance(4000);
    expect(backoff.tryRestart(pod, container, { containers })).toMatchObject({ wait: true, remainingMs: 6000 });
    backoff.gc();
    expect(backoff.nextWaitMs(pod, container)).toBe(10_000);
  });

  it('begins anew, and forgets at gc, ten minutes after a clock was set back', async () => {
    const { clock, backoff, exitAndTry } = worldOf();
    exitAndTry();
    exitAndTry({ name: 'init' });
    clock.jump(-3_600_000);
    backoff.gc();
    await clock.advance(600_001);
    expect(exitAndTry()).toEqual({ wait: false });
    expect(backoff.nextWaitMs(pod, container)).toBe(10_000);
    backoff.gc();
    expect(backoff.nextWaitMs(pod, { name: 'init' })).toBe(0);
  });

  it('forgets at gc what would begin anew', async () => {
    const { clock, exitAndTry, backoff } = worldOf();
    exitAndTry();
    await clock.advance(600_000);
    backoff.gc();
    expect(backoff.nextWaitMs(pod, container)).toBe(10_000);
    await clock.advance(1);
    backoff.gc();
    expect(backoff.nextWaitMs(pod, container)).toBe(0);
  });

  it('is not harmed by a recorder that throws', () => {
    const { exitAndTry } = worldOf({
      eventRecorder: {
        event: () => {
          throw new Error('broken');
        },
      },
    });
    exitAndTry();
    expect(exitAndTry().wait).toBe(true);
  });

  it.each([
    { baseMs: -1 },
    { baseMs: 10, maxMs: 9 },
    { resetAfterMs: '1' },
    { eventRecorder: {} },
    { clock: 1 },
    { maxMS: 1 },
  ])('refuses options that break a rule: %j', (options) => {
    expect(() => new RestartBackoff(options as never)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_OPTION' }));
  });

  it('refuses a pod without a uid', () => {
    const { exitAndTry } = worldOf();
    expect(() => exitAndTry(container, {})).toThrow(expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT' }));
  });
});
