// The control: virtual-kubelet's own tests against its own mock, started by the same means as our node.
import { beforeAll, describe, expect, it } from 'vitest';
import type { GoTestReport } from './support/go-tests.ts';
import { podOfNode, startMock } from './support/nodes.ts';
import { runSuite, suiteTests } from './support/suite.ts';

const nodeName = 'vkubelet-mock-0';
let report: GoTestReport;
let log = '';

beforeAll(async () => {
  await using _pod = await podOfNode(nodeName);
  await using node = await startMock(nodeName);
  report = await runSuite(nodeName);
  log = await node.log();
});

describe("virtual-kubelet's mock passes virtual-kubelet's test", () => {
  it.each(suiteTests)('%s', (name) => {
    expect(report.failed.get(name), log).toBeUndefined();
    expect(report.passed).toContain(name);
  });
});

it('these are all tests that virtual-kubelet has, and none was left out', () => {
  expect([...report.passed, ...report.skipped, ...report.failed.keys()].sort()).toEqual(suiteTests);
  expect(report.skipped).toEqual([]);
});
