import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { AdminClient } from '../../../support/admin-client.ts';
import { createCertificateAuthority } from '../../../support/certificate-authority.ts';
import { ControlPlane } from '../../../support/control-plane/control-plane.ts';
import { SupervisedProcess } from '../../../support/control-plane/supervised-process.ts';
import { goTool } from '../../../support/go-tools.ts';
import { pollUntil } from '../../../support/poll-until.ts';
import { behindAddress, nodeAddress, type VirtualKubeletWorld } from './world.ts';

/** A kube-apiserver calls no node at a loopback address. These are addresses for documentation, on the loopback interface. */
async function makeNetwork(): Promise<void> {
  const others = Object.keys(networkInterfaces()).filter((name) => name !== 'lo');
  if (others.length > 0) throw new Error(`these tests need a network of their own: npm run test:virtual-kubelet`);
  const ip = (...args: string[]) => promisify(execFile)('ip', args);
  await ip('link', 'set', 'lo', 'up');
  for (const address of [nodeAddress, behindAddress]) await ip('address', 'add', `${address}/32`, 'dev', 'lo');
}

/** The certificates of the node's API, and of the apiserver as its client. */
async function writeCertificates(folder: string): Promise<Pick<VirtualKubeletWorld, 'serving' | 'clientCAFile' | 'client'>> {
  const authority = createCertificateAuthority('node-clients');
  const pairs = {
    serving: authority.issue(),
    client: authority.issueClient({ commonName: 'kube-apiserver-kubelet-client', organizations: ['system:masters'] }),
  };
  const files = (name: keyof typeof pairs) => ({ cert: join(folder, `${name}.crt`), key: join(folder, `${name}.key`) });
  for (const name of ['serving', 'client'] as const) {
    await writeFile(files(name).cert, pairs[name].cert);
    await writeFile(files(name).key, pairs[name].key, { mode: 0o600 });
  }
  const clientCAFile = join(folder, 'client-ca.crt');
  await writeFile(clientCAFile, authority.cert);
  return { serving: files('serving'), client: files('client'), clientCAFile };
}

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
  const { cert, key } = certificates.client;
  const apiServerArgs = [`--kubelet-client-certificate=${cert}`, `--kubelet-client-key=${key}`];
  const controlPlane = await ControlPlane.start({ apiServerArgs });
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
