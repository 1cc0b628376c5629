// Some of Kubernetes' own tests (test/real/node/short.txt) against a node whose agent is examples/kubelet, where systemd makes cgroups of
// version 2. Each is a test here.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type E2EReport, testNames, withMissing } from '../node/support/e2e-tests.ts';
import { MachineKit } from './support/machine-kit.ts';

const list = fileURLToPath(new URL('../node/short.txt', import.meta.url));
const names = await testNames(list);
let report: E2EReport;

beforeAll(async () => {
  const out = await mkdtemp(join(tmpdir(), 'machine-tests-'));
  const kit = await MachineKit.start('systemd', 'own');
  try {
    report = withMissing(await kit.runTests({ list, procs: 2, out }), names);
  } finally {
    await kit.stop();
    await rm(out, { recursive: true, force: true });
  }
}, 30 * 60_000);

afterAll(() => expect(report.failed.map(({ name }) => name).filter((name) => !names.includes(name))).toEqual([]));

describe('the node agent with systemd and cgroups of version 2 passes the test of Kubernetes', () => {
  it.each(names)('%s', (name) => {
    expect(report.failed.find((test) => test.name === name)?.reason).toBeUndefined();
    expect(report.passed).toContain(name);
  });
});
