import { describe, expect, it } from 'vitest';
import type { WirePod } from '../../../src/api/json/types.ts';
import type { Plugin } from '../../../src/scheduler/framework/plugin.ts';
import { inTreePlugins, type PodStatusChange, type SchedulerOptions } from '../../../src/scheduler.ts';
import { node, pod, schedulerWorld } from './scheduler-world.ts';

function withPlugin(methods: Partial<Plugin>): Partial<SchedulerOptions> {
  return {
    registry: { ...inTreePlugins(), My: () => ({ name: 'My', eventsToRegister: () => [], ...methods }) },
    profiles: [{ plugins: { multiPoint: { enabled: [{ name: 'My' }] } } }],
  };
}

/** The pod in a later version, with a node that it was promised. */
function promised(one: WirePod, nominatedNodeName: string, resourceVersion = '2'): WirePod {
  return { ...one, metadata: { ...one.metadata, resourceVersion }, status: { nominatedNodeName } };
}

const waits: Plugin['permit'] = () => ({ waitMs: 60_000 });
const works: Plugin['preBind'] = async () => undefined;
const broken = (): never => {
  throw new Error('broken');
};

/** A pod that a plugin handles on the way to its node, and what was written of promises. */
async function one(methods: Partial<Plugin>, client: Partial<SchedulerOptions['client']> = {}) {
  const promises: string[] = [];
  const patchStatus = async ({ metadata }: WirePod, { nominatedNodeName }: PodStatusChange): Promise<void> => {
    if (nominatedNodeName !== undefined) promises.push(`${metadata?.name} "${nominatedNodeName}"`);
  };
  const world = schedulerWorld(withPlugin(methods), false, { patchStatus, ...client });
  world.scheduler.setNode(node('n'));
  world.scheduler.setPod(pod('web', '2'));
  world.scheduler.start();
  await world.clock.advance(0);
  const bound = (): string[] => world.told.filter((line) => line.startsWith('bind'));
  return { ...world, promises, bound };
}

// Behaviour of bindingCycle, pkg/scheduler/schedule_one.go, v1.36.3, with the gate NominatedNodeNameForExpectation.
describe('the node that a pod is expected on', () => {
  it.each<[string, Partial<Plugin>, string[]]>([
    ['it waits for a permit', { permit: waits }, ['web "n"']],
    ['something is done before it is bound', { preBind: works }, ['web "n"']],
    ['it is said that something is done', { preBind: works, preBindPreFlight: () => undefined }, ['web "n"']],
    ['both', { permit: waits, preBind: works }, ['web "n"']],
    ['nothing is to be done', { preBind: works, preBindPreFlight: () => 'skip' }, []],
    ['it is permitted at once', { permit: () => undefined }, []],
    ['nobody can say what is to be done', { preBind: works, preBindPreFlight: broken }, ['web ""']],
  ])('is written where the pod is not bound at once: %s', async (_what, methods, expected) => {
    const { promises, scheduler } = await one(methods);
    expect(promises).toEqual(expected);
    await scheduler.stop();
  });

  it('is written before the plugins begin, and before anybody permits the pod', async () => {
    const order: string[] = [];
    const patchStatus = async (): Promise<void> => void order.push('promise');
    const preBind = async (): Promise<undefined> => void order.push('preBind');
    const { scheduler, clock } = await one({ permit: waits, preBind }, { patchStatus });
    expect(order).toEqual(['promise']);
    scheduler.allowPod('uid-web', 'My');
    await clock.advance(0);
    expect(order).toEqual(['promise', 'preBind']);
    await scheduler.stop();
  });

  it('keeps no pod from being bound where it cannot be written', async () => {
    const { bound, scheduler } = await one({ preBind: works }, { patchStatus: () => Promise.reject(new Error('no link')) });
    expect(bound()).toEqual(['bind web n']);
    expect(scheduler.snapshot().problems).toEqual([]);
    await scheduler.stop();
  });

  it('is not written beside the binding, whatever other writes wait for', async () => {
    const gate = Promise.withResolvers<void>();
    const names: string[] = [];
    const patchStatus = ({ metadata }: WirePod, { nominatedNodeName }: PodStatusChange): Promise<void> => {
      names.push(`${metadata?.name} ${nominatedNodeName ?? ''}`.trim());
      return gate.promise;
    };
    const { clock, scheduler, told, bindings } = schedulerWorld(withPlugin({ preBind: works }), true, { patchStatus });
    for (let index = 0; index < 16; index += 1) scheduler.setPod(pod(`big${index}`, '9'));
    scheduler.setNode(node('n'));
    scheduler.start();
    await clock.advance(0);
    expect(names).toHaveLength(16);
    scheduler.setPod(pod('web', '2'));
    await clock.advance(0);
    expect(told).toContain('bind web n');
    gate.resolve();
    await clock.advance(0);
    bindings[0]?.resolve();
    await scheduler.flush();
    expect(names.filter((name) => name.startsWith('web'))).toEqual([]);
    await scheduler.stop();
  });

  it('takes no second place while the pod has its own, though its status names it', async () => {
    const { scheduler, clock, bound } = await one({
      permit: (_state, { name }) => (name === 'web' ? { waitMs: 60_000 } : undefined),
    });
    scheduler.setPod(promised(pod('web', '2'), 'n'));
    scheduler.setPod(pod('other', '2'));
    await clock.advance(0);
    expect(bound()).toEqual(['bind other n']);
    await scheduler.stop();
  });

  it.each<[string, (world: Awaited<ReturnType<typeof one>>) => void]>([
    ['is refused', ({ scheduler }) => void scheduler.rejectPod('uid-web', 'My', 'no')],
    ['waits for too long', ({ clock }) => void clock.advance(60_000)],
  ])('is taken back where the pod %s: in its status, and from what holds others off', async (_what, end) => {
    const world = await one({ permit: (_state, { name }) => (name === 'web' ? { waitMs: 60_000 } : undefined) });
    const { scheduler, clock, bound, promises } = world;
    scheduler.setPod(promised(pod('web', '2'), 'n'));
    end(world);
    await clock.advance(0);
    await scheduler.flush();
    expect(promises).toEqual(['web "n"', 'web ""']);
    expect(scheduler.explain('uid-web').nominatedNodeName).toBe('n');
    // as the watch tells of it
    scheduler.setPod(promised(pod('web', '2'), '', '3'));
    expect(scheduler.explain('uid-web').nominatedNodeName).toBeUndefined();
    scheduler.setPod(pod('other', '4'));
    await clock.advance(0);
    expect(bound()).toEqual(['bind other n']);
    await scheduler.stop();
  });

  it('is taken back where the binding fails', async () => {
    const { promises, scheduler } = await one({ preBind: works }, { bind: () => Promise.reject(new Error('no link')) });
    await scheduler.flush();
    expect(promises).toEqual(['web "n"', 'web ""']);
    await scheduler.stop();
  });
});

describe('a scheduler that finds a node in the status of a pod', () => {
  it('tries it first, also where another one would be better', async () => {
    const { scheduler, bound } = await afterRestart('n1', [node('n1', '2'), node('n2', '64')]);
    expect(bound()).toEqual(['bind web n1']);
    await scheduler.stop();
  });

  it.each([
    ['the pod no longer fits there', [node('n1', '1'), node('n2', '2')]],
    ['it is gone', [node('n2', '2')]],
  ])('takes another one where %s', async (_what, nodes) => {
    const { scheduler, bound, clock } = await afterRestart('n1', nodes);
    expect(bound()).toEqual(['bind web n2']);
    // nobody holds the place on n1 any more
    scheduler.setNode(node('n1', '1'));
    scheduler.setPod(pod('other', '1'));
    await clock.advance(0);
    expect(bound().at(-1)).toBe('bind other n1');
    await scheduler.stop();
  });

  it('keeps the place there for it, from lesser pods and its equals', async () => {
    const filter: Plugin['filter'] = (_state, { name }) =>
      name === 'web' ? { code: 'UnschedulableAndUnresolvable', reasons: ['held'] } : undefined;
    const { scheduler, bound, clock } = await afterRestart('n1', [node('n1', '4')], { filter });
    expect(bound()).toEqual([]);
    // a pod that fits on no node is promised none any more: as its status said at the start
    scheduler.setPod(promised(pod('web', '2', { priority: 5 }), 'n1', '3'));
    scheduler.setPod(pod('equal', '3', { priority: 5 }));
    await clock.advance(0);
    expect(scheduler.explain('uid-equal').nodes).toMatchObject([{ nodeName: 'n1', reasons: ['Insufficient cpu'] }]);
    scheduler.setPod(pod('greater', '3', { priority: 6 }));
    await clock.advance(0);
    expect(bound()).toEqual(['bind greater n1']);
    await scheduler.stop();
  });

  it('believes it again once it schedules again: what was given up was not written', async () => {
    const world = await one({ permit: (_state, { name }) => (name === 'web' ? { waitMs: 60_000 } : undefined) });
    const { scheduler, clock } = world;
    scheduler.setPod(promised(pod('web', '2'), 'n'));
    scheduler.suspend();
    await scheduler.flush();
    expect(world.promises).toEqual(['web "n"']);
    scheduler.setNode(node('other', '3'));
    scheduler.resume();
    scheduler.setPod(pod('equal', '3'));
    await clock.advance(0);
    expect(world.bound()).toEqual(['bind equal other']);
    await clock.advance(20_000);
    scheduler.allowPod('uid-web', 'My');
    await scheduler.flush();
    expect(world.bound()).toEqual(['bind equal other', 'bind web n']);
    await scheduler.stop();
  });
});

describe('a promise of before', () => {
  it('stays where a plugin that makes room fails', async () => {
    const promises: (string | undefined)[] = [];
    const plugins = {
      postFilter: { disabled: [{ name: '*' }], enabled: [{ name: 'My' }] },
      multiPoint: { enabled: [{ name: 'My' }] },
    };
    const patchStatus = async (_pod: WirePod, { nominatedNodeName }: PodStatusChange): Promise<void> =>
      void promises.push(nominatedNodeName);
    const options = { ...withPlugin({ postFilter: broken }), profiles: [{ plugins }] };
    const { scheduler, clock, told } = schedulerWorld(options, false, { patchStatus });
    scheduler.setNode(node('n1', '1'));
    scheduler.setPod(promised(pod('web', '2'), 'n1'));
    scheduler.start();
    await clock.advance(0);
    expect(told[0]).toContain("1 Insufficient cpu. preemption: The scheduler's plugin My failed in postFilter: broken");
    expect([promises, scheduler.explain('uid-web').nominatedNodeName]).toEqual([[undefined], 'n1']);
    await scheduler.stop();
  });
});

/** A scheduler that has just begun, and a pod whose status names a node. */
async function afterRestart(nominated: string, nodes: readonly ReturnType<typeof node>[], methods: Partial<Plugin> = {}) {
  const world = schedulerWorld(withPlugin(methods));
  for (const each of nodes) world.scheduler.setNode(each);
  world.scheduler.setPod(promised(pod('web', '2', { priority: 5 }), nominated));
  world.scheduler.start();
  await world.clock.advance(0);
  const bound = (): string[] => world.told.filter((line) => line.startsWith('bind'));
  return { ...world, bound };
}
