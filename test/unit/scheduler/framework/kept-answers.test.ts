import { describe, expect, it } from 'vitest';
import { findNodesThatFit, type ScheduleResult, SchedulingAlgorithm } from '../../../../src/scheduler/cycle/algorithm.ts';
import { CycleState } from '../../../../src/scheduler/framework/cycle-state.ts';
import { Framework } from '../../../../src/scheduler/framework/framework.ts';
import type { Plugin } from '../../../../src/scheduler/framework/plugin.ts';
import { inTreePlugins } from '../../../../src/scheduler/profile/plugin-registry.ts';
import { bareHandle, frameworkContext } from '../../../support/framework-context.ts';
import { nodeSnapshotOf } from '../../../support/node-snapshots.ts';
import { frameworkWith, nodeInfo, podInfo } from '../framework-world.ts';
import { KeptWorld } from './kept-world.ts';

/** A filter that counts how often it was asked; pods of one priority have one signature. */
function counting(more: Partial<Plugin> = {}) {
  const asked: string[] = [];
  const plugin: Plugin = {
    name: 'Counting',
    signature: ({ priority }) => `${priority}`,
    filter(_state, _pod, { name }) {
      asked.push(name);
      return name === 'n2' ? { code: 'Unschedulable', reasons: ['full'] } : undefined;
    },
    ...more,
  };
  return { plugin, asked };
}

function search(framework: ReturnType<typeof frameworkWith>, priority = 0) {
  const { feasible, diagnosis } = findNodesThatFit(framework, new CycleState(), podInfo('a', { priority }), 0);
  return { nodes: feasible.map(({ name }) => name), against: [...diagnosis.failures.keys()] };
}

describe('KeptAnswers', () => {
  it.each(Array.from({ length: 24 }, (_, seed) => seed + 1))('decides as if nothing were kept (seed %i)', (seed) => {
    const world = new KeptWorld(seed, seed % 3 === 0 ? 130 : 5 + seed);
    for (let turn = 0; turn < 150; turn += 1) {
      world.begin();
      const pod = world.nextPod();
      const said = world.said(pod, world.kept);
      expect(said).toEqual(world.said(pod, world.plain));
      const { nodeName } = (said as { readonly chosen: Partial<ScheduleResult> }).chosen;
      if (nodeName !== undefined) world.place(pod, nodeName);
      world.change();
    }
  });

  it.each([
    [101, 12, 0, 60],
    [107, 14, 60, 150],
    [108, 14, 60, 150],
    [102, 40, 160, 100],
    [103, 40, 160, 100],
    [104, 40, 160, 100],
    [105, 60, 240, 100],
    [106, 60, 240, 100],
    [109, 130, 300, 40],
    [111, 40, 160, 100],
    [113, 40, 160, 100],
  ])('decides after many changes as one that sees the cluster for the first time (seed %i, %i nodes)', (...run) => {
    const [seed, nodes, pods, turns] = run;
    const world = new KeptWorld(seed, nodes, pods);
    let fitting = 0;
    for (let turn = 0; turn < turns; turn += 1) {
      world.begin();
      const pod = world.nextPod();
      const expected = world.said(pod, world.fresh());
      const said = world.said(pod, world.kept);
      expect(said).toEqual(expected);
      const { nodeName } = (said as { readonly chosen: Partial<ScheduleResult> }).chosen;
      if (nodeName !== undefined) world.place(pod, nodeName);
      fitting += Number(nodeName !== undefined);
      // sums of domains are kept as long as no node changes
      const what = seed % 2 === 0 && turn % 10 < 8 ? 'pods' : 'anything';
      for (let change = 0; change < 3; change += 1) world.change(what);
    }
    expect(fitting).toBeGreaterThan(turns / 3);
  });

  it('asks no more about a node for a signature that came twice', () => {
    const { plugin, asked } = counting();
    const framework = frameworkWith([plugin, { name: 'Scoring', signature: () => '', score: () => 1 }]);
    for (let turn = 0; turn < 4; turn += 1) expect(search(framework)).toEqual({ nodes: ['n1', 'n3'], against: ['n2'] });
    expect(asked.length).toBe(6);
    expect(search(framework, 1)).toEqual({ nodes: ['n1', 'n3'], against: ['n2'] });
    expect(asked.length).toBe(9);
  });

  it.each([
    ['has many reasons', Array.from({ length: 9 }, (_, index) => `reason ${index}`)],
    ['has a long reason', ['x'.repeat(257)]],
  ])('asks once for each pod where the rejection %s, and never about what comes after it', (_what, reasons) => {
    const { plugin, asked } = counting();
    const rejecting: Plugin = {
      ...plugin,
      filter(state, pod, node) {
        const rejection = plugin.filter?.(state, pod, node);
        return rejection && { ...rejection, reasons };
      },
    };
    const later: string[] = [];
    const unkeyed: Plugin = {
      name: 'Later',
      signature: () => undefined,
      filter: (_state, _pod, { name }) => void later.push(name),
    };
    const framework = frameworkWith([rejecting, unkeyed, { name: 'Scoring', signature: () => '', score: () => 1 }]);
    for (let turn = 0; turn < 4; turn += 1) expect(search(framework)).toEqual({ nodes: ['n1', 'n3'], against: ['n2'] });
    expect(asked).toEqual(['n1', 'n2', 'n3', 'n1', 'n2', 'n3', 'n2', 'n2']);
    expect(later).toEqual(['n1', 'n3', 'n1', 'n3', 'n1', 'n3', 'n1', 'n3']);
  });

  it('tells all pods what it was told of a node, also where the plugin writes into its reasons later', () => {
    const reasons = [''];
    const { plugin } = counting({
      filter(_state, { pod }) {
        reasons[0] = `no room for ${pod.metadata?.name}`;
        return { code: 'Unschedulable', reasons };
      },
      signature: ({ pod }) => pod.metadata?.name,
    });
    const framework = frameworkWith([plugin]);
    const said = ['x', 'x', 'y', 'x'].map((name) => {
      const { diagnosis } = findNodesThatFit(framework, new CycleState(), podInfo(name), 0);
      return diagnosis.failures.get('n1')?.reasons.join();
    });
    expect(said).toEqual(['x', 'x', 'y', 'x'].map((name) => `no room for ${name}`));
  });

  it('forgets what it knows where a cluster outgrows its lists, so that they never hold more than they may', () => {
    const { plugin, asked } = counting();
    const none: Plugin = { name: 'None', signature: () => '', filter: () => ({ code: 'Unschedulable', reasons: ['none'] }) };
    let nodes = [nodeInfo('n1')];
    const context = frameworkContext({ snapshot: () => nodeSnapshotOf(nodes) });
    const framework = new Framework(context, () => ({ schedulerName: 'test', weights: new Map(), plugins: [plugin, none] }));
    const askedInTurns = () =>
      [1, 2, 3].map(() => {
        asked.length = 0;
        search(framework);
        return asked.length;
      });
    expect(askedInTurns()).toEqual([1, 1, 0]);
    nodes = Array.from({ length: 1024 }, () => nodeInfo('n1'));
    expect(askedInTurns()).toEqual([1024, 0, 0]);
    nodes = Array.from({ length: 1025 }, () => nodeInfo('n1'));
    expect(askedInTurns()).toEqual([1025, 1025, 0]);
  });

  it.each([
    ['a filter has no signature', { name: 'Other', filter: () => undefined }],
    ['a plugin that scores has no signature', { name: 'Other', score: () => 1 }],
    ['this pod has no signature', { name: 'Other', signature: () => undefined, filter: () => undefined }],
  ] satisfies readonly (readonly [string, Plugin])[])('keeps nothing of a filter where %s', (what, other) => {
    const { plugin, asked } = counting(what.startsWith('this pod') ? { signature: () => undefined } : {});
    const framework = frameworkWith([plugin, { name: 'Scoring', signature: () => '', score: () => 1 }, other]);
    for (let turn = 0; turn < 4; turn += 1) search(framework);
    expect(asked.length).toBe(12);
  });

  it('refuses a score out of bounds each time', () => {
    const { plugin } = counting();
    const scoring: Plugin = {
      name: 'Scoring',
      signature: () => '',
      score: (_state, _pod, { name }) => (name === 'n3' ? 101 : 1),
    };
    const algorithm = new SchedulingAlgorithm();
    const framework = frameworkWith([plugin, scoring]);
    for (let turn = 0; turn < 4; turn += 1) {
      expect(() => algorithm.schedulePod(framework, podInfo('a'))).toThrow('scores must be from 0 to 100, node n3 has 101');
    }
  });

  it('has a signature of each plugin of the library that filters or scores', () => {
    const plugins = Object.values(inTreePlugins()).map((make) => make(undefined, bareHandle()));
    const without = plugins.filter(({ filter, score, signature }) => (filter ?? score) !== undefined && signature === undefined);
    expect(without.map(({ name }) => name)).toEqual([]);
  });

  it('has none of an object that has taken over a plugin of the library and filters otherwise', () => {
    const { NodeName } = inTreePlugins();
    const own = NodeName?.(undefined, bareHandle()) as Plugin;
    expect(own.signature?.(podInfo('a'))).toBe('');
    const other: Plugin = { ...own, filter: () => undefined };
    expect(other.signature?.(podInfo('a'))).toBeUndefined();
  });
});
