import type { Exemption } from './exemptions.ts';
import type { Variant } from './play.ts';
import { type Difference, runScenario } from './run-scenario.ts';
import { runTable, type TableResult } from './run-table.ts';
import { readCases } from './scenario.ts';

export interface FileResult {
  scenarios: number;
  steps: number;
  pairs: number;
  tables: number;
  readonly exempt: Map<Exemption, number>;
  readonly differences: Difference[];
  readonly tableDifferences: ({ readonly case: number; readonly fn: string } & TableResult)[];
}

/** Plays every scenario and evaluates every table case of a file. */
export async function runFile(file: string, variant: Variant): Promise<FileResult> {
  const { scenarios, tables } = readCases(file);
  const result: FileResult = {
    scenarios: scenarios.length,
    steps: 0,
    pairs: 0,
    tables: tables.length,
    exempt: new Map(),
    differences: [],
    tableDifferences: [],
  };
  for (const scenario of scenarios) {
    const { steps, pairs, exempt, differences } = await runScenario(scenario, variant);
    result.steps += steps;
    result.pairs += pairs;
    for (const [rule, count] of exempt) result.exempt.set(rule, (result.exempt.get(rule) ?? 0) + count);
    result.differences.push(...differences);
  }
  tables.forEach((table, index) => {
    const difference = runTable(table);
    if (difference !== undefined) result.tableDifferences.push({ case: index, fn: table.fn, ...difference });
  });
  return result;
}

/** The part of the (step, pod) pairs that an exemption left out. */
export function exemptShare({ exempt, pairs }: FileResult): number {
  let count = 0;
  for (const each of exempt.values()) count += each;
  return pairs === 0 ? 0 : count / pairs;
}
