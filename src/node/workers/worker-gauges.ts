import { beginAtZero, sampleGauges } from '../../base/metrics/metrics.ts';
import type { PodWorkerState } from './pod-record.ts';
import { WorkQueue } from './work-queue.ts';
import type { ResolvedWorkersOptions } from './workers-options.ts';

const states: readonly PodWorkerState[] = ['sync', 'terminating', 'terminated'];

/**
 * Measures how many calls of the syncer are under way, and how far the work queue lags; that of a work queue of another kind is
 * not known. Returns a function that ends it.
 */
export function measureWorkers(
  { metrics, clock, workQueue }: ResolvedWorkersOptions,
  countCalls: (state: PodWorkerState) => number,
): () => void {
  beginAtZero(metrics, ['pod_status_manager_worker_retries_total']);
  return sampleGauges(metrics, clock, () => {
    for (const state of states) metrics.set('pod_status_manager_worker_calls_in_flight', countCalls(state), { state });
    if (!(workQueue instanceof WorkQueue)) return;
    metrics.set('pod_status_manager_worker_queue_depth', workQueue.size);
    metrics.set('pod_status_manager_worker_queue_lateness_seconds', workQueue.latenessMs / 1000);
  });
}
