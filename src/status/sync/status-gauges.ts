import type { BoundedChannel } from '../../base/concurrency/bounded-channel.ts';
import type { MetricLabels } from '../../base/metrics/metric-definitions.ts';
import type { Metrics } from '../../base/metrics/metrics.ts';
import type { PodStatusReader } from '../cache/pod-statuses.ts';
import type { RequestGate } from './request-gate.ts';
import type { PodSyncPhase, SyncPhases } from './sync-phase.ts';
import type { SyncReports } from './sync-reports.ts';

export interface StatusGaugesOptions {
  readonly podStatuses: PodStatusReader;
  readonly phases: SyncPhases;
  readonly reports: SyncReports;
  readonly podStatusChannel: BoundedChannel<string>;
  readonly gate: RequestGate;
  readonly metrics: Metrics;
}

type CountedPhase = MetricLabels['pod_status_manager_pods']['phase'];

/** The phases of pods whose newest status could be on the apiserver, and is not. */
const unsentPhases: ReadonlySet<PodSyncPhase> = new Set(['not-started', 'pending', 'in-flight', 'paused', 'backing-off']);

/** Sets the gauges that need a look at every pod. */
export function readStatusGauges(options: StatusGaugesOptions): void {
  const { podStatuses, phases, reports, podStatusChannel, gate, metrics } = options;
  const counts: Record<CountedPhase, number> = {
    ...{ 'not-started': 0, 'in-sync': 0, 'terminal-phase-held-back': 0, pending: 0, 'in-flight': 0, paused: 0 },
    ...{ 'backing-off': 0, quarantined: 0, gone: 0, 'no-mirror-pod': 0, deleting: 0 },
  };
  let oldestMs = 0;
  for (const podUID of podStatuses.podUIDs()) {
    const phase = phases.phaseOf(podUID);
    if (phase === 'unknown' || phase === 'cache-only') continue;
    counts[phase]++;
    const entry = unsentPhases.has(phase) && !phases.isAcknowledged(podUID) ? podStatuses.get(podUID) : undefined;
    if (entry !== undefined) oldestMs = Math.max(oldestMs, reports.lackingMs(podUID, entry));
  }
  for (const [phase, count] of Object.entries(counts)) {
    metrics.set('pod_status_manager_pods', count, { phase: phase as CountedPhase });
  }
  metrics.set('pod_status_manager_oldest_unsent_change_age_seconds', oldestMs / 1000);
  metrics.set('pod_status_manager_channel_depth', podStatusChannel.size);
  metrics.set('pod_status_manager_channel_capacity', podStatusChannel.capacity);
  metrics.set('pod_status_manager_requests_in_flight', gate.underWay);
  metrics.set('pod_status_manager_pause_remaining_seconds', (gate.pauseLeftMs ?? 0) / 1000);
}
