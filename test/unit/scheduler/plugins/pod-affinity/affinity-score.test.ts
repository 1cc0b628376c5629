import { describe, expect, it } from 'vitest';
import { createInterPodAffinity } from '../../../../../src/scheduler/plugins/pod-affinity/inter-pod-affinity.ts';
import { nodeOf, podOf, Trial } from '../topology-world.ts';
import { affinityTo, preferring, term } from './terms.ts';

const web = { app: 'web' };
const db = { app: 'db' };
type Pods = ReturnType<typeof podOf>[];
const scores = (pod: ReturnType<typeof podOf>, onA: Pods, onC: Pods = [], args?: unknown) => {
  const nodes = [nodeOf('a', { zone: 'z1' }, onA), nodeOf('b', {}), nodeOf('c', { zone: 'z2' }, onC), nodeOf('e', {}, onA)];
  return new Trial(createInterPodAffinity, pod, { nodes, args }).scores();
};

describe('the scores of InterPodAffinity', () => {
  it('add the weight for each pod in the domain that the pod likes', () => {
    const pod = podOf('new', web, preferring(5, term(db)));
    expect(scores(pod, [podOf('x', db), podOf('y', db)], [podOf('z', db)])).toEqual({
      a: [10, 100],
      b: [0, 0],
      c: [5, 50],
      e: [0, 0],
    });
  });

  it('take it off for each pod that the pod does not like', () => {
    const pod = podOf('new', web, preferring(5, term(db), 'podAntiAffinity'));
    expect(scores(pod, [podOf('x', db)])).toMatchObject({ a: [-5, 0], b: [0, 100], c: [0, 100] });
  });

  it('count what the pods there prefer', () => {
    const fond = podOf('x', db, preferring(8, term(web)));
    const averse = podOf('y', db, preferring(2, term(web), 'podAntiAffinity'));
    expect(scores(podOf('new', web), [fond], [averse])).toMatchObject({ a: [8, 100], b: [0, 20], c: [-2, 0] });
  });

  it.each([
    [undefined, 1],
    [{ hardPodAffinityWeight: 40 }, 40],
  ])('count a required affinity of a pod there by the weight of the arguments %j', (args, expected) => {
    const fond = podOf('x', db, affinityTo(term(web)));
    expect(scores(podOf('new', web), [fond], [], args)).toMatchObject({ a: [expected, 100], c: [0, 0] });
  });

  it('do not count a required affinity with weight 0', () => {
    const fond = podOf('x', db, affinityTo(term(web)));
    expect(scores(podOf('new', web), [fond], [], { hardPodAffinityWeight: 0 })).toBe('skip');
  });

  it('are 0 where all nodes are alike', () => {
    const pod = podOf('new', web, preferring(5, term(db)));
    expect(scores(pod, [podOf('x', db)], [podOf('y', db)])).toMatchObject({ a: [5, 100], c: [5, 100], b: [0, 0] });
    const alike = [nodeOf('a', { zone: 'z' }, [podOf('x', db)]), nodeOf('b', { zone: 'z' })];
    expect(new Trial(createInterPodAffinity, pod, { nodes: alike }).scores()).toEqual({ a: [5, 0], b: [5, 0] });
  });

  it('skip a pod of which no term speaks', () => {
    expect(scores(podOf('new', web), [podOf('x', db)])).toBe('skip');
    expect(scores(podOf('new', web, preferring(5, term({ app: 'none' }))), [podOf('x', db)])).toBe('skip');
  });

  it('leave out the preferences of pods that are there, where the arguments say so and the pod prefers nothing', () => {
    const fond = podOf('x', db, preferring(8, term(web)));
    const args = { ignorePreferredTermsOfExistingPods: true };
    expect(scores(podOf('new', web), [fond], [], args)).toBe('skip');
    const choosy = podOf('new', web, preferring(5, term(db)));
    expect(scores(choosy, [fond], [], args)).toMatchObject({ a: [13, 100], c: [0, 0] });
  });
});

describe('the arguments of InterPodAffinity', () => {
  const make = (args: unknown) => () => new Trial(createInterPodAffinity, podOf('new'), { nodes: [], args });

  it.each<[unknown, string]>([
    [7, '`InterPodAffinity` to be an object, got 7 (number)'],
    [{ weight: 1 }, '`InterPodAffinity.weight` to be absent'],
    [{ hardPodAffinityWeight: 101 }, '`InterPodAffinity.hardPodAffinityWeight` to be an integer from 0 to 100, got 101 (number)'],
    [{ hardPodAffinityWeight: -1 }, 'an integer from 0 to 100'],
    [{ hardPodAffinityWeight: 1.5 }, 'an integer from 0 to 100'],
    [{ hardPodAffinityWeight: '1' }, 'got "1" (string)'],
    [{ ignorePreferredTermsOfExistingPods: 1 }, '`InterPodAffinity.ignorePreferredTermsOfExistingPods` to be a boolean'],
  ])('are refused: %j', (args, message) => {
    expect(make(args)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_OPTION' }));
    expect(make(args)).toThrow(message);
  });
});
