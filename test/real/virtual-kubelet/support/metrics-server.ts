import { join } from 'node:path';
import { inject } from 'vitest';
import { SupervisedProcess } from '../../../support/control-plane/supervised-process.ts';
import { goTool } from '../../../support/go-tools.ts';
import { pollUntil } from '../../../support/poll-until.ts';
import { asAdmin } from './nodes.ts';
import { behindAddress } from './world.ts';

const port = 4443;
const group = 'v1beta1.metrics.k8s.io';
const apiService = `/apis/apiregistration.k8s.io/v1/apiservices/${group}`;

/** Starts what `kubectl top` asks, and resolves once the apiserver passes requests on to it. */
export async function startMetricsServer(): Promise<AsyncDisposable> {
  const { folder, kubeconfig } = inject('virtualKubeletWorld');
  const flags = {
    kubeconfig,
    'authentication-kubeconfig': kubeconfig,
    'authorization-kubeconfig': kubeconfig,
    'bind-address': behindAddress,
    'secure-port': port,
    'cert-dir': join(folder, 'metrics-server'),
    'kubelet-insecure-tls': true,
    'kubelet-preferred-address-types': 'InternalIP',
    // the shortest that it takes is ten seconds, and longer than it waits for a node
    'metric-resolution': '10s',
    'kubelet-request-timeout': '5s',
  };
  const server = await SupervisedProcess.start({
    command: await goTool('metrics-server'),
    args: Object.entries(flags).map(([name, value]) => `--${name}=${value}`),
    logFile: join(folder, 'metrics-server.log'),
  });
  await register();
  const stop = async (): Promise<void> => {
    await asAdmin((admin) => admin.send('DELETE', apiService));
    await server.stop();
  };
  try {
    await pollUntil('the apiserver passes requests on', async () => !server.running || isAvailable(), { withinMs: 60_000 });
    if (!server.running) throw new Error('metrics-server has ended');
  } catch (error) {
    const log = await server.logTail();
    await stop();
    throw new Error(`${error}\n${log}`);
  }
  return { [Symbol.asyncDispose]: stop };
}

async function register(): Promise<void> {
  const service = { namespace: 'kube-system', name: 'metrics-server', port };
  const spec = { group: 'metrics.k8s.io', version: 'v1beta1', groupPriorityMinimum: 100, versionPriority: 100 };
  await asAdmin(async (admin) => {
    // where no proxy makes addresses of services work, the apiserver goes to a name
    const external = { type: 'ExternalName', externalName: behindAddress, ports: [{ port }] };
    await admin.send('POST', '/api/v1/namespaces/kube-system/services', {
      body: { metadata: { name: service.name }, spec: external },
    });
    await admin.send('POST', '/apis/apiregistration.k8s.io/v1/apiservices', {
      body: { metadata: { name: group }, spec: { ...spec, service, insecureSkipTLSVerify: true } },
    });
  });
}

function isAvailable(): Promise<boolean> {
  return asAdmin(async (admin) => {
    const { body } = await admin.send('GET', apiService);
    const { status } = body as {
      readonly status?: { readonly conditions?: { readonly type: string; readonly status: string }[] };
    };
    return status?.conditions?.some(({ type, status: is }) => type === 'Available' && is === 'True') ?? false;
  });
}
