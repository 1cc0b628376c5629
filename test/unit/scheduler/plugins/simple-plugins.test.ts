import { describe, expect, it } from 'vitest';
import type { JsonMembers } from '../../../../src/client/transport/api-answer.ts';
import { CycleState } from '../../../../src/scheduler/framework/cycle-state.ts';
import type { EventAction, EventResource, Plugin, PluginHandle } from '../../../../src/scheduler/framework/plugin.ts';
import { imageLocality } from '../../../../src/scheduler/plugins/image-locality.ts';
import { nodeAffinity } from '../../../../src/scheduler/plugins/node-affinity.ts';
import {
  defaultBinder,
  nodeName,
  nodePorts,
  nodeUnschedulable,
  prioritySort,
  schedulingGates,
} from '../../../../src/scheduler/plugins/one-rule-plugins.ts';
import { taintToleration } from '../../../../src/scheduler/plugins/taint-toleration.ts';
import { frameworkWith, nodeInfo, podInfo } from '../framework-world.ts';

function withPort(name: string, port: object): ReturnType<typeof podInfo> {
  return podInfo(name, { nodeName: 'n', containers: [{ name: 'c', ports: [{ containerPort: 80, ...port }] }] });
}
const taint = (effect: string, key = 'a') => ({ key, value: 'x', effect });
const cordon = { key: 'node.kubernetes.io/unschedulable', operator: 'Exists' };

describe('a node is rejected', () => {
  const onPort = [withPort('old', { hostPort: 80, hostIP: '10.0.0.1' })];
  it.each<[string, Plugin, object, ReturnType<typeof nodeInfo>, string | undefined]>([
    ['by another name', nodeName(), { nodeName: 'n2' }, nodeInfo('n1'), "node(s) didn't match the requested node name"],
    ['not by its name', nodeName(), { nodeName: 'n1' }, nodeInfo('n1'), undefined],
    [
      'by a taken port',
      nodePorts(),
      withPort('p', { hostPort: 80 }).pod.spec ?? {},
      nodeInfo('n', {}, onPort),
      "node(s) didn't have free ports for the requested pod ports",
    ],
    [
      'not by a port of another address',
      nodePorts(),
      withPort('p', { hostPort: 80, hostIP: '10.0.0.2' }).pod.spec ?? {},
      nodeInfo('n', {}, onPort),
      undefined,
    ],
    ['by its cordon', nodeUnschedulable(), {}, nodeInfo('n', { spec: { unschedulable: true } }), 'node(s) were unschedulable'],
    [
      'not by a tolerated cordon',
      nodeUnschedulable(),
      { tolerations: [cordon] },
      nodeInfo('n', { spec: { unschedulable: true } }),
      undefined,
    ],
    [
      'by a taint',
      taintToleration(),
      {},
      nodeInfo('n', { spec: { taints: [taint('NoExecute')] } }),
      'node(s) had untolerated taint(s)',
    ],
    ['not by a mild taint', taintToleration(), {}, nodeInfo('n', { spec: { taints: [taint('PreferNoSchedule')] } }), undefined],
  ])('%s', (_what, plugin, spec, node, reason) => {
    const framework = frameworkWith([plugin]);
    const [state, pod] = [new CycleState(), podInfo('p', spec)];
    framework.preFilter(state, pod);
    const rejection = framework.runFiltersWithNominated(state, pod, node);
    expect(rejection?.reasons).toEqual(reason === undefined ? undefined : [reason]);
    if (reason !== undefined)
      expect(rejection?.code).toBe(plugin.name === 'NodePorts' ? 'Unschedulable' : 'UnschedulableAndUnresolvable');
  });
});

describe('a node is worth', () => {
  it('less, the more mild taints the pod does not tolerate', () => {
    const nodes = [
      [],
      [taint('PreferNoSchedule')],
      [taint('PreferNoSchedule'), taint('PreferNoSchedule', 'b'), taint('NoSchedule', 'c')],
    ].map((taints, index) => nodeInfo(`n${index}`, { spec: { taints } }));
    const { scores } = frameworkWith([taintToleration()], { nodes });
    const scoresOf = (tolerations: object[]) => {
      const [state, pod] = [new CycleState(), podInfo('p', { tolerations })];
      scores.preScore(state, pod, nodes);
      return scores.score(state, pod, nodes).plugins[0];
    };
    expect(scoresOf([])).toMatchObject({ raw: [0, 1, 2], normalized: [100, 50, 0] });
    expect(scoresOf([{ key: 'a', operator: 'Exists', effect: 'NoSchedule' }])).toMatchObject({ raw: [0, 1, 2] });
    expect(scoresOf([{ key: 'a', operator: 'Exists' }])).toMatchObject({ raw: [0, 0, 1], normalized: [100, 100, 0] });
  });

  it('more, the more of the images it has', () => {
    const image = (name: string, mebibytes: number) => ({ names: [name], sizeBytes: mebibytes * 1024 ** 2 });
    const nodes = [
      nodeInfo('n1', { status: { images: [image('big:latest', 2000), image('side:1', 500)] } }),
      nodeInfo('n2', { status: { images: [image('small:1', 22)] } }),
      nodeInfo('n3'),
    ];
    const { scores } = frameworkWith((handle) => [imageLocality(undefined, handle)], { nodes });
    const pod = podInfo('p', { initContainers: [{ name: 'i', image: 'side:1' }], containers: [{ name: 'c', image: 'big' }] });
    const state = new CycleState();
    scores.preScore(state, pod, nodes);
    // each image is on one node of three: (2000 + 500) / 3 MiB, from 23 up to twice 1000
    expect(scores.score(state, pod, nodes).totals).toEqual([Math.floor((100 * (2500 / 3 - 23)) / (2000 - 23)), 0, 0]);
  });
});

describe('the queue', () => {
  it('keeps a pod with gates', () => {
    const { preEnqueue } = schedulingGates();
    expect(preEnqueue?.(podInfo('p').pod)).toBeUndefined();
    expect(preEnqueue?.(podInfo('p', { schedulingGates: [{ name: 'a' }, { name: 'b' }] }).pod)).toEqual({
      code: 'UnschedulableAndUnresolvable',
      reasons: ['waiting for scheduling gates: [a b]'],
    });
  });

  it('is sorted by priority, then by time', () => {
    const { less } = prioritySort();
    const queued = (priority: number, timestamp: number) => ({ podInfo: podInfo('p', { priority }), timestamp });
    expect(less?.(queued(2, 9), queued(1, 1))).toBe(true);
    expect(less?.(queued(1, 1), queued(2, 9))).toBe(false);
    expect(less?.(queued(1, 1), queued(1, 2))).toBe(true);
    expect(less?.(queued(1, 1), queued(1, 1))).toBe(false);
  });
});

describe('a pod that was rejected', () => {
  const pod = withPort('p', { hostPort: 80 });
  const other = (port: number, spec: object = { nodeName: 'n' }) => {
    const info = withPort('other', { hostPort: port });
    return { ...info.pod, spec: { ...info.pod.spec, nodeName: undefined, ...spec } };
  };
  const own = { ...pod.pod, spec: { ...pod.pod.spec, tolerations: [cordon] } };
  const node = (spec: object = {}, labels: Record<string, string> = {}) => ({ metadata: { name: 'n', labels }, spec });
  const selecting = podInfo('p', { nodeSelector: { disk: 'ssd' } });
  const ssd = { disk: 'ssd' };
  it.each<[string, Plugin, EventResource, EventAction, object | undefined, object | undefined, 'Queue' | 'Skip', typeof pod?]>([
    ['is helped by the end of a pod with its port', nodePorts(), 'Pod', 'Delete', other(80), undefined, 'Queue'],
    ['is not helped by the end of a pod with another port', nodePorts(), 'Pod', 'Delete', other(81), undefined, 'Skip'],
    ['is not helped by the end of a pod without a node', nodePorts(), 'Pod', 'Delete', other(80, {}), undefined, 'Skip'],
    [
      'is helped by a node that opens',
      nodeUnschedulable(),
      'Node',
      'UpdateNodeTaint',
      node({ unschedulable: true }),
      node(),
      'Queue',
    ],
    ['is not helped by a node that was open', nodeUnschedulable(), 'Node', 'UpdateNodeTaint', node(), node(), 'Skip'],
    [
      'is not helped by a new node that is shut',
      nodeUnschedulable(),
      'Node',
      'Add',
      undefined,
      node({ unschedulable: true }),
      'Skip',
    ],
    ['is helped by its own toleration of a cordon', nodeUnschedulable(), 'Pod', 'UpdatePodToleration', pod.pod, own, 'Queue'],
    [
      'is not helped by another pod',
      nodeUnschedulable(),
      'Pod',
      'UpdatePodToleration',
      pod.pod,
      { ...own, metadata: { uid: 'x' } },
      'Skip',
    ],
    [
      'is helped by a taint that goes',
      taintToleration(),
      'Node',
      'UpdateNodeTaint',
      node({ taints: [taint('NoSchedule')] }),
      node(),
      'Queue',
    ],
    ['is not helped by a node without taints before', taintToleration(), 'Node', 'UpdateNodeTaint', node(), node(), 'Skip'],
    ['is helped by its own toleration', taintToleration(), 'Pod', 'UpdatePodToleration', pod.pod, own, 'Queue'],
    ['is helped by a label that comes', nodeAffinity(), 'Node', 'UpdateNodeLabel', node(), node({}, ssd), 'Queue', selecting],
    [
      'is not helped by a label that was there',
      nodeAffinity(),
      'Node',
      'UpdateNodeLabel',
      node({}, ssd),
      node({}, ssd),
      'Skip',
      selecting,
    ],
    ['is helped by a new node with the label', nodeAffinity(), 'Node', 'Add', undefined, node({}, ssd), 'Queue', selecting],
    ['is not helped by a new node without it', nodeAffinity(), 'Node', 'Add', undefined, node(), 'Skip', selecting],
    ['is helped by the end of its gates', schedulingGates(), 'Pod', 'UpdatePodSchedulingGatesEliminated', pod.pod, own, 'Queue'],
  ])('%s', (_what, plugin, resource, action, before, after, expected, rejected = pod) => {
    const [event, ...others] = (plugin.eventsToRegister?.() ?? []).filter(
      ({ resource: one, actions }) => one === resource && actions.includes(action),
    );
    expect(others).toEqual([]);
    expect(event?.hint?.(rejected.pod, before as JsonMembers | undefined, after as JsonMembers | undefined)).toBe(expected);
  });
});

describe('DefaultBinder', () => {
  it('binds through the client', async () => {
    const bound: unknown[] = [];
    const client = { bind: async (...all: unknown[]) => void bound.push(all) };
    const plugin = defaultBinder(undefined, { client } as unknown as PluginHandle);
    const [pod, { signal }] = [podInfo('p'), new AbortController()];
    expect(await plugin.bind?.(new CycleState(), pod, 'n1', signal)).toBe('bound');
    expect(bound).toEqual([[pod.pod, 'n1', signal]]);
  });
});
