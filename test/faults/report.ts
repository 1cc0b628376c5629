import type { Damage, DamageKind } from './checker.ts';

export interface FaultReport {
  readonly server: string;
  readonly seed: number;
  readonly pods: number;
  readonly seconds: number;
  readonly updates: number;
  readonly requests: number;
  /** Versions of pods each history held, by its name; and how often the history had a hole. */
  readonly versions: Readonly<Record<string, { readonly read: number; readonly gaps: number }>>;
  readonly faults: ReadonlyMap<string, number>;
  readonly disturbances: ReadonlyMap<string, number>;
  readonly rivals: ReadonlyMap<string, number>;
  readonly syncErrors: ReadonlyMap<string, number>;
  /** What was out of step when the time for that was over. */
  readonly lost: readonly string[];
  readonly damage: readonly Damage[];
  /** From the last fault until all was in step; undefined: never. */
  readonly convergedInMs: number | undefined;
  readonly stoppedInMs: number;
  readonly peakHeapMiB: number;
}

export function isClean({ lost, damage }: FaultReport): boolean {
  return lost.length === 0 && damage.length === 0;
}

export function renderReport(report: FaultReport): string {
  const count = (...kinds: DamageKind[]): number => report.damage.filter(({ kind }) => kinds.includes(kind)).length;
  const versions = Object.entries(report.versions).map(([name, { read, gaps }]) => `${read} from ${name} (${gaps} gaps)`);
  const rows: [string, string | number][] = [
    ['server', `${report.server}, seed ${report.seed}, ${report.pods} pods, ${report.seconds.toFixed(1)} s`],
    ['updates', report.updates],
    ['requests', report.requests],
    ['versions read', versions.join(', ')],
    ['faults', listed(report.faults)],
    ['disturbances', listed(report.disturbances)],
    ['other writers', listed(report.rivals)],
    ['failed syncs', listed(report.syncErrors)],
    ['lost', report.lost.length],
    ['out of order', count('out of order', 'torn')],
    ['foreign damage', count('foreign damage')],
    ['wrong pod', count('wrong pod', 'wrongly removed')],
    ['converged', report.convergedInMs === undefined ? 'never' : `${Math.round(report.convergedInMs)} ms after the last fault`],
    ['stopped', `in ${Math.round(report.stoppedInMs)} ms; heap at most ${Math.round(report.peakHeapMiB)} MiB`],
  ];
  const details = [...report.lost, ...report.damage.map(({ kind, detail }) => `${kind}: ${detail}`)].slice(0, 20);
  return [...rows.map(([name, value]) => `${name.padEnd(15)} ${value}`), ...details.map((line) => `  ${line}`)].join('\n');
}

function listed(counts: ReadonlyMap<string, number>): string {
  const total = [...counts.values()].reduce((sum, n) => sum + n, 0);
  const kinds = [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([kind, n]) => `${kind} ${n}`);
  return kinds.length === 0 ? '0' : `${total} (${kinds.join(', ')})`;
}
