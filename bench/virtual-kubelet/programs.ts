import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { NodeCertificates } from '../../test/real/virtual-kubelet/support/node-certificates.ts';
import { nodeAddress, nodePort } from '../../test/real/virtual-kubelet/support/world.ts';
import type { AdminClient } from '../../test/support/admin-client.ts';
import type { ControlPlane } from '../../test/support/control-plane/control-plane.ts';
import { kubeconfigYaml } from '../../test/support/control-plane/kubeconfig.ts';
import { SupervisedProcess } from '../../test/support/control-plane/supervised-process.ts';
import { goTool } from '../../test/support/go-tools.ts';
import { type AuditedControlPlane, accountsNamespace } from './audited.ts';

/** The nodes that are compared. */
export const nodes = { ours: 'ProviderNode', rival: 'virtual-kubelet v1.13.0' } as const;
export type NodeKind = keyof typeof nodes;

/** A process that is one node. */
export interface NodeProcess {
  readonly pid: number;
  stop(): Promise<void>;
}

const worker = fileURLToPath(new URL('./mock-node.js', import.meta.url));

/** Writes a kubeconfig of a service account of the node's own, which may do everything: both nodes are the same kind of user. */
async function writeAccount(controlPlane: ControlPlane, admin: AdminClient, nodeName: string, file: string): Promise<void> {
  const accounts = `/api/v1/namespaces/${accountsNamespace}/serviceaccounts`;
  await admin.send('POST', accounts, { body: { metadata: { name: nodeName } } });
  const subjects = [{ kind: 'ServiceAccount', namespace: accountsNamespace, name: nodeName }];
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' };
  const binding = { metadata: { name: `${accountsNamespace}-${nodeName}` }, subjects, roleRef };
  await admin.send('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', { body: binding });
  const { body } = await admin.send('POST', `${accounts}/${nodeName}/token`, { body: { spec: { expirationSeconds: 7200 } } });
  const { token } = (body as { readonly status: { readonly token: string } }).status;
  const { url, caPem } = controlPlane;
  await writeFile(file, kubeconfigYaml({ url, caPem, token, powerlessToken: '', nodeToken: '' }), { mode: 0o600 });
}

/** Starts a node, each as its users do: with its defaults, and its log in a file. */
export async function startNode(
  kind: NodeKind,
  nodeName: string,
  server: AuditedControlPlane,
  admin: AdminClient,
): Promise<NodeProcess> {
  const dir = await mkdtemp(join(tmpdir(), 'pod-status-manager-virtual-kubelet-'));
  const kubeconfig = join(dir, 'kubeconfig');
  await writeAccount(server.controlPlane, admin, nodeName, kubeconfig);
  const { certificates } = server;
  const args =
    kind === 'ours'
      ? ourCommand(kubeconfig, nodeName, certificates)
      : await rivalCommand(dir, kubeconfig, nodeName, certificates);
  const started = await SupervisedProcess.start({ command: 'env', args, logFile: join(dir, 'node.log') });
  return {
    pid: started.pid,
    async stop() {
      await started.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** BENCH_NODE_ARGS are arguments of Node, such as `--cpu-prof`. */
function ourCommand(kubeconfig: string, nodeName: string, { serving, clientCAFile }: NodeCertificates): string[] {
  const nodeArgs = (process.env.BENCH_NODE_ARGS ?? '').split(' ').filter((arg) => arg !== '');
  const { cert, key } = serving;
  return [process.execPath, ...nodeArgs, worker, kubeconfig, nodeName, nodeAddress, cert, key, clientCAFile];
}

/**
 * As virtual-kubelet's own tests start it. It serves its API only where it finds the certificates. BENCH_RIVAL names another program in
 * its place, such as one without client-go's limit of requests.
 */
async function rivalCommand(
  dir: string,
  kubeconfig: string,
  nodeName: string,
  { serving, clientCAFile }: NodeCertificates,
): Promise<string[]> {
  const config = join(dir, 'mock.json');
  await writeFile(config, JSON.stringify({ [nodeName]: { cpu: '1000', memory: '4000Gi', pods: '1000' } }));
  const env = {
    APISERVER_CERT_LOCATION: serving.cert,
    APISERVER_KEY_LOCATION: serving.key,
    APISERVER_CA_CERT_LOCATION: clientCAFile,
    KUBELET_PORT: String(nodePort),
    VKUBELET_POD_IP: nodeAddress,
  };
  const flags = { kubeconfig, nodename: nodeName, provider: 'mock', 'provider-config': config, 'startup-timeout': '10s' };
  return [
    ...Object.entries(env).map(([name, value]) => `${name}=${value}`),
    process.env.BENCH_RIVAL ?? (await goTool('virtual-kubelet')),
    ...Object.entries(flags).map(([name, value]) => `--${name}=${value}`),
  ];
}
