import { describe, expect, it } from 'vitest';
import type { WirePod } from '../../../../src/api/json/types.ts';
import { Nominator } from '../../../../src/scheduler/cache/nominator.ts';
import { SchedulerCache } from '../../../../src/scheduler/cache/scheduler-cache.ts';
import type { Plugin } from '../../../../src/scheduler/framework/plugin.ts';
import { createPodInfo } from '../../../../src/scheduler/nodes/pod-info.ts';
import { ClusterChanges } from '../../../../src/scheduler/queue/cluster-changes.ts';
import type { SchedulingQueue } from '../../../../src/scheduler/queue/scheduling-queue.ts';
import { giveBack, pod, queueOf } from './queue-world.ts';

interface World {
  readonly changes: ClusterChanges;
  readonly queue: SchedulingQueue;
  readonly cache: SchedulerCache;
  readonly nominator: Nominator;
  /** The events that a plugin was asked about, each with the pod that it might help. */
  readonly asked: string[];
  readonly givenUp: string[];
}

function world(): World {
  const asked: string[] = [];
  const curious: Plugin = {
    name: 'w',
    eventsToRegister: () =>
      (['Pod', 'Node'] as const).map((resource) => ({
        resource,
        actions: ['*'],
        hint: (waiting, before, after) => {
          const kind = before === undefined ? 'add' : after === undefined ? 'delete' : 'update';
          asked.push(`${waiting.metadata?.name} ${resource} ${kind}`);
          return 'Skip';
        },
      })),
  };
  const { queue, clock } = queueOf([curious]);
  const cache = new SchedulerCache({ clock });
  const nominator = new Nominator();
  const givenUp: string[] = [];
  const changes = new ClusterChanges({
    ...{ cache, queue, nominator, createPodInfo },
    isResponsibleFor: (name) => name === 's',
    onAssumedPodDeleted: (assumed) => {
      givenUp.push(assumed.uid);
      cache.forgetPod(assumed, 'n');
    },
  });
  return { changes, queue, cache, nominator, asked, givenUp };
}

function wire(uid: string, spec: object = {}, status?: WirePod['status'], version = '1'): WirePod {
  return { ...pod(uid, spec, version).pod, ...(status && { status }) };
}

/** A pod that was rejected and waits. */
function waits({ changes, queue }: World, uid: string, priority = 0): void {
  changes.setPod(wire(uid, { priority }));
  queue.pop();
  giveBack(queue, uid, 'w');
}

describe('changes of the cluster', () => {
  it('bring pods without a node into the queue, pods with one into the cache, and others nowhere', () => {
    const { changes, queue, cache } = world();
    changes.setPod(wire('a'));
    changes.setPod(wire('b', { nodeName: 'n' }));
    changes.setPod(wire('c', { schedulerName: 'another' }));
    changes.setPod(wire('d', { nodeName: 'n' }, { phase: 'Failed' }));
    expect(['a', 'b', 'c', 'd'].map((uid) => queue.placeOf(uid)?.place)).toEqual(['active', undefined, undefined, undefined]);
    expect(cache.podCount).toBe(1);
    changes.setPod(wire('b', { nodeName: 'n' }, { phase: 'Succeeded' }));
    expect(cache.podCount).toBe(0);
  });

  it('take a pod out of the queue that somebody else has bound', () => {
    const { changes, queue, cache } = world();
    changes.setPod(wire('a'));
    changes.setPod(wire('a', { nodeName: 'n' }, undefined, '2'));
    expect(queue.placeOf('a')).toBeUndefined();
    expect(cache.nodeNameOf('a')).toBe('n');
    // an older version, which comes late
    changes.setPod(wire('a'));
    expect(cache.nodeNameOf('a')).toBe('n');
    expect(queue.placeOf('a')).toBeUndefined();
  });

  it('ask those that wait, by what has changed', () => {
    const all = world();
    const { changes, asked } = all;
    waits(all, 'a');
    const node = { metadata: { name: 'n' }, status: { allocatable: { cpu: '1' } } };
    changes.setNode(node);
    changes.setNode({ ...node, status: { ...node.status, conditions: [{ type: 'Ready', status: 'True' }] } });
    const heartbeat = { type: 'Ready', status: 'True', lastHeartbeatTime: '2000-01-01T00:00:10Z' };
    changes.setNode({ ...node, status: { ...node.status, conditions: [heartbeat] } });
    changes.deleteNode('n');
    changes.deleteNode('n');
    changes.setPod(wire('b', { nodeName: 'n' }));
    changes.setPod(wire('b', { nodeName: 'n', tolerations: [{ operator: 'Exists' }] }, undefined, '2'));
    changes.deletePod('b');
    changes.deletePod('b');
    expect(asked).toEqual(['a Node add', 'a Node update', 'a Node delete', 'a Pod add', 'a Pod update', 'a Pod delete']);
  });

  it('tell pods of no higher priority that a nominated pod has given up its node', () => {
    const all = world();
    const { changes, asked, nominator } = all;
    for (const [uid, priority] of [
      ['low', 0],
      ['same', 5],
      ['high', 9],
    ] as const)
      waits(all, uid, priority);
    changes.setPod(wire('p', { priority: 5 }, { nominatedNodeName: 'n' }));
    expect(nominator.onNode('n')).toHaveLength(1);
    changes.setPod(wire('p', { priority: 5 }, { nominatedNodeName: 'm' }, '2'));
    expect(asked.splice(0)).toEqual(['low Pod delete', 'same Pod delete']);
    expect(nominator.onNode('n')).toEqual([]);
    changes.deletePod('p');
    expect(asked).toEqual(['low Pod delete', 'same Pod delete']);
    expect(nominator.onNode('m')).toEqual([]);
  });

  it.each(['is gone', 'is being deleted'])('give up the place of an assumed pod that %s', (what) => {
    const all = world();
    const { changes, queue, cache, asked, givenUp } = all;
    waits(all, 'a');
    const bound = pod('b');
    changes.setPod(bound.pod);
    queue.pop();
    cache.assumePod(bound, 'n');
    changes.setPod(wire('b', {}, undefined, '2'));
    expect([asked, givenUp]).toEqual([[], []]);
    if (what === 'is gone') changes.deletePod('b');
    else changes.setPod({ ...bound.pod, metadata: { ...bound.pod.metadata, deletionTimestamp: '2000-01-01T00:00:00Z' } });
    expect(givenUp).toEqual(['b']);
    expect(asked).toEqual(['a Pod delete']);
    expect(giveBack(queue, 'b') === undefined).toBe(what === 'is gone');
  });
});
