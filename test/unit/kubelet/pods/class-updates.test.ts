import { describe, expect, it, vi } from 'vitest';
import type { Pod } from '../../../../src/api/json/types.ts';
import type { PodCgroups } from '../../../../src/kubelet/cgroups/cgroup-manager.ts';
import { noPodCgroups } from '../../../../src/kubelet/machine/machine.ts';
import { awaitClasses, ClassUpdates } from '../../../../src/kubelet/pods/class-updates.ts';
import { FakeClock } from '../../../../src/testing.ts';
import { NodeWorld } from '../agent/node-world.ts';
import { container, podOf, SyncerWorld } from './syncer-world.ts';

const named = (name: string): Pod => ({ metadata: { name, uid: name } });

/** Updates that end when the test says so. */
function setUp() {
  const pods: Pod[] = [];
  const written: string[][] = [];
  const ends: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const warnings: string[] = [];
  const log = (_: object, message: string) => void warnings.push(message);
  const classes = new ClassUpdates({
    clock: new FakeClock(),
    cgroups: {
      updateClasses: (given) => {
        written.push(Array.from(given, ({ metadata }) => metadata?.name ?? ''));
        const { promise, resolve, reject } = Promise.withResolvers<void>();
        ends.push({ resolve, reject });
        return promise;
      },
    },
    activePods: () => [...pods],
    logger: { debug: log, info: log, warn: log, error: log },
  });
  return { classes, pods, written, ends, warnings };
}
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('updates of the groups of classes', () => {
  it('of so many pods that a look at them takes long leave nine times as long between them', async () => {
    const clock = new FakeClock();
    let [lookMs, tookMs] = [0.5, 0];
    const elapsed = vi.spyOn(clock, 'elapsed').mockImplementation(() => tookMs);
    const updated: number[] = [];
    const updateClasses = async (): Promise<void> => {
      updated.push(clock.now());
      tookMs += lookMs;
    };
    const logger = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };
    const classes = new ClassUpdates({ clock, cgroups: { updateClasses }, activePods: () => [], logger });
    const began = clock.now();
    await classes.update();
    await classes.update();
    lookMs = 20;
    await classes.update();
    const calls = [classes.update(), classes.update()];
    await clock.advance(179);
    expect(updated.map((at) => at - began)).toEqual([0, 0, 0]);
    await clock.advance(1);
    await Promise.all(calls);
    expect(updated.map((at) => at - began)).toEqual([0, 0, 0, 180]);
    await clock.advance(180);
    // the machine stood still for half a minute
    lookMs = 30_000;
    await classes.update();
    const next = classes.update();
    await clock.advance(1000);
    await next;
    expect(updated.map((at) => at - began).slice(4)).toEqual([360, 1360]);
    vi.spyOn(clock, 'setTimer').mockImplementation(() => {
      throw new Error('no timer');
    });
    await clock.advance(1000);
    await classes.update();
    await classes.update();
    expect(updated).toHaveLength(8);
    elapsed.mockRestore();
  });

  it('run one at a time, and calls that come meanwhile share one more, which sees what they have seen', async () => {
    const { classes, pods, written, ends } = setUp();
    pods.push(named('a'));
    const ended: string[] = [];
    const call = (name: string): void => void classes.update().then(() => void ended.push(name));
    call('first');
    pods.push(named('b'));
    for (const name of ['second', 'third', 'fourth']) call(name);
    await settled();
    expect([written, ended]).toEqual([[['a']], []]);
    ends[0]?.resolve();
    await settled();
    expect([written, ended]).toEqual([[['a'], ['a', 'b']], ['first']]);
    call('fifth');
    ends[1]?.resolve();
    await settled();
    expect([written.length, ended]).toEqual([3, ['first', 'second', 'third', 'fourth']]);
    ends[2]?.resolve();
    await settled();
    expect([written.length, ended.at(-1)]).toEqual([3, 'fifth']);
  });

  it('that fail are told, and the next call tries again', async () => {
    const { classes, ends, written, warnings } = setUp();
    const update = classes.update();
    ends[0]?.reject(new Error('EIO'));
    await update;
    expect(warnings).toEqual(['the groups of the classes of pods could not be brought up to date; it is tried again']);
    const next = classes.update();
    expect(written).toHaveLength(2);
    ends[1]?.resolve();
    await next;
    expect(warnings.slice(1)).toEqual(['the groups of the classes of pods are up to date again']);
  });

  it('are waited for two seconds at most, and not once the signal has aborted', async () => {
    const clock = new FakeClock();
    const cgroups = { updateClasses: () => new Promise<never>(() => {}) };
    const stopping = new AbortController();
    let isOver = false;
    const wait = awaitClasses(cgroups, clock, stopping.signal).then(() => {
      isOver = true;
    });
    await clock.advance(1999);
    expect(isOver).toBe(false);
    await clock.advance(1);
    await wait;
    const second = awaitClasses(cgroups, clock, stopping.signal);
    stopping.abort();
    await second;
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('a pod', () => {
  it('has the group of its class up to date before its own is made, once', async () => {
    await using world = new SyncerWorld();
    const pod = podOf({ containers: [container('app')] });
    await world.sync(pod);
    await world.sync(pod);
    const asked = world.calls.filter((call) => call === 'updateClasses' || call === 'ensurePod');
    expect(asked).toEqual(['updateClasses', 'ensurePod', 'ensurePod']);
  });

  it('that was killed has it brought up to date, and so has one that nobody knows', async () => {
    await using world = new SyncerWorld();
    const pod = podOf({ containers: [container('app')] });
    await world.sync(pod);
    world.calls.length = 0;
    await world.end(pod);
    expect(world.calls).toContain('updateClasses');
    await world.finish(pod);
    await world.sync(pod);
    world.calls.length = 0;
    const running = { uid: 'web', name: 'web', namespace: 'default', containers: [], sandboxes: [] };
    await world.through(world.syncer.syncTerminatingRuntimePod(running as never, world.signal));
    expect(world.calls).toContain('updateClasses');
  });

  it('counts from before its group is made until it is over', async () => {
    await using world = await NodeWorld.make();
    const seen: string[] = [];
    const names = (pods: Iterable<Pod>) => Array.from(pods, ({ metadata }) => metadata?.name).join();
    const cgroups: PodCgroups = {
      ...noPodCgroups,
      updateClasses: async (pods) => void seen.push(`classes of ${names(pods)}`),
      ensurePod: async ({ metadata }) => void seen.push(`group of ${metadata?.name}`),
    };
    const agent = world.agent({ cgroups });
    await world.through(agent.start());
    await world.pass(3000);
    expect(seen).toContain('classes of ');
    seen.length = 0;
    world.create('web');
    await world.pass(500);
    expect(seen.slice(0, 2)).toEqual(['classes of web', 'group of web']);
    world.delete('web', 5);
    await world.pass(500);
    seen.length = 0;
    await world.pass(5000);
    expect(seen).toContain('classes of ');
    expect(seen).not.toContain('classes of web');
    await world.through(agent.stop());
  });
});
