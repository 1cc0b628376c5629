// Some of Kubernetes' own tests (short.txt) against a node whose agent is examples/kubelet. Each is a test here.
import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type E2EReport, runE2ETests, testNames, withMissing } from './support/e2e-tests.ts';
import { ownAgent } from './support/node-kit.ts';
import { kitStartMs, startTestKit } from './support/test-kit.ts';

const list = fileURLToPath(new URL('short.txt', import.meta.url));
const names = await testNames(list);
let report: E2EReport;

beforeAll(async () => {
  const { kit, close } = await startTestKit(ownAgent());
  const out = `${kit.run}-tests`;
  try {
    report = withMissing(await runE2ETests(kit, { list, procs: 8, out }), names);
  } finally {
    await close();
    await rm(out, { recursive: true, force: true });
  }
}, kitStartMs);

afterAll(() => expect(report.failed.map(({ name }) => name).filter((name) => !names.includes(name))).toEqual([]));

describe('the node agent passes the test of Kubernetes', () => {
  it.each(names)('%s', (name) => {
    expect(report.failed.find((test) => test.name === name)?.reason).toBeUndefined();
    expect(report.passed).toContain(name);
  });
});
