import type { PartsMutant } from '../../chaos/parts/mutants.ts';
import type { PartsRule } from '../../chaos/parts/rules.ts';
import type { FaultTarget } from '../fault-target.ts';
import { type PartsFaultReport, runPartsFaults } from './parts-fault-run.ts';
import { catchOfParts } from './parts-report.ts';

/** More than there are cores: these runs mostly wait. */
const mutantsAtOnce = 8;

/**
 * Runs mutants side by side on one server. Each run ends as soon as a rule is found broken that its mutant breaks. A mutant that
 * one seed does not catch, as may happen in real time on a busy machine, is run with the next seed: the sound subject must pass
 * every one of them. Returns the reports to come, by the mutant's name: that of the run that caught it, else the last.
 */
export function runPartsMutants(
  target: FaultTarget,
  mutants: readonly PartsMutant[],
  seeds: readonly number[],
): ReadonlyMap<string, Promise<PartsFaultReport>> {
  const reports = new Map(mutants.map(({ name }) => [name, Promise.withResolvers<PartsFaultReport>()]));
  // the long ones first
  const queue = mutants.toSorted((a, b) => Number(showsInTheEnd(b)) - Number(showsInTheEnd(a)));
  const runNext = async (): Promise<void> => {
    for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
      await untilCaught(target, mutant, seeds).then(reports.get(mutant.name)?.resolve, reports.get(mutant.name)?.reject);
    }
  };
  for (let i = 0; i < mutantsAtOnce; i++) void runNext();
  // the test that waits for a report may not have begun when its run fails
  for (const { promise } of reports.values()) promise.catch(() => {});
  return new Map([...reports].map(([name, { promise }]) => [name, promise]));
}

async function untilCaught(target: FaultTarget, mutant: PartsMutant, seeds: readonly number[]): Promise<PartsFaultReport> {
  const [seed, ...others] = seeds;
  if (seed === undefined) throw new Error('A mutant needs a seed');
  const seconds = showsInTheEnd(mutant) ? 1 : 20;
  const limits = { seconds, mostDisturbances: 0, convergeWithinSeconds: 10, leastDeeds: 10 };
  const report = await runPartsFaults({ target, mutant, seed, ...limits });
  const isCaught = catchOfParts(mutant, report) !== undefined;
  return isCaught || others.length === 0 ? report : untilCaught(target, mutant, others);
}

/** Rules that are found broken only when all should have come to rest. */
const lastRules: readonly PartsRule[] = ['everything is brought up to date', 'a read settles', 'nothing is left after stop'];

function showsInTheEnd({ breaks: [first] }: PartsMutant): boolean {
  return first !== undefined && lastRules.includes(first);
}
