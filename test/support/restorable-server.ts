import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestServer, testServer } from './servers.ts';

/** A server of one test's own, whose data can be set back. */
export interface RestorableServer extends TestServer {
  /** Keeps the data as they are now. The real server is down meanwhile. */
  backUp(): Promise<void>;
  /** Brings the kept data back: later writes are lost, and resourceVersions are given out a second time. */
  restore(): Promise<void>;
}

async function inMemoryServer(): Promise<RestorableServer> {
  const { InMemoryApiServer } = await import('../../src/testing/apiserver/in-memory-apiserver.ts');
  const server = await InMemoryApiServer.start();
  const { store } = server;
  let snapshot = store.snapshot();
  const common = testServer(
    'in-memory',
    () => server.kubeConfig(),
    () => server.stop(),
  );
  return {
    ...common,
    backUp: async () => {
      snapshot = store.snapshot();
    },
    restore: async () => store.restore(snapshot),
  };
}

/** Both servers are killed, etcd's folder is copied, and both are started again. */
async function realServer(): Promise<RestorableServer> {
  const { ControlPlane } = await import('./control-plane/control-plane.ts');
  const dir = await mkdtemp(join(tmpdir(), 'pod-status-manager-'));
  const [data, backup] = [join(dir, 'etcd'), join(dir, 'etcd-backup')];
  const controlPlane = await ControlPlane.start({ dataDir: dir, quiet: true });
  const whileDown = async (copy: () => Promise<void>): Promise<void> => {
    await controlPlane.killApiServer();
    await controlPlane.killEtcd();
    await copy();
    await controlPlane.startEtcd();
    await controlPlane.startApiServer();
  };
  const stop = async (): Promise<void> => {
    await controlPlane.stop();
    await rm(dir, { recursive: true, force: true, maxRetries: 5 });
  };
  return {
    ...testServer('real', () => controlPlane.kubeConfig(), stop),
    backUp: () => whileDown(() => cp(data, backup, { recursive: true })),
    restore: () =>
      whileDown(async () => {
        await rm(data, { recursive: true });
        await cp(backup, data, { recursive: true });
      }),
  };
}

/** Of the kind that `TEST_SERVER` names. Default: in memory. */
export function startRestorableServer(): Promise<RestorableServer> {
  return process.env.TEST_SERVER === 'real' ? realServer() : inMemoryServer();
}
