import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { tempDir } from '../../support/temp-dir.ts';

const script = fileURLToPath(new URL('../../../.ci/count-tests.mjs', import.meta.url));

interface Report {
  readonly passed: number;
  readonly failed: number;
  /** A file that failed while it was loaded. */
  readonly broken?: boolean;
}

/** What the script prints and answers for these reports. */
async function count(reports: readonly Report[], failedSteps = 0): Promise<{ output: string; code: number }> {
  const folder = await tempDir();
  for (const [index, { passed, failed, broken = false }] of reports.entries()) {
    const testResults = broken ? [{ status: 'failed', assertionResults: [] }] : [{ status: 'passed', assertionResults: [] }];
    const report = { numPassedTests: passed, numFailedTests: failed, testResults };
    await writeFile(join(folder, `${index}.json`), JSON.stringify(report));
  }
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [script, folder, String(failedSteps)], (_error, output) => {
      resolve({ output, code: child.exitCode ?? -1 });
    });
  });
}

describe('.ci/count-tests.mjs', () => {
  it('adds up the tests of all runs', async () => {
    const reports = [
      { passed: 3, failed: 0 },
      { passed: 4, failed: 0 },
    ];
    expect(await count(reports)).toEqual({ output: '7 passed, 0 failed\n', code: 0 });
  });

  it('fails when a test failed', async () => {
    expect(await count([{ passed: 3, failed: 2 }], 1)).toEqual({ output: '3 passed, 2 failed\n', code: 1 });
  });

  it('counts a test file that could not be loaded', async () => {
    expect(await count([{ passed: 3, failed: 0, broken: true }], 1)).toEqual({ output: '3 passed, 1 failed\n', code: 1 });
  });

  it('counts a step that failed without any failing test', async () => {
    expect(await count([{ passed: 3, failed: 0 }], 1)).toEqual({ output: '3 passed, 1 failed\n', code: 1 });
  });

  it('fails when nothing ran', async () => {
    expect(await count([])).toEqual({ output: '0 passed, 1 failed\n', code: 1 });
  });
});
