// The control: virtual-kubelet's own tests against its own mock, started by the same means as our node.
import { beforeAll, describe, expect, it } from 'vitest';
import type { GoTestReport } from './support/go-tests.ts';
import { podOfNode, startMock } from './support/nodes.ts';
import { relayTo, withLabelOrder } from './support/relay.ts';
import { metricsTest, runSuite, suiteTests } from './support/suite.ts';
import { behindAddress, nodePort } from './support/world.ts';

const nodeName = 'vkubelet-mock-0';
let report: GoTestReport;
let relayed: GoTestReport;

beforeAll(async () => {
  await using _pod = await podOfNode(nodeName);
  await using node = await startMock(nodeName);
  report = await runSuite(nodeName);
  if (report.failed.size > 0) console.error(await node.log());
});

/** The mock listens on every address: here at another port, so that the port of nodes is free. */
beforeAll(async () => {
  const port = nodePort + 1;
  await using _pod = await podOfNode(nodeName, behindAddress);
  await using _node = await startMock(nodeName, port);
  await using _relay = await relayTo((metrics) => withLabelOrder(metrics, (labels) => labels.toReversed()), port);
  relayed = await runSuite(nodeName, metricsTest);
});

describe("virtual-kubelet's mock passes virtual-kubelet's test", () => {
  it.each(suiteTests)('%s', (name) => {
    expect(report.failed.get(name)).toBeUndefined();
    expect(report.passed).toContain(name);
  });
});

it('these are all tests that virtual-kubelet has, and none was left out', () => {
  expect([...report.passed, ...report.skipped, ...report.failed.keys()].sort()).toEqual(suiteTests);
  expect(report.skipped).toEqual([]);
});

it(`the mock fails ${metricsTest} too, once the labels of its metrics are in another order`, () => {
  expect(relayed.failed.get(metricsTest)).toMatch(/Pod \S+ not found in metrics/);
});
