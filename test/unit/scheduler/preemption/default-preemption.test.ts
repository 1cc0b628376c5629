import { describe, expect, it } from 'vitest';
import { podOf, preemptionWorld } from './preemption-world.ts';

const full = (...names: string[]) => names.map((name) => ({ name, started: 10 }));
const important = { name: 'new', cpu: 1, priority: 10 };

function budget(allowed: number, selector: unknown, disrupted?: Record<string, string>): object {
  return {
    metadata: { name: `b-${allowed}`, namespace: 'd' },
    spec: { selector },
    status: { disruptionsAllowed: allowed, disruptedPods: disrupted },
  };
}

describe('the victims on a node', () => {
  it('are as few as let the pod in, the least important and the youngest first', () => {
    const { postFilter } = preemptionWorld({
      nodes: {
        n1: [
          { name: 'old', started: 1 },
          { name: 'young', started: 30 },
          { name: 'better', priority: 5 },
          { name: 'best', priority: 50 },
        ],
      },
    });
    expect(postFilter(important)).toEqual({ nominatedNodeName: 'n1', message: '', victims: ['young'] });
    expect(postFilter({ ...important, cpu: 3 }).victims).toEqual(['better', 'old', 'young']);
    expect(postFilter({ ...important, cpu: 4 })).toEqual({
      nominatedNodeName: '',
      message: 'preemption: 0/1 nodes are available: 1 Insufficient cpu.',
      victims: [],
    });
  });

  it('are none of the same priority', () => {
    const { postFilter } = preemptionWorld({ nodes: { n1: full('a', 'b', 'c', 'd') } });
    expect(postFilter({ ...important, priority: 0 }).message).toBe(
      'preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.',
    );
  });

  it('count a pod that was not started yet as the youngest', () => {
    const { postFilter } = preemptionWorld({ nodes: { n1: [...full('a', 'b', 'c'), { name: 'waiting' }] } });
    expect(postFilter(important).victims).toEqual(['waiting']);
  });

  it('make room beside the pods of higher priority that were promised the node', () => {
    const nominated = { n1: [{ name: 'promised', priority: 20, cpu: 2 }] };
    const { postFilter } = preemptionWorld({ nodes: { n1: full('a', 'b', 'c', 'd') }, nominated });
    expect(postFilter(important).victims).toEqual(['b', 'c', 'd']);
  });
});

describe('disruption budgets', () => {
  const nodes = { n1: [...full('a', 'b', 'c'), { name: 'kept', labels: { app: 'db' }, started: 40 }] };

  it.each([
    ['with nothing left keeps its pod as long as another will do', [budget(0, { matchLabels: { app: 'db' } })], ['c']],
    ['with one left does not', [budget(1, { matchLabels: { app: 'db' } })], ['kept']],
    ['with an empty selector selects nothing', [budget(0, {})], ['kept']],
    ['without a selector selects nothing', [budget(0, undefined)], ['kept']],
    [
      'with a selector that breaks a rule selects nothing',
      [budget(0, { matchExpressions: [{ key: 'app', operator: 'Is' }] })],
      ['kept'],
    ],
    [
      'that has counted the eviction of the pod does not count it again',
      [budget(0, { matchLabels: { app: 'db' } }, { kept: '' })],
      ['kept'],
    ],
    ['without a status allows nothing', [{ ...budget(0, { matchLabels: { app: 'db' } }), status: undefined }], ['c']],
  ])('%s', (_name, budgets, victims) => {
    expect(preemptionWorld({ nodes, budgets }).postFilter(important).victims).toEqual(victims);
  });

  it('count down for each pod that they select, spared or not', () => {
    const shapes = ['a', 'b', 'c', 'd'].map((name, index) => ({ name, labels: { app: 'db' }, started: index }));
    const world = (allowed: number) =>
      preemptionWorld({ nodes: { n1: shapes }, budgets: [budget(allowed, { matchLabels: { app: 'db' } })] });
    // a and b use up the budget, c and d violate it and are spared first
    expect(world(2).postFilter({ ...important, cpu: 2 }).victims).toEqual(['a', 'b']);
    expect(world(4).postFilter({ ...important, cpu: 2 }).victims).toEqual(['c', 'd']);
  });

  it('are violated where nothing else helps, but elsewhere if possible', () => {
    const kept = (name: string) => ({ name, labels: { app: 'db' }, cpu: 4 });
    const budgets = [budget(0, { matchLabels: { app: 'db' } })];
    expect(preemptionWorld({ nodes: { n1: [kept('a')] }, budgets }).postFilter(important).victims).toEqual(['a']);
    const nodes = { n1: [kept('a')], n2: [{ name: 'b', priority: 9, cpu: 4 }] };
    expect(preemptionWorld({ nodes, budgets }).postFilter(important).victims).toEqual(['b']);
  });
});

describe('a pod', () => {
  it('may not preempt where its policy is Never', () => {
    const { postFilter } = preemptionWorld({ nodes: { n1: full('a', 'b', 'c', 'd') } });
    expect(postFilter({ ...important, policy: 'Never' })).toEqual({
      nominatedNodeName: undefined,
      message: 'preemption: not eligible due to preemptionPolicy=Never.',
      victims: [],
    });
  });

  it.each([
    ['waits for the victims that end on its node', 'n1', { ending: 'preemption' }, undefined],
    ['does not wait for a pod that ends for another reason', 'n1', { ending: 'eviction' }, 'n1'],
    ['does not wait for a pod of its own priority', 'n1', { ending: 'preemption', priority: 10 }, 'n1'],
    ['does not wait on a node that takes no pods', 'closed', { ending: 'preemption' }, 'n1'],
    ['does not wait on a node that is gone', 'gone', { ending: 'preemption' }, 'n1'],
  ] as const)('%s', (_name, nominated, ending, expected) => {
    const leaving = { name: 'leaving', ...ending };
    const { postFilter } = preemptionWorld({ nodes: { n1: [leaving, ...full('b', 'c', 'd')], closed: [leaving] } });
    const { nominatedNodeName, message } = postFilter({ ...important, nominated });
    expect(nominatedNodeName).toBe(expected);
    if (expected === undefined) expect(message).toBe('preemption: not eligible due to a terminating pod on the nominated node.');
  });

  it('is not tried while its victims are being deleted', () => {
    const { plugin } = preemptionWorld({ nodes: {}, isPreempting: (uid) => uid === 'u-busy' });
    expect(plugin.preEnqueue(podOf({ name: 'free' }).pod)).toBeUndefined();
    expect(plugin.preEnqueue(podOf({ name: 'busy' }).pod)).toMatchObject({
      code: 'UnschedulableAndUnresolvable',
      reasons: ['waiting for the preemption for this pod to be finished'],
    });
  });

  it('is not woken by the end of a pod on account of preemption alone', () => {
    const [event] = preemptionWorld({ nodes: {} }).plugin.eventsToRegister();
    expect([event?.resource, event?.actions, event?.hint?.(podOf({ name: 'a' }).pod, {}, undefined)]).toEqual([
      'Pod',
      ['Delete'],
      'Skip',
    ]);
  });
});

describe('the nodes', () => {
  const many = Object.fromEntries(
    Array.from({ length: 10 }, (_, index) => [`n${index}`, [{ name: `p${index}`, cpu: 4, priority: 9 - index }]]),
  );

  it('are not tried where the end of pods would not help', () => {
    const { postFilter } = preemptionWorld({ nodes: { closed: full('a'), n1: [{ name: 'b', cpu: 4, priority: 20 }] } });
    expect(postFilter(important)).toMatchObject({
      nominatedNodeName: '',
      message:
        'preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.',
    });
  });

  it('are tried from one taken by chance, until there are enough candidates', () => {
    const world = (args: object, random = 0) => preemptionWorld({ nodes: many, args, random: () => random });
    const few = { minCandidateNodesPercentage: 20, minCandidateNodesAbsolute: 1 };
    expect(world({}).postFilter(important).nominatedNodeName).toBe('n9');
    expect(world(few).postFilter(important).nominatedNodeName).toBe('n1');
    expect(world(few, 0.5).postFilter(important).nominatedNodeName).toBe('n6');
    expect(world({ minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 3 }).postFilter(important).nominatedNodeName).toBe(
      'n2',
    );
  });

  it('are tried further until a candidate violates no budget', () => {
    const labelled = (name: string) => [{ name, cpu: 4, labels: { app: 'db' } }];
    const nodes = { n1: labelled('a'), n2: labelled('b'), n3: [{ name: 'c', cpu: 4, priority: 9 }], n4: [{ name: 'd', cpu: 4 }] };
    const args = { minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 1 };
    const { postFilter } = preemptionWorld({ nodes, args, budgets: [budget(0, { matchLabels: { app: 'db' } })] });
    expect(postFilter(important).nominatedNodeName).toBe('n3');
  });

  it('that cost the same are chosen by chance', () => {
    const nodes = { n1: full('a', 'b', 'c', 'd'), n2: full('e', 'f', 'g', 'h') };
    // the first number says where the search begins, the second one which of the best is taken
    const chosen = [0, 0.99, 1, Number.NaN].map((last) => {
      const numbers = [0, last];
      return preemptionWorld({ nodes, random: () => numbers.shift() ?? 0 }).postFilter(important).nominatedNodeName;
    });
    expect(chosen).toEqual(['n1', 'n2', 'n1', 'n1']);
  });

  it('where a plugin throws do not keep the pod from another; alone they end its attempt', () => {
    const broken = full('a', 'b', 'c', 'd');
    expect(preemptionWorld({ nodes: { broken, n1: full('e', 'f', 'g', 'h') } }).postFilter(important).nominatedNodeName).toBe(
      'n1',
    );
    expect(() => preemptionWorld({ nodes: { broken } }).postFilter(important)).toThrow(/no idea/);
  });
});

describe('the arguments of DefaultPreemption', () => {
  it.each([
    [{ minCandidateNodesPercentage: 101 }, /minCandidateNodesPercentage` to be a number from 0 to 100, got 101 \(number\)/],
    [{ minCandidateNodesPercentage: -1 }, /minCandidateNodesPercentage` to be an integer from 0 up, got -1 \(number\)/],
    [{ minCandidateNodesAbsolute: 1.5 }, /minCandidateNodesAbsolute` to be an integer from 0 up, got 1.5 \(number\)/],
    [{ minCandidateNodesAbsolute: '3' }, /minCandidateNodesAbsolute` to be an integer from 0 up, got "3" \(string\)/],
    [
      { minCandidateNodesAbsolute: 0, minCandidateNodesPercentage: 0 },
      /at least 1 where minCandidateNodesPercentage is 0, got 0 \(number\)/,
    ],
    [{ minCandidates: 3 }, /DefaultPreemptionArgs.minCandidates` to be absent/],
    [3, /DefaultPreemptionArgs` to be an object, got 3 \(number\)/],
  ])('are refused: %j', (args, message) => {
    expect(() => preemptionWorld({ nodes: {}, args })).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION', message: expect.stringMatching(message) }),
    );
  });
});
