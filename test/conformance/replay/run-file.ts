import type { Difference } from './judge-scenario.ts';
import { judge } from './judge-scenario.ts';
import { type Interpose, play, type Variant } from './play-scenario.ts';
import { type Cases, readCases } from './read-cases.ts';
import type { Rule } from './replay-rules.ts';
import { runTable, type TableResult } from './run-table.ts';

export interface FileResult {
  scenarios: number;
  steps: number;
  pairs: number;
  tables: number;
  /** Pairs of which a rule has excused something, by rule; `exemptPairs` are those of any rule. */
  readonly exempt: Map<Rule, number>;
  exemptPairs: number;
  readonly differences: Difference[];
  readonly tableDifferences: ({ readonly case: number; readonly fn: string } & TableResult)[];
}

/** Plays every scenario and evaluates every table case of a file. Throws `CasesError` for a file that holds none. */
export function runFile(file: string, variant: Variant): Promise<FileResult> {
  return runCases(readCases(file), variant);
}

export async function runCases(
  { scenarios, tables }: Pick<Cases, 'scenarios' | 'tables'>,
  variant: Variant,
  interpose?: Interpose,
): Promise<FileResult> {
  const result: FileResult = {
    scenarios: scenarios.length,
    steps: 0,
    pairs: 0,
    tables: tables.length,
    exempt: new Map(),
    exemptPairs: 0,
    differences: [],
    tableDifferences: [],
  };
  for (const scenario of scenarios) {
    const { steps, pairs, exempt, differences } = judge(scenario, variant, await play(scenario, variant, interpose));
    result.steps += steps;
    result.pairs += pairs;
    result.exemptPairs += exempt.length;
    for (const rule of exempt.flatMap(({ rules }) => rules)) result.exempt.set(rule, (result.exempt.get(rule) ?? 0) + 1);
    result.differences.push(...differences);
  }
  tables.forEach((table, index) => {
    const difference = runTable(table);
    if (difference !== undefined) result.tableDifferences.push({ case: index, fn: table.fn, ...difference });
  });
  return result;
}
