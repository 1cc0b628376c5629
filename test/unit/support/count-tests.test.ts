import { execFile } from 'node:child_process';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { tempDir } from '../../support/temp-dir.ts';

const script = fileURLToPath(new URL('../../../.ci/count-tests.mjs', import.meta.url));

type TestStatus = 'passed' | 'failed' | 'skipped' | 'todo';

interface File {
  readonly status?: 'passed' | 'failed';
  readonly tests: readonly TestStatus[];
}

interface Step {
  /** The reports of the step: each the files of a report, or the text of a broken one. */
  readonly reports?: readonly (readonly File[] | string)[];
  /** Undefined: the step did not end. */
  readonly code?: number;
  readonly floor?: number | undefined;
  /** The reports of tests that did not run, by their file names. */
  readonly notRun?: Readonly<Record<string, unknown>>;
}

function reportOf(files: readonly File[]): string {
  const testResults = files.map(({ tests, status = tests.includes('failed') ? 'failed' : 'passed' }, index) => ({
    name: resolve(`file-${index}.ts`),
    status,
    message: 'it does not load\nat all',
    assertionResults: tests.map((test, at) => ({
      fullName: `test ${at}`,
      status: test,
      failureMessages: test === 'failed' ? ['expected 1 to be 2\n    at line 3'] : [],
    })),
  }));
  return JSON.stringify({ testResults });
}

const passed = (count: number): File => ({ tests: Array.from({ length: count }, (): TestStatus => 'passed') });

/** Two groups of tests that a machine may not be able to run. */
const mayNotRun = {
  kernel: { step: 'cluster', tests: 2, reasons: ['no root', 'no Linux'] },
  other: { step: 'checks', tests: 2, reasons: ['no root'] },
};

/** The output and the exit code of the script for these steps. */
async function count(steps: Readonly<Record<string, Step>>): Promise<{ output: string; notes: string; code: number }> {
  const folder = await tempDir();
  const [copy, reports] = [join(folder, 'count-tests.mjs'), join(folder, 'reports')];
  await copyFile(script, copy);
  const floors = Object.entries(steps).flatMap(([name, { floor }]) => (floor === undefined ? [] : [[name, floor]]));
  await writeFile(join(folder, 'floors.mjs'), `export const floors = ${JSON.stringify(Object.fromEntries(floors))};`);
  await writeFile(join(folder, 'not-run.json'), JSON.stringify(mayNotRun));
  await mkdir(reports);
  for (const [name, step] of Object.entries(steps)) {
    if (step.code !== undefined) await writeFile(join(reports, `${name}.code`), `${step.code}\n`);
    if (step.reports === undefined) continue;
    await mkdir(join(reports, name));
    for (const [index, report] of step.reports.entries()) {
      const text = typeof report === 'string' ? report : reportOf(report);
      await writeFile(join(reports, name, `${index}.json`), text);
    }
    for (const [file, report] of Object.entries(step.notRun ?? {})) {
      await writeFile(join(reports, name, file), JSON.stringify(report));
    }
  }
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [copy, reports], (_error, output, notes) => {
      resolve({ output, notes, code: child.exitCode ?? -1 });
    });
  });
}

/** A step without errors that passes three tests. */
const inOrder: Step = { reports: [[passed(3)]], code: 0, floor: 3 };

describe('.ci/count-tests.mjs', () => {
  it('adds up the tests of all files, reports and steps', async () => {
    const steps = { checks: { ...inOrder, reports: [[passed(2), passed(3)], [passed(4)]], floor: 9 }, cluster: inOrder };
    expect(await count(steps)).toMatchObject({ output: '12 passed, 0 failed\n', code: 0 });
  });

  it.each(['failed', 'skipped', 'todo'] as const)('counts a test that is %s as failed', async (status) => {
    const reports = [[passed(3), { tests: ['passed', status] as const }]];
    const steps = { checks: { ...inOrder, reports, floor: 4 } };
    expect(await count(steps)).toMatchObject({ output: '4 passed, 1 failed\n', code: 1 });
  });

  it('counts a test file that could not be loaded, in addition to failing tests', async () => {
    const files: File[] = [passed(3), { tests: ['failed'] }, { status: 'failed', tests: [] }];
    expect(await count({ checks: { ...inOrder, reports: [files], code: 1 } })).toMatchObject({
      output: '3 passed, 2 failed\n',
      code: 1,
    });
  });

  it('names each test that did not pass, with what it said, and each file that could not be loaded', async () => {
    const files: File[] = [passed(2), { tests: ['passed', 'failed', 'todo'] }, { status: 'failed', tests: [] }];
    const { notes } = await count({ checks: { ...inOrder, reports: [files], code: 1 } });
    expect(notes.split('\n').filter((line) => line.includes('not passed'))).toEqual([
      '==> not passed: file-1.ts > test 1 (failed): expected 1 to be 2',
      '==> not passed: file-1.ts > test 2 (todo)',
      '==> not passed: file-2.ts: it does not load',
    ]);
  });

  it('counts a step that failed without a failing test, in addition to the failing tests of another step', async () => {
    const failing: Step = { ...inOrder, reports: [[passed(3), { tests: ['failed'] }]], code: 1 };
    const answer = await count({ checks: failing, cluster: { ...inOrder, code: 127 } });
    expect(answer).toMatchObject({ output: '6 passed, 2 failed\n', code: 1 });
    expect(answer.notes).toContain('cluster: 3 passed, 1 failed (floor 3); it ended with code 127');
  });

  it('counts a step that did not end', async () => {
    const answer = await count({ checks: { reports: inOrder.reports ?? [], floor: 3 } });
    expect(answer).toMatchObject({ output: '3 passed, 1 failed\n', code: 1 });
    expect(answer.notes).toContain('it did not end');
  });

  it('counts a step that never started', async () => {
    expect(await count({ checks: inOrder, cluster: { floor: 1 } })).toMatchObject({ output: '3 passed, 1 failed\n', code: 1 });
  });

  it('counts a step that left no report', async () => {
    expect(await count({ checks: { code: 0, floor: 1, reports: [] } })).toMatchObject({
      output: '0 passed, 1 failed\n',
      code: 1,
    });
  });

  it.each([
    '',
    '{"testResults": [{"sta',
    'null',
    '{}',
    '{"testResults": [{}]}',
  ])('counts the report %j as a failure, and counts the other reports', async (report) => {
    const answer = await count({ checks: { ...inOrder, reports: [report, [passed(3)]] } });
    expect(answer).toMatchObject({ output: '3 passed, 1 failed\n', code: 1 });
    expect(answer.notes).toContain('its report 0.json cannot be read');
  });

  it('fails a step that passes fewer tests than its floor, and names both numbers', async () => {
    const answer = await count({ checks: { ...inOrder, floor: 4 }, cluster: inOrder });
    expect(answer).toMatchObject({ output: '6 passed, 1 failed\n', code: 1 });
    expect(answer.notes).toContain('checks: 3 passed, 1 failed (floor 4); fewer than 4 tests passed');
  });

  it('fails a step that passes over two in a hundred more than its floor, which would hide the loss of tests', async () => {
    const reports = [[passed(100)]];
    expect(await count({ checks: { reports, code: 0, floor: 98 } })).toMatchObject({ output: '100 passed, 0 failed\n', code: 0 });
    const answer = await count({ checks: { reports, code: 0, floor: 97 } });
    expect(answer).toMatchObject({ output: '100 passed, 1 failed\n', code: 1 });
    expect(answer.notes).toContain('raise the floor in .ci/floors.mjs');
  });

  it.each([undefined, 0])('fails a step whose floor is %s', async (floor) => {
    expect(await count({ checks: { ...inOrder, floor } })).toMatchObject({ output: '3 passed, 1 failed\n', code: 1 });
  });

  it('lowers the floor by the tests that did not run, and says why they did not', async () => {
    const notRun = { 'not-run-kernel.json': { group: 'kernel', tests: 2, reason: 'no root' } };
    const answer = await count({ cluster: { ...inOrder, floor: 5, notRun } });
    expect(answer).toMatchObject({ output: '3 passed, 0 failed\n', code: 0 });
    expect(answer.notes).toContain('not run: the 2 tests of kernel, because no root');
    expect(answer.notes).toContain('cluster: 3 passed, 0 failed (floor 3)');
  });

  it('does not lower the floor of tests that are lost besides', async () => {
    const notRun = { 'not-run-kernel.json': { group: 'kernel', tests: 2, reason: 'no root' } };
    const answer = await count({ cluster: { ...inOrder, floor: 6, notRun } });
    expect(answer).toMatchObject({ output: '3 passed, 1 failed\n', code: 1 });
  });

  it.each([
    ['claims more tests than the group has', 'not-run-kernel.json', { group: 'kernel', tests: 3, reason: 'no root' }],
    ['claims fewer tests than the group has', 'not-run-kernel.json', { group: 'kernel', tests: 1, reason: 'no root' }],
    ['claims a number that is none', 'not-run-kernel.json', { group: 'kernel', tests: '2', reason: 'no root' }],
    ['has a reason of its own', 'not-run-kernel.json', { group: 'kernel', tests: 2, reason: 'no time' }],
    ['has no reason', 'not-run-kernel.json', { group: 'kernel', tests: 2 }],
    ['is of a group that is not known', 'not-run-mine.json', { group: 'mine', tests: 2, reason: 'no root' }],
    ['is of a name that every object has', 'not-run-toString.json', { group: 'toString', tests: 2, reason: 'no root' }],
    ['is of the group of another step', 'not-run-other.json', { group: 'other', tests: 2, reason: 'no root' }],
    ['is there for the second time', 'not-run-again.json', { group: 'kernel', tests: 2, reason: 'no root' }],
    ['is empty', 'not-run-kernel.json', null],
  ])('refuses a report of tests not run that %s', async (_what, file, report) => {
    const answer = await count({ cluster: { ...inOrder, notRun: { [file]: report } } });
    expect(answer).toMatchObject({ output: '3 passed, 1 failed\n', code: 1 });
    expect(answer.notes).toContain(`its report ${file} cannot be read`);
  });
});
