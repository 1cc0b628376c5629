import { describe, expect, it } from 'vitest';
import type { Plugin, PostFilterAnswer } from '../../../src/scheduler/framework/plugin.ts';
import { inTreePlugins, type SchedulerOptions } from '../../../src/scheduler.ts';
import { node, pod, schedulerWorld } from './scheduler-world.ts';

function withPlugin(methods: Partial<Plugin>): Partial<SchedulerOptions> {
  return {
    registry: { ...inTreePlugins(), My: () => ({ name: 'My', eventsToRegister: () => [], ...methods }) },
    profiles: [{ plugins: { postFilter: { disabled: [{ name: '*' }] }, multiPoint: { enabled: [{ name: 'My' }] } } }],
  };
}

describe('a plugin that fails in postFilter', () => {
  const answer = { nominatedNodeName: 'n', message: '' };
  it.each([
    ['actions without a victim', { ...answer, actions: [{ kind: 'evict', nodeName: 'n' }] }],
    ['no list of actions', { ...answer, actions: null }],
    ['an action of another kind', { ...answer, actions: [{ kind: 'move', nodeName: 'n', victim: {} }] }],
    ['an action without a node', { ...answer, actions: [{ kind: 'evict', victim: { uid: 'u', priority: 0, pod: {} } }] }],
  ])('costs its pod the attempt and nothing else: %s', async (_what, wrong) => {
    const logged: unknown[] = [];
    const nothing = (): void => {};
    const error = (fields: object): void => void logged.push(fields);
    const postFilter = (): PostFilterAnswer => wrong as unknown as PostFilterAnswer;
    const filter = (): { code: 'Unschedulable'; reasons: string[] } => ({ code: 'Unschedulable', reasons: ['no'] });
    const options = withPlugin({ filter, postFilter });
    const plugins = {
      postFilter: { disabled: [{ name: '*' }], enabled: [{ name: 'My' }] },
      multiPoint: { enabled: [{ name: 'My' }] },
    };
    const { clock, told, scheduler } = schedulerWorld({
      ...options,
      profiles: [{ plugins }],
      logger: { debug: nothing, info: nothing, warn: nothing, error },
    });
    scheduler.setNode(node('n'));
    for (const name of ['a', 'b']) scheduler.setPod(pod(name));
    scheduler.start();
    await clock.advance(0);
    expect(scheduler.stats()).toMatchObject({ active: 0, unschedulable: 2 });
    expect(told.filter((line) => line.startsWith('status'))).toEqual(['status a Unschedulable', 'status b Unschedulable']);
    expect(logged).toMatchObject([0, 1].map(() => ({ err: { code: 'ERR_PLUGIN', plugin: 'My' } })));
    await scheduler.stop();
  });

  it('does not keep the other pods from being tried, whatever its answer is', async () => {
    let asked = 0;
    // another answer each time that it is looked at
    const actions = (): PostFilterAnswer['actions'] => (++asked % 2 === 1 ? [] : (null as never));
    const plugins = {
      postFilter: { disabled: [{ name: '*' }], enabled: [{ name: 'My' }] },
      multiPoint: { enabled: [{ name: 'My' }] },
    };
    const { clock, scheduler } = schedulerWorld({
      ...withPlugin({
        filter: () => ({ code: 'Unschedulable', reasons: ['no'] }),
        postFilter: () => Object.defineProperty({ nominatedNodeName: 'n', message: '' }, 'actions', { get: actions }),
      }),
      profiles: [{ plugins }],
    });
    scheduler.setNode(node('n'));
    for (const name of ['a', 'b', 'c']) scheduler.setPod(pod(name));
    scheduler.start();
    await clock.advance(0);
    expect(scheduler.stats().active).toBe(0);
    for (const name of ['a', 'b', 'c']) expect(scheduler.explain(`uid-${name}`).state).not.toBe('trying');
    await scheduler.stop();
  });
});

describe('a place that a plugin refuses', () => {
  const no = { code: 'Unschedulable', reasons: ['no'] } as const;
  const fail = (): never => {
    throw new Error('broken');
  };
  it.each([
    ['reserve refuses', { reserve: () => no }],
    ['reserve throws', { reserve: fail }],
    ['permit refuses', { permit: () => no }],
    ['permit throws', { permit: fail }],
  ] satisfies [string, Partial<Plugin>][])('is free again at once, and every plugin is told: %s', async (_what, methods) => {
    let undone = 0;
    const unreserve = (): void => {
      undone += 1;
    };
    const { scheduler } = schedulerWorld(withPlugin({ ...methods, unreserve }));
    scheduler.setNode(node('n'));
    scheduler.setPod(pod('web'));
    expect(scheduler.scheduleOne()).toBe(true);
    expect([scheduler.stats().pods, undone]).toEqual([0, 1]);
    await scheduler.stop();
  });
});

describe('a plugin that refuses in preBind', () => {
  it('makes the pod wait for a change, as one that fits on no node', async () => {
    let answer: { code: 'Unschedulable'; reasons: string[] } | undefined = { code: 'Unschedulable', reasons: ['no licence'] };
    const { clock, told, scheduler } = schedulerWorld(
      withPlugin({ preBind: async () => answer, eventsToRegister: () => [{ resource: 'Node', actions: ['Add'] }] }),
    );
    scheduler.setNode(node('n'));
    scheduler.setPod(pod('a'));
    scheduler.start();
    await clock.advance(0);
    expect(told).toContain('FailedScheduling a: 0/1 nodes are available: 1 no licence.');
    expect(told).toContain('status a Unschedulable');
    expect(scheduler.stats()).toMatchObject({ unschedulable: 1, binding: 0 });
    answer = undefined;
    scheduler.setNode(node('other'));
    await clock.advance(10_000);
    expect(scheduler.stats()).toMatchObject({ bound: 1 });
    await scheduler.stop();
  });
});
