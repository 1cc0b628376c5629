import { KubeConfig } from '@kubernetes/client-node';
import { inject } from 'vitest';
import type { InMemoryApiServerOptions } from '../../src/testing/apiserver/in-memory-apiserver.ts';
import { AdminClient } from './admin-client.ts';
import './cluster-setup.ts';

/** The server of a test in test/server. The assertions are the same for both kinds. */
export interface TestServer extends AsyncDisposable {
  readonly kind: 'in-memory' | 'real';
  /** A new kubeconfig of an administrator. */
  kubeConfig(): KubeConfig;
  readonly admin: AdminClient;
  stop(): Promise<void>;
}

export function testServer(kind: TestServer['kind'], kubeConfig: () => KubeConfig, stopServer: () => Promise<void>): TestServer {
  const admin = new AdminClient(kubeConfig());
  const stop = async (): Promise<void> => {
    await admin.close();
    await stopServer();
  };
  return { kind, kubeConfig, admin, stop, [Symbol.asyncDispose]: stop };
}

/** The run's shared control plane: `stop` ends only this file's connections. */
function realServer(): TestServer {
  const yaml = inject('controlPlaneKubeconfig');
  if (yaml === undefined) {
    throw new Error(
      'TEST_SERVER=real needs the control plane that test/real/cluster/vitest.config.ts starts: run `npm run test:cluster`',
    );
  }
  const kubeConfig = (): KubeConfig => {
    const config = new KubeConfig();
    config.loadFromString(yaml);
    return config;
  };
  return testServer('real', kubeConfig, async () => {});
}

async function inMemoryServer(options: InMemoryApiServerOptions): Promise<TestServer> {
  const { InMemoryApiServer } = await import('../../src/testing/apiserver/in-memory-apiserver.ts');
  const server = await InMemoryApiServer.start({ requireNamespaces: true, ...options });
  return testServer(
    'in-memory',
    () => server.kubeConfig(),
    () => server.stop(),
  );
}

/** The server that `TEST_SERVER` names, for one test file. Default: a new in-memory one, with these options. */
export async function startTestServer(options: InMemoryApiServerOptions = {}): Promise<TestServer> {
  const kind = process.env.TEST_SERVER ?? 'in-memory';
  if (kind === 'real') return realServer();
  if (kind === 'in-memory') return inMemoryServer(options);
  throw new Error(`Expected TEST_SERVER to be real or in-memory, got ${kind}`);
}
