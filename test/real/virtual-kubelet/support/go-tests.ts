import { execFile } from 'node:child_process';

/** What became of the tests of a Go program, by their full names. A test with subtests counts as these, unless it alone has failed. */
export interface GoTestReport {
  readonly passed: readonly string[];
  /** With what each has written. */
  readonly failed: ReadonlyMap<string, string>;
  readonly skipped: readonly string[];
}

/** Runs a Go program of tests. It resolves whatever became of them. */
export async function runGoTests(program: string, args: readonly string[], timeoutMs: number): Promise<GoTestReport> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const limits = { timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: 64 << 20 } as const;
  execFile(program, ['-test.v', ...args], limits, (error, stdout, stderr) => {
    resolve(`${stdout}${stderr}${error?.killed ? `\nended after ${timeoutMs} ms` : ''}`);
  });
  return readGoTests(await promise);
}

/** Reads the output of a Go program of tests that ran with `-test.v`. A test that began and did not end has failed. */
export function readGoTests(output: string): GoTestReport {
  const written = new Map<string, string[]>();
  const results = new Map<string, string>();
  let current: string[] = [];
  for (const line of output.split('\n')) {
    const [, word, name = ''] = /^\s*(?:=== |--- )(RUN|CONT|NAME|PAUSE|PASS|FAIL|SKIP):?\s+(\S+)/.exec(line) ?? [];
    if (word === undefined) {
      current.push(line);
      continue;
    }
    current = written.get(name) ?? [];
    written.set(name, current);
    if (['PASS', 'FAIL', 'SKIP'].includes(word)) results.set(name, word);
  }
  const names = [...written.keys()];
  const withoutPart = (some: readonly string[]) => some.filter((name) => !some.some((other) => other.startsWith(`${name}/`)));
  const leaves = withoutPart(names);
  const withResult = (word: string): string[] => leaves.filter((name) => results.get(name) === word);
  const failed = withoutPart(names.filter((name) => !['PASS', 'SKIP'].includes(results.get(name) ?? '')));
  return {
    passed: withResult('PASS'),
    failed: new Map(failed.map((name) => [name, (written.get(name) ?? []).join('\n').trim()])),
    skipped: withResult('SKIP'),
  };
}
