import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { KindCase } from '../kinds/case-kind.ts';
import { kinds } from '../kinds/kinds.ts';
import type { Scenario, TableCase } from './replay-scenario.ts';
import { scenarioProblem } from './scenario-shape.ts';
import { tableFunctions } from './table-functions.ts';

/** A file that holds no recorded cases, or cases the replay cannot play. The message names the file, and the line where there is one. */
export class CasesError extends Error {
  override readonly name = 'CasesError';
}

export interface Cases {
  readonly scenarios: readonly Scenario[];
  readonly tables: readonly TableCase[];
  /** The cases that name their kind, by kind. */
  readonly byKind: ReadonlyMap<string, readonly KindCase[]>;
}

/**
 * The lines of a .jsonl or .jsonl.gz file; a file may hold scenarios, table cases, and cases of several kinds. Throws
 * `CasesError` for a file that cannot be read, is no JSON lines, holds nothing, or names a kind, an operation, an expectation
 * or a function that is not known.
 */
export function readCases(file: string): Cases {
  const scenarios: Scenario[] = [];
  const tables: TableCase[] = [];
  const byKind = new Map<string, KindCase[]>();
  for (const [index, line] of textOf(file).split('\n').entries()) {
    if (line.trim() === '') continue;
    const where = `${file}:${index + 1}`;
    const value = parsed(where, line);
    if (isTableCase(value)) {
      if (!tableFunctions.has(value.fn)) throw new CasesError(`${where}: unknown function ${JSON.stringify(value.fn)}`);
      tables.push(value);
      continue;
    }
    if (isKindCase(value)) {
      const problem = kindProblem(value);
      if (problem !== undefined) throw new CasesError(`${where}: ${problem}`);
      byKind.set(value.kind, [...(byKind.get(value.kind) ?? []), value]);
      continue;
    }
    const problem = scenarioProblem(value);
    if (problem !== undefined) throw new CasesError(`${where}: ${problem}`);
    scenarios.push(value as Scenario);
  }
  if (scenarios.length + tables.length + byKind.size === 0) throw new CasesError(`${file}: no scenario and no table case`);
  return { scenarios, tables, byKind };
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

function isKindCase(value: unknown): value is KindCase {
  return typeof value === 'object' && value !== null && 'kind' in value;
}

function kindProblem(value: KindCase): string | undefined {
  const { kind, name } = value;
  const known = kinds.get(kind);
  if (known === undefined) return `unknown kind ${JSON.stringify(kind)}; known are ${[...kinds.keys()].join(', ')}`;
  return typeof name === 'string' ? known.problem(value) : 'a case without a name';
}
