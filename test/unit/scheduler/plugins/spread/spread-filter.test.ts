import { describe, expect, it } from 'vitest';
import { createPodTopologySpread } from '../../../../../src/scheduler/plugins/spread/pod-topology-spread.ts';
import type { WireSpreadConstraint } from '../../../../../src/scheduler/plugins/spread/spread-constraint.ts';
import { nodeOf, podOf, Trial } from '../topology-world.ts';

const reason = "Unschedulable: node(s) didn't match pod topology spread constraints";
const noLabel = "UnschedulableAndUnresolvable: node(s) didn't match pod topology spread constraints (missing required label)";
const web = { app: 'web' };
const byZone: WireSpreadConstraint = {
  topologyKey: 'zone',
  maxSkew: 1,
  whenUnsatisfiable: 'DoNotSchedule',
  labelSelector: { matchLabels: web },
};
const spreading = (more: Partial<WireSpreadConstraint> = {}, labels: Record<string, string> = web) =>
  podOf('new', labels, { topologySpreadConstraints: [{ ...byZone, ...more }] });
const zones = () => [nodeOf('a', { zone: 'a' }, [podOf('a1', web)]), nodeOf('b', { zone: 'b' })];
const trial = (pod = spreading(), nodes = zones()) => new Trial(createPodTopologySpread, pod, { nodes });

describe('the filter of PodTopologySpread', () => {
  it('keeps a domain from having more than maxSkew pods over the emptiest', () => {
    expect(trial().rejected()).toEqual({ a: reason });
    expect(trial(spreading({ maxSkew: 2 })).rejected()).toEqual({});
  });

  it('does not count the pod itself where its own selector does not match it', () => {
    expect(trial(spreading({}, { app: 'db' })).rejected()).toEqual({});
  });

  it('says that a node without the label cannot be helped', () => {
    expect(trial(spreading(), [...zones(), nodeOf('c', {})]).rejected()).toEqual({ a: reason, c: noLabel });
  });

  it('takes no label from the prototype of an object', () => {
    expect(trial(spreading({ topologyKey: 'constructor' })).rejected()).toEqual({ a: noLabel, b: noLabel });
  });

  it.each([
    ['of another namespace', podOf('x', web, {}, { namespace: 'e' })],
    ['that is being deleted', podOf('x', web, {}, { deletionTimestamp: '2000-01-01T00:00:00Z' })],
    ['with other labels', podOf('x', { app: 'db' })],
  ])('does not count a pod %s', (_what, pod) => {
    expect(trial(spreading(), [nodeOf('a', { zone: 'a' }, [pod]), nodeOf('b', { zone: 'b' })]).rejected()).toEqual({});
  });

  it('counts no pod for a selector that matches all, or for none', () => {
    expect(trial(spreading({ labelSelector: {} })).rejected()).toEqual({});
    const { labelSelector, ...without } = byZone;
    expect(trial(podOf('new', web, { topologySpreadConstraints: [without] })).rejected()).toEqual({});
  });

  it('takes the emptiest domain for empty while there are fewer than minDomains', () => {
    const full = [nodeOf('a', { zone: 'a' }, [podOf('a1', web)]), nodeOf('b', { zone: 'b' }, [podOf('b1', web)])];
    expect(trial(spreading({ minDomains: 2 }), full).rejected()).toEqual({});
    expect(trial(spreading({ minDomains: 3 }), full).rejected()).toEqual({ a: reason, b: reason });
  });

  it('counts only pods with the same values of the labels in matchLabelKeys', () => {
    const pod = spreading({ matchLabelKeys: ['version', 'absent'] }, { app: 'web', version: '2' });
    expect(trial(pod).rejected()).toEqual({});
    expect(trial(pod, [nodeOf('a', { zone: 'a' }, [podOf('x', { app: 'web', version: '2' })]), ...zones()]).rejected()).toEqual({
      a: reason,
    });
  });

  it.each([
    [{}, {}],
    [{ nodeAffinityPolicy: 'Honor' }, {}],
    [{ nodeAffinityPolicy: 'Ignore' }, { a: reason }],
  ])('leaves out nodes that the pod cannot go to, unless %j', (more, expected) => {
    const pod = spreading(more);
    const spec = { ...pod.spec, nodeSelector: { disk: 'ssd' } };
    const nodes = [nodeOf('a', { zone: 'a', disk: 'ssd' }, [podOf('a1', web)]), nodeOf('b', { zone: 'b' })];
    expect(trial({ ...pod, spec } as typeof pod, nodes).rejected()).toEqual(expected);
  });

  it.each([
    [{ nodeTaintsPolicy: 'Honor' }, {}],
    [{ nodeTaintsPolicy: 'Ignore' }, { a: reason }],
    [{}, { a: reason }],
  ])('counts tainted nodes, unless %j', (more, expected) => {
    const tainted = nodeOf('b', { zone: 'b' }, [], { taints: [{ key: 'k', effect: 'NoSchedule' }] });
    expect(trial(spreading(more), [nodeOf('a', { zone: 'a' }, [podOf('a1', web)]), tainted]).rejected()).toEqual(expected);
  });

  it('follows pods that come and go on trial, and leaves the first state as it was', () => {
    const first = trial();
    const without = first.after('removePod', podOf('a1', web), 'a');
    expect(first.rejected(without)).toEqual({});
    const more = first.after('addPod', podOf('b1', web), 'b', without);
    expect(first.rejected(more)).toEqual({ b: reason });
    expect(first.rejected(first.after('addPod', podOf('e1', web, {}, { namespace: 'e' }), 'b'))).toEqual({ a: reason });
    expect(first.rejected()).toEqual({ a: reason });
  });

  it('has nothing to say of a pod without such constraints', () => {
    expect(trial(podOf('new', web)).skipsFilter).toBe(true);
    expect(trial(spreading({ whenUnsatisfiable: 'ScheduleAnyway' })).skipsFilter).toBe(true);
  });

  it('throws for a node that it is asked of before the pods were counted', () => {
    expect(() => trial(podOf('new', web)).rejected()).toThrow('Nothing was kept for "PodTopologySpread counts" in this cycle');
  });

  it('throws for a selector that breaks a rule', () => {
    const labelSelector = { matchExpressions: [{ key: 'app', operator: 'Like' }] };
    expect(() => trial(spreading({ labelSelector }))).toThrow('topologySpreadConstraints[0].labelSelector');
  });
});
