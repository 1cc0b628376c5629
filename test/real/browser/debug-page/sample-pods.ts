import type { DebugPod, DebugPodRow, DebugSummary, DebugTraffic } from '../../../../src/observe/debug/debug-api.ts';

const names = ['web', 'api', 'cache', 'worker', 'mailer', 'ingest', 'search', 'billing'] as const;
const namespaces = ['default', 'shop', 'monitoring'] as const;

/** A row of a pod that runs and is in sync, with what is given changed. */
export function podRow(index: number, changes: Partial<DebugPodRow> = {}): DebugPodRow {
  const name = `${names[index % names.length]}-${String(index).padStart(5, '0')}`;
  return {
    podUID: `uid-${String(index).padStart(5, '0')}`,
    namespace: namespaces[index % namespaces.length] ?? 'default',
    name,
    phase: 'Running',
    ready: true,
    restarts: 0,
    sync: 'in-sync',
    version: 3,
    acknowledgedVersion: 3,
    attempt: 0,
    isStatic: false,
    isDeleting: false,
    changedAt: Date.now() - 60_000 - index,
    ...changes,
  };
}

export function podRows(count: number): DebugPodRow[] {
  return Array.from({ length: count }, (_, index) => podRow(index));
}

function countBy<K extends string>(rows: readonly DebugPodRow[], keyOf: (row: DebugPodRow) => K): Record<K, number> {
  const counts = {} as Record<K, number>;
  for (const row of rows) counts[keyOf(row)] = (counts[keyOf(row)] ?? 0) + 1;
  return counts;
}

export function summaryOf(rows: readonly DebugPodRow[]): DebugSummary {
  return {
    at: Date.now(),
    state: 'running',
    pods: rows.length,
    inTrouble: rows.filter(({ problem }) => problem !== undefined).length,
    ownProblems: {},
    notes: [],
    bySync: countBy(rows, ({ sync }) => sync),
    byPhase: countBy(rows, ({ phase }) => phase ?? 'none'),
    inFlight: rows.filter(({ sync }) => sync === 'in-flight').length,
    channelDepth: 0,
    channelCapacity: 1000,
    oldestUnsentMs: undefined,
    pausedUntil: undefined,
    node: undefined,
    scheduler: undefined,
  };
}

/** A quiet five minutes: a few requests in each second. */
export function quietTraffic(): DebugTraffic[] {
  const now = Math.floor(Date.now() / 1000) * 1000;
  return Array.from({ length: 300 }, (_, index) => ({
    at: now - (299 - index) * 1000,
    patches: 20 + Math.round(8 * Math.sin(index / 9)),
    gets: index % 7,
    deletes: index % 50 === 0 ? 2 : 0,
    failed: index > 200 && index < 215 ? 6 : 0,
    synced: 20,
    delayP50Ms: 4 + Math.sin(index / 20),
    delayP99Ms: index > 200 && index < 220 ? 60 + (index % 9) : 12 + (index % 5),
  }));
}

/** One pod that was set, sent, refused once, sent again and taken. */
export function podDetails(row: DebugPodRow): DebugPod {
  const at = row.changedAt;
  const started = { running: { startedAt: new Date(at).toISOString() } };
  const body = {
    metadata: { uid: row.podUID, resourceVersion: '4711' },
    status: { conditions: [{ type: 'Ready', status: 'True' }], phase: 'Running' },
  };
  return {
    at: Date.now(),
    row,
    otherProblems: [],
    scheduler: undefined,
    reason: 'The apiserver has version 3, the newest.',
    differs: [],
    retryAt: undefined,
    node: [['Worker', 'sync, idle']],
    timeline: [
      { kind: 'set', at: at - 900, version: 2, changes: [{ path: '/phase', before: undefined, after: 'Pending' }] },
      {
        kind: 'request',
        at: at - 890,
        verb: 'patch',
        result: 'conflict',
        durationMs: 4.2,
        body,
        bytes: 143,
        message: 'the object has been modified',
      },
      {
        kind: 'error',
        at: at - 886,
        errorClass: 'conflict',
        message: 'the object has been modified',
        attempt: 1,
        retryInMs: 120,
      },
      {
        kind: 'set',
        at,
        version: 3,
        changes: [
          { path: '/phase', before: 'Pending', after: 'Running' },
          { path: '/conditions/1/status', before: 'False', after: 'True' },
          { path: '/containerStatuses/0/state', before: { waiting: { reason: 'ContainerCreating' } }, after: started },
        ],
      },
      { kind: 'request', at: at + 1, verb: 'patch', result: 'ok', durationMs: 5.1, body, bytes: 143, message: undefined },
      { kind: 'synced', at: at + 6, version: 3, patched: true, delayMs: 6 },
    ],
    droppedEntries: 4,
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }], podIP: '10.1.0.7' },
  };
}
