import type { Snapshot } from '../../../examples/virtual-node/snapshot.ts';

/** A run half way through. */
export function aSnapshot(changes: Partial<Snapshot> = {}): Snapshot {
  return {
    server: 'in-memory apiserver',
    seed: 42,
    stage: 'running',
    elapsedMs: 7500,
    totalMs: 15_000,
    podsByPhase: { Pending: 1, Running: 7, Succeeded: 2 },
    podsDeleting: 3,
    created: 12,
    recreated: 1,
    deleted: 2,
    crashes: 4,
    readinessFlips: 30,
    told: 250,
    versions: 200,
    requests: { get: 3, patch: 185, delete: 2 },
    syncErrors: 0,
    p50Ms: 2.34,
    p99Ms: 41.2,
    ...changes,
  };
}
