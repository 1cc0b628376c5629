import { parseArgs } from 'node:util';
import { KubeConfig } from '@kubernetes/client-node';
import {
  ApiServerPodSource,
  BasicPodManager,
  KubePodClient,
  type PodClient,
  type PodDeletionSafety,
  StatusManager,
  type StatusManagerOptions,
  type WirePod,
} from '../../src/index.ts';
import { nothingToDelete } from '../support/clients.ts';
import { createPods } from './create-pods.ts';

/** The options of every measurement, the same as the peer's. The token comes from the environment. */
export function workerOptions() {
  const { values } = parseArgs({
    options: {
      server: { type: 'string', default: '' },
      namespace: { type: 'string', default: 'bench' },
      mode: { type: 'string', default: 'manager' },
      pods: { type: 'string', default: '500' },
      rounds: { type: 'string', default: '3' },
      qps: { type: 'string' },
      concurrency: { type: 'string' },
      connections: { type: 'string' },
    },
  });
  const kubeConfig = new KubeConfig();
  // the peer does not verify the certificate either
  kubeConfig.loadFromClusterAndUser(
    { name: 'bench', server: values.server, skipTLSVerify: true },
    { name: 'admin', token: process.env.BENCH_TOKEN ?? '' },
  );
  const rateLimiter = values.qps === undefined ? {} : { rateLimiter: { qps: Number(values.qps), burst: Number(values.qps) } };
  return {
    kubeConfig,
    namespace: values.namespace,
    mode: values.mode,
    count: Number(values.pods),
    rounds: Number(values.rounds),
    connections: values.connections === undefined ? {} : { connections: Number(values.connections) },
    manager: { ...rateLimiter, ...(values.concurrency !== undefined && { concurrency: Number(values.concurrency) }) },
  };
}

export interface AgentOptions {
  readonly podUpdated?: (pod: WirePod) => void;
  readonly podDeletionSafety?: PodDeletionSafety;
  readonly wrapClient?: (client: PodClient) => PodClient;
  readonly manager?: Partial<StatusManagerOptions>;
}

/** A small node agent: new pods on the apiserver, a pod source that watches them, and a running manager. */
export async function startAgent(options: ReturnType<typeof workerOptions>, agent: AgentOptions = {}) {
  const { kubeConfig, namespace, count, connections } = options;
  const pods = await createPods(kubeConfig, namespace, count);
  const podManager = new BasicPodManager();
  const client = KubePodClient.fromKubeConfig(kubeConfig, connections);
  const { podUpdated } = agent;
  const handlers = podUpdated === undefined ? {} : { podUpdated };
  const podSource = new ApiServerPodSource({ logger: null, kubeConfig, nodeName: 'node-a', namespace, podManager, handlers });
  await podSource.start();
  const manager = new StatusManager({
    logger: null,
    podClient: agent.wrapClient?.(client) ?? client,
    podManager,
    podDeletionSafety: agent.podDeletionSafety ?? nothingToDelete,
    podSource,
    ...options.manager,
    ...agent.manager,
  });
  manager.start();
  const stop = async (): Promise<void> => {
    await manager.stop();
    await podSource.stop();
    await client.close();
  };
  return { pods, podManager, manager, stop };
}
