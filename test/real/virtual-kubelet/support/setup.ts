import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { AdminClient } from '../../../support/admin-client.ts';
import { ControlPlane } from '../../../support/control-plane/control-plane.ts';
import { SupervisedProcess } from '../../../support/control-plane/supervised-process.ts';
import { goTool } from '../../../support/go-tools.ts';
import { pollUntil } from '../../../support/poll-until.ts';
import { aggregatorFlags, kubeletClientFlags, writeCertificates } from './node-certificates.ts';
import { makeNetwork } from './own-network.ts';

/** Starts the controllers, and resolves once they are at work: the default namespace has its service account. */
async function startControllers(controlPlane: ControlPlane, folder: string, kubeconfig: string): Promise<SupervisedProcess> {
  const controllers = await SupervisedProcess.start({
    command: await goTool('kube-controller-manager'),
    args: [`--kubeconfig=${kubeconfig}`, '--leader-elect=false', '--bind-address=127.0.0.1'],
    logFile: join(folder, 'kube-controller-manager.log'),
  });
  const admin = new AdminClient(controlPlane.kubeConfig());
  try {
    const account = () => admin.send('GET', '/api/v1/namespaces/default/serviceaccounts/default');
    const isOver = async () => !controllers.running || (await account()).status === 200;
    await pollUntil('the controllers are at work', isOver, { withinMs: 30_000 });
    if (!controllers.running) throw new Error(`the controllers did not start\n${await controllers.logTail()}`);
    return controllers;
  } finally {
    await admin.close();
  }
}

/** Starts one control plane for a whole run, in this process' network, which is empty. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await makeNetwork();
  const folder = await mkdtemp(join(tmpdir(), 'virtual-kubelet-'));
  const certificates = await writeCertificates(folder);
  const controlPlane = await ControlPlane.start({
    apiServerArgs: [...kubeletClientFlags(certificates), ...aggregatorFlags(certificates)],
  });
  const kubeconfig = join(folder, 'kubeconfig');
  await controlPlane.writeKubeconfig(kubeconfig);
  const controllers = await startControllers(controlPlane, folder, kubeconfig);
  project.provide('virtualKubeletWorld', { ...certificates, folder, kubeconfig });
  return async () => {
    await controllers.stop();
    await controlPlane.stop();
    await rm(folder, { recursive: true, force: true });
  };
}
