import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WireNode, WirePod } from '../../../src/api/json/types.ts';
import { Cloud } from './cloud.ts';
import { cloudVersionOf } from './cloud-provider.ts';
import type { Departure, FleetRecord } from './fleet-record.ts';
import { FleetServers } from './fleet-servers.ts';
import { MemberProcess, type MemberSettings } from './member-process.ts';

export interface FleetWorldOptions extends Omit<MemberSettings, 'kubeconfig' | 'id' | 'cloud' | 'nodes'> {
  readonly nodes: number;
  readonly apiServers?: 1 | 2;
  readonly seed?: number;
  /** What a member's process runs. Default: a member of a fleet. */
  readonly script?: string;
}

/** The namespace of the pods. */
export const podNamespace = 'fleet-pods';

/** Servers, a cloud and members, each member a process with a way of its own to the servers. */
export class FleetWorld implements AsyncDisposable {
  readonly servers: FleetServers;
  readonly cloud: Cloud;
  readonly nodes: readonly string[];
  /** All that there ever were. */
  readonly members: MemberProcess[] = [];
  readonly departures: Departure[] = [];
  /** Where the members' logs are. */
  readonly dir: string;
  readonly #options: FleetWorldOptions;

  private constructor(options: FleetWorldOptions, parts: Pick<FleetWorld, 'servers' | 'cloud' | 'dir'>) {
    this.#options = options;
    this.servers = parts.servers;
    this.cloud = parts.cloud;
    this.dir = parts.dir;
    this.nodes = Array.from({ length: options.nodes }, (_, index) => `node-${String(index).padStart(3, '0')}`);
  }

  static async start(options: FleetWorldOptions): Promise<FleetWorld> {
    const servers = await FleetServers.start(options.apiServers === undefined ? {} : { apiServers: options.apiServers });
    const cloud = await Cloud.start(options.seed);
    const dir = await mkdtemp(join(tmpdir(), 'judged-members-'));
    await servers.admin.send('POST', '/api/v1/namespaces', { body: { metadata: { name: podNamespace } } });
    return new FleetWorld(options, { servers, cloud, dir });
  }

  /** Those whose process runs and was not told to end. */
  get running(): readonly MemberProcess[] {
    return this.members.filter(({ isRunning, isLeaving }) => isRunning && !isLeaving);
  }

  /** A process that is started under the name of one that has ended is a member that was started again. */
  async addMember(id = `member-${this.members.length + 1}`): Promise<MemberProcess> {
    const { script, fleet, shards, leaseDurationMs, renewDeadlineMs, retryPeriodMs } = this.#options;
    const relay = await this.servers.relay();
    // some members have one server, some the other, some both
    if (this.servers.second !== undefined) relay.switchTo([0, 1, undefined][this.members.length % 3]);
    const kubeconfig = join(this.dir, `${id}.kubeconfig`);
    await writeFile(kubeconfig, this.servers.kubeconfigBy(relay), { mode: 0o600 });
    const times = { leaseDurationMs, renewDeadlineMs, retryPeriodMs };
    const member = MemberProcess.start({
      settings: { kubeconfig, fleet, id, nodes: this.nodes, shards, ...times, cloud: this.cloud.url },
      relay,
      logFile: join(this.dir, `${id}.log`),
      departed: (departure) => this.departures.push(departure),
      ...(script !== undefined && { script }),
    });
    this.members.push(member);
    return member;
  }

  /** Resolves to the status of the answer. */
  async createPod(name: string, nodeName: string, restartPolicy = 'Always'): Promise<number> {
    const container = (container: string) => ({ name: container, image: 'app:1' });
    const spec = {
      nodeName,
      restartPolicy,
      automountServiceAccountToken: false,
      containers: [container('app'), container('log')],
    };
    return (await this.servers.admin.createPod(podNamespace, { metadata: { name }, spec })).status;
  }

  async pods(): Promise<WirePod[]> {
    const { status, body } = await this.servers.admin.listPods(podNamespace);
    if (status !== 200) throw new Error(`the list of pods was answered ${status}`);
    return (body as { items: WirePod[] }).items;
  }

  /** The names of the nodes that are Ready. */
  async readyNodes(): Promise<string[]> {
    const { body } = await this.servers.admin.send('GET', '/api/v1/nodes');
    const isReady = ({ status }: WireNode): boolean =>
      status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;
    return (body as { items: WireNode[] }).items.filter(isReady).map(({ metadata }) => metadata?.name ?? '');
  }

  /** The pods of which server and cloud do not say the same, and those that are still to be deleted. */
  async outOfStep(): Promise<string[]> {
    const inCloud = new Map(this.cloud.pods.map(({ uid, version }) => [uid, version]));
    const found: string[] = [];
    for (const { metadata, status } of await this.pods()) {
      const { uid = '', name = '' } = metadata ?? {};
      const shown = cloudVersionOf(status?.message);
      if (shown === undefined || shown !== inCloud.get(uid)) found.push(`${name}: ${shown} for ${inCloud.get(uid)}`);
      else if (metadata?.deletionTimestamp !== undefined) found.push(`${name} is still to be deleted`);
      inCloud.delete(uid);
    }
    return [...found, ...[...inCloud.keys()].map((uid) => `${uid} is only in the cloud`)];
  }

  /** Everything that the run has left behind so far. */
  async record(): Promise<FleetRecord> {
    const { fleet, shards, leaseDurationMs } = this.#options;
    const { departures, cloud } = this;
    const history = await this.servers.history(fleet);
    return { fleet, shards, leaseDurationMs, ...history, departures, ledger: cloud.ledger, cloudPods: cloud.pods };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.members.map((member) => member[Symbol.asyncDispose]()));
    await this.cloud[Symbol.asyncDispose]();
    await this.servers[Symbol.asyncDispose]();
    await rm(this.dir, { recursive: true, force: true });
  }
}
