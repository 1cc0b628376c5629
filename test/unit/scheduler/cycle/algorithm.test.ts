import { describe, expect, it } from 'vitest';
import {
  findNodesThatFit,
  NoNodesError,
  prioritizeNodes,
  SchedulingAlgorithm,
} from '../../../../src/scheduler/cycle/algorithm.ts';
import { CycleState } from '../../../../src/scheduler/framework/cycle-state.ts';
import { FitError } from '../../../../src/scheduler/framework/fit-error.ts';
import type { Plugin } from '../../../../src/scheduler/framework/plugin.ts';
import { frameworkWith, nodeInfo, podInfo } from '../framework-world.ts';

const many = Array.from({ length: 200 }, (_, index) => nodeInfo(`n${index}`));
const first: Plugin = { name: 'First', score: (_state, _pod, { name }) => (name === 'n1' ? 100 : 0) };

/** Agrees to all nodes but these, and notes the nodes that it was asked about. */
function closing(closed: readonly string[], asked: string[] = []): Plugin {
  return {
    name: 'Closing',
    filter(_state, _pod, { name }) {
      asked.push(name);
      return closed.includes(name) ? { code: 'Unschedulable', reasons: ['closed'] } : undefined;
    },
  };
}

describe('the search for nodes', () => {
  it('looks at no more nodes than are enough, and goes on where it ended', () => {
    const asked: string[] = [];
    const framework = frameworkWith([closing(['n3'], asked), first], { nodes: many });
    const algorithm = new SchedulingAlgorithm();
    expect(algorithm.schedulePod(framework, podInfo('a'))).toEqual({ nodeName: 'n1', evaluatedNodes: 101, feasibleNodes: 100 });
    expect(asked).toEqual(many.slice(0, 101).map(({ name }) => name));
    asked.length = 0;
    algorithm.schedulePod(framework, podInfo('b'));
    expect(asked).toEqual([...many.slice(101), ...many.slice(0, 1)].map(({ name }) => name));
  });

  it('ends at the first node where no plugin scores', () => {
    const asked: string[] = [];
    const framework = frameworkWith([closing(['n0'], asked)], { nodes: many });
    expect(new SchedulingAlgorithm().schedulePod(framework, podInfo('a'))).toMatchObject({ nodeName: 'n1', feasibleNodes: 1 });
    expect(asked).toEqual(['n0', 'n1']);
    expect(prioritizeNodes(framework, new CycleState(), podInfo('a'), many.slice(0, 2)).totals).toEqual([1, 1]);
  });

  it('takes as many nodes as the profile says', () => {
    const framework = frameworkWith([closing([]), first], { nodes: many, percentageOfNodesToScore: 75 });
    expect(new SchedulingAlgorithm().schedulePod(framework, podInfo('a')).feasibleNodes).toBe(150);
  });

  it('looks at the nodes that preFilter names, and counts the others', () => {
    const asked: string[] = [];
    const naming: Plugin = { name: 'Naming', preFilter: () => ({ nodeNames: new Set(['n2', 'gone', 'n3']) }) };
    const framework = frameworkWith([naming, closing(['n2', 'n3'], asked)]);
    const { feasible, diagnosis } = findNodesThatFit(framework, new CycleState(), podInfo('a'), 0);
    expect(feasible).toEqual([]);
    expect(asked).toEqual(['n2', 'n3']);
    expect(diagnosis.rejectors).toEqual(new Set(['Naming', 'Closing']));
    expect(new FitError(podInfo('a').pod, diagnosis).message).toBe(
      "0/3 nodes are available: 1 node(s) didn't satisfy plugin(s) [Naming], 2 closed.",
    );
  });
});

describe('a promised node', () => {
  const promised = podInfo('a', {}, { nominatedNodeName: 'n2' });

  it('is taken where the pod fits there, and no other is looked at', () => {
    const asked: string[] = [];
    const framework = frameworkWith([closing([], asked), first]);
    expect(new SchedulingAlgorithm().schedulePod(framework, promised)).toMatchObject({ nodeName: 'n2', feasibleNodes: 1 });
    expect(asked).toEqual(['n2']);
  });

  it('is not taken where the pod does not fit there', () => {
    const framework = frameworkWith([closing(['n2']), first]);
    const { feasible, diagnosis } = findNodesThatFit(framework, new CycleState(), promised, 0);
    expect(feasible.map(({ name }) => name)).toEqual(['n1', 'n3']);
    expect([...diagnosis.failures.keys()]).toEqual(['n2']);
  });

  it('has the plugin that rejected it named among those that left the other nodes out, as upstream has it', () => {
    const naming: Plugin = { name: 'Naming', preFilter: () => ({ nodeNames: new Set(['n2']) }) };
    const { diagnosis } = findNodesThatFit(frameworkWith([naming, closing(['n2'])]), new CycleState(), promised, 0);
    expect(diagnosis.rest?.reasons).toEqual(["node(s) didn't satisfy plugin(s) [Closing Naming]"]);
  });

  it.each(['', 'gone'])('named %j is no node', (nominatedNodeName) => {
    const { feasible } = findNodesThatFit(frameworkWith([first]), new CycleState(), podInfo('a', {}, { nominatedNodeName }), 0);
    expect(feasible).toHaveLength(3);
  });
});

describe('a pod that goes nowhere', () => {
  it('is told so: no nodes, none that fits, or a plugin that failed', () => {
    const algorithm = new SchedulingAlgorithm();
    const schedule = (plugins: readonly Plugin[], options = {}) =>
      algorithm.schedulePod(frameworkWith(plugins, options), podInfo('a'));
    expect(() => schedule([], { nodes: [] })).toThrow(NoNodesError);
    const fitError = expect.objectContaining({ name: 'FitError', code: 'ERR_UNSCHEDULABLE' });
    expect(() => schedule([closing(['n1', 'n2', 'n3'])])).toThrow(fitError);
    expect(() => schedule([{ name: 'Bad', filter: () => never() }])).toThrow("The scheduler's plugin Bad failed in filter: no");
  });

  it('names the plugins that rejected it, and those that wait for something', () => {
    const plugins: Plugin[] = [
      { name: 'Waits', filter: (_state, _pod, { name }) => (name === 'n1' ? { code: 'Pending', reasons: ['soon'] } : undefined) },
      closing(['n2', 'n3']),
    ];
    const { diagnosis } = findNodesThatFit(frameworkWith(plugins), new CycleState(), podInfo('a'), 0);
    expect([diagnosis.rejectors, diagnosis.pending]).toEqual([new Set(['Waits', 'Closing']), new Set(['Waits'])]);
  });
});

function never(): never {
  throw new Error('no');
}
