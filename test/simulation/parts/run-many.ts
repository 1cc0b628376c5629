import { partsMutants } from '../../chaos/parts/mutants.ts';
import { catchPartsMutant } from './mutant-run.ts';
import { PartsTally, partsVerdict } from './parts-tally.ts';
import { simulateParts } from './simulate-parts.ts';

export interface ManyRuns {
  readonly first: number;
  readonly seeds: number;
  readonly minutes: number;
  /** A part broken on purpose; `all` runs each until it is caught. */
  readonly mutant: string | undefined;
}

const progressEvery = 200;

/** `npm run simulate -- --parts`. Prints what it finds, and returns the exit code. Throws a TypeError for an unknown mutant. */
export async function simulateManyParts({ first, seeds, minutes, mutant: name }: ManyRuns): Promise<number> {
  if (name === 'all') return catchAll(first);
  const mutant = partsMutants.find((each) => each.name === name);
  if (name !== undefined && mutant === undefined) throw new TypeError(`no mutant of the parts is called "${name}"`);
  const tally = new PartsTally();
  for (let seed = first; seed < first + seeds; seed++) {
    const options = { seed, minutes, mutant };
    const result = await simulateParts(options);
    tally.add(result);
    const verdict = partsVerdict(options, result);
    if (verdict !== undefined) console.log(verdict);
    if ((seed - first + 1) % progressEvery === 0)
      console.error(`${seed - first + 1} of ${seeds} seeds, ${tally.failures} failures`);
  }
  console.log(tally.summary());
  return tally.failures === 0 ? 0 : 1;
}

async function catchAll(first: number): Promise<number> {
  let survivors = 0;
  for (const mutant of partsMutants) {
    const { rule, seeds } = await catchPartsMutant(mutant, first);
    const isCaught = rule !== undefined && mutant.breaks.includes(rule);
    if (!isCaught) survivors++;
    console.log(`${mutant.name}: ${isCaught ? '' : 'NOT CAUGHT, '}“${rule}”, run ${seeds}`);
  }
  console.log(`${partsMutants.length - survivors} of ${partsMutants.length} mutants of the parts caught`);
  return survivors === 0 ? 0 : 1;
}
