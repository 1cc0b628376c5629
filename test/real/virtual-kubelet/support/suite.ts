import { inject } from 'vitest';
import { goTool } from '../../../support/go-tools.ts';
import { type GoTestReport, runGoTests } from './go-tests.ts';

/** virtual-kubelet's own tests (`test/e2e` of v1.13.0). */
export const suiteTests = [
  'TestCreatePodWithMandatoryInexistentConfigMap',
  'TestCreatePodWithMandatoryInexistentSecrets',
  'TestCreatePodWithOptionalInexistentConfigMap',
  'TestCreatePodWithOptionalInexistentSecrets',
  'TestGetMetricsResource',
  'TestGetPods',
  'TestGetStatsSummary',
  'TestPodLifecycleForceDelete',
  'TestPodLifecycleGracefulDelete',
].map((name) => `TestEndToEnd/${name}`);

/** The one of them that a node fails which writes its metrics as the kubelet does. */
export const metricsTest = 'TestEndToEnd/TestGetMetricsResource';

/** Runs virtual-kubelet's tests, or those alone that `only` names, against a node. Each of them waits two minutes at most. */
export async function runSuite(nodeName: string, only = 'TestEndToEnd'): Promise<GoTestReport> {
  const program = await goTool('virtual-kubelet-suite');
  const { kubeconfig } = inject('virtualKubeletWorld');
  return runGoTests(program, ['-test.run', only, `-kubeconfig=${kubeconfig}`, `-node-name=${nodeName}`], 150_000);
}
