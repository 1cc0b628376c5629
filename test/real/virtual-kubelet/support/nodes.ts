import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { inject } from 'vitest';
import { root } from '../../../structure/source-tree.ts';
import { AdminClient } from '../../../support/admin-client.ts';
import { SupervisedProcess } from '../../../support/control-plane/supervised-process.ts';
import { goTool } from '../../../support/go-tools.ts';
import { nodeAddress, nodePort } from './world.ts';

/** Asks the run's control plane, as its administrator. */
export async function asAdmin<T>(ask: (admin: AdminClient) => Promise<T>): Promise<T> {
  const config = new KubeConfig();
  config.loadFromFile(inject('virtualKubeletWorld').kubeconfig);
  const admin = new AdminClient(config);
  try {
    return await ask(admin);
  } finally {
    await admin.close();
  }
}

/** A process that is a node, until it is disposed of. */
export interface RunningNode extends AsyncDisposable {
  /** The end of what it has written. */
  log(): Promise<string>;
}

async function startNode(
  nodeName: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<RunningNode> {
  const { folder } = inject('virtualKubeletWorld');
  const logFile = join(await mkdtemp(join(folder, 'node-')), 'log');
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const process = await SupervisedProcess.start({ command: 'env', args: [...variables, ...args], logFile });
  return {
    log: () => process.logTail(40),
    [Symbol.asyncDispose]: async () => {
      await process.stop({ graceMs: 20_000 });
      await asAdmin((admin) => admin.send('DELETE', `/api/v1/nodes/${nodeName}`));
    },
  };
}

/** virtual-kubelet with its mock, as its own tests start it, but for the pod that it runs in there. */
export async function startMock(nodeName: string, port = nodePort): Promise<RunningNode> {
  const { folder, kubeconfig, serving } = inject('virtualKubeletWorld');
  const config = join(folder, 'mock.json');
  await writeFile(config, JSON.stringify({ [nodeName]: { cpu: '2', memory: '32Gi', pods: '128' } }));
  const args = ['--nodename', nodeName, '--provider', 'mock', '--provider-config', config, '--kubeconfig', kubeconfig];
  return startNode(nodeName, [await goTool('virtual-kubelet'), ...args], {
    APISERVER_CERT_LOCATION: serving.cert,
    APISERVER_KEY_LOCATION: serving.key,
    KUBELET_PORT: String(port),
    VKUBELET_POD_IP: nodeAddress,
  });
}

/** A `ProviderNode` whose provider does what that mock does. */
export function startOwnNode(nodeName: string): Promise<RunningNode> {
  const { kubeconfig, serving, clientCAFile } = inject('virtualKubeletWorld');
  const agent = join(root, 'test/real/virtual-kubelet/agent.ts');
  return startNode(nodeName, [
    process.execPath,
    agent,
    kubeconfig,
    nodeName,
    nodeAddress,
    serving.cert,
    serving.key,
    clientCAFile,
  ]);
}

/**
 * virtual-kubelet runs as a pod whose name is that of its node, and its tests ask that pod for its statistics. The pod, at an
 * address, until it is disposed of.
 */
export async function podOfNode(nodeName: string, address = nodeAddress): Promise<AsyncDisposable> {
  const pod = { metadata: { name: nodeName }, spec: { containers: [{ name: 'agent', image: 'agent' }] } };
  const running = { status: { phase: 'Running', podIP: address, podIPs: [{ ip: address }] } };
  await asAdmin(async (admin) => {
    const created = await admin.createPod('default', pod);
    if (created.status !== 201) throw new Error(`the pod was answered ${created.status}: ${JSON.stringify(created.body)}`);
    const { status, body } = await admin.patchPodStatus('default', nodeName, running);
    if (status !== 200) throw new Error(`the status of the pod was answered ${status}: ${JSON.stringify(body)}`);
  });
  return {
    [Symbol.asyncDispose]: async () => {
      await asAdmin((admin) => admin.deletePod('default', nodeName, { gracePeriodSeconds: 0 }));
    },
  };
}
