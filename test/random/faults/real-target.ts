import { connect } from 'node:tls';
import { AdminClient } from '../../support/admin-client.ts';
import type { FaultProxy } from './fault-proxy.ts';
import {
  type Disturbance,
  type DisturbanceParts,
  type FaultTarget,
  kubeConfigFor,
  pointAt,
  type ServerAccess,
} from './fault-target.ts';
import { OwnControlPlane } from './own-control-plane.ts';
import { eventually, pause } from './pause.ts';

const apiServerKills = 10;
const etcdPauseMs = 2000;

/** A control plane of the run's own. */
export class RealTarget implements FaultTarget {
  readonly kind = 'real';
  readonly #plane: OwnControlPlane;

  private constructor(plane: OwnControlPlane) {
    this.#plane = plane;
  }

  static async start(): Promise<RealTarget> {
    return new RealTarget(await OwnControlPlane.start());
  }

  get url(): string {
    return this.#plane.servers.url;
  }

  get access(): ServerAccess {
    return this.#plane;
  }

  /** Ten kills of kube-apiserver, the rest between them. */
  disturbances(parts: DisturbanceParts): Disturbance[] {
    const pauseEtcd: Disturbance = { kind: 'etcd paused', run: () => this.#plane.pauseEtcd(etcdPauseMs) };
    const rotate: Disturbance = { kind: 'certificate rotated', run: () => this.#rotate(parts.proxy) };
    const others: Disturbance[] = [
      pauseEtcd,
      rotate,
      { kind: 'etcd killed', run: () => this.#plane.killEtcd() },
      { kind: 'token revoked and given back', run: () => this.#revoke(parts) },
      pauseEtcd,
      rotate,
    ];
    const kill: Disturbance = { kind: 'kube-apiserver killed', run: () => this.#plane.killApiServer() };
    return Array.from({ length: apiServerKills }, (_, i) => [kill, ...others.slice(i, i + 1)]).flat();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#plane[Symbol.asyncDispose]();
  }

  async #rotate(proxy: FaultProxy): Promise<void> {
    const before = await this.#servedSerial();
    await this.#plane.rotateCertificate();
    const changed = await eventually(async () => (await this.#servedSerial()) !== before, 90_000, 200);
    if (!changed) throw new Error('kube-apiserver did not take up its new serving certificate');
    proxy.rotateCertificate();
  }

  /** Removes the account, and with it its tokens. A new account of the same name gets a new token. */
  async #revoke({ proxy, kubeConfig, namespace }: DisturbanceParts): Promise<void> {
    const { account, authority } = this.#plane;
    const { token = '' } = kubeConfig.getCurrentUser() ?? {};
    await account.remove(namespace);
    const asNode = new AdminClient(kubeConfigFor(this.url, token, authority.cert));
    // kube-apiserver remembers a good token for ten seconds
    const refused = await eventually(async () => (await asNode.listPods(namespace)).status === 401, 30_000, 200);
    await asNode.close();
    if (!refused) throw new Error('kube-apiserver still takes a token whose service account is gone');
    await pause(1000);
    pointAt(kubeConfig, proxy.url, await account.create(namespace), authority.cert);
  }

  #servedSerial(): Promise<string> {
    const { hostname: host, port } = new URL(this.url);
    return new Promise((resolve, reject) => {
      const socket = connect({ host, port: Number(port), ca: this.#plane.authority.cert }, () => {
        resolve(socket.getPeerCertificate().serialNumber);
        socket.destroy();
      });
      socket.once('error', reject);
    });
  }
}
