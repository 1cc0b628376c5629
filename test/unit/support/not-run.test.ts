import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { noMachineReasons } from '../../real/machine/support/why-no-machine.ts';
import { testNames } from '../../real/node/support/e2e-tests.ts';
import { groupsThatMayNotRun, reportNotRun, testsReported } from '../../real/node/support/not-run.ts';
import { noKernelReasons, noKitReasons } from '../../real/node/support/why-no-kit.ts';
import { noVirtualKubeletReasons } from '../../real/virtual-kubelet/support/why-not.ts';
import { root } from '../../structure/source-tree.ts';
import { tempDir } from '../../support/temp-dir.ts';

describe('the tests that not every machine can run', () => {
  it('may not run for the reasons that the run accepts, and no others', async () => {
    const groups = await groupsThatMayNotRun();
    expect(Object.entries(groups).map(([group, { reasons }]) => [group, reasons])).toEqual([
      ['kernel', Object.values(noKernelReasons)],
      ['virtual-kubelet', Object.values(noVirtualKubeletReasons)],
      ['node', Object.values(noKitReasons)],
      ['machine', Object.values(noMachineReasons)],
    ]);
  });

  it('have each test of the short list among them, and each stands in a list that the kubelet passes', async () => {
    const [short, passing, conformance] = await Promise.all(
      ['short', 'passing', 'conformance'].map((name) => testNames(join(root, `test/real/node/${name}.txt`))),
    );
    const { node } = await groupsThatMayNotRun();
    expect(new Set(short).size).toBe(short?.length);
    expect(node.tests).toBeGreaterThan(short?.length ?? 0);
    expect(short?.filter((name) => !passing?.includes(name) && !conformance?.includes(name))).toEqual([]);
  });

  it('leave a report that says how many they are, and is no report of tests', async () => {
    const folder = await tempDir();
    await reportNotRun(folder, 'kernel', noKernelReasons.root);
    const { kernel } = await groupsThatMayNotRun();
    const report = JSON.parse(await readFile(join(folder, 'not-run-kernel.json'), 'utf8'));
    expect(report).toEqual({ group: 'kernel', tests: kernel.tests, reason: 'these tests need root' });
    expect(await testsReported(folder)).toBe(0);
  });
});
