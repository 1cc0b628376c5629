import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { KubeConfig } from '@kubernetes/client-node';
import { KubeTransport } from 'pod-status-manager';
import { InMemoryApiServer } from 'pod-status-manager/testing';
import { AdminClient } from './admin-client.ts';
import { describeError } from './journal.ts';
import { claimNamespace } from './namespace.ts';
import { type DemoOptions, type ServerChoice, UsageError } from './options.ts';
import { runLabel } from './pod-owners.ts';

/** An apiserver, by its name in the view. */
interface DemoServer {
  readonly label: string;
  readonly kubeConfig: KubeConfig;
  /** That of users, where it is another one. */
  readonly userConfig?: KubeConfig;
  readonly memory?: InMemoryApiServer;
  stop?(): Promise<unknown>;
}

/** The apiserver of a run, the ways to it, and the place of the run's pods. */
export interface World {
  readonly label: string;
  /** True for a user's cluster, in which the run has to clean up. */
  readonly isShared: boolean;
  /** The server, where it is in memory. Its faults meet the library alone: users come in by another door. */
  readonly memory: InMemoryApiServer | undefined;
  /** The way of the library's parts. */
  readonly kubeConfig: KubeConfig;
  readonly transport: KubeTransport;
  /** The way of users and of other controllers. */
  readonly admin: AdminClient;
  readonly runID: string;
  readonly namespace: string;
  /** Selects the run's pods. */
  readonly labelSelector: string;
  /** Takes the namespace away from a cluster, and ends all connections. Resolves to false when pods are left behind. */
  close(print: (line: string, isBad?: boolean) => void): Promise<boolean>;
}

/** An answer that does not come is waited for so long in a run in which things go wrong. */
const shortTimeoutMs = 2000;

/** Throws a {@link UsageError} for a kubeconfig that cannot be used. */
export async function openWorld({ server: choice, namespace: wanted, breaks }: DemoOptions): Promise<World> {
  const server = await openServer(choice);
  const transport = new KubeTransport(server.kubeConfig, breaks ? { requestTimeoutMs: shortTimeoutMs } : {});
  const admin = new AdminClient(server.userConfig ?? server.kubeConfig);
  const runID = randomBytes(4).toString('hex');
  const labelSelector = `${runLabel}=${runID}`;
  const isShared = choice.kind === 'kubeconfig';
  const end = async (): Promise<void> => {
    await Promise.all([transport.close(), admin.close()]);
    await server.stop?.();
  };
  try {
    const namespace = await claimNamespace(admin, wanted ?? `pod-status-manager-${runID}`, labelSelector);
    const { label, memory } = server;
    const close: World['close'] = async (print) => {
      try {
        if (isShared) print(await namespace.cleanUp());
        return true;
      } catch (error) {
        print(`${describeError(error)}: the pods in namespace ${namespace.name} are left behind`, true);
        return false;
      } finally {
        await end();
      }
    };
    const { kubeConfig } = server;
    return { label, isShared, memory, kubeConfig, transport, admin, runID, namespace: namespace.name, labelSelector, close };
  } catch (error) {
    await end();
    throw error;
  }
}

async function openServer(choice: ServerChoice): Promise<DemoServer> {
  if (choice.kind === 'in-memory') return inMemoryServer();
  if (choice.kind === 'control-plane') return controlPlane();
  const kubeConfig = await load(choice.file, choice.context);
  return { label: `cluster ${kubeConfig.getCurrentCluster()?.server}`, kubeConfig };
}

async function inMemoryServer(): Promise<DemoServer> {
  const memory = await InMemoryApiServer.start();
  const door = await InMemoryApiServer.start({ store: memory.store });
  const stop = () => Promise.all([memory.stop(), door.stop()]);
  return { label: 'in-memory apiserver', kubeConfig: memory.kubeConfig(), userConfig: door.kubeConfig(), memory, stop };
}

async function controlPlane(): Promise<DemoServer> {
  // imported here because only a checkout of the project has this module
  const { ControlPlane } = await import('../../test/support/control-plane/control-plane.ts');
  const server = await ControlPlane.start();
  return { label: 'local kube-apiserver', kubeConfig: server.kubeConfig(), stop: () => server.stop() };
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
