import type { Mutant } from '../chaos/mutants.ts';
import type { Rule } from '../chaos/rules.ts';
import { runFaults } from './fault-run.ts';
import type { FaultTarget } from './fault-target.ts';
import { brokenRules, type FaultReport } from './report.ts';

/** More than there are cores: these runs mostly wait. */
const mutantsAtOnce = 8;

/** True for a mutant whose damage shows only when all should have come to rest. */
function showsInTheEnd({ breaks }: Mutant): boolean {
  return breaks[0] === 'everything is brought up to date';
}

/**
 * Runs mutants side by side on one server: a busy one, with few pods, and with many faults. Each run ends as soon as a rule is
 * found broken that its mutant breaks. Returns the reports to come, by the mutant's name.
 */
export function runMutants(
  target: FaultTarget,
  mutants: readonly Mutant[],
  seed: number,
): ReadonlyMap<string, Promise<FaultReport>> {
  const reports = new Map(mutants.map(({ name }) => [name, Promise.withResolvers<FaultReport>()]));
  // the long ones first
  const queue = mutants.toSorted((a, b) => Number(showsInTheEnd(b)) - Number(showsInTheEnd(a)));
  const runNext = async (): Promise<void> => {
    for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
      const seconds = showsInTheEnd(mutant) ? 1 : 60;
      const storm = { seconds, updates: seconds * 100, rivalPauseMs: 100, faultRate: 8, concurrency: 4, disturbed: false };
      const run = runFaults({ target, mutant, seed, pods: 16, ...storm, convergeWithinMs: 3000 });
      await run.then(reports.get(mutant.name)?.resolve, reports.get(mutant.name)?.reject);
    }
  };
  for (let i = 0; i < mutantsAtOnce; i++) void runNext();
  // the test that waits for a report may not have begun when its run fails
  for (const { promise } of reports.values()) promise.catch(() => {});
  return new Map([...reports].map(([name, { promise }]) => [name, promise]));
}

/** The rule by which the mutant was caught, and after how long; undefined: it was not caught. */
export function catchOf({ breaks }: Mutant, report: FaultReport): { rule: Rule; afterMs: number } | undefined {
  const damage = report.damage.find(({ rule }) => breaks.includes(rule));
  if (damage !== undefined) return { rule: damage.rule, afterMs: damage.atMs };
  const rule = brokenRules(report).find((broken) => breaks.includes(broken));
  return rule && { rule, afterMs: report.seconds * 1000 };
}
