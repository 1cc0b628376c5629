import { describe, expect, it } from 'vitest';
import type { QueueingHint } from '../../../../../src/scheduler/framework/plugin.ts';
import { nodeResourcesFit } from '../../../../../src/scheduler/plugins/resources/node-resources-fit.ts';
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
