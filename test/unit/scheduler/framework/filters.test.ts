import { describe, expect, it } from 'vitest';
import { CycleState, stateKey } from '../../../../src/scheduler/framework/cycle-state.ts';
import type { Plugin, RejectionCode } from '../../../../src/scheduler/framework/plugin.ts';
import { frameworkWith, nodeInfo, podInfo } from '../framework-world.ts';

const pod = podInfo('web', { priority: 5 });
const node = nodeInfo('n1');

function rejecting(name: string, code: RejectionCode, reason = name): Plugin {
  return { name, filter: () => ({ code, reasons: [reason] }) };
}

describe('preFilter', () => {
  const naming = (name: string, ...names: string[]): Plugin => ({ name, preFilter: () => ({ nodeNames: new Set(names) }) });

  it('keeps the nodes that all plugins name, and remembers which plugins named some', () => {
    const framework = frameworkWith([
      naming('B', 'n1', 'n2'),
      { name: 'Any', preFilter: () => undefined },
      naming('A', 'n2', 'n3'),
    ]);
    expect(framework.preFilter(new CycleState(), pod)).toEqual({
      rejection: undefined,
      nodeNames: new Set(['n2']),
      selectors: ['B', 'A'],
    });
    expect(framework.runPreFilters(new CycleState(), pod)).toEqual({ nodeNames: new Set(['n2']) });
  });

  it.each([
    [[naming('B', 'n1'), naming('A', 'n2')], "node(s) didn't satisfy plugin(s) [A B] simultaneously"],
    [[naming('B')], "node(s) didn't satisfy plugin B"],
  ])('rejects the pod where no node is left', (plugins, reason) => {
    expect(frameworkWith(plugins).runPreFilters(new CycleState(), pod)).toEqual({
      plugin: '',
      code: 'UnschedulableAndUnresolvable',
      reasons: [reason],
    });
  });

  it.each([
    ['Unschedulable', ['One', 'Two']],
    ['UnschedulableAndUnresolvable', ['One']],
    ['Pending', ['One']],
  ] as const)('asks the other plugins after a rejection only where preemption may help: %s', (code, expected) => {
    const asked: string[] = [];
    const asking = (name: string): Plugin => ({
      name,
      preFilter() {
        asked.push(name);
        return name === 'One' ? { code, reasons: ['no'] } : undefined;
      },
    });
    const answer = frameworkWith([asking('One'), asking('Two')]).runPreFilters(new CycleState(), pod);
    expect(answer).toEqual({ plugin: 'One', code, reasons: ['no'] });
    expect(asked).toEqual(expected);
  });

  it('leaves out the filter, addPod and removePod of a plugin that skips the pod', () => {
    const unwanted = () => {
      throw new Error('not to be asked');
    };
    const skipping: Plugin = { name: 'A', preFilter: () => 'skip', filter: unwanted, addPod: unwanted, removePod: unwanted };
    const framework = frameworkWith([skipping, rejecting('B', 'Unschedulable')]);
    const state = new CycleState();
    framework.preFilter(state, pod);
    framework.runAddPod(state, pod, podInfo('other'), node);
    framework.runRemovePod(state, pod, podInfo('other'), node);
    expect(framework.runFiltersWithNominated(state, pod, node)?.plugin).toBe('B');
    expect(() => framework.runFiltersWithNominated(new CycleState(), pod, node)).toThrow('not to be asked');
  });
});

describe('filter', () => {
  it('ends at the first rejection, and names its plugin', () => {
    const framework = frameworkWith([
      { name: 'Agrees', filter: () => undefined },
      rejecting('A', 'Unschedulable'),
      rejecting('B', 'Pending'),
    ]);
    expect(framework.runFiltersWithNominated(new CycleState(), pod, node)).toEqual({
      plugin: 'A',
      code: 'Unschedulable',
      reasons: ['A'],
    });
  });

  it('asks all plugins where the profile says so: the gravest counts, all reasons are told', () => {
    const plugins = [rejecting('A', 'Unschedulable'), rejecting('B', 'UnschedulableAndUnresolvable'), rejecting('C', 'Pending')];
    const answer = frameworkWith(plugins, { checkAllFilters: true }).runFiltersWithNominated(new CycleState(), pod, node);
    expect(answer).toMatchObject({ plugin: 'B', code: 'UnschedulableAndUnresolvable', reasons: ['A', 'B', 'C'] });
    expect(answer?.parts?.map(({ plugin }) => plugin)).toEqual(['A', 'B', 'C']);
  });

  it('takes the plugins of a point in the order of the point', () => {
    const [first, second] = [rejecting('A', 'Unschedulable'), rejecting('B', 'Unschedulable')];
    const framework = frameworkWith([first, second], { points: { filter: [second, first] } });
    expect(framework.runFiltersWithNominated(new CycleState(), pod, node)?.plugin).toBe('B');
  });
});

class Names {
  readonly names: readonly string[];

  constructor(names: readonly string[]) {
    this.names = names;
  }

  clone(): Names {
    return new Names(this.names);
  }
}

describe('nominated pods', () => {
  const key = stateKey<Names>('names');
  /** Notes what each filter sees: the pods on the node, and those it was told of. */
  function watching(seen: string[][], rejectsWith?: string): Plugin {
    return {
      name: 'Watching',
      preFilter(state) {
        state.write(key, new Names([]));
        return undefined;
      },
      addPod: (state, _toSchedule, other) => state.write(key, new Names([...(state.read(key)?.names ?? []), other.name])),
      filter(state, _pod, { pods }) {
        const names = pods.map(({ name }) => name);
        expect(state.read(key)?.names).toEqual(names);
        seen.push(names);
        return rejectsWith !== undefined && names.includes(rejectsWith)
          ? { code: 'Unschedulable', reasons: ['taken'] }
          : undefined;
      },
    };
  }
  const promised = [
    podInfo('higher', { priority: 9 }),
    podInfo('equal', { priority: 5 }),
    podInfo('lower', { priority: 4 }),
    pod,
  ];

  it('count with equal or higher priority, and the node must fit without them, too', () => {
    const seen: string[][] = [];
    const framework = frameworkWith([watching(seen)], { nominated: { n1: promised } });
    const state = new CycleState();
    framework.preFilter(state, pod);
    expect(framework.runFiltersWithNominated(state, pod, node)).toBeUndefined();
    expect(seen).toEqual([['higher', 'equal'], []]);
    expect(node.pods).toEqual([]);
  });

  it('keep a pod from their node', () => {
    const seen: string[][] = [];
    const framework = frameworkWith([watching(seen, 'equal')], { nominated: { n1: promised } });
    const state = new CycleState();
    framework.preFilter(state, pod);
    expect(framework.runFiltersWithNominated(state, pod, node)?.reasons).toEqual(['taken']);
    expect(framework.runFiltersWithNominated(state, pod, nodeInfo('n2'))).toBeUndefined();
    expect(seen).toEqual([['higher', 'equal'], []]);
  });

  it('of lower priority do not count', () => {
    const seen: string[][] = [];
    const framework = frameworkWith([watching(seen)], { nominated: { n1: [podInfo('lower', { priority: 4 })] } });
    const state = new CycleState();
    framework.preFilter(state, pod);
    framework.runFiltersWithNominated(state, pod, node);
    expect(seen).toEqual([[]]);
  });
});
