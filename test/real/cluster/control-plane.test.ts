import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, readFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminClient } from '../../support/admin-client.ts';
import { podListOf } from '../../support/answers.ts';
import { ControlPlane } from '../../support/control-plane/control-plane.ts';
import { isAlive } from '../../support/is-alive.ts';
import { TcpRelay } from '../../support/tcp-relay.ts';
import { tempDir } from '../../support/temp-dir.ts';

let controlPlane: ControlPlane;

beforeAll(async () => {
  controlPlane = await ControlPlane.start();
});
afterAll(() => controlPlane.stop());

async function namespaceNames(kubeConfig: KubeConfig): Promise<(string | undefined)[]> {
  const { items } = await kubeConfig.makeApiClient(CoreV1Api).listNamespace();
  return items.map((namespace) => namespace.metadata?.name);
}

describe('ControlPlane', () => {
  it("is reached through client-node's KubeConfig, with the server's certificate verified", async () => {
    const kubeConfig = controlPlane.kubeConfig();
    expect(kubeConfig.getCurrentCluster()?.skipTLSVerify ?? false).toBe(false);
    expect(await namespaceNames(kubeConfig)).toContain('default');
    const unverified = once(request(`${controlPlane.url}/readyz`, { agent: false }).end(), 'response');
    await expect(unverified).rejects.toThrow(/self.signed|unable to verify/);
  });

  it('writes a kubeconfig that a KubeConfig loads from its file', async () => {
    const file = join(await tempDir(), 'kubeconfig');
    await controlPlane.writeKubeconfig(file);
    const kubeConfig = new KubeConfig();
    kubeConfig.loadFromFile(file);
    expect(await namespaceNames(kubeConfig)).toContain('default');
  });

  it('refuses the powerless user with 403, and an unknown user with 401', async () => {
    const powerless = controlPlane.kubeConfig();
    powerless.setCurrentContext('powerless');
    await expect(namespaceNames(powerless)).rejects.toMatchObject({ code: 403 });
    const stranger = new KubeConfig();
    stranger.loadFromString(controlPlane.kubeconfigYaml().replace(controlPlane.token, 'unknown-token'));
    await expect(namespaceNames(stranger)).rejects.toMatchObject({ code: 401 });
  });

  it('keeps address, certificate and data over a restart and over kills of either server', async () => {
    const admin = new AdminClient(controlPlane.kubeConfig());
    const namespace = await admin.createNamespace('kept');
    const [{ apiServer }, caPem] = [controlPlane.pids, controlPlane.caPem];
    await controlPlane.restartApiServer();
    expect(controlPlane.pids.apiServer).not.toBe(apiServer);
    await controlPlane.killApiServer();
    expect(controlPlane.pids.apiServer).toBeUndefined();
    await controlPlane.startApiServer();
    await controlPlane.killEtcd();
    expect(controlPlane.pids.etcd).toBeUndefined();
    await controlPlane.startEtcd();
    expect(controlPlane.caPem).toBe(caPem);
    expect(await namespaceNames(controlPlane.kubeConfig())).toContain(namespace);
    await admin.close();
  });

  it('gives no answer while etcd or the apiserver is paused, and answers afterwards', async () => {
    const admin = new AdminClient(controlPlane.kubeConfig());
    for (const [pause, resume] of [
      [() => controlPlane.pauseEtcd(), () => controlPlane.resumeEtcd()],
      [() => controlPlane.pauseApiServer(), () => controlPlane.resumeApiServer()],
    ] as const) {
      pause();
      let answered = false;
      const answer = admin.createNamespace('paused').finally(() => {
        answered = true;
      });
      await delay(300);
      expect(answered).toBe(false);
      resume();
      expect(await answer).toMatch(/^paused-/);
    }
    await admin.close();
  });

  it('starts another kube-apiserver over the same etcd, with the same certificate and users, which ends with it', async () => {
    const own = await ControlPlane.start();
    const relay = await TcpRelay.to(own.etcdUrl);
    const another = await own.startAnotherApiServer({ etcdUrl: relay.url });
    expect(another.url).not.toBe(own.url);
    const elsewhere = new KubeConfig();
    elsewhere.loadFromString(own.kubeconfigYaml().replaceAll(own.url, another.url));
    const [admin, asWell] = [new AdminClient(own.kubeConfig()), new AdminClient(elsewhere)];
    const namespace = await admin.createNamespace('shared');
    expect((await asWell.listPods(namespace)).status).toBe(200);
    relay.hold();
    let heard = false;
    const list = asWell.listPods(namespace).finally(() => {
      heard = true;
    });
    await delay(300);
    expect([heard, (await admin.listPods(namespace)).status]).toEqual([false, 200]);
    relay.release();
    expect((await list).status).toBe(200);
    await another.restart({ signal: 'SIGKILL' });
    expect((await asWell.listPods(namespace)).status).toBe(200);
    const { pid } = another;
    await Promise.all([admin.close(), asWell.close()]);
    await own.stop();
    await relay[Symbol.asyncDispose]();
    expect(isAlive(pid)).toBe(false);
  });

  it('has forgotten older resourceVersions after a restart: a watch from one gets an ERROR event of code 410', async () => {
    const admin = new AdminClient(controlPlane.kubeConfig());
    const namespace = await admin.createNamespace('old');
    const { resourceVersion } = podListOf(await admin.listPods(namespace)).metadata;
    await admin.createNamespace('newer');
    await controlPlane.restartApiServer({ signal: 'SIGKILL' });
    const { value: first } = await admin.watchPods(namespace, { resourceVersion }).next();
    expect(first).toMatchObject({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } });
    await admin.close();
  });

  it('ends both servers at stop, and can be stopped twice', async () => {
    const own = await ControlPlane.start();
    const { etcd, apiServer } = own.pids;
    expect([isAlive(etcd), isAlive(apiServer)]).toEqual([true, true]);
    await own.stop();
    await own.stop();
    expect([isAlive(etcd), isAlive(apiServer)]).toEqual([false, false]);
  });

  it('continues from the data folder of an earlier control plane, with the same kubeconfig', async () => {
    const dataDir = await tempDir();
    const first = await ControlPlane.start({ dataDir });
    const admin = new AdminClient(first.kubeConfig());
    const namespace = await admin.createNamespace('kept');
    await admin.close();
    await first.stop();
    await using second = await ControlPlane.start({ dataDir });
    expect(second.token).toBe(first.token);
    expect(await namespaceNames(second.kubeConfig())).toContain(namespace);
  });

  it("rejects with the tail of the server's log when it does not start", async () => {
    const start = ControlPlane.start({ apiServerArgs: ['--no-such-flag'] });
    await expect(start).rejects.toThrow(
      /did not start: kube-apiserver has ended.*--- kube-apiserver.*unknown flag: --no-such-flag/s,
    );
  });
});

describe('npm run control-plane', () => {
  const cli = fileURLToPath(new URL('../../support/control-plane/cli.ts', import.meta.url));

  it.each(['SIGINT', 'SIGTERM'] as const)('serves until %s, and leaves nothing behind', async (signal) => {
    const child = spawn(process.execPath, [cli], { stdio: ['ignore', 'pipe', 'ignore'] });
    const [line] = await once(createInterface(child.stdout), 'line');
    const kubeconfig = String(line).replace('export KUBECONFIG=', '');
    const kubeConfig = new KubeConfig();
    kubeConfig.loadFromFile(kubeconfig);
    expect(await namespaceNames(kubeConfig)).toContain('default');
    child.kill(signal);
    expect(await once(child, 'exit')).toEqual([0, null]);
    await expect(access(kubeconfig)).rejects.toThrow('ENOENT');
    await expect(namespaceNames(kubeConfig)).rejects.toThrow();
  });

  it('ends its servers when it is killed', async () => {
    const dataDir = await tempDir();
    const file = join(dataDir, 'kubeconfig');
    const child = spawn(process.execPath, [cli, '--data-dir', dataDir, '--kubeconfig', file], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    await once(child.stdout, 'data');
    const kubeConfig = new KubeConfig();
    kubeConfig.loadFromString(await readFile(file, 'utf8'));
    expect(await namespaceNames(kubeConfig)).toContain('default');
    child.kill('SIGKILL');
    const isServed = async (): Promise<boolean> =>
      namespaceNames(kubeConfig).then(
        () => true,
        () => false,
      );
    while (await isServed()) await delay(20);
    expect(await isServed()).toBe(false);
  });
});
