import { describe, expect, it } from 'vitest';
import { createInterPodAffinity } from '../../../../../src/scheduler/plugins/pod-affinity/inter-pod-affinity.ts';
import { type Labels, nodeOf, podOf, Trial } from '../topology-world.ts';
import { affinityTo, antiAffinityTo, term } from './terms.ts';

const noAffinity = "UnschedulableAndUnresolvable: node(s) didn't match pod affinity rules";
const ownAnti = "Unschedulable: node(s) didn't match pod anti-affinity rules";
const othersAnti = "Unschedulable: node(s) didn't satisfy existing pods anti-affinity rules";
const web = { app: 'web' };
const db = { app: 'db' };
const nodes = (...onA: ReturnType<typeof podOf>[]) => [
  nodeOf('a', { zone: 'z1' }, onA),
  nodeOf('b', { zone: 'z1' }),
  nodeOf('c', { zone: 'z2' }),
  nodeOf('d', {}),
];
const trial = (pod: ReturnType<typeof podOf>, all: ReturnType<typeof nodes>, namespaces: Readonly<Record<string, Labels>> = {}) =>
  new Trial(createInterPodAffinity, pod, { nodes: all, namespaces });

describe('the filter of InterPodAffinity', () => {
  it('wants a pod that matches in the domain', () => {
    const pod = podOf('new', web, affinityTo(term(db)));
    expect(trial(pod, nodes(podOf('x', db))).rejected()).toEqual({ c: noAffinity, d: noAffinity });
  });

  it('wants one pod that matches all terms', () => {
    const pod = podOf('new', web, affinityTo(term(db), term({ tier: '1' })));
    const all = { a: noAffinity, b: noAffinity, c: noAffinity, d: noAffinity };
    expect(trial(pod, nodes(podOf('x', db), podOf('y', { tier: '1' }))).rejected()).toEqual(all);
    expect(trial(pod, nodes(podOf('x', { ...db, tier: '1' }))).rejected()).toEqual({ c: noAffinity, d: noAffinity });
  });

  it('lets the first pod of a group go to any node with the label', () => {
    const pod = podOf('new', web, affinityTo(term(web)));
    expect(trial(pod, nodes()).rejected()).toEqual({ d: noAffinity });
    expect(trial(pod, nodes(podOf('x', web))).rejected()).toEqual({ c: noAffinity, d: noAffinity });
    expect(Object.keys(trial(podOf('new', db, affinityTo(term(web))), nodes()).rejected())).toEqual(['a', 'b', 'c', 'd']);
  });

  it('keeps away from pods that match one of its terms', () => {
    const pod = podOf('new', web, antiAffinityTo(term({ tier: '9' }), term(db)));
    expect(trial(pod, nodes(podOf('x', db))).rejected()).toEqual({ a: ownAnti, b: ownAnti });
  });

  it('keeps away from pods that do not want it', () => {
    const averse = podOf('x', db, antiAffinityTo(term(web), term({ tier: '9' }, 'rack')));
    expect(trial(podOf('new', web), nodes(averse)).rejected()).toEqual({ a: othersAnti, b: othersAnti });
    expect(trial(podOf('new', { app: 'cache' }), nodes(averse)).skipsFilter).toBe(true);
  });

  it('tells its own affinity first, then its own anti-affinity', () => {
    const averse = podOf('x', db, antiAffinityTo(term(web)));
    const both = podOf('new', web, { affinity: { ...affinityTo(term(db)).affinity, ...antiAffinityTo(term(db)).affinity } });
    expect(trial(both, nodes(averse)).rejected()).toEqual({ a: ownAnti, b: ownAnti, c: noAffinity, d: noAffinity });
  });

  it.each<[string, object, Record<string, Labels>, boolean]>([
    ['of its own namespace only', {}, {}, false],
    ['of the namespaces that it names', { namespaces: ['e'] }, {}, true],
    ['of namespaces with the labels', { namespaceSelector: { matchLabels: { team: 'a' } } }, { e: { team: 'a' } }, true],
    ['of no namespace with other labels', { namespaceSelector: { matchLabels: { team: 'a' } } }, { e: { team: 'b' } }, false],
    ['of all namespaces for an empty selector', { namespaceSelector: {} }, {}, true],
    [
      'of no namespace that is not known',
      { namespaceSelector: { matchExpressions: [{ key: 'team', operator: 'DoesNotExist' }] } },
      {},
      false,
    ],
  ])('speaks of pods %s', (_what, more, namespaces, speaks) => {
    const pod = podOf('new', web, antiAffinityTo({ ...term(db), ...more }));
    const other = podOf('x', db, {}, { namespace: 'e' });
    expect(Object.keys(trial(pod, nodes(other), namespaces).rejected())).toEqual(speaks ? ['a', 'b'] : []);
  });

  it('reads the namespace of the pod for the terms of others, where a namespace that is not known has no labels', () => {
    const absent = { namespaceSelector: { matchExpressions: [{ key: 'team', operator: 'DoesNotExist' }] } };
    const averse = podOf('x', db, antiAffinityTo({ ...term(web), ...absent }), { namespace: 'e' });
    expect(Object.keys(trial(podOf('new', web), nodes(averse)).rejected())).toEqual(['a', 'b']);
    expect(trial(podOf('new', web), nodes(averse), { d: { team: 'a' } }).skipsFilter).toBe(true);
  });

  it('follows pods that come and go on trial, and leaves the first state as it was', () => {
    const pod = podOf('new', web, {
      affinity: { ...affinityTo(term(db)).affinity, ...antiAffinityTo(term({ app: 'x' })).affinity },
    });
    const first = trial(pod, nodes(podOf('x', db)));
    const gone = first.after('removePod', podOf('x', db), 'a');
    expect(Object.keys(first.rejected(gone))).toEqual(['a', 'b', 'c', 'd']);
    const moved = first.after('addPod', podOf('y', db, antiAffinityTo(term(web))), 'c', gone);
    expect(first.rejected(moved)).toEqual({ a: noAffinity, b: noAffinity, c: othersAnti, d: noAffinity });
    expect(first.rejected(first.after('addPod', podOf('z', { app: 'x' }), 'b'))).toMatchObject({ a: ownAnti, b: ownAnti });
    expect(first.rejected()).toEqual({ c: noAffinity, d: noAffinity });
  });

  it('follows pods on trial that do not want it', () => {
    const averse = podOf('x', db, antiAffinityTo(term(web)));
    const first = trial(podOf('new', web), nodes(averse));
    const more = first.after('addPod', podOf('y', db, antiAffinityTo(term(web))), 'c');
    expect(Object.keys(first.rejected(more))).toEqual(['a', 'b', 'c']);
    expect(Object.keys(first.rejected())).toEqual(['a', 'b']);
  });

  it('rejects a pod whose affinity cannot be read', () => {
    const broken = { topologyKey: 'zone', labelSelector: { matchExpressions: [{ key: 'app', operator: 'Like' }] } };
    const { plugin, state, pod, snapshot } = trial(podOf('new', web, affinityTo(broken)), nodes());
    expect(plugin.preFilter?.(state, pod, snapshot)).toMatchObject({
      code: 'UnschedulableAndUnresolvable',
      reasons: [expect.stringContaining('parsing pod: ')],
    });
  });
});
