import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestServer, testServer } from './servers.ts';

/** A server for one test, whose data can be set back. */
export interface RestorableServer extends TestServer {
  /** Keeps a copy of the data. The real server is down meanwhile. */
  backUp(): Promise<void>;
  /** Brings the kept data back: later writes are lost, and resourceVersions are used a second time. */
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

/** Kills both servers, copies etcd's folder, and starts both again. */
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

/** Starts a server of the kind that `TEST_SERVER` names. Default: in memory. */
export function startRestorableServer(): Promise<RestorableServer> {
  return process.env.TEST_SERVER === 'real' ? realServer() : inMemoryServer();
}
