import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from '../../../structure/source-tree.ts';

/** The tests that need what not every machine has, by their folder in test/real. */
export type NotRunGroup = 'kernel' | 'machine' | 'node' | 'virtual-kubelet';

interface MayNotRun {
  readonly tests: number;
  readonly reasons: readonly string[];
}

/** The groups of .ci/not-run.json: how many tests each has, and why a machine may not run them. */
export async function groupsThatMayNotRun(): Promise<Readonly<Record<NotRunGroup, MayNotRun>>> {
  return JSON.parse(await readFile(join(root, '.ci/not-run.json'), 'utf8'));
}

/** Says that a group did not run, in the folder of reports, where there is one. */
export async function reportNotRun(folder: string | undefined, group: NotRunGroup, reason: string): Promise<void> {
  const { tests } = (await groupsThatMayNotRun())[group];
  console.log(`not run: the ${tests} tests of test/real/${group}, because ${reason}`);
  if (folder) await writeFile(join(folder, `not-run-${group}.json`), JSON.stringify({ group, tests, reason }));
}

/** How many tests the reports of vitest in a folder have, whatever became of them. */
export async function testsReported(folder: string): Promise<number> {
  let count = 0;
  for (const name of await readdir(folder)) {
    if (name.startsWith('not-run-')) continue;
    const { testResults } = JSON.parse(await readFile(join(folder, name), 'utf8'));
    for (const { assertionResults } of testResults) count += assertionResults.length;
  }
  return count;
}
