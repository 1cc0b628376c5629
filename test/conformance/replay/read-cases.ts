import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { Scenario, TableCase } from './scenario.ts';
import { scenarioProblem } from './scenario-shape.ts';
import { tableFunctions } from './table-functions.ts';

/** A file that holds no recorded cases, or cases the replay cannot play. The message names the file, and the line where there is one. */
export class CasesError extends Error {
  override readonly name = 'CasesError';
}

export interface Cases {
  readonly scenarios: readonly Scenario[];
  readonly tables: readonly TableCase[];
}

/**
 * The lines of a .jsonl or .jsonl.gz file; a file may hold scenarios, table cases, or both. Throws `CasesError` for a file
 * that cannot be read, is no JSON lines, holds nothing, or names an operation, an expectation or a function that is not known.
 */
export function readCases(file: string): Cases {
  const scenarios: Scenario[] = [];
  const tables: TableCase[] = [];
  for (const [index, line] of textOf(file).split('\n').entries()) {
    if (line.trim() === '') continue;
    const where = `${file}:${index + 1}`;
    const value = parsed(where, line);
    if (isTableCase(value)) {
      if (!tableFunctions.has(value.fn)) throw new CasesError(`${where}: unknown function ${JSON.stringify(value.fn)}`);
      tables.push(value);
      continue;
    }
    const problem = scenarioProblem(value);
    if (problem !== undefined) throw new CasesError(`${where}: ${problem}`);
    scenarios.push(value as Scenario);
  }
  if (scenarios.length + tables.length === 0) throw new CasesError(`${file}: no scenario and no table case`);
  return { scenarios, tables };
}

function textOf(file: string): string {
  try {
    const bytes = readFileSync(file);
    return (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
  } catch (error) {
    throw new CasesError(`${file}: cannot be read (${error instanceof Error ? error.message : String(error)})`, { cause: error });
  }
}

function parsed(where: string, line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw new CasesError(`${where}: no JSON (${error instanceof Error ? error.message : String(error)})`, { cause: error });
  }
}

function isTableCase(value: unknown): value is TableCase {
  return typeof value === 'object' && value !== null && 'fn' in value && 'in' in value;
}
