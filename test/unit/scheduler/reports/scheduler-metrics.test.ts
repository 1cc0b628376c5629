import { describe, expect, it } from 'vitest';
import { type Labels, type MetricsSink, metricsOption } from '../../../../src/base/metrics/metrics.ts';
import { steadyTime } from '../../../../src/scheduler/queue/backoff-queue.ts';
import type { QueueCounts } from '../../../../src/scheduler/queue/scheduling-queue.ts';
import { SchedulerMetrics } from '../../../../src/scheduler/reports/scheduler-metrics.ts';
import { inTreePlugins } from '../../../../src/scheduler.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { giveBack, pod, queueOf } from '../queue/queue-world.ts';
import { node, schedulerWorld, pod as webPod } from '../scheduler-world.ts';

function recorded(): { readonly sink: MetricsSink; readonly lines: string[]; collect(): void } {
  const lines: string[] = [];
  const line = (name: string, value: number, labels?: Labels): void =>
    void lines.push(`${name}${JSON.stringify(Object.values(labels ?? {}))} ${value}`);
  let collect = (): void => {};
  const sink: MetricsSink = {
    increment: (name, labels, by = 1) => line(name, by, labels),
    observe: line,
    set: line,
    onCollect: (read) => {
      collect = read;
      return () => {
        collect = () => {};
      };
    },
  };
  return { sink, lines, collect: () => collect() };
}

describe("a scheduler's measures", () => {
  it('tell of attempts, and of how long a pod took', async () => {
    const { sink, lines } = recorded();
    const { queue, clock } = queueOf();
    const measures = new SchedulerMetrics(metricsOption(sink), clock, steadyTime(clock));
    queue.add(pod('a'));
    const startedAt = clock.now();
    await clock.advance(40);
    measures.chose(startedAt);
    measures.attempted('unschedulable', 's', startedAt);
    queue.pop();
    giveBack(queue, 'a');
    await clock.advance(3000);
    const popped = queue.pop();
    if (popped !== undefined) measures.bound(popped, 's', clock.now());
    measures.bound({ ...queue.placeOf('a')?.info, attempts: 20, firstReadyAt: undefined } as never, 's', clock.now());
    for (const plugin of ['DynamicResources', 'DefaultPreemption']) measures.postFilter(plugin);
    measures.preempted(3);
    measures.incoming('backoff', 'NodeAdd');
    expect(lines).toEqual([
      'scheduler_scheduling_algorithm_duration_seconds[] 0.04',
      'scheduler_schedule_attempts_total["unschedulable","s"] 1',
      'scheduler_scheduling_attempt_duration_seconds["unschedulable","s"] 0.04',
      'scheduler_schedule_attempts_total["scheduled","s"] 1',
      'scheduler_scheduling_attempt_duration_seconds["scheduled","s"] 0',
      'scheduler_pod_scheduling_attempts[] 2',
      'scheduler_pod_scheduling_sli_duration_seconds["2"] 3.04',
      'scheduler_schedule_attempts_total["scheduled","s"] 1',
      'scheduler_scheduling_attempt_duration_seconds["scheduled","s"] 0',
      'scheduler_pod_scheduling_attempts[] 20',
      'scheduler_pod_scheduling_sli_duration_seconds["15+"] 0',
      'scheduler_preemption_attempts_total[] 1',
      'scheduler_preemption_victims[] 3',
      'scheduler_queue_incoming_pods_total["backoff","NodeAdd"] 1',
    ]);
  });

  it('tell of what waits when somebody looks; a plugin that nothing waits for any more has 0', () => {
    const { sink, lines, collect } = recorded();
    const clock = new FakeClock();
    const measures = new SchedulerMetrics(metricsOption(sink), clock, steadyTime(clock));
    let byPlugin: QueueCounts['byPlugin'] = [{ plugin: 'w', profile: 's', pods: 2 }];
    measures.start(() => ({
      queue: { active: 1, backoff: 2, unschedulable: 3, gated: 4, inFlight: 5, byPlugin },
      ...{ nodes: 6, pods: 7, assumedPods: 8 },
    }));
    collect();
    expect(lines.splice(0)).toEqual([
      'scheduler_pending_pods["active"] 1',
      'scheduler_pending_pods["backoff"] 2',
      'scheduler_pending_pods["unschedulable"] 3',
      'scheduler_pending_pods["gated"] 4',
      'scheduler_cache_size["nodes"] 6',
      'scheduler_cache_size["pods"] 7',
      'scheduler_cache_size["assumed_pods"] 8',
      'scheduler_unschedulable_pods["w","s"] 2',
    ]);
    byPlugin = [];
    collect();
    expect(lines.at(-1)).toBe('scheduler_unschedulable_pods["w","s"] 0');
    measures.close();
    lines.length = 0;
    collect();
    expect(lines).toEqual([]);
  });

  it('count the pods that each plugin keeps waiting, by profile', () => {
    const { queue } = queueOf();
    for (const uid of ['a', 'b']) queue.add(pod(uid));
    for (let i = 0; i < 2; i += 1) queue.pop();
    giveBack(queue, 'a', 'v', 'w');
    giveBack(queue, 'b', 'w');
    expect(queue.counts()).toMatchObject({ unschedulable: 2, gated: 0, inFlight: 0 });
    expect(queue.counts().byPlugin).toEqual([
      { plugin: 'v', profile: 's', pods: 1 },
      { plugin: 'w', profile: 's', pods: 2 },
    ]);
  });

  it('count, of a whole scheduler, each attempt to make room and each pod that is tried before its back-off ends', async () => {
    const { sink, lines } = recorded();
    const No = () => ({ name: 'No', filter: () => ({ code: 'Unschedulable' as const, reasons: ['x'] }) });
    const { scheduler } = schedulerWorld({
      ...{ metrics: sink, registry: { ...inTreePlugins(), No } },
      profiles: [{ plugins: { multiPoint: { enabled: [{ name: 'No' }] } } }],
    });
    scheduler.setNode(node('n1'));
    scheduler.setPod(webPod('a'));
    scheduler.start();
    await scheduler.flush();
    for (const name of ['n2', 'n3']) {
      scheduler.setNode(node(name));
      await scheduler.flush();
    }
    await scheduler.stop();
    const counted = (name: string) => lines.filter((line) => line.startsWith(name));
    expect(counted('scheduler_preemption_attempts_total')).toHaveLength(3);
    expect(counted('scheduler_schedule_attempts_total')).toHaveLength(3);
    expect(counted('scheduler_queue_incoming_pods_total["active"')).toEqual([
      'scheduler_queue_incoming_pods_total["active","UnschedulablePodAdd"] 1',
      'scheduler_queue_incoming_pods_total["active","PopFromBackoffQ"] 1',
      'scheduler_queue_incoming_pods_total["active","PopFromBackoffQ"] 1',
    ]);
    expect(counted('scheduler_preemption_victims')).toEqual([]);
  });
});
