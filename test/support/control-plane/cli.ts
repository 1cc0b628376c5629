// `npm run control-plane [-- --kubeconfig FILE] [--data-dir DIR]`: a real etcd and kube-apiserver to play with, until Ctrl-C.
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ControlPlane } from './control-plane.ts';

const { values } = parseArgs({ options: { kubeconfig: { type: 'string' }, 'data-dir': { type: 'string' } } });

/** Resolves with the first signal that asks to end; from now on none ends the process by itself. */
const asked = Promise.race((['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map((signal) => once(process, signal)));

console.error('starting etcd and kube-apiserver ...');
const dataDir = values['data-dir'];
const started = ControlPlane.start(dataDir === undefined ? {} : { dataDir: resolve(dataDir) });
// A signal during the start still waits for it, a few seconds: nothing is left behind.
const controlPlane = await started;
const ownDir = values.kubeconfig === undefined ? await mkdtemp(join(tmpdir(), 'pod-status-manager-kubeconfig-')) : undefined;
try {
  const kubeconfig = resolve(values.kubeconfig ?? join(ownDir ?? '', 'kubeconfig'));
  await controlPlane.writeKubeconfig(kubeconfig);
  console.log(`export KUBECONFIG=${kubeconfig}`);
  console.error(`
kube-apiserver is ready at ${controlPlane.url}; etcd at ${controlPlane.etcdUrl}.
There is no kubelet, no scheduler and no controller: a pod needs spec.nodeName, and its status is whatever you write.
Paste the line above into another shell; KubeConfig.loadFromDefault() and kubectl then find this server.
Ctrl-C ends it${dataDir === undefined ? ' and removes its data' : ''}.`);
  // A pending promise alone does not keep Node alive.
  const alive = setInterval(() => {}, 1 << 30);
  await asked;
  clearInterval(alive);
  console.error('\nstopping ...');
} finally {
  await controlPlane.stop();
  if (ownDir !== undefined) await rm(ownDir, { recursive: true, force: true });
}
process.exit(0);
