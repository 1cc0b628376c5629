import type { MetricLabels } from '../../base/metrics/metric-definitions.ts';
import type { Metrics } from '../../base/metrics/metrics.ts';
import type { SyncAttempt, SyncContext } from './sync-context.ts';
import type { Acknowledged, SyncOutcome } from './sync-outcome.ts';
import { syncPod } from './sync-pod.ts';

type Steps = AsyncGenerator<Acknowledged, SyncOutcome, void>;
type CountedOutcome = MetricLabels['pod_status_manager_syncs_total']['outcome'];

/** The same as {@link syncPod}, counted by how it ends. */
export function countedSync(context: SyncContext, attempt: SyncAttempt): Steps {
  const steps = syncPod(context, attempt);
  return context.metrics.isUsed ? counted(context.metrics, steps) : steps;
}

async function* counted(metrics: Metrics, steps: Steps): Steps {
  let outcome: CountedOutcome = 'failed';
  let patched = false;
  try {
    for (;;) {
      const step = await steps.next();
      if (step.done) {
        outcome = countedOutcome(step.value, patched);
        return step.value;
      }
      patched = step.value.patched;
      yield step.value;
    }
  } finally {
    metrics.increment('pod_status_manager_syncs_total', { outcome });
  }
}

function countedOutcome(outcome: SyncOutcome, patched: boolean): CountedOutcome {
  switch (outcome.kind) {
    case 'done':
      return patched ? 'patched' : 'unchanged';
    case 'waits-on':
      return 'waits';
    case 'invalid':
      return 'quarantined';
    case 'failed':
      return outcome.failure.errorClass === 'aborted' ? 'aborted' : 'failed';
    default:
      return outcome.kind;
  }
}
