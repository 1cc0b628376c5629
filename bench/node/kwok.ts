import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ControlPlane } from '../../test/support/control-plane/control-plane.ts';
import { SupervisedProcess } from '../../test/support/control-plane/supervised-process.ts';
import { goTool } from '../../test/support/go-tools.ts';

/** A program that is one virtual node. */
export interface NodeProgram {
  readonly pid: number;
  stop(): Promise<void>;
}

const stages = fileURLToPath(new URL('./kwok-stages.yaml', import.meta.url));

/** Starts kwok for one node, with its defaults but for the stages. The node object must be there already. */
export async function startKwok(controlPlane: ControlPlane, nodeName: string): Promise<NodeProgram> {
  const dir = await mkdtemp(join(tmpdir(), 'pod-status-manager-kwok-'));
  const kubeconfig = join(dir, 'kubeconfig');
  await controlPlane.writeKubeconfig(kubeconfig);
  const flags = { kubeconfig, config: stages, 'manage-single-node': nodeName, 'node-ip': '192.0.2.10' };
  const started = await SupervisedProcess.start({
    command: await goTool('kwok'),
    args: Object.entries({ ...flags, 'node-lease-duration-seconds': '40' }).map(([name, value]) => `--${name}=${value}`),
    logFile: join(dir, 'kwok.log'),
  });
  return {
    pid: started.pid,
    async stop() {
      await started.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
