import type { Rule } from '../chaos/rules.ts';

/** A promise that was found broken. */
export interface Damage {
  readonly rule: Rule;
  readonly detail: string;
  /** Milliseconds since the run began. */
  readonly atMs: number;
}

export interface FaultReport {
  readonly server: string;
  readonly seed: number;
  readonly pods: number;
  readonly seconds: number;
  readonly updates: number;
  readonly requests: number;
  /** Versions of pods each history held, by its name; and how often the history had a hole. */
  readonly versions: Readonly<Record<string, { readonly read: number; readonly gaps: number }>>;
  /** Statuses that a flush called written; each is compared with the server's. */
  readonly checkpoints: number;
  /** Checkpoints at which a PATCH that nobody waited for any more had overwritten the status. */
  readonly overwritten: number;
  readonly faults: ReadonlyMap<string, number>;
  readonly disturbances: ReadonlyMap<string, number>;
  readonly rivals: ReadonlyMap<string, number>;
  readonly syncErrors: ReadonlyMap<string, number>;
  /** Copies that the pod source handed on though something newer was known. */
  readonly copiesBackInTime: { readonly olderThanAnAnswer: number; readonly olderThanACopy: number };
  /** What was out of step when the time for that was over. */
  readonly lost: readonly string[];
  readonly damage: readonly Damage[];
  /** From the last fault until all was in step; undefined: never. */
  readonly convergedInMs: number | undefined;
  readonly stoppedInMs: number;
  readonly peakHeapMiB: number;
}

/** Short names for the rules that have a row of their own; all others are `other damage`. */
const shortNames: Partial<Record<Rule, string>> = {
  'nothing older lands after something newer': 'out of order',
  'what lands is what the agent said': 'not as said',
  'no other writer’s data is touched': 'foreign damage',
  'no other pod is touched': 'wrong pod',
  'only what has ended is deleted': 'wrongly removed',
};

/** The rules that a run found broken, in the order in which they were found; pods out of step come last. */
export function brokenRules({ lost, damage }: FaultReport): Rule[] {
  const rules = damage.map(({ rule }) => rule);
  return lost.length === 0 ? rules : [...rules, 'everything is brought up to date'];
}

export function renderReport(report: FaultReport): string {
  const versions = Object.entries(report.versions).map(([name, { read, gaps }]) => `${read} from ${name} (${gaps} gaps)`);
  const { olderThanACopy, olderThanAnAnswer } = report.copiesBackInTime;
  const damage = new Map(['lost', ...Object.values(shortNames), 'other damage'].map((name) => [name, 0]));
  damage.set('lost', report.lost.length);
  for (const { rule } of report.damage) {
    const name = shortNames[rule] ?? 'other damage';
    damage.set(name, (damage.get(name) ?? 0) + 1);
  }
  const rows: [string, string | number][] = [
    ['server', `${report.server}, seed ${report.seed}, ${report.pods} pods, ${report.seconds.toFixed(1)} s`],
    ['updates', report.updates],
    ['requests', report.requests],
    ['versions read', versions.join(', ')],
    ['checkpoints', `${report.checkpoints}, ${report.overwritten} overwritten by a late PATCH`],
    ['faults', listed(report.faults)],
    ['disturbances', listed(report.disturbances)],
    ['other writers', listed(report.rivals)],
    ['failed syncs', listed(report.syncErrors)],
    ['old copies', `${olderThanAnAnswer} older than an answer, ${olderThanACopy} older than another copy`],
    ...damage,
    ['converged', report.convergedInMs === undefined ? 'never' : `${Math.round(report.convergedInMs)} ms after the last fault`],
    ['stopped', `in ${Math.round(report.stoppedInMs)} ms; heap at most ${Math.round(report.peakHeapMiB)} MiB`],
  ];
  const details = [...report.lost, ...report.damage.map(({ rule, detail }) => `${rule}: ${detail}`)].slice(0, 20);
  return [...rows.map(([name, value]) => `${name.padEnd(15)} ${value}`), ...details.map((line) => `  ${line}`)].join('\n');
}

export function listed(counts: ReadonlyMap<string, number>): string {
  const total = [...counts.values()].reduce((sum, n) => sum + n, 0);
  const kinds = [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([kind, n]) => `${kind} ${n}`);
  return kinds.length === 0 ? '0' : `${total} (${kinds.join(', ')})`;
}
