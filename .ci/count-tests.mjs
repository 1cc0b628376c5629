// `count-tests.mjs REPORTS` adds up vitest's JSON reports and prints `N passed, N failed`, the only line on standard output;
// exits 1 unless nothing failed. Standard error gets a line for each step, and for each test that did not pass.
// REPORTS holds for each step a folder NAME with its reports, and its exit code in NAME.code.
// Only a passed test is one: skipped and todo tests count as failed. A step counts at least one failure when it failed, did
// not end, left a report that cannot be read, passed fewer tests than its floor, or so many more that the floor would not
// notice the loss of one test in fifty. Tests that a machine cannot run are neither passed nor failed: a report
// `not-run-GROUP.json` says why, and lowers the step's floor by as many as not-run.json says, for a reason that stands there.
// Plain JavaScript, for the machine's Node.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { floors } from './floors.mjs';

const [folder = ''] = process.argv.slice(2);

/** Writes which test did not pass, and the first line of what it said, where it said something. */
function tell(test, messages) {
  const said = messages?.[0]?.split('\n', 1)[0];
  process.stderr.write(`==> ${[`not passed: ${test}`, ...(said ? [said] : [])].join(': ').slice(0, 1000)}\n`);
}

/** What one report says; throws for one that vitest did not write to its end. */
function countReport(file) {
  let [passed, failed] = [0, 0];
  for (const { name, status, message, assertionResults } of JSON.parse(readFileSync(file, 'utf8')).testResults) {
    const path = relative('.', name);
    const notPassed = assertionResults.filter((test) => test.status !== 'passed');
    for (const test of notPassed) tell(`${path} > ${test.fullName} (${test.status})`, test.failureMessages);
    if (status !== 'passed' && notPassed.length === 0) tell(path, [message]);
    passed += assertionResults.length - notPassed.length;
    // A file that failed outside its tests (an import, a hook) may have no failed test of its own.
    failed += status === 'passed' ? notPassed.length : Math.max(1, notPassed.length);
  }
  return { passed, failed };
}

/** A folder's files, or a file's text; undefined where there is none. */
function ifThere(read) {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** The groups of tests that a machine may not be able to run. */
const mayNotRun = JSON.parse(ifThere(() => readFileSync(new URL('not-run.json', import.meta.url), 'utf8')) ?? '{}');

/** How many tests did not run, by a report of a step that says so; throws for one that claims what it may not. */
function countNotRun(step, file) {
  const { group, tests, reason } = JSON.parse(readFileSync(file, 'utf8'));
  const allowed = Object.hasOwn(mayNotRun, group) ? mayNotRun[group] : undefined;
  if (allowed?.step !== step || basename(file) !== `not-run-${group}.json`) throw new Error(`no such group: ${group}`);
  if (tests !== allowed.tests) throw new Error(`${tests} tests of ${group} did not run, but it has ${allowed.tests}`);
  if (!allowed.reasons.includes(reason)) throw new Error(`no reason not to run ${group}: ${reason}`);
  process.stderr.write(`==> not run: the ${tests} tests of ${group}, because ${reason}\n`);
  return tests;
}

function countStep(name) {
  let [passed, failed, notRun] = [0, 0, 0];
  const problems = [];
  for (const file of ifThere(() => readdirSync(join(folder, name))) ?? []) {
    try {
      if (file.startsWith('not-run-')) {
        notRun += countNotRun(name, join(folder, name, file));
        continue;
      }
      const report = countReport(join(folder, name, file));
      passed += report.passed;
      failed += report.failed;
    } catch (error) {
      problems.push(`its report ${file} cannot be read (${error.message})`);
    }
  }
  const code = ifThere(() => readFileSync(join(folder, `${name}.code`), 'utf8').trim());
  if (code === undefined) problems.push('it did not end');
  else if (code !== '0') problems.push(`it ended with code ${code}`);
  const floor = floors[name] - notRun;
  if (!(floor > 0)) problems.push('it has no floor in .ci/floors.mjs');
  else if (passed < floor) problems.push(`fewer than ${floor} tests passed`);
  else if (floor < 0.98 * passed) problems.push('the floor is more than 2 % below that: raise the floor in .ci/floors.mjs');
  if (failed === 0 && problems.length > 0) failed = 1;
  process.stderr.write(`==> ${[`${name}: ${passed} passed, ${failed} failed (floor ${floor})`, ...problems].join('; ')}\n`);
  return { passed, failed };
}

const started = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
const names = new Set([...Object.keys(floors), ...started.map(({ name }) => name)]);
let [passed, failed] = [0, 0];
for (const name of names) {
  const step = countStep(name);
  passed += step.passed;
  failed += step.failed;
}
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
