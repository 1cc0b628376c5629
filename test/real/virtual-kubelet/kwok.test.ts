// kwok's own tests of nodes and pods (v0.8.0), against a `ProviderNode` for each node that they create.
// They are as they are, but for one assertion (test/peers/kwok-suite): the kubelet sets the condition which it forbids.
import { KubeConfig } from '@kubernetes/client-node';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { goTool } from '../../support/go-tools.ts';
import { startFakeNodes } from './support/fake-nodes.ts';
import { type GoTestReport, runGoTests } from './support/go-tests.ts';
import { nodeAddress } from './support/world.ts';

const tests = [
  'TestNode/Node_can_be_created_and_deleted/create_node',
  'TestNode/Node_can_be_created_and_deleted/delete_node',
  'TestPod/Pod_can_be_created_and_deleted/create_pod',
  'TestPod/Pod_can_be_created_and_deleted/create_pod_for_host_network',
  'TestPod/Pod_can_be_created_and_deleted/delete_pod',
  'TestPod/Pod_can_be_created_and_deleted/delete_pod_for_host_network',
];
let report: GoTestReport;

beforeAll(async () => {
  const { kubeconfig } = inject('virtualKubeletWorld');
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromFile(kubeconfig);
  await using _nodes = await startFakeNodes(kubeConfig, nodeAddress);
  report = await runGoTests(await goTool('kwok-suite'), [`-kubeconfig=${kubeconfig}`], 90_000);
});

describe("a node of ours for each of kwok's passes kwok's test", () => {
  it.each(tests)('%s', (name) => {
    expect(report.failed.get(name)).toBeUndefined();
    expect(report.passed).toContain(name);
  });
});

it('these are all of them, and none was left out', () => {
  expect([...report.passed, ...report.skipped, ...report.failed.keys()].sort()).toEqual(tests);
  expect(report.skipped).toEqual([]);
});
