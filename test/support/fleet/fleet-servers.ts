import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AdminClient } from '../admin-client.ts';
import type { ApiServer } from '../control-plane/api-server.ts';
import { ControlPlane } from '../control-plane/control-plane.ts';
import { TcpRelay } from '../tcp-relay.ts';
import { type AuditedWrite, AuditLog, auditFlags, writeAuditPolicy } from './audit-log.ts';
import { readEtcdVersions } from './etcd-versions.ts';
import { type FleetVersion, fleetVersion, recordedKeys } from './fleet-record.ts';

/** With these etcd keeps every version, in words that can be read. */
const storageFlags = ['--storage-media-type=application/json', '--etcd-compaction-interval=0'];

interface SecondServer {
  readonly server: ApiServer;
  /** Its way to etcd. */
  readonly etcdRelay: TcpRelay;
}

/** A control plane of one kube-apiserver or two over one etcd, which writes down each write of a fleet. */
export class FleetServers implements AsyncDisposable {
  readonly controlPlane: ControlPlane;
  readonly second: SecondServer | undefined;
  /** Talks to the first kube-apiserver. */
  readonly admin: AdminClient;
  readonly #dir: string;

  private constructor(dir: string, controlPlane: ControlPlane, second: SecondServer | undefined) {
    this.#dir = dir;
    this.controlPlane = controlPlane;
    this.second = second;
    this.admin = new AdminClient(controlPlane.kubeConfig());
  }

  static async start({ apiServers = 1 }: { apiServers?: 1 | 2 } = {}): Promise<FleetServers> {
    const dir = await mkdtemp(join(tmpdir(), 'judged-servers-'));
    const policy = join(dir, 'policy.yaml');
    const flagsOf = (number: number): string[] => auditFlags(policy, join(dir, `audit-${number}.log`));
    await writeAuditPolicy(policy);
    const controlPlane = await ControlPlane.start({ apiServerArgs: [...storageFlags, ...flagsOf(1)], quiet: true });
    if (apiServers === 1) return new FleetServers(dir, controlPlane, undefined);
    const etcdRelay = await TcpRelay.to(controlPlane.etcdUrl);
    const server = await controlPlane.startAnotherApiServer({ etcdUrl: etcdRelay.url, args: flagsOf(2) });
    return new FleetServers(dir, controlPlane, { server, etcdRelay });
  }

  /** Another way to the servers, as a member has one: each connection goes to the next server. */
  relay(): Promise<TcpRelay> {
    return TcpRelay.to(this.controlPlane.url, ...(this.second === undefined ? [] : [this.second.server.url]));
  }

  /** The administrator's kubeconfig, by this way. */
  kubeconfigBy(relay: TcpRelay): string {
    return this.controlPlane.kubeconfigYaml().replace(this.controlPlane.url, relay.url);
  }

  /** What etcd and the audit logs have of a fleet, up to now. Both servers and etcd must run. */
  async history(fleet: string): Promise<{ readonly versions: FleetVersion[]; readonly writes: readonly AuditedWrite[] }> {
    const log = new AuditLog();
    await log.readFile(join(this.#dir, 'audit-1.log'));
    if (this.second !== undefined) await log.readFile(join(this.#dir, 'audit-2.log'));
    const versions: FleetVersion[] = [];
    await readEtcdVersions(this.controlPlane.etcdUrl, recordedKeys, (found) => {
      const version = fleetVersion(fleet, found);
      if (version !== undefined) versions.push(version);
    });
    return { versions, writes: log.writes };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.admin.close();
    await this.controlPlane.stop();
    await this.second?.etcdRelay[Symbol.asyncDispose]();
    await rm(this.#dir, { recursive: true, force: true });
  }
}
