import { listed } from '../../random/faults/report.ts';
import { fleetRules } from '../../support/fleet/fleet-judge.ts';
import { type HandOver, percentile } from '../../support/fleet/hand-overs.ts';
import type { FleetFaultReport } from './fleet-faults.ts';

const mostDetails = 100;

/** True where every promise was kept. */
export function isSound({ verdict, convergedInMs }: FleetFaultReport): boolean {
  return verdict.findings.length === 0 && convergedInMs !== undefined;
}

export function renderFleetReport(report: FleetFaultReport): string {
  const { verdict, record, seed, minutes, nodes, shards, leaseDurationMs, members, created, deleted, convergedInMs } = report;
  const { findings, memberWrites, takenLate, unattributed, handOvers } = verdict;
  const statuses = record.versions.filter((version) => version.kind === 'pod').length;
  const creations = record.ledger.filter(({ call }) => call === 'create').length;
  const rows: [string, string | number][] = [
    ['fleet', `seed ${seed}, ${minutes} min, ${nodes} nodes in ${shards} shards, Leases of ${leaseDurationMs} ms`],
    ['servers', 'two kube-apiservers over one etcd'],
    ['members', `${members} processes`],
    ['faults', `${report.signal.aborted ? 'ended by a signal: ' : ''}${listed(report.happened)}, of ${report.faults}`],
    ['pods', `${created} created, ${deleted} deleted, ${statuses} versions`],
    ['writes', `${memberWrites} of members, each judged`],
    ['calls of the cloud', `${record.ledger.length}, ${creations} of them creations`],
    [
      'versions',
      `${takenLate} asked for in time and taken late, ${unattributed} without an author: their server died and told nobody`,
    ],
    ...fleetRules.map((rule): [string, number] => [rule, findings.filter((found) => found.rule === rule).length]),
    ['converged', convergedInMs === undefined ? 'never' : `${Math.round(convergedInMs)} ms after the last fault`],
    ...(['stopped', 'killed', 'paused', 'cut off'] as const).map((how): [string, string] => [
      `served after ${how}`,
      waits(handOvers.filter((one) => one.how === how)),
    ]),
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  const all = [...report.outOfStep, ...findings.map(({ rule, detail }) => `${rule}: ${detail}`)];
  const more = all.length > mostDetails ? [`and ${all.length - mostDetails} more`] : [];
  const details = [...all.slice(0, mostDetails), ...more];
  return [...rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`), ...details.map((line) => `  ${line}`)].join('\n');
}

/** How long nodes waited for their next owner. One that kept its owner, or came back to it, did not. */
function waits(handOvers: readonly HandOver[]): string {
  const gaps = handOvers.flatMap(({ gapMs }) => (gapMs === undefined ? [] : [gapMs]));
  const [middle, p99, most] = [0.5, 0.99, 1].map((portion) => `${Math.round(percentile(gaps, portion) ?? 0)} ms`);
  return `${handOvers.length} nodes, ${gaps.length} by another member: p50 ${middle}, p99 ${p99}, at most ${most}`;
}
