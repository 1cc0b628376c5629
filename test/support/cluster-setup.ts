import type { TestProject } from 'vitest/node';
import { ControlPlane } from './control-plane/control-plane.ts';
import { goTool } from './go-tools.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The kubeconfig of the run's control plane. */
    readonly controlPlaneKubeconfig: string;
  }
}

/** Starts one control plane for a whole run. The test files share it, each in its own namespaces. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Tests ask for them, and building them takes longer than a test may.
  for (const tool of ['oracle', 'kube-controller-manager', 'kube-scheduler', 'kubectl'] as const) await goTool(tool);
  const controlPlane = await ControlPlane.start();
  project.provide('controlPlaneKubeconfig', controlPlane.kubeconfigYaml());
  return () => controlPlane.stop();
}
