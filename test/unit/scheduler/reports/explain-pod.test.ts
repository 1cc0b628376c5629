import { describe, expect, it } from 'vitest';
import { explainPod } from '../../../../src/scheduler/reports/explain-pod.ts';
import { LastAttempts } from '../../../../src/scheduler/reports/last-attempts.ts';
import { giveBack, nodeWaiter, pod, queueOf } from '../queue/queue-world.ts';
import { diagnosis, failedFit, full, knownOf, tainted } from './reports-world.ts';

describe('why a pod is pending', () => {
  it('is said node by node, with what may help', async () => {
    const { queue, clock } = queueOf();
    const attempts = new LastAttempts();
    queue.add(pod('a'));
    queue.pop();
    giveBack(queue, 'a', 'NodeResourcesFit', 'TaintToleration');
    attempts.set('a', failedFit(clock.now(), diagnosis({ n2: tainted, n1: full })));
    await clock.advance(12_000);
    const explained = explainPod(
      knownOf({
        place: queue.placeOf('a'),
        last: attempts.get('a'),
        now: clock.now(),
        wallTime: (time) => time - clock.now() + 17_000,
      }),
    );
    expect(explained).toMatchObject({ state: 'waiting', attempts: 1, nextAttemptAt: undefined });
    expect(explained.nodes.map(({ nodeName, mayFitWithoutOtherPods }) => [nodeName, mayFitWithoutOtherPods])).toEqual([
      ['n1', true],
      ['n2', false],
    ]);
    expect(explained.text.split('\n')).toEqual([
      'The pod d/a was tried once, and waits for a change that may help it.',
      'Its last attempt, 12 s ago, failed: no node fits: 0/2 nodes are available: 1 Insufficient cpu, 1 Too many pods, 1 node(s) had untolerated taint(s).',
      '- n1: Insufficient cpu, Too many pods (NodeResourcesFit); it may fit once other pods are gone.',
      '- n2: node(s) had untolerated taint(s) (TaintToleration); the end of other pods would not help.',
      'It has been so for 12 s.',
      'It is tried again when something changes that NodeResourcesFit or TaintToleration can be helped by, and in any case in about 5 min.',
      "Add a node, end other pods, lower the pod's requests or raise its priority: cpu and room for one more pod lack on 1 node; remove a taint, or add a toleration to the pod: 1 node has one that it does not tolerate (a node that is not ready has one).",
    ]);
    expect(explained.problem).toEqual({
      kind: 'no-node-fits',
      message: 'no node fits: 0/2 nodes are available: 1 Insufficient cpu, 1 Too many pods, 1 node(s) had untolerated taint(s)',
      since: 5000,
      attempt: 1,
      retryAt: undefined,
      help: explained.text.split('\n').at(-1),
      ...{ podUID: 'a', podNamespace: 'd', podName: 'a' },
    });
  });

  it('names the nodes, too, that were not looked at', () => {
    const { queue } = queueOf();
    const attempts = new LastAttempts();
    queue.add(pod('a'));
    queue.pop();
    giveBack(queue, 'a', 'NodeAffinity');
    attempts.set('a', failedFit(0, diagnosis({ n1: full }, { nodes: 3, rest: tainted })));
    const { nodes } = explainPod(
      knownOf({ place: queue.placeOf('a'), last: attempts.get('a'), nodeNames: () => ['n3', 'n1', 'n2'] }),
    );
    expect(nodes.map(({ nodeName, plugin }) => `${nodeName} ${plugin}`)).toEqual([
      'n1 NodeResourcesFit',
      'n2 TaintToleration',
      'n3 TaintToleration',
    ]);
  });

  it('promises no event that no plugin has asked for', () => {
    const { queue, clock } = queueOf();
    queue.add(pod('a'));
    queue.pop();
    giveBack(queue, 'a', 'VolumeBinding', 'w');
    const lastLine = (asksForEvents: (plugin: string) => boolean): string | undefined =>
      explainPod(knownOf({ place: queue.placeOf('a'), now: clock.now(), asksForEvents }))
        .text.split('\n')
        .at(-1);
    expect(lastLine((plugin) => plugin === 'w')).toBe(
      'It is tried again when something changes that w can be helped by, and in any case in about 5 min.',
    );
    expect(lastLine(() => false)).toBe(
      'It is tried again in about 5 min: VolumeBinding or w waits for no change that is known here.',
    );
  });

  it('is said of each place where a pod may be', () => {
    const { queue, clock } = queueOf([nodeWaiter('w', () => 'Skip')]);
    const at = (uid: string): readonly string[] => {
      const { state, nextAttemptAt, text } = explainPod(
        knownOf({ uid, place: queue.placeOf(uid), now: clock.now(), wallTime: (time) => time - clock.now() + 5000 }),
      );
      return [state, nextAttemptAt === undefined ? '' : `${nextAttemptAt - 5000}`, text];
    };
    queue.add(pod('gated', { schedulingGates: [{ name: 'g' }] }));
    queue.add(pod('failed'));
    queue.pop();
    giveBack(queue, 'failed');
    queue.add(pod('tried'));
    queue.pop();
    queue.add(pod('ready'));
    expect(['gated', 'failed', 'tried', 'ready', 'gone'].map(at)).toEqual([
      [
        'gated',
        '',
        "The pod d/gated is not tried: waiting for scheduling gates: [g] (SchedulingGates).\nTake g out of the pod's schedulingGates, or see why their owner does not.",
      ],
      ['backoff', '1000', 'The pod d/failed was tried once. It is tried again in about 1 s.'],
      ['trying', '', 'The pod d/tried is being tried.'],
      ['ready', '', 'The pod d/ready can be tried, after the pods that come before it. It has not been tried yet.'],
      ['unknown', '', 'No pod with the uid gone is known here: it is gone, or meant for another scheduler.'],
    ]);
    const placed = { podInfo: pod('a'), nodeName: 'n', isBound: false, unconfirmedSince: undefined };
    expect(explainPod(knownOf({ placed })).text).toBe('The pod d/a has the node n and is being bound to it.');
    expect(explainPod(knownOf({ placed: { ...placed, isBound: true } })).text).toBe('The pod d/a is on the node n.');
  });
});
