import { describe, expect, it } from 'vitest';
import { CycleState } from '../../../../../src/scheduler/framework/cycle-state.ts';
import { Framework } from '../../../../../src/scheduler/framework/framework.ts';
import type { QueueingHint } from '../../../../../src/scheduler/framework/plugin.ts';
import { createPodInfo } from '../../../../../src/scheduler/nodes/pod-info.ts';
import { DelegatedResources, delegatedKey } from '../../../../../src/scheduler/plugins/resource-classes.ts';
import { nodeResourcesFit } from '../../../../../src/scheduler/plugins/resources/node-resources-fit.ts';
import { clusterObjects } from '../../../../support/cluster-objects.ts';
import { frameworkContext } from '../../../../support/framework-context.ts';
import { createNodeInfo, nodeSnapshotOf } from '../../../../support/node-snapshots.ts';
import { barePod } from '../../../../support/pods.ts';

interface Asked {
  readonly uid?: string;
  readonly nodeName?: string;
  readonly nominatedNodeName?: string;
  readonly requests?: Record<string, string>;
}

const podAsking = ({ uid = 'other', nodeName, nominatedNodeName, requests = {} }: Asked) =>
  barePod({
    metadata: { name: uid, namespace: 'd', uid },
    spec: { ...(nodeName && { nodeName }), containers: [{ name: 'c', resources: { requests } }] },
    status: { ...(nominatedNodeName && { nominatedNodeName }) },
  });
const nodeGiving = (allocatable: Record<string, string>) => ({ metadata: { name: 'n' }, status: { allocatable } });

const hintOf = (
  resource: 'Pod' | 'Node',
  pod: Asked,
  before: object | undefined,
  after: object | undefined,
): QueueingHint | undefined =>
  nodeResourcesFit()
    .eventsToRegister?.()
    .find((event) => event.resource === resource)
    ?.hint?.(podAsking({ uid: 'waiting', ...pod }), before as Record<string, unknown>, after as Record<string, unknown>);

const one = { cpu: '1' };

describe('hints of NodeResourcesFit', () => {
  it('registers the changes that make room', () => {
    const events = nodeResourcesFit()
      .eventsToRegister?.()
      .map(({ resource, actions }) => [resource, actions]);
    expect(events).toEqual([
      ['Pod', ['Delete', 'UpdatePodScaleDown']],
      ['Node', ['Add', 'UpdateNodeAllocatable']],
    ]);
  });

  it.each<[Asked, QueueingHint]>([
    [{ nodeName: 'n' }, 'Queue'],
    [{ nominatedNodeName: 'n' }, 'Queue'],
    [{}, 'Skip'],
  ])('the end of a pod helps where it had a node, or was promised one: %j', (ended, expected) => {
    expect(hintOf('Pod', { requests: one }, podAsking(ended), undefined)).toBe(expected);
  });

  it.each<[string, Asked, Asked, Asked, QueueingHint]>([
    ['of its own', {}, { uid: 'waiting' }, { uid: 'waiting' }, 'Queue'],
    ['of a pod without a node', { requests: one }, { requests: { cpu: '2' } }, { requests: one }, 'Skip'],
    [
      'of what it asks for',
      { requests: one },
      { nodeName: 'n', requests: { cpu: '2' } },
      { nodeName: 'n', requests: one },
      'Queue',
    ],
    ['of something else', { requests: one }, { nodeName: 'n', requests: { memory: '2' } }, { nodeName: 'n' }, 'Skip'],
    ['that is none', { requests: one }, { nodeName: 'n', requests: one }, { nodeName: 'n', requests: { cpu: '2' } }, 'Skip'],
    [
      'of a device',
      { requests: { 'example.com/gpu': '1' } },
      { nodeName: 'n', requests: { 'example.com/gpu': '1' } },
      { nodeName: 'n' },
      'Queue',
    ],
    [
      'of local storage',
      { requests: { 'ephemeral-storage': '1' } },
      { nodeName: 'n', requests: { 'ephemeral-storage': '1' } },
      { nodeName: 'n' },
      'Queue',
    ],
    ['of memory', { requests: { memory: '1' } }, { nodeName: 'n', requests: { memory: '1' } }, { nodeName: 'n' }, 'Queue'],
  ])('a scale-down %s', (_what, pod, before, after, expected) => {
    expect(hintOf('Pod', pod, podAsking(before), podAsking(after))).toBe(expected);
  });

  it.each<[Record<string, string>, QueueingHint]>([
    [{ cpu: '1', pods: '1' }, 'Queue'],
    [{ cpu: '999m', pods: '1' }, 'Skip'],
    [{ cpu: '1' }, 'Skip'],
  ])('a new node helps where it is large enough: %j', (allocatable, expected) => {
    expect(hintOf('Node', { requests: one }, undefined, nodeGiving(allocatable))).toBe(expected);
  });

  it.each<[Record<string, string>, Record<string, string>, QueueingHint]>([
    [{ cpu: '1', pods: '1' }, { cpu: '2', pods: '1' }, 'Queue'],
    [{ cpu: '1', pods: '1' }, { cpu: '1', pods: '2' }, 'Queue'],
    [{ cpu: '1', pods: '1' }, { cpu: '1', memory: '5', pods: '1' }, 'Skip'],
    [{ cpu: '100m', pods: '1' }, { cpu: '200m', pods: '1' }, 'Skip'],
    [{ cpu: '2', pods: '1' }, { cpu: '1', pods: '1' }, 'Skip'],
  ])('a node that changes helps where it is large enough and has more of it than before: %j to %j', (before, after, expected) => {
    expect(hintOf('Node', { requests: one }, nodeGiving(before), nodeGiving(after))).toBe(expected);
  });

  it('a pod that asks for nothing is helped by room for pods alone', () => {
    expect(hintOf('Node', {}, nodeGiving({ cpu: '1', pods: '1' }), nodeGiving({ cpu: '2', pods: '1' }))).toBe('Skip');
    expect(hintOf('Node', {}, nodeGiving({ cpu: '1', pods: '0' }), nodeGiving({ cpu: '1', pods: '1' }))).toBe('Queue');
  });
});

describe('resources that a class of devices stands for', () => {
  const gpu = 'example.com/gpu';
  const ownName = 'deviceclass.resource.kubernetes.io/gpu';
  const classOf = (name: string, extendedResourceName?: string) => ({ metadata: { name }, spec: { extendedResourceName } });
  const fitWith = (...deviceClasses: readonly object[]) => {
    const context = frameworkContext({ snapshot: () => nodeSnapshotOf([]), objects: clusterObjects({ deviceClasses }) });
    return nodeResourcesFit(undefined, new Framework(context, () => ({ schedulerName: 't', plugins: [], weights: new Map() })));
  };
  const asking = (requests: Record<string, string>) => podAsking({ uid: 'waiting', requests });
  const hint = (resource: string, action: string, pod: Record<string, string>, before: object | undefined, after: object) =>
    fitWith(classOf('gpu', gpu))
      .eventsToRegister?.()
      .find((event) => event.resource === resource && event.actions.includes(action as never))
      ?.hint?.(asking(pod), before as never, after as never);
  const room = { pods: '1' };

  it.each<[string, Record<string, string>, object | undefined, object, QueueingHint]>([
    ['comes with the name asked for', { [gpu]: '1' }, undefined, classOf('a', gpu), 'Queue'],
    ['comes with the own name asked for', { [ownName]: '1' }, undefined, classOf('gpu'), 'Queue'],
    ['comes with another name', { [gpu]: '1' }, undefined, classOf('a', 'example.com/net'), 'Skip'],
    ['comes without a name', { [gpu]: '1' }, undefined, classOf('a'), 'Skip'],
    ['gets the name asked for', { [gpu]: '1' }, classOf('a'), classOf('a', gpu), 'Queue'],
    ['keeps the name asked for', { [gpu]: '1' }, classOf('a', gpu), classOf('a', gpu), 'Skip'],
    ['keeps its own name', { [ownName]: '1' }, classOf('gpu', gpu), classOf('gpu'), 'Skip'],
    ['loses the name asked for', { [gpu]: '1' }, classOf('a', gpu), classOf('a'), 'Skip'],
  ])('a class that %s', (_what, pod, before, after, expected) => {
    expect(hint('DeviceClass', before === undefined ? 'Add' : 'Update', pod, before, after)).toBe(expected);
  });

  it.each<[string, Record<string, string>, Record<string, string> | undefined, Record<string, string>, QueueingHint]>([
    ['without it helps when it comes', { [gpu]: '1' }, undefined, room, 'Queue'],
    ['without it helps when it changes', { [gpu]: '1' }, room, room, 'Queue'],
    ['with too little does not', { [gpu]: '2' }, undefined, { ...room, [gpu]: '1' }, 'Skip'],
    ['with enough, as before, does not', { [gpu]: '1' }, { ...room, [gpu]: '1' }, { ...room, [gpu]: '1' }, 'Skip'],
    ['without what no class stands for does not', { 'example.com/net': '1' }, undefined, room, 'Skip'],
    ['is not asked for it by 0', { [gpu]: '0' }, room, room, 'Skip'],
  ])('a node %s', (_what, pod, before, after, expected) => {
    const action = before === undefined ? 'Add' : 'UpdateNodeAllocatable';
    expect(hint('Node', action, pod, before && nodeGiving(before), nodeGiving(after))).toBe(expected);
  });

  it('make what is said of a pod unlike that of others', () => {
    const fit = fitWith(classOf('gpu', gpu));
    const signed = (requests: Record<string, string>) => fit.signature?.(createPodInfo(asking(requests))) !== undefined;
    expect([signed({ [gpu]: '1' }), signed({ [ownName]: '1' })]).toEqual([false, false]);
    expect([signed({ 'example.com/net': '1' }), signed({ [gpu]: '0' }), signed(one)]).toEqual([true, true, true]);
  });

  it('are looked at where the node has some, and where nobody else gives them', () => {
    const fit = fitWith(classOf('gpu', gpu));
    const judge = (allocatable: Record<string, string>, delegated: readonly string[]) => {
      const state = new CycleState();
      if (delegated.length > 0) state.write(delegatedKey, new DelegatedResources(delegated));
      const node = createNodeInfo(nodeGiving({ ...room, ...allocatable }), []);
      return fit.filter?.(state, createPodInfo(asking({ [gpu]: '2' })), node)?.reasons;
    };
    const short = [`Insufficient ${gpu}`];
    expect([judge({}, [gpu]), judge({ [gpu]: '0' }, [gpu])]).toEqual([undefined, undefined]);
    expect([judge({ [gpu]: '1' }, [gpu]), judge({}, []), judge({}, ['example.com/net'])]).toEqual([short, short, short]);
    expect(judge({ [gpu]: '2' }, [gpu])).toBeUndefined();
  });
});
