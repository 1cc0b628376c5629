import { SeededTally } from './seeded-tally.ts';

export interface SeededMutant {
  readonly name: string;
  /** The promises it breaks: one of them must be the first that is found broken. */
  readonly breaks: readonly string[];
}

export interface SeededOptions<Mutant> {
  readonly seed: number;
  /** How long the faults go on, in simulated minutes; calm follows. */
  readonly minutes: number;
  readonly mutant?: Mutant | undefined;
  readonly onStep?: ((line: string) => void) | undefined;
}

export interface SeededResult {
  readonly seed: number;
  readonly simulatedMs: number;
  /** Timers that fired: events, answers, and what the parts themselves waited for. */
  readonly steps: number;
  readonly counts: ReadonlyMap<string, number>;
  readonly faults: ReadonlyMap<string, number>;
  readonly convergedInMs: number | undefined;
  readonly violation: { readonly rule: string; readonly detail: string; readonly atMs: number } | undefined;
}

/** One kind of simulation: the same seed gives the same run. */
export interface SeededKind<Mutant extends SeededMutant> {
  /** What runs, in the plural; it is the option of `npm run simulate`, too. */
  readonly what: string;
  readonly mutants: readonly Mutant[];
  /** A mutant that survives so many seeds, of so many minutes, would show that the checks are blind to it. */
  readonly mutantSeeds: number;
  readonly mutantMinutes: number;
  readonly simulate: (options: SeededOptions<Mutant>) => Promise<SeededResult>;
}

export interface ManyRuns {
  readonly first: number;
  readonly seeds: number;
  readonly minutes: number;
  /** Something broken on purpose; `all` runs each until it is caught. */
  readonly mutant: string | undefined;
  readonly onStep?: ((line: string) => void) | undefined;
}

export interface CaughtMutant {
  /** The first rule that was found broken; undefined: the mutant was not caught. */
  readonly rule: string | undefined;
  readonly detail: string;
  /** Runs until then. */
  readonly seeds: number;
}

const progressEvery = 200;

/** `npm run simulate -- --WHAT`. Prints what it finds, and returns the exit code. Throws a TypeError for an unknown mutant. */
export async function simulateMany<Mutant extends SeededMutant>(kind: SeededKind<Mutant>, runs: ManyRuns): Promise<number> {
  const { first, seeds, minutes, mutant: name, onStep } = runs;
  if (name === 'all') return catchAll(kind, first);
  const mutant = kind.mutants.find((each) => each.name === name);
  if (name !== undefined && mutant === undefined) throw new TypeError(`no mutant of the ${kind.what} is called "${name}"`);
  const tally = new SeededTally(kind.what);
  for (let seed = first; seed < first + seeds; seed++) {
    const options = { seed, minutes, mutant, onStep };
    const result = await kind.simulate(options);
    tally.add(result);
    const verdict = seededVerdict(kind, options, result);
    if (verdict !== undefined) console.log(verdict);
    if ((seed - first + 1) % progressEvery === 0)
      console.error(`${seed - first + 1} of ${seeds} seeds, ${tally.failures} failures`);
  }
  console.log(tally.summary());
  return tally.failures === 0 ? 0 : 1;
}

/** Runs a mutant with one seed after another, until a rule is found broken. */
export async function catchSeededMutant<Mutant extends SeededMutant>(
  { mutantSeeds, mutantMinutes, simulate }: SeededKind<Mutant>,
  mutant: Mutant,
  firstSeed: number,
): Promise<CaughtMutant> {
  for (let seeds = 1; seeds <= mutantSeeds; seeds++) {
    const { violation } = await simulate({ seed: firstSeed + seeds - 1, minutes: mutantMinutes, mutant });
    if (violation !== undefined) return { rule: violation.rule, detail: violation.detail, seeds };
  }
  return { rule: undefined, detail: '', seeds: mutantSeeds };
}

/** Undefined when every promise held; otherwise what broke, and how to see it again. */
export function seededVerdict<Mutant extends SeededMutant>(
  { what }: SeededKind<Mutant>,
  { seed, minutes, mutant }: SeededOptions<Mutant>,
  { violation }: SeededResult,
): string | undefined {
  if (violation === undefined) return undefined;
  const { rule, detail, atMs } = violation;
  const broken = mutant === undefined ? '' : ` --mutant '${mutant.name}'`;
  const command = `npm run simulate -- --${what} --seed ${seed} --minutes ${minutes}${broken}`;
  return `seed ${seed} breaks “${rule}” after ${(atMs / 1000).toFixed(1)} s: ${detail}\n  ${command}`;
}

async function catchAll<Mutant extends SeededMutant>(kind: SeededKind<Mutant>, first: number): Promise<number> {
  const { what, mutants } = kind;
  let survivors = 0;
  for (const mutant of mutants) {
    const { rule, seeds } = await catchSeededMutant(kind, mutant, first);
    const isCaught = rule !== undefined && mutant.breaks.includes(rule);
    if (!isCaught) survivors++;
    console.log(`${mutant.name}: ${isCaught ? '' : 'NOT CAUGHT, '}“${rule}”, run ${seeds}`);
  }
  console.log(`${mutants.length - survivors} of ${mutants.length} mutants of the ${what} caught`);
  return survivors === 0 ? 0 : 1;
}
