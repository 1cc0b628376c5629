import { describe, expect, it } from 'vitest';
import type { WireNode } from '../../../../src/api/json/types.ts';
import { nodeUpdateEvents, podUpdateEvents } from '../../../../src/scheduler/queue/cluster-event.ts';
import { pod } from './queue-world.ts';

const ready = (status: string, lastHeartbeatTime = '2000-01-01T00:00:00Z') => ({
  conditions: [{ type: 'Ready', status, lastHeartbeatTime }],
});

describe('what an update of a node means', () => {
  it.each<[string, WireNode, WireNode, string[]]>([
    ['nothing new', { metadata: { labels: {} } }, {}, []],
    ['another heartbeat', { status: ready('True') }, { status: ready('True', '2000-01-01T00:00:10Z') }, []],
    ['another condition', { status: ready('True') }, { status: ready('False') }, ['NodeUpdateNodeCondition']],
    [
      'more to give',
      { status: { allocatable: { cpu: '1' } } },
      { status: { allocatable: { cpu: '2' } } },
      ['NodeUpdateNodeAllocatable'],
    ],
    ['other labels', {}, { metadata: { labels: { a: 'b' } } }, ['NodeUpdateNodeLabel']],
    ['other annotations', {}, { metadata: { annotations: { a: 'b' } } }, ['NodeUpdateNodeAnnotation']],
    ['other taints', {}, { spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } }, ['NodeUpdateNodeTaint']],
    ['no cordon any more', { spec: { unschedulable: true } }, {}, ['NodeUpdateNodeTaint']],
    ['a cordon', {}, { spec: { unschedulable: true } }, []],
    [
      'two things',
      { spec: { unschedulable: true } },
      { metadata: { labels: { a: 'b' } } },
      ['NodeUpdateNodeTaint', 'NodeUpdateNodeLabel'],
    ],
  ])('%s', (_what, before, after, labels) => {
    expect(nodeUpdateEvents(before, after).map(({ label }) => label)).toEqual(labels);
  });
});

describe('what an update of a pod means', () => {
  const asks = (cpu: string) => ({ containers: [{ name: 'c', resources: { requests: { cpu } } }] });

  it.each([
    ['nothing of interest', {}, { priority: 3 }, ['UnschedulablePodUpdate']],
    ['it asks for more', asks('1'), asks('2'), ['UnschedulablePodUpdate']],
    ['it asks for less', asks('2'), asks('1'), ['UnschedulablePodUpdatePodScaleDown']],
    [
      'it asks for less on its node',
      { ...asks('2'), nodeName: 'n' },
      { ...asks('1'), nodeName: 'n' },
      ['AssignedPodUpdatePodScaleDown'],
    ],
    ['another toleration', {}, { tolerations: [{ operator: 'Exists' }] }, ['UnschedulablePodUpdatePodToleration']],
    [
      'one gate less',
      { schedulingGates: [{ name: 'a' }, { name: 'b' }] },
      { schedulingGates: [{ name: 'a' }] },
      ['UnschedulablePodUpdate'],
    ],
    ['no gate any more', { schedulingGates: [{ name: 'a' }] }, {}, ['UnschedulablePodUpdatePodSchedulingGatesEliminated']],
  ])('%s', (_what, before, after, labels) => {
    expect(podUpdateEvents(pod('a', before), pod('a', after)).map(({ label }) => label)).toEqual(labels);
  });
});
