// virtual-kubelet's own tests against a `ProviderNode` whose provider does what virtual-kubelet's mock does (agent.ts).
import { beforeAll, describe, expect, it } from 'vitest';
import type { GoTestReport } from './support/go-tests.ts';
import { asAdmin, podOfNode, startOwnNode } from './support/nodes.ts';
import { relayTo, withLabelOrder } from './support/relay.ts';
import { metricsTest, runSuite, suiteTests } from './support/suite.ts';
import { behindAddress } from './support/world.ts';

const nodeName = 'provider-node-0';
const passing = suiteTests.filter((name) => name !== metricsTest);
let report: GoTestReport;
let relayed: GoTestReport;

/** The tests ask the pod of the agent for statistics, and the apiserver shows a pod no certificate: nobody in particular asks. */
async function allowAnybodyToMeasure(): Promise<void> {
  const metadata = { name: 'measure-nodes' };
  const rules = [{ apiGroups: [''], resources: ['nodes/stats', 'nodes/metrics'], verbs: ['get'] }];
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: metadata.name };
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'system:anonymous' }];
  await asAdmin(async (admin) => {
    const rbac = '/apis/rbac.authorization.k8s.io/v1';
    await admin.send('POST', `${rbac}/clusterroles`, { body: { metadata, rules } });
    await admin.send('POST', `${rbac}/clusterrolebindings`, { body: { metadata, roleRef, subjects } });
  });
}

/** The same metrics, with the labels of each from the outside to the inside, as the mock writes its own. */
const inTheMocksOrder = (metrics: string): string => {
  const places = ['namespace', 'pod', 'container'];
  const placeOf = (label: string): number => places.indexOf(label.slice(0, label.indexOf('=')));
  return withLabelOrder(metrics, (labels) => labels.toSorted((a, b) => placeOf(a) - placeOf(b)));
};

beforeAll(async () => {
  await allowAnybodyToMeasure();
  await using node = await startOwnNode(nodeName);
  {
    await using _pod = await podOfNode(nodeName);
    report = await runSuite(nodeName);
  }
  await using _relay = await relayTo(inTheMocksOrder);
  await using _behind = await podOfNode(nodeName, behindAddress);
  relayed = await runSuite(nodeName, metricsTest);
  if (report.passed.length < passing.length) console.error(await node.log());
});

describe("a ProviderNode passes virtual-kubelet's test", () => {
  it.each(passing)('%s', (name) => {
    expect(report.failed.get(name)).toBeUndefined();
    expect(report.passed).toContain(name);
  });

  it('these are all but one, and none was left out', () => {
    expect([...report.passed, ...report.skipped, ...report.failed.keys()].sort()).toEqual(suiteTests);
    expect(report.skipped).toEqual([]);
  });
});

describe(`${metricsTest} takes the second label of a metric for the name of the pod`, () => {
  it('so it fails with the labels that the kubelet writes, in their order: container, namespace, pod', () => {
    expect(report.failed.get(metricsTest)).toContain('expected stats for 3 containers, got stats for 0 containers');
  });

  it('and it passes with the same metrics once their labels are in another order', () => {
    expect(relayed.failed.get(metricsTest)).toBeUndefined();
    expect(relayed.passed).toEqual([metricsTest]);
  });
});
