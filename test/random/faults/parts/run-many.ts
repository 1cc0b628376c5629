import { partsMutants } from '../../chaos/parts/mutants.ts';
import type { FaultTarget } from '../fault-target.ts';
import { runPartsMutants } from './mutant-run.ts';
import { runPartsFaults } from './parts-fault-run.ts';
import { catchOfParts, renderPartsReport } from './parts-report.ts';

export interface PartsFaultCommand {
  readonly seed: number;
  readonly minutes: number;
  /** A part broken on purpose; `all` runs each until it is caught. */
  readonly mutant: string | undefined;
}

/** `npm run test:faults -- --parts`, on one server. Prints what it finds; resolves to true when that is nothing bad. */
export async function runPartsCommand(target: FaultTarget, { seed, minutes, mutant: name }: PartsFaultCommand): Promise<boolean> {
  if (name === 'all') return catchAll(target, seed);
  const mutant = partsMutants.find((each) => each.name === name);
  if (name !== undefined && mutant === undefined) throw new Error(`no mutant of the parts is called "${name}"`);
  const report = await runPartsFaults({ target, seed, seconds: minutes * 60, mutant });
  console.log(`${renderPartsReport(report)}\n`);
  return report.damage.length === 0;
}

async function catchAll(target: FaultTarget, seed: number): Promise<boolean> {
  let caught = 0;
  const reports = runPartsMutants(target, partsMutants, [seed]);
  for (const mutant of partsMutants) {
    const report = await reports.get(mutant.name);
    const how = report && catchOfParts(mutant, report);
    if (how !== undefined) caught++;
    console.log(
      `${mutant.name}: ${how ? `“${how.rule}”, after ${(how.atMs / 1000).toFixed(1)} s: ${how.detail.slice(0, 80)}` : 'NOT CAUGHT'}`,
    );
  }
  console.log(`${target.kind}, seed ${seed}: ${caught} of ${partsMutants.length} mutants of the parts caught`);
  return caught === partsMutants.length;
}
