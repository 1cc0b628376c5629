import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import type { KubeConfig } from '@kubernetes/client-node';
import type { Checker } from '../chaos/check/checker.ts';
import { AdminClient } from '../support/admin-client.ts';
import { type CertificateAuthority, createCertificateAuthority } from '../support/certificate-authority.ts';
import { ControlPlane } from '../support/control-plane/control-plane.ts';
import { EtcdHistory } from './etcd-history.ts';
import type { FaultProxy } from './fault-proxy.ts';
import { type Disturbance, type FaultTarget, kubeConfigFor, pointAt } from './fault-target.ts';
import type { History } from './history.ts';
import { NodeAccount } from './node-account.ts';
import { eventually, pause } from './pause.ts';
import { WatchHistory } from './watch-history.ts';

/** etcd can be read, and keeps everything. */
const apiServerArgs = ['--storage-media-type=application/json', '--etcd-compaction-interval=0'];
const apiServerKills = 10;

/** A control plane of the run's own, with serving certificates of an authority of our own. */
export class RealTarget implements FaultTarget {
  readonly kind = 'real';
  readonly authority: CertificateAuthority;
  readonly admin: AdminClient;
  readonly #controlPlane: ControlPlane;
  readonly #dir: string;
  readonly #account: NodeAccount;

  private constructor(controlPlane: ControlPlane, authority: CertificateAuthority, dir: string) {
    this.#controlPlane = controlPlane;
    this.authority = authority;
    this.#dir = dir;
    this.admin = new AdminClient(this.adminKubeConfig());
    this.#account = new NodeAccount(this.admin);
  }

  static async start(): Promise<RealTarget> {
    const dir = await mkdtemp(join(tmpdir(), 'pod-status-faults-'));
    const authority = createCertificateAuthority('fault-suite');
    try {
      // kube-apiserver serves with what it finds there, and notices when it changes
      await mkdir(join(dir, 'certs'));
      await writeServingCertificate(dir, authority);
      const controlPlane = await ControlPlane.start({ dataDir: dir, apiServerArgs, quiet: true });
      return new RealTarget(controlPlane, authority, dir);
    } catch (error) {
      await rm(dir, { recursive: true, force: true });
      throw error;
    }
  }

  get url(): string {
    return this.#controlPlane.url;
  }

  adminKubeConfig(): KubeConfig {
    return kubeConfigFor(this.#controlPlane.url, this.#controlPlane.token, this.authority.cert);
  }

  newToken(namespace: string): Promise<string> {
    return this.#account.create(namespace);
  }

  histories(namespace: string, checker: (name: string) => Checker): History[] {
    return [
      new WatchHistory(this.adminKubeConfig(), namespace, checker('watch')),
      new EtcdHistory(this.#controlPlane.etcdUrl, namespace, checker('etcd')),
    ];
  }

  /** Ten kills of kube-apiserver, the rest between them. */
  disturbances(parts: {
    readonly proxy: FaultProxy;
    readonly kubeConfig: KubeConfig;
    readonly namespace: string;
  }): Disturbance[] {
    const others: Disturbance[] = [
      { kind: 'etcd paused', run: () => this.#pauseEtcd() },
      { kind: 'certificate rotated', run: () => this.#rotate(parts.proxy) },
      { kind: 'etcd killed', run: () => this.#killEtcd() },
      { kind: 'token revoked and given back', run: () => this.#revoke(parts) },
      { kind: 'etcd paused', run: () => this.#pauseEtcd() },
      { kind: 'certificate rotated', run: () => this.#rotate(parts.proxy) },
    ];
    const kill: Disturbance = { kind: 'kube-apiserver killed', run: () => this.#killApiServer() };
    return Array.from({ length: apiServerKills }, (_, i) => [kill, ...others.slice(i, i + 1)]).flat();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.admin.close();
    await this.#controlPlane.stop();
    await rm(this.#dir, { recursive: true, force: true, maxRetries: 5 });
  }

  async #killApiServer(): Promise<void> {
    await this.#controlPlane.killApiServer();
    await this.#controlPlane.startApiServer();
  }

  async #pauseEtcd(): Promise<void> {
    this.#controlPlane.pauseEtcd();
    await pause(2000);
    this.#controlPlane.resumeEtcd();
  }

  async #killEtcd(): Promise<void> {
    await this.#controlPlane.killEtcd();
    await this.#controlPlane.startEtcd();
  }

  async #rotate(proxy: FaultProxy): Promise<void> {
    const before = await this.#servedSerial();
    await writeServingCertificate(this.#dir, this.authority);
    const changed = await eventually(async () => (await this.#servedSerial()) !== before, 90_000, 200);
    if (!changed) throw new Error('kube-apiserver did not take up its new serving certificate');
    proxy.rotateCertificate();
  }

  /** The account goes, with it every token it had; a new one of the same name gets a new token. */
  async #revoke({
    proxy,
    kubeConfig,
    namespace,
  }: {
    proxy: FaultProxy;
    kubeConfig: KubeConfig;
    namespace: string;
  }): Promise<void> {
    const { token = '' } = kubeConfig.getCurrentUser() ?? {};
    await this.#account.remove(namespace);
    const asNode = new AdminClient(kubeConfigFor(this.url, token, this.authority.cert));
    // kube-apiserver remembers a good token for ten seconds
    const refused = await eventually(async () => (await asNode.listPods(namespace)).status === 401, 30_000, 200);
    await asNode.close();
    if (!refused) throw new Error('kube-apiserver still takes a token whose service account is gone');
    await pause(1000);
    pointAt(kubeConfig, proxy.url, await this.#account.create(namespace), this.authority.cert);
  }

  #servedSerial(): Promise<string> {
    const { hostname: host, port } = new URL(this.url);
    return new Promise((resolve, reject) => {
      const socket = connect({ host, port: Number(port), ca: this.authority.cert }, () => {
        resolve(socket.getPeerCertificate().serialNumber);
        socket.destroy();
      });
      socket.once('error', reject);
    });
  }
}

async function writeServingCertificate(dir: string, authority: CertificateAuthority): Promise<void> {
  const { cert, key } = authority.issue();
  await writeFile(join(dir, 'certs/apiserver.key'), key, { mode: 0o600 });
  await writeFile(join(dir, 'certs/apiserver.crt'), cert + authority.cert);
}
