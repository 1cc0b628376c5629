import { readFile } from 'node:fs/promises';
import { KubeConfig } from '@kubernetes/client-node';
import { InMemoryApiServer } from '../../src/testing.ts';
import { type ServerChoice, UsageError } from './options.ts';

/** The apiserver of a run. */
export interface DemoServer {
  /** How the view calls it. */
  readonly label: string;
  /** True where somebody else's cluster has to be left as it was. */
  readonly isShared: boolean;
  kubeConfig(): KubeConfig;
  /** Requests on pods the server itself has counted, where it can say. */
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
  // only there in a checkout of the project, and only needed now
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
    // the first line alone: a YAML error goes on with a piece of the file, which may hold a token
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
      `--kubeconfig must have a context with a server; ${JSON.stringify(file)} has none that is current: give --context`,
    );
  }
  return kubeConfig;
}
