import { expect } from 'vitest';
import { errorText } from '../../../src/base/errors.ts';
import { isPodProblem, type PodProblem, type Problem } from '../../../src/base/problem.ts';
import type { LogLine } from './stuck-node.ts';
import type { StuckRow } from './stuck-row.ts';

/** The problem of this row among those of a snapshot. */
export function problemOf(row: StuckRow, problems: readonly (Problem | PodProblem)[]): Problem | PodProblem | undefined {
  return problems.find(
    (one) => isPodProblem(one) === (row.about === 'pod') && one.kind === row.kind && one.message.includes(row.words),
  );
}

/** Its help; and where it is tried again how often it has failed, and since when where that is known. */
export function requireProblem(row: StuckRow, problem: Problem | undefined, now: number): void {
  expect([problem?.kind, problem?.help], row.id).toEqual([row.kind, row.help]);
  const calls = problem?.message.match(/\w+\(\)/g) ?? [];
  expect(calls, `${row.id}: each call is named once`).toEqual([...new Set(calls)]);
  if (row.retried === false) return;
  expect(problem?.attempt, row.id).toBeGreaterThan(0);
  // a container counts its restarts, and does not know since when it ends again and again
  if (row.kind === 'crash-loop-back-off') return;
  expect(problem?.since, row.id).toBeLessThanOrEqual(now);
}

/** A row of any table: those of virtual time say in other words whether it is tried again. */
type LoggedRow = Omit<StuckRow, 'retried'> & { readonly retried?: unknown };

/** The log has the line of this row, with these fields, and no line where the row has none. */
export function requireLog(row: LoggedRow, logs: readonly LogLine[], names: object): void {
  if (row.log === undefined) {
    expect(logs, row.id).toEqual([]);
    return;
  }
  const lines = logs.filter(({ message }) => message === row.log?.message);
  expect(lines.length, `${row.id}: ${logs.map(({ message }) => message)}`).toBeGreaterThan(0);
  if (row.logWords !== false) expect(lines.map(wordsOf).join('\n')).toContain(row.words);
  expect(lines.at(-1)?.fields).toMatchObject(names);
  requireFields(row, lines);
}

/** The last line says under which kind the problem is found, and what would help. */
function requireFields({ id, kind, help, retried }: LoggedRow, lines: readonly LogLine[]): void {
  const { level, fields = {} } = lines.at(-1) ?? {};
  // nothing is worked out for a line that is rarely written
  if (level === 'debug') return;
  const { problemKind, help: told, attempt, failingForMs } = fields;
  expect({ problemKind, help: told }, id).toEqual({ problemKind: kind, help });
  if (retried !== false) expect(attempt, id).toBeGreaterThan(0);
  if (Number(attempt) > 1 && kind !== 'crash-loop-back-off') expect(failingForMs, id).toBeGreaterThanOrEqual(0);
}

/** What a line says: its error in words, and what else it has. */
function wordsOf({ fields }: LogLine): string {
  return Object.values(fields)
    .map((value) => (value instanceof Error ? errorText(value) : String(value)))
    .join(' ');
}
