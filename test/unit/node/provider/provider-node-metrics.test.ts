import { expect, it } from 'vitest';
import { ProviderNode } from '../../../../src/node/provider/provider-node.ts';
import { InMemoryApiServer } from '../../../../src/testing/apiserver/in-memory-apiserver.ts';
import { MetricsRecorder } from '../../../support/metrics-recorder.ts';

const provider = { createPod() {}, updatePod() {}, deletePod() {}, getPodStatus: () => ({ phase: 'Running' }) };

it('a provider node hands its metrics to every part', async () => {
  const metrics = new MetricsRecorder();
  const server = await InMemoryApiServer.start();
  const node = new ProviderNode({ kubeConfig: server.kubeConfig(), nodeName: 'measured', provider, metrics, logger: null });
  await node.start();
  // one of each part: status manager, source, workers, mirror pods, node object, its watch; the loop and the provider as they work
  expect([...metrics.collect().names()]).toEqual(
    expect.arrayContaining([
      'pod_status_manager_pods',
      'pod_status_manager_reflector_synced',
      'pod_status_manager_worker_queue_depth',
      'pod_status_manager_mirror_pod_requests_total',
      'pod_status_manager_node_registered',
      'kubelet_orphaned_runtime_pods_total',
    ]),
  );
  expect(metrics.value('pod_status_manager_reflector_synced', { reflector: 'pods' })).toBe(1);
  await node.stop();
  await server.stop();
  expect([metrics.mistakes, metrics.readers]).toEqual([[], 0]);
});

it('a provider node takes metrics for itself, and none for its status manager alone', async () => {
  const metrics = new MetricsRecorder();
  const options = { kubeConfig: {} as never, nodeName: 'n', provider };
  expect(() => new ProviderNode({ ...options, statusManager: { metrics } as never })).toThrow('statusManager.metrics');
  expect(() => new ProviderNode({ ...options, metrics: {} as never })).toThrow('`metrics`');
});
