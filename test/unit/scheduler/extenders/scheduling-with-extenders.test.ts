import { describe, expect, it } from 'vitest';
import type { Plugin } from '../../../../src/scheduler/framework/plugin.ts';
import { keepsObjects } from '../../../../src/scheduler/scheduler-options.ts';
import { inTreePlugins } from '../../../../src/scheduler.ts';
import { node, pod } from '../scheduler-world.ts';
import { type Answers, all, extenderWorld } from './extender-world.ts';

const nodes = ['n1', 'n2', 'n3'];

/** Three nodes and a pod, which has been tried once. */
async function placed(answers: Answers, ...[extender, options, spec]: [object?, object?, object?]) {
  const world = await extenderWorld(answers, extender, options);
  for (const name of nodes) world.scheduler.setNode(node(name));
  world.scheduler.setPod(pod('web', '1', spec as never));
  world.scheduler.start();
  await world.scheduler.flush();
  return { ...world, [Symbol.asyncDispose]: world[Symbol.asyncDispose] };
}

describe('an extender that filters', () => {
  it('leaves out nodes, and is asked of those that fit', async () => {
    await using world = await placed({ filter: () => ({ NodeNames: ['n2'] }) });
    expect(world.told[0]).toBe('bind web n2');
    expect(world.server.asked.map(({ verb, nodes: asked }) => [verb, asked])).toEqual([['filter', nodes]]);
  });

  it('gets and gives whole nodes where it does not know them; its copies are not believed', async () => {
    const small = { metadata: { name: 'n3' }, status: { allocatable: { cpu: '0' } } };
    await using world = await placed({ filter: () => ({ Nodes: { items: [small] } }) }, { nodeCacheCapable: false });
    expect(world.told[0]).toBe('bind web n3');
    expect(world.server.asked[0]?.body).toMatchObject({ NodeNames: null, Nodes: { items: [{ status: {} }, {}, {}] } });
  });

  it('says why no node fits; any change brings the pod back', async () => {
    let isOpen = false;
    const filter: Answers[string] = (asked) =>
      isOpen
        ? all(asked)
        : { FailedNodes: { n1: 'busy', n2: 'busy', n3: 'busy', other: 'x' }, FailedAndUnresolvableNodes: { n2: 'no gpu' } };
    await using world = await placed({ filter });
    const { scheduler, told, clock } = world;
    expect(told.join()).toContain('FailedScheduling web: 0/3 nodes are available: 1 no gpu, 2 busy. ');
    expect(scheduler.explain('uid-web').problem).toMatchObject({
      kind: 'no-node-fits',
      help: 'See why an extender of the scheduler refuses 3 nodes.',
    });
    isOpen = true;
    scheduler.setNode({ ...node('n1'), metadata: { name: 'n1', annotations: { any: 'thing' } } });
    await clock.advance(1000);
    await scheduler.flush();
    expect(told).toContain('bind web n1');
  });

  it('leaves no node without a word: the pod waits, and people are told whom to ask', async () => {
    await using world = await placed({ filter: () => ({}) });
    expect(world.told.filter((line) => line.startsWith('bind'))).toEqual([]);
    expect(world.scheduler.explain('uid-web').problem?.help).toBe('See why the extenders of the scheduler leave out every node.');
  });

  it('is asked of all nodes also where no plugin scores them', async () => {
    const none = { disabled: [{ name: '*' }] };
    const profiles = [{ plugins: { preScore: none, score: none } }];
    await using world = await placed({ filter: () => ({ NodeNames: ['n3'] }) }, {}, { profiles });
    expect(world.server.asked[0]?.nodes).toEqual(nodes);
    expect(world.told[0]).toBe('bind web n3');
  });

  it('is asked of the promised node first, and then of all', async () => {
    const world = await extenderWorld({ filter: ({ nodes: asked }) => ({ NodeNames: asked.length === 1 ? 'broken' : ['n3'] }) });
    await using _ = world;
    for (const name of nodes) world.scheduler.setNode(node(name));
    world.scheduler.setPod({ ...pod('web'), status: { nominatedNodeName: 'n2' } });
    world.scheduler.start();
    await world.scheduler.flush();
    expect(world.server.asked.map(({ nodes: asked }) => asked)).toEqual([['n2'], nodes]);
    expect(world.told[0]).toBe('bind web n3');
  });
});

describe('an extender that scores', () => {
  it('adds ten times its scores, times its weight, to those of the plugins', async () => {
    const prioritize = () => [
      { Host: 'n1', Score: 3 },
      { Host: 'n3', Score: 4 },
      { Host: 'elsewhere', Score: 10 },
    ];
    const prefersFirst: Plugin = { name: 'First', score: (_state, _pod, { name }) => (name === 'n1' ? 100 : 0) };
    const options = (weight: number) => ({
      registry: { ...inTreePlugins(), First: () => prefersFirst },
      profiles: [{ plugins: { multiPoint: { enabled: [{ name: 'First', weight }] } } }],
    });
    // 30 × 9 + 100 against 40 × 9, and 30 × 11 + 100 against 40 × 11
    await using first = await placed({ prioritize }, { weight: 9 }, options(1));
    await using third = await placed({ prioritize }, { weight: 11 }, options(1));
    expect([first.told[0], third.told[0]]).toEqual(['bind web n1', 'bind web n3']);
  });

  it('that fails adds nothing, whether it is ignorable or not', async () => {
    await using world = await placed({ prioritize: () => 'nonsense' });
    expect(world.told[0]).toBe('bind web n1');
  });
});

describe('an extender that binds', () => {
  it('binds in place of the plugins', async () => {
    await using world = await placed({ bind: () => ({ Error: '' }) });
    expect(world.server.asked[0]?.body).toEqual({ PodName: 'web', PodNamespace: 'default', PodUID: 'uid-web', Node: 'n1' });
    expect(world.told).toEqual(['Scheduled web: Successfully assigned default/web to n1']);
  });

  it.each([
    [false, [], 'FailedScheduling web: The extender URL failed to bind default/web: no'],
    [true, ['bind web n1'], 'Scheduled web: Successfully assigned default/web to n1'],
  ])('that fails and has ignorable=%s', async (ignorable, bound, last) => {
    await using world = await placed({ bind: () => ({ Error: 'no' }) }, { ignorable });
    const told = world.told.map((line) => line.replace(world.server.url.slice(0, -1), 'URL'));
    expect(told.filter((line) => line.startsWith('bind'))).toEqual(bound);
    expect(told).toContain(last);
  });
});

describe('a process that has lost its Lease', () => {
  it('asks no extender to bind', async () => {
    const lost = (): never => {
      throw new Error('this process does not hold the Lease');
    };
    const around = { state: 'running' as const, problems: () => [], assertMayWrite: lost };
    await using world = await placed({ bind: () => ({}) }, {}, { [keepsObjects]: around });
    expect(world.server.asked).toEqual([]);
    expect(world.told.join()).toContain('failed to bind default/web: this process does not hold the Lease');
  });
});

describe('managed resources', () => {
  const managedResources = [{ name: 'example.com/gpu', ignoredByScheduler: true }];
  const asks = (member: string, list: string) => ({
    [list]: [{ name: 'c', image: 'i', resources: { [member]: { 'example.com/gpu': '1' } } }],
  });

  it.each<[string, object, string[]]>([
    ['a pod that asks for none', {}, []],
    ['a request of a container', asks('requests', 'containers'), ['filter web']],
    ['a limit of a container', asks('limits', 'containers'), ['filter web']],
    ['a request of an init container', asks('requests', 'initContainers'), ['filter web']],
  ])('decide whether the extender is asked: %s', async (_what, spec, verbs) => {
    await using world = await placed({ filter: all }, { managedResources }, {}, spec);
    expect(world.server.verbs()).toEqual(verbs);
    // no node has any: no plugin looks at what the extender keeps the accounts of
    expect(world.told[0]).toBe('bind web n1');
  });

  it('are looked at by the plugins unless they are ignored', async () => {
    const looked = [{ name: 'example.com/gpu' }];
    await using world = await placed({ filter: all }, { managedResources: looked }, {}, asks('requests', 'containers'));
    expect(world.told[0]).toContain('FailedScheduling web: 0/3 nodes are available: 3 Insufficient example.com/gpu. ');
  });

  it('keep what a profile says of its plugin otherwise', async () => {
    const args = { ignoredResources: ['example.com/other'], scoringStrategy: { type: 'MostAllocated' } };
    const profiles = [{ pluginConfig: [{ name: 'NodeResourcesFit', args }] }];
    const world = await extenderWorld({ filter: all }, { managedResources }, { profiles });
    await using _ = world;
    world.scheduler.setNode(node('n1', '8'));
    world.scheduler.setNode(node('n2', '2'));
    world.scheduler.setPod(pod('web', '1'));
    world.scheduler.setPod(pod('gpu', '1', asks('requests', 'containers') as never));
    world.scheduler.start();
    await world.scheduler.flush();
    expect(world.told.filter((line) => line.startsWith('bind'))[0]).toBe('bind web n2');
    expect(world.told.join()).toContain('bind gpu');
  });
});

describe('preemption with an extender', () => {
  const low = (name: string, nodeName: string) => pod(name, '4', { nodeName, priority: 0 } as never);

  /** Nodes that are full of lesser pods, and a pod that needs a whole one. */
  async function full(preempt: Answers[string], extender: object = {}) {
    const world = await extenderWorld({ preempt }, extender);
    for (const name of nodes) {
      world.scheduler.setNode(node(name));
      world.scheduler.setPod(low(`low-${name}`, name));
    }
    world.scheduler.setPod(pod('boss', '4', { priority: 10 }));
    world.scheduler.start();
    await world.scheduler.flush();
    return { ...world, [Symbol.asyncDispose]: world[Symbol.asyncDispose] };
  }
  const leaving = (map: object) => () => ({ NodeNameToMetaVictims: map });
  const victim = (name: string) => ({ Pods: [{ UID: `uid-low-${name}` }], NumPDBViolations: 0 });

  it('takes one of the nodes that it leaves', async () => {
    await using world = await full(leaving({ n3: victim('n3') }));
    const { NodeNameToMetaVictims: sent } = world.server.asked[0]?.body as Record<string, object>;
    expect(sent).toEqual({ n1: victim('n1'), n2: victim('n2'), n3: victim('n3') });
    expect(world.told).toContain('delete low-n3');
    expect(world.told.filter((line) => line.startsWith('delete'))).toHaveLength(1);
    expect(world.told).toContain('status boss Unschedulable n3');
  });

  it('preempts nothing where it leaves no node', async () => {
    await using world = await full(leaving({}));
    expect(world.told.filter((line) => line.startsWith('delete'))).toEqual([]);
    expect(world.told[0]).toMatch(/3 Insufficient cpu\. .*preemption: no candidate node for preemption$/);
  });

  it.each<[string, Answers[string], string]>([
    [
      'a pod that is not there',
      leaving({ n1: { Pods: [{ UID: 'nobody' }] } }),
      'it named the pod of uid "nobody" on the node n1, which is not there',
    ],
    ['a node of which it was not asked', leaving({ n9: victim('n1') }), 'it named the node "n9", of which it was not asked'],
    ['no pod', leaving({ n1: { Pods: [] } }), 'it left no pod to end on the node n1'],
    ['nonsense', () => 'nonsense', 'its answer is no JSON'],
  ])('preempts nothing where it names %s, and says so', async (_what, answer, message) => {
    await using world = await full(answer);
    expect(world.told.filter((line) => line.startsWith('delete'))).toEqual([]);
    expect(world.told[0]).toContain(`failed to choose victims for default/boss: ${message}`);
  });

  it('ends no pod of as high a priority, whoever names it', async () => {
    const world = await extenderWorld({ preempt: leaving({ n1: { Pods: [{ UID: 'uid-low' }, { UID: 'uid-other' }] } }) });
    await using _ = world;
    world.scheduler.setNode(node('n1'));
    world.scheduler.setPod(pod('low', '3', { nodeName: 'n1', priority: 0 } as never));
    world.scheduler.setPod(pod('other', '1', { nodeName: 'n1', priority: 10 } as never));
    world.scheduler.setPod(pod('boss', '3', { priority: 10 }));
    world.scheduler.start();
    await world.scheduler.flush();
    expect(world.told[0]).toContain('whose priority is no lower');
    expect(world.told.filter((line) => line.startsWith('delete'))).toEqual([]);
  });

  it('goes on without one that fails and is ignorable, and passes over nodes where it names no pod', async () => {
    await using failing = await full(() => 'nonsense', { ignorable: true });
    expect(failing.told.filter((line) => line.startsWith('delete'))).toHaveLength(1);
    await using sparing = await full(leaving({ n1: { Pods: null }, n2: victim('n2') }), { ignorable: true });
    expect(sparing.told).toContain('delete low-n2');
  });
});
