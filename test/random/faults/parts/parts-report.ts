import type { PartsMutant } from '../../chaos/parts/mutants.ts';
import { listed } from '../report.ts';
import type { PartsFaultReport } from './parts-fault-run.ts';

export function renderPartsReport(report: PartsFaultReport): string {
  const { server, seed, seconds, requests, overHttp2, counts, faults, damage, convergedInMs } = report;
  const rows: [string, string | number][] = [
    ['parts', `${server}, seed ${seed}, ${seconds.toFixed(1)} s`],
    ['requests', `${requests}, ${overHttp2} of them over HTTP/2`],
    ['faults', listed(faults)],
    ['done', listed(counts)],
    ['damage', damage.length],
    ['converged', convergedInMs === undefined ? 'never' : `${Math.round(convergedInMs)} ms after the last fault`],
  ];
  const details = damage.slice(0, 20).map(({ rule, detail, atMs }) => `  ${(atMs / 1000).toFixed(1)} s: ${rule}: ${detail}`);
  const again =
    damage.length === 0 ? [] : [`  to see it again: npm run test:faults -- --parts --seed ${seed} --server ${server}`];
  return [...rows.map(([name, value]) => `${name.padEnd(15)} ${value}`), ...details, ...again].join('\n');
}

/** What was found first of what the mutant breaks; undefined: it was not caught. */
export function catchOfParts(
  { breaks }: PartsMutant,
  { damage }: PartsFaultReport,
): PartsFaultReport['damage'][number] | undefined {
  return damage.find(({ rule }) => breaks.includes(rule));
}
