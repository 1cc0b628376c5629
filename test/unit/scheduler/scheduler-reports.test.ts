import { describe, expect, it } from 'vitest';
import type { MetricsSink } from '../../../src/base/metrics/metrics.ts';
import { Scheduler } from '../../../src/scheduler/scheduler.ts';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.ts';
import { pod } from './scheduler-world.ts';

function tallied(): { readonly sink: MetricsSink; readonly tally: Map<string, number> } {
  const tally = new Map<string, number>();
  const key = (name: string, labels?: object): string => [name, ...Object.values(labels ?? {})].join(' ');
  const add = (name: string, labels: object | undefined, by: number): void =>
    void tally.set(key(name, labels), (tally.get(key(name, labels)) ?? 0) + by);
  const sink: MetricsSink = {
    increment: (name, labels, by = 1) => add(name, labels, by),
    observe: (name, _value, labels) => add(name, labels, 1),
    set: (name, value, labels) => void tally.set(key(name, labels), value),
  };
  return { sink, tally };
}

describe('a scheduler', () => {
  it('says of each pod where it is and why, and measures what it did', async () => {
    const { sink, tally } = tallied();
    const scheduler = new Scheduler({ client: { bind: async () => {} }, clock: new FakeClock(), logger: null, metrics: sink });
    scheduler.setNode({ metadata: { name: 'n1' }, status: { allocatable: { cpu: '1', pods: '10' } } });
    scheduler.setNode({
      metadata: { name: 'n2' },
      spec: { unschedulable: true },
      status: { allocatable: { cpu: '9', pods: '10' } },
    });
    for (const one of [pod('small', '500m'), pod('big', '2')]) scheduler.setPod(one);
    scheduler.start();
    await scheduler.flush();
    expect(scheduler.explain('uid-small')).toMatchObject({ state: 'placed', nodes: [] });
    const { state, attempts, nodes, text } = scheduler.explain('uid-big');
    expect([state, attempts, nodes.map(({ nodeName, plugin }) => [nodeName, plugin])]).toEqual([
      ...['waiting', 1],
      [
        ['n1', 'NodeResourcesFit'],
        ['n2', 'NodeUnschedulable'],
      ],
    ]);
    expect(text).toContain('0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable.');
    expect(scheduler.explain('other').state).toBe('unknown');
    await scheduler.stop();
    expect(Object.fromEntries(tally)).toMatchObject({
      'scheduler_schedule_attempts_total scheduled default-scheduler': 1,
      'scheduler_schedule_attempts_total unschedulable default-scheduler': 1,
      scheduler_scheduling_algorithm_duration_seconds: 2,
      scheduler_pod_scheduling_attempts: 1,
      'scheduler_pod_scheduling_sli_duration_seconds 1': 1,
      'scheduler_queue_incoming_pods_total active UnschedulablePodAdd': 2,
      'scheduler_queue_incoming_pods_total unschedulable ScheduleAttemptFailure': 1,
      'scheduler_pending_pods unschedulable': 1,
      'scheduler_unschedulable_pods NodeResourcesFit default-scheduler': 1,
      'scheduler_cache_size nodes': 2,
      'scheduler_cache_size assumed_pods': 1,
    });
  });

  it('refuses what is no sink', () => {
    const options = { client: { bind: async () => {} }, metrics: {} as MetricsSink };
    expect(() => new Scheduler(options)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_OPTION' }));
  });
});
