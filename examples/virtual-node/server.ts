import { readFile } from 'node:fs/promises';
import { KubeConfig } from '@kubernetes/client-node';
import { InMemoryApiServer } from 'pod-status-manager/testing';
import { type ServerChoice, UsageError } from './options.ts';

/** The apiserver of a run. */
export interface DemoServer {
  /** Its name in the view. */
  readonly label: string;
  /** True for a user's cluster, in which the run has to clean up. */
  readonly isShared: boolean;
  kubeConfig(): KubeConfig;
  /** The server's own count of requests on pods; absent when it cannot tell. */
  countRequests?(verb: 'get' | 'patch' | 'delete'): number;
  stop(): Promise<void>;
}

/** Throws a {@link UsageError} for a kubeconfig that cannot be used. */
export async function openServer(choice: ServerChoice): Promise<DemoServer> {
  if (choice.kind === 'in-memory') return inMemoryServer();
  if (choice.kind === 'control-plane') return controlPlane();
  const kubeConfig = await load(choice.file, choice.context);
  const label = `cluster ${kubeConfig.getCurrentCluster()?.server}`;
  return { label, isShared: true, kubeConfig: () => kubeConfig, stop: async () => {} };
}

async function inMemoryServer(): Promise<DemoServer> {
  const server = await InMemoryApiServer.start();
  return {
    label: 'in-memory apiserver',
    isShared: false,
    kubeConfig: () => server.kubeConfig(),
    countRequests: (verb) => server.countRequests(verb),
    stop: () => server.stop(),
  };
}

async function controlPlane(): Promise<DemoServer> {
  // imported here because only a checkout of the project has this module
  const { ControlPlane } = await import('../../test/support/control-plane/control-plane.ts');
  const server = await ControlPlane.start();
  return {
    label: 'local kube-apiserver',
    isShared: false,
    kubeConfig: () => server.kubeConfig(),
    stop: () => server.stop(),
  };
}

async function load(file: string, context: string | undefined): Promise<KubeConfig> {
  const kubeConfig = new KubeConfig();
  try {
    await readFile(file);
    kubeConfig.loadFromFile(file);
  } catch (error) {
    // only the first line: the rest of a YAML error shows a piece of the file, which may hold a token
    const why = String(error instanceof Error ? error.message : error).split('\n')[0];
    throw new UsageError(`--kubeconfig must be a kubeconfig that can be read: ${why}`);
  }
  const names = kubeConfig.getContexts().map(({ name }) => name);
  if (context !== undefined && !names.includes(context)) {
    throw new UsageError(
      `--context must be one of ${names.map((name) => JSON.stringify(name)).join(', ')}, got ${JSON.stringify(context)}`,
    );
  }
  if (context !== undefined) kubeConfig.setCurrentContext(context);
  if (!URL.canParse(kubeConfig.getCurrentCluster()?.server ?? '')) {
    throw new UsageError(
      `--kubeconfig must have a current context with a server; ${JSON.stringify(file)} has none: give --context`,
    );
  }
  return kubeConfig;
}
