// `count-tests.mjs FOLDER FAILED_STEPS` adds up vitest's JSON reports and prints `N passed, N failed`; exits 1 unless all
// passed. A step that failed without a failing test (lint, a build, a server that did not start) counts as one failure.
// Plain JavaScript, for the machine's own Node.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const [folder = '', failedSteps = '0'] = process.argv.slice(2);
let passed = 0;
let failed = 0;
for (const name of readdirSync(folder)) {
  const report = JSON.parse(readFileSync(join(folder, name), 'utf8'));
  passed += report.numPassedTests;
  failed += report.numFailedTests;
  // A file that failed outside its tests (an import, a hook) has no failed test of its own.
  for (const file of report.testResults) {
    if (file.status === 'failed' && file.assertionResults.every((test) => test.status !== 'failed')) failed += 1;
  }
}
if (failed === 0) failed = Number(failedSteps);
if (passed === 0 && failed === 0) failed = 1;
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
