import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubeConfig } from '@kubernetes/client-node';
import { AdminClient } from '../../support/admin-client.ts';
import { type CertificateAuthority, createCertificateAuthority } from '../../support/certificate-authority.ts';
import { ControlPlane } from '../../support/control-plane/control-plane.ts';
import type { Checker } from '../chaos/check/checker.ts';
import { EtcdHistory } from './etcd-history.ts';
import { kubeConfigFor, type ServerAccess } from './fault-target.ts';
import type { History } from './history.ts';
import { NodeAccount } from './node-account.ts';
import { pause } from './pause.ts';
import { WatchHistory } from './watch-history.ts';

/** With these the checker can read etcd, and etcd keeps every version. */
const apiServerArgs = ['--storage-media-type=application/json', '--etcd-compaction-interval=0'];

/** A control plane of a run's own, with serving certificates that the run signs, and the clients that read from it. */
export class OwnControlPlane implements ServerAccess, AsyncDisposable {
  readonly authority: CertificateAuthority;
  readonly servers: ControlPlane;
  /** Talks to the first kube-apiserver, past balancer and proxy. */
  readonly admin: AdminClient;
  readonly account: NodeAccount;
  readonly #dir: string;

  private constructor(servers: ControlPlane, authority: CertificateAuthority, dir: string) {
    this.servers = servers;
    this.authority = authority;
    this.#dir = dir;
    this.admin = new AdminClient(this.#adminKubeConfig());
    this.account = new NodeAccount(this.admin);
  }

  static async start(): Promise<OwnControlPlane> {
    const dir = await mkdtemp(join(tmpdir(), 'pod-status-faults-'));
    const authority = createCertificateAuthority('fault-suite');
    try {
      // kube-apiserver serves with the certificate it finds there, and takes up a new one
      await mkdir(join(dir, 'certs'));
      await writeServingCertificate(dir, authority);
      const servers = await ControlPlane.start({ dataDir: dir, apiServerArgs, quiet: true });
      return new OwnControlPlane(servers, authority, dir);
    } catch (error) {
      await rm(dir, { recursive: true, force: true });
      throw error;
    }
  }

  newToken(namespace: string): Promise<string> {
    return this.account.create(namespace);
  }

  histories(namespace: string, checker: (name: string) => Checker): History[] {
    return [
      new WatchHistory(this.#adminKubeConfig(), namespace, checker('watch')),
      new EtcdHistory(this.servers.etcdUrl, namespace, checker('etcd')),
    ];
  }

  async killApiServer(): Promise<void> {
    await this.servers.killApiServer();
    await this.servers.startApiServer();
  }

  async pauseEtcd(ms: number): Promise<void> {
    this.servers.pauseEtcd();
    await pause(ms);
    this.servers.resumeEtcd();
  }

  async killEtcd(): Promise<void> {
    await this.servers.killEtcd();
    await this.servers.startEtcd();
  }

  /** Another serving certificate of the same authority. */
  async rotateCertificate(): Promise<void> {
    await writeServingCertificate(this.#dir, this.authority);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.admin.close();
    await this.servers.stop();
    await rm(this.#dir, { recursive: true, force: true, maxRetries: 5 });
  }

  #adminKubeConfig(): KubeConfig {
    return kubeConfigFor(this.servers.url, this.servers.token, this.authority.cert);
  }
}

async function writeServingCertificate(dir: string, authority: CertificateAuthority): Promise<void> {
  const { cert, key } = authority.issue();
  await writeFile(join(dir, 'certs/apiserver.key'), key, { mode: 0o600 });
  await writeFile(join(dir, 'certs/apiserver.crt'), cert + authority.cert);
}
