import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const testFolder = fileURLToPath(new URL('..', import.meta.url));

const idsFrom = (family: string, first: number, last: number): string[] =>
  Array.from({ length: last - first + 1 }, (_, i) => `T-${family}-${String(first + i).padStart(2, '0')}`);

/** Upstream's cases whose subject is not in the library yet. A case that gains a test must leave this list. */
export const notDueYet: ReadonlyMap<string, string> = new Map([
  ...idsFrom('MC', 9, 11).map((id) => [id, 'there is no mirror client yet'] as const),
  ...idsFrom('PR', 1, 10).map((id) => [id, 'there is no probe results cache yet'] as const),
]);

export interface CoveringTest {
  readonly file: string;
  readonly name: string;
}

export interface CoverageRow {
  readonly id: string;
  readonly what: string;
  readonly tests: readonly CoveringTest[];
  /** Why the case may be without a test. */
  readonly notDue: string | undefined;
}

/** One row for each case of upstream's own tests, in their order. */
export function upstreamCoverage(): CoverageRow[] {
  const cases = JSON.parse(readFileSync(new URL('upstream-cases.json', import.meta.url), 'utf8')) as Record<string, string>;
  const tests = new Map<string, CoveringTest[]>();
  for (const file of testFiles()) {
    for (const [id, name] of idsOfTests(readFileSync(join(testFolder, file), 'utf8'))) {
      tests.set(id, [...(tests.get(id) ?? []), { file: `test/${file}`, name }]);
    }
  }
  for (const [id, [test]] of tests) {
    if (cases[id] === undefined) throw new Error(`${test?.file} names ${id}, and there is no such case`);
  }
  return Object.entries(cases).map(([id, what]) => ({ id, what, tests: tests.get(id) ?? [], notDue: notDueYet.get(id) }));
}

function testFiles(): string[] {
  return readdirSync(testFolder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts') && !file.startsWith('peers/') && file !== 'conformance/upstream-coverage.test.ts')
    .map((file) => file.replaceAll('\\', '/'))
    .sort();
}

const commentOrString = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g;
const idPattern = /T-[A-Z]{2,3}-\d{2,3}(?!\d)/g;
/** The title of a parametrised test: what follows `it.each(rows)` or `it.each([…])`. */
const titleAfterRows = /[\]\w]\)\(\s*(['"`])(.*?)\1/;

/**
 * Every id in a string of a test file, with the name of its test: the string itself, or, for an id that stands in a row
 * of a parametrised test, that test's title with the row's strings filled in. Ids in comments do not count.
 */
export function idsOfTests(source: string): [id: string, name: string][] {
  const found: [string, string][] = [];
  for (const match of source.matchAll(commentOrString)) {
    if (match[0].startsWith('/')) continue;
    const ids = match[0].match(idPattern) ?? [];
    if (ids.length === 0) continue;
    const isTitle = /\(\s*$/.test(source.slice(0, match.index));
    const name = isTitle ? match[0].slice(1, -1) : nameOfRow(source, match.index);
    for (const id of ids) found.push([id, name]);
  }
  return found;
}

function nameOfRow(source: string, at: number): string {
  const title = titleAfterRows.exec(source.slice(at))?.[2] ?? '(no title found)';
  const row = source.slice(source.lastIndexOf('\n', at) + 1, at + 400);
  const values = [...row.matchAll(commentOrString)].map(([text]) => text.slice(1, -1));
  let next = 0;
  return title.replace(/%[sj]/g, (place) => (place === '%s' ? (values[next++] ?? place) : '…'));
}

/** A due case without a test, or one that has its test and is still listed as not due. */
export function coverageProblems(rows: readonly CoverageRow[]): string[] {
  return rows.flatMap(({ id, what, tests, notDue }) => {
    if (tests.length === 0 && notDue === undefined) return [`${id} (${what}) has no test`];
    if (tests.length > 0 && notDue !== undefined) return [`${id} has a test now: take it off the list of those not due`];
    return [];
  });
}

function printTable(rows: readonly CoverageRow[]): void {
  for (const { id, what, tests, notDue } of rows) {
    const held = tests.map(({ file, name }) => `${file}: ${name}`);
    if (tests.length === 0) held.push(notDue === undefined ? 'NO TEST' : `not due: ${notDue}`);
    for (const [index, text] of held.entries()) {
      console.log(index === 0 ? `${id.padEnd(8)}  ${what}\n            ${text}` : `            ${text}`);
    }
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const rows = upstreamCoverage();
  printTable(rows);
  const problems = coverageProblems(rows);
  const covered = rows.filter(({ tests }) => tests.length > 0).length;
  console.log(`\n${rows.length} upstream cases: ${covered} held by a test, ${rows.length - covered} without one`);
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
}
