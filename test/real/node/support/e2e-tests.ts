import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { NodeKit } from './node-kit.ts';

/** Which of Kubernetes' own tests run, and how. One of `focus` and `list` is needed. */
export interface E2ETestsOptions {
  /** Those whose name matches this regular expression. */
  readonly focus?: string;
  /** Those named in this file, one full name a line. */
  readonly list?: string;
  /** Not those whose name matches this regular expression. */
  readonly skip?: string;
  /** So many at a time. */
  readonly procs: number;
  /** The folder that gets the report and the log. */
  readonly out: string;
  readonly signal?: AbortSignal;
}

/** What became of the tests, by their full names. */
export interface E2EReport {
  readonly passed: readonly string[];
  readonly failed: readonly FailedTest[];
}

export interface FailedTest {
  readonly name: string;
  readonly reason: string;
}

/** Runs tests of Kubernetes against the kit. Rejects when they left no report. */
export async function runE2ETests(kit: NodeKit, options: E2ETestsOptions): Promise<E2EReport> {
  const { focus, list, skip, procs, out, signal } = options;
  const args = ['--procs', String(procs), '--out', out];
  if (skip !== undefined) args.push('--skip', skip);
  if (list !== undefined) args.push('--list', list);
  else args.push(focus ?? '');
  await kit.script('run-e2e.sh', args, signal);
  signal?.throwIfAborted();
  const lines = async (name: string): Promise<string[]> => {
    const text = await readFile(join(out, name), 'utf8');
    return text.split('\n').filter((line) => line !== '');
  };
  return { passed: await lines('passed.txt'), failed: (await lines('failed.txt')).map(failedTest) };
}

function failedTest(line: string): FailedTest {
  const [name = '', reason = ''] = line.split('\t');
  return { name, reason };
}

/** The names in a file of tests: one a line; a line that begins with `#` is a comment. */
export async function testNames(file: string): Promise<string[]> {
  const lines = (await readFile(file, 'utf8')).split('\n').map((line) => line.trim());
  return lines.filter((line) => line !== '' && !line.startsWith('#'));
}

/** The tests of a list that did not run count as failed. */
export function withMissing({ passed, failed }: E2EReport, wanted: readonly string[]): E2EReport {
  const ran = new Set([...passed, ...failed.map(({ name }) => name)]);
  const missing = wanted.filter((name) => !ran.has(name)).map((name) => ({ name, reason: 'it did not run' }));
  return { passed, failed: [...failed, ...missing] };
}
