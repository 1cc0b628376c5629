/** Everything the view shows, at one moment. */
export interface Snapshot {
  readonly server: string;
  readonly seed: number;
  /** `settling`: nothing new starts, and the work in progress ends. */
  readonly stage: 'running' | 'settling' | 'done';
  readonly elapsedMs: number;
  readonly totalMs: number;
  /** By the phase the apiserver shows. */
  readonly podsByPhase: Readonly<Record<string, number>>;
  readonly podsDeleting: number;
  readonly created: number;
  readonly recreated: number;
  readonly deleted: number;
  readonly crashes: number;
  readonly readinessFlips: number;
  /** Statuses and probe results that the provider told, and the versions they made: many tell nothing new. */
  readonly told: number;
  readonly versions: number;
  readonly requests: { readonly get: number; readonly patch: number; readonly delete: number };
  readonly syncErrors: number;
  readonly p50Ms: number | undefined;
  readonly p99Ms: number | undefined;
}

export function totalRequests({ requests }: Snapshot): number {
  return requests.get + requests.patch + requests.delete;
}

export function podsAlive({ podsByPhase }: Snapshot): number {
  return Object.values(podsByPhase).reduce((sum, count) => sum + count, 0);
}
