import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MetricsRecorder } from '../../../support/metrics-recorder.ts';
import { ReconcilerWorld } from '../../node/mirror/reconciler-world.ts';
import { NodeWorld } from '../../node/node-object/node-world.ts';
import { exec, failure, ProbeWorld, podOf } from '../../node/probes/probe-world.ts';
import { ProviderWorld } from '../../node/provider/provider-world.ts';
import { LoopWorld } from '../../node/workers/loop-world.ts';
import { pod, World } from '../../node/workers/workers-world.ts';

let metrics: MetricsRecorder;
beforeEach(() => {
  metrics = new MetricsRecorder();
});
afterEach(() => {
  expect([metrics.mistakes, metrics.readers]).toEqual([[], 0]);
});

describe('the metrics of pod workers', () => {
  it('show calls under way and failures by state, and how far the work queue lags', async () => {
    const world = new World({ metrics, backOffPeriodMs: 10_000 });
    await world.update('create', pod('u1'));
    expect(metrics.collect().nonZero('pod_status_manager_worker_calls_in_flight')).toEqual({ sync: 1 });
    expect(metrics.value('pod_status_manager_worker_queue_lateness_seconds')).toBe(0);
    await world.fail('u1');
    expect(metrics.collect().nonZero('pod_status_manager_worker_calls_in_flight')).toEqual({});
    expect(metrics.nonZero('pod_status_manager_worker_retries_total')).toEqual({ sync: 1 });
    const late = (): unknown => [
      metrics.collect().value('pod_status_manager_worker_queue_depth'),
      metrics.value('pod_status_manager_worker_queue_lateness_seconds'),
    ];
    expect(late()).toEqual([1, 0]);
    await world.clock.advance(13_000);
    expect(late()).toEqual([1, 3]);
    await world.workers.stop();
  });

  it('do not count a call that gives way to the deletion of its pod as a failure', async () => {
    const world = new World({ metrics });
    await world.update('create', pod('u1'));
    await world.update('update', pod('u1', { deletion: 1 }));
    world.isQuick = true;
    await world.fail('u1');
    const retries = metrics.nonZero('pod_status_manager_worker_retries_total');
    await world.workers.stop();
    expect(retries).toEqual({});
  });
});

describe('the metrics of a sync loop', () => {
  it('count pods by what is to run, what works and what is left over', async () => {
    await using world = await LoopWorld.started({ metrics, admitPod: ({ metadata }) => refuseNamed(metadata?.uid) });
    await world.send('ADD', [pod('u1'), pod('u2'), pod('refused'), pod('static', { source: 'file' })]);
    world.running = () => [{ uid: 'orphan', name: 'orphan', namespace: 'd', containers: [] }];
    await world.housekeeping();
    expect(metrics.nonZero('kubelet_desired_pods')).toEqual({ '': 3, true: 1 });
    expect(metrics.nonZero('kubelet_active_pods')).toEqual({ '': 2, true: 1 });
    expect(metrics.nonZero('kubelet_working_pods')).toEqual({ 'desired,sync,': 3 });
    expect(metrics.nonZero('kubelet_admission_rejections_total')).toEqual({ TooMany: 1 });
    expect(metrics.value('kubelet_orphaned_runtime_pods_total')).toBe(1);
    expect(metrics.nonZero('kubelet_restarted_pods_total')).toEqual({});
    world.known.delete('u1');
    await world.housekeeping();
    expect(metrics.nonZero('kubelet_restarted_pods_total')).toEqual({ '': 1 });
    await world.loop.stop();
    const gauges = ['kubelet_desired_pods', 'kubelet_active_pods', 'kubelet_working_pods'];
    expect(gauges.map((name) => metrics.nonZero(name))).toEqual([{}, {}, {}]);
  });

  it('count no pod as restarted that waited for its admission', async () => {
    const logged: string[] = [];
    const log = (_: object, message: string): number => logged.push(message);
    const answers = [undefined, { admit: true } as const];
    const admitPod = (): { admit: true } => {
      const answer = answers.shift();
      if (answer === undefined) throw new Error('not ready to say');
      return answer;
    };
    await using world = await LoopWorld.started({
      ...{ metrics, admitPod },
      logger: { debug: () => {}, info: () => {}, warn: log, error: log },
    });
    await world.send('ADD', [pod('u1')]);
    expect(logged).toEqual(['admitPod failed; the pod waits']);
    await world.housekeeping();
    expect([world.took(), metrics.nonZero('kubelet_restarted_pods_total')]).toEqual([['create u1'], {}]);
  });
});

const refuseNamed = (uid: string | undefined) =>
  uid === 'refused' ? ({ admit: false, reason: 'TooMany', message: 'no room' } as const) : ({ admit: true } as const);

describe('the metrics of probes', () => {
  it('count each probe by its result, and end with the pod', async () => {
    const world = new ProbeWorld({ metrics });
    const probed = await world.add(podOf({ livenessProbe: exec({ periodSeconds: 5 }) }));
    world.answer = () => Promise.reject(new Error('no runtime'));
    await world.seconds(6);
    world.answer = async () => failure;
    await world.seconds(5);
    const counted = metrics.nonZero('prober_probe_total');
    expect(Object.entries(counted).map(([labels, value]) => [labels.split(',').at(-1), value])).toEqual([
      ['successful', 1],
      ['unknown', 1],
      ['failed', 1],
    ]);
    expect(metrics.names()).toContain('prober_probe_duration_seconds');
    world.manager.removePod(probed);
    expect([metrics.nonZero('prober_probe_total'), metrics.names().has('prober_probe_duration_seconds')]).toEqual([{}, false]);
    await world.manager.stop();
  });
});

describe('the metrics of probes of two pods of one name', () => {
  it('end with the last of them', async () => {
    const world = new ProbeWorld({ metrics });
    const old = await world.add(podOf({ livenessProbe: exec({ periodSeconds: 5 }) }, {}, 'old'));
    const anew = await world.add(podOf({ livenessProbe: exec({ periodSeconds: 5 }) }, {}, 'new'));
    await world.seconds(6);
    world.manager.removePod(old);
    expect(metrics.names()).toContain('prober_probe_duration_seconds');
    world.manager.removePod(anew);
    expect(metrics.names()).not.toContain('prober_probe_duration_seconds');
    await world.manager.stop();
  });
});

describe('the metrics of mirror pods', () => {
  it('count requests by how they end', async () => {
    const world = new ReconcilerWorld({ metrics });
    world.addStatic();
    await world.start();
    expect(metrics.nonZero('pod_status_manager_mirror_pod_requests_total')).toEqual({ 'done,create': 1 });
    await world.reconciler.stop();
  });
});

describe('the metrics of a node object', () => {
  it('show its registration and the age of its Lease, and count what fails by class', async () => {
    const world = new NodeWorld({ metrics });
    await world.start();
    await world.clock.advance(15_000);
    expect(metrics.collect().value('pod_status_manager_node_registered')).toBe(1);
    expect(metrics.nonZero('pod_status_manager_lease_renewals_total')).toEqual({ ok: 2 });
    expect(metrics.nonZero('pod_status_manager_node_checks_total')).toEqual({ ok: 2 });
    expect(metrics.value('pod_status_manager_lease_age_seconds')).toBeLessThan(10);
    expect(metrics.value('pod_status_manager_reflector_synced', { reflector: 'nodes' })).toBe(1);
    world.isDown = true;
    await world.clock.advance(60_000);
    expect(metrics.value('pod_status_manager_lease_renewals_total', { result: 'unavailable' })).toBeGreaterThan(1);
    expect(metrics.collect().value('pod_status_manager_lease_age_seconds')).toBeGreaterThan(50);
    await world.node.stop();
    expect(metrics.value('pod_status_manager_reflector_synced', { reflector: 'nodes' })).toBe(0);
  });

  it('say that a node which was removed is not registered', async () => {
    const world = new NodeWorld({ metrics, removeOnStop: true });
    await world.start();
    const stopped = world.node.stop();
    await world.clock.advance(20_000);
    expect((await stopped).node).toBe('removed');
    expect(metrics.value('pod_status_manager_node_registered')).toBe(0);
  });
});

describe('the metrics of a provider', () => {
  it('count its calls, and how long pods take to start', async () => {
    await using world = new ProviderWorld({ metrics });
    await world.create('web');
    expect(metrics.value('pod_status_manager_provider_calls_total', { method: 'createPod', result: 'ok' })).toBe(1);
    expect(metrics.value('pod_status_manager_provider_calls_total', { method: 'getPodStatus', result: 'ok' })).toBeGreaterThan(0);
    expect(metrics.values('kubelet_pod_worker_start_duration_seconds')).toEqual([0]);
    expect(metrics.values('kubelet_pod_start_duration_seconds')).toHaveLength(1);
    world.provider.next('deletePod', 'web', () => Promise.reject(new Error('not now')));
    await world.delete('web');
    expect(metrics.value('pod_status_manager_provider_calls_total', { method: 'deletePod', result: 'failed' })).toBe(1);
  });
});
