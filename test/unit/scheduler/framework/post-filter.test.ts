import { describe, expect, it } from 'vitest';
import { CycleState } from '../../../../src/scheduler/framework/cycle-state.ts';
import { type Diagnosis, FitError, fitErrorMessage } from '../../../../src/scheduler/framework/fit-error.ts';
import type { Plugin, PluginRejection, PostFilterAnswer } from '../../../../src/scheduler/framework/plugin.ts';
import { frameworkWith, podInfo } from '../framework-world.ts';

const pod = podInfo('web');
const full: PluginRejection = { plugin: 'Fit', code: 'Unschedulable', reasons: ['Too many pods', 'Insufficient cpu'] };
const other: PluginRejection = { plugin: '', code: 'UnschedulableAndUnresolvable', reasons: ['elsewhere'] };

function diagnosisOf(diagnosis: Partial<Diagnosis>): Diagnosis {
  const empty = {
    failures: new Map(),
    rest: undefined,
    isRejectedAsSuch: false,
    rejectors: new Set<string>(),
    pending: new Set<string>(),
  };
  return { nodes: 3, ...empty, ...diagnosis };
}

describe('the message of a FitError', () => {
  it.each([
    ['0/3 nodes are available:', {}],
    [
      '0/3 nodes are available: 2 Insufficient cpu, 2 Too many pods.',
      {
        failures: new Map([
          ['n1', full],
          ['n2', full],
        ]),
      },
    ],
    [
      '0/3 nodes are available: 1 Insufficient cpu, 1 Too many pods, 2 elsewhere.',
      { failures: new Map([['n1', full]]), rest: other },
    ],
    ['0/3 nodes are available: elsewhere.', { rest: other, isRejectedAsSuch: true }],
  ])('counts the reasons: %s', (message, diagnosis) => {
    expect(fitErrorMessage(diagnosisOf(diagnosis))).toBe(message);
    expect(new FitError(pod.pod, diagnosisOf(diagnosis), 'no victims').message).toBe(`${message} no victims`);
  });

  it('sorts counts as texts', () => {
    const failures = new Map(Array.from({ length: 12 }, (_, index) => [`n${index}`, index < 2 ? full : other]));
    expect(fitErrorMessage(diagnosisOf({ nodes: 12, failures }))).toBe(
      '0/12 nodes are available: 10 elsewhere, 2 Insufficient cpu, 2 Too many pods.',
    );
  });
});

describe('postFilter', () => {
  const answering = (name: string, answer: PostFilterAnswer): Plugin => ({ name, postFilter: () => answer });
  const state = new CycleState();

  it('ends at the first plugin that has found a node', () => {
    const found: PostFilterAnswer = { nominatedNodeName: 'n2', message: '', actions: [] };
    const framework = frameworkWith([
      answering('A', { nominatedNodeName: undefined, message: 'nothing' }),
      answering('B', found),
      answering('C', { nominatedNodeName: 'n3', message: '' }),
    ]);
    expect(framework.postFilter(state, pod, diagnosisOf({}))).toBe(found);
  });

  it('joins the messages, and keeps that the promised node is to be cleared', () => {
    const framework = frameworkWith([
      answering('A', { nominatedNodeName: '', message: 'one' }),
      answering('B', { nominatedNodeName: undefined, message: 'two' }),
    ]);
    expect(framework.postFilter(state, pod, diagnosisOf({}))).toEqual({ nominatedNodeName: '', message: 'one, two' });
    expect(frameworkWith([]).postFilter(state, pod, diagnosisOf({}))).toBeUndefined();
  });

  it('keeps what the plugins before want to be done', () => {
    const change = { kind: 'change', what: 'x', change: async () => {} } as const;
    const asking = answering('A', { nominatedNodeName: undefined, message: 'one', actions: [change] });
    const alone = frameworkWith([asking, answering('B', { nominatedNodeName: undefined, message: 'two' })]);
    expect(alone.postFilter(state, pod, diagnosisOf({}))).toEqual({
      nominatedNodeName: undefined,
      message: 'one, two',
      actions: [change],
    });
    const found = { nominatedNodeName: 'n2', message: '' };
    expect(frameworkWith([asking, answering('B', found)]).postFilter(state, pod, diagnosisOf({}))).toEqual({
      ...found,
      actions: [change],
    });
  });

  it.each([
    [{ kind: 'change', what: 'x' }],
    [{ kind: 'change', change: async () => {} }],
    [{ kind: 'other' }],
    [undefined],
  ])('refuses what nobody could carry out: %j', (action) => {
    const framework = frameworkWith([answering('A', { nominatedNodeName: undefined, message: '', actions: [action] as never })]);
    expect(() => framework.postFilter(state, pod, diagnosisOf({}))).toThrow('a list of actions');
  });

  it('sees the failure of every node where the pod was rejected as such', () => {
    const seen: unknown[] = [];
    const framework = frameworkWith([
      {
        name: 'A',
        postFilter: (_state, _pod, failed) => ({ nominatedNodeName: undefined, message: String(seen.push(...failed)) }),
      },
    ]);
    framework.postFilter(state, pod, diagnosisOf({ rest: other, isRejectedAsSuch: true }));
    expect(seen).toEqual(['n1', 'n2', 'n3'].map((name) => [name, other]));
  });
});
