import { type ObjectSimulationOptions, type ObjectSimulationResult, simulateObjects } from './object-simulation.ts';

export interface ObjectRunOptions {
  readonly firstSeed: number;
  readonly seeds: number;
  readonly minutes: number;
  readonly onStep?: ((line: string) => void) | undefined;
}

const lastSteps = 60;

/** Runs the managers of secrets, both with watches and with a cache, and prints what came of it. Resolves to the failures. */
export async function runObjects({ firstSeed, seeds, minutes, onStep }: ObjectRunOptions): Promise<number> {
  const results: ObjectSimulationResult[] = [];
  for (let seed = firstSeed; seed < firstSeed + seeds; seed++) {
    for (const strategy of ['watch', 'cache'] as const) {
      const options: ObjectSimulationOptions = { seed, minutes, strategy, onStep };
      const result = await simulateObjects(options);
      results.push(result);
      if (result.violation !== undefined) await showFailure(options, result);
    }
  }
  const sum = (countOf: (result: ObjectSimulationResult) => number): number =>
    results.reduce((total, result) => total + countOf(result), 0);
  const faults = sum((result) => [...result.faults.values()].reduce((total, count) => total + count, 0));
  const failures = results.filter(({ violation }) => violation !== undefined).length;
  const hours = (sum(({ simulatedMs }) => simulatedMs) / 3_600_000).toFixed(1);
  const [reads, requests] = [sum((result) => result.reads), sum((result) => result.requests)];
  console.log(
    `secrets: ${results.length} runs, ${hours} simulated hours, ${reads} reads, ${requests} requests, ${faults} faults, ${failures} failures`,
  );
  return failures;
}

/** Runs the failed seed again, with its steps: the same seed breaks at the same step. */
async function showFailure(options: ObjectSimulationOptions, { violation }: ObjectSimulationResult): Promise<void> {
  const lines: string[] = [];
  await simulateObjects({ ...options, onStep: (line) => lines.push(line) });
  const { seed, strategy } = options;
  console.log(`\nsecrets, strategy ${strategy}, seed ${seed}: breaks the rule “${violation?.rule}”\n  ${violation?.detail}\n`);
  console.log(`the last of ${lines.length} steps:\n${lines.slice(-lastSteps).join('\n')}\n`);
}
