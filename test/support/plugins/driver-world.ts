import { createHash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Mounter } from '../../../src/kubelet.ts';
import { NodeAgent } from '../../../src/kubelet.ts';
import { GrpcPlugins } from '../../../src/plugins.ts';
import { buildPod, FakeMounter, FakeRuntime, InMemoryApiServer } from '../../../src/testing.ts';
import { networkOf } from '../network-of.ts';
import { quietMachine } from '../quiet-machine.ts';
import { tempDir } from '../temp-dir.ts';

export const driverName = 'hostpath.csi.k8s.io';

/** Paths of one volume. */
export interface VolumePlaces {
  readonly staged: readonly string[];
  readonly published: readonly string[];
}

/** A storage driver and its registrar, each a process or something like one. */
export interface PluginProcesses extends AsyncDisposable {
  startDriver(): Promise<void>;
  startRegistrar(): Promise<void>;
  /** As when its pod is deleted: its socket goes. */
  stopRegistrar(): Promise<void>;
  stopDriver(): Promise<void>;
  /** The driver answers nothing until it goes on. */
  hang(): void;
  goOn(): void;
  /** So many volumes the driver has. */
  volumeCount(): Promise<number>;
  /** Resolves with the id of a volume that outlives its pods. */
  createVolume(name: string, options?: { readonly isBlock?: boolean }): Promise<string>;
  /** Where the driver has made the volume ready: for the node, and for pods. */
  placesOf(volumeID: string): Promise<VolumePlaces>;
}

/** In the place of a storage driver, for a node that has none. */
export const noDriver: PluginProcesses = {
  startDriver: async () => {},
  startRegistrar: async () => {},
  stopRegistrar: async () => {},
  stopDriver: async () => {},
  hang: () => {},
  goOn: () => {},
  volumeCount: async () => 0,
  createVolume: async () => '',
  placesOf: async () => ({ staged: [], published: [] }),
  [Symbol.asyncDispose]: async () => {},
};

// biome-ignore lint/suspicious/noExplicitAny: whatever the server answers
type Answer = any;

/** A node agent on an apiserver in memory, with a storage driver beside it. */
export class DriverWorld<Driver extends PluginProcesses = PluginProcesses> {
  readonly rootDirectory: string;
  readonly driver: Driver;
  readonly mounter: Mounter;
  readonly runtime = new FakeRuntime();
  readonly lines: string[] = [];
  readonly #server: InMemoryApiServer;
  readonly #logs: string;
  readonly #agents: NodeAgent[] = [];

  private constructor(server: InMemoryApiServer, folder: string, mounter: Mounter, driver: Driver) {
    this.#server = server;
    this.rootDirectory = join(folder, 'k');
    this.#logs = join(folder, 'logs');
    this.mounter = mounter;
    this.driver = driver;
  }

  static async make<Driver extends PluginProcesses>(
    mounter: Mounter,
    newDriver: (root: string, mounter: Mounter) => Driver,
  ): Promise<DriverWorld<Driver>> {
    const folder = await tempDir();
    return new DriverWorld(await InMemoryApiServer.start(), folder, mounter, newDriver(join(folder, 'k'), mounter));
  }

  async startAgent(): Promise<NodeAgent> {
    const note = (fields: { err?: unknown }, message: string): void =>
      void this.lines.push(`${message} ${fields.err} ${JSON.stringify(fields)}`);
    const agent = new NodeAgent({
      kubeConfig: this.#server.kubeConfig(),
      nodeName: 'node-1',
      nodeIPs: ['192.0.2.1'],
      network: networkOf('192.0.2.1'),
      runtime: this.runtime,
      mounter: this.mounter,
      plugins: new GrpcPlugins(),
      rootDirectory: this.rootDirectory,
      podLogsDirectory: this.#logs,
      resolvConf: '',
      cgroupsPerQOS: false,
      imageGCHighThresholdPercent: 100,
      machine: quietMachine(),
      logger: { debug: () => {}, info: note, warn: note, error: note },
    });
    this.#agents.push(agent);
    await agent.start();
    return agent;
  }

  async startPlugins(): Promise<void> {
    await this.driver.startDriver();
    await this.driver.startRegistrar();
  }

  async request(method: string, path: string, body?: object): Promise<Answer> {
    const address = this.#server.kubeConfig().getCurrentCluster()?.server ?? '';
    const given = body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
    return (await fetch(`${address}${path}`, { method, ...given })).json();
  }

  async drivers(): Promise<Answer> {
    return (await this.request('GET', '/apis/storage.k8s.io/v1/csinodes/node-1')).spec?.drivers;
  }

  createDriverObject(spec: object = {}): Promise<Answer> {
    return this.request('POST', '/apis/storage.k8s.io/v1/csidrivers', {
      metadata: { name: driverName },
      spec: { attachRequired: false, volumeLifecycleModes: ['Ephemeral'], podInfoOnMount: true, ...spec },
    });
  }

  /** Resolves with the uid of a pod that is to have a volume of the driver. */
  async createPod(name: string, spec: object = {}): Promise<string> {
    const volumes = [{ name: 'data', csi: { driver: driverName } }];
    const containers = [{ name: 'app', image: 'app:1', volumeMounts: [{ name: 'data', mountPath: '/data' }] }];
    const whole = { nodeName: 'node-1', terminationGracePeriodSeconds: 0, containers, volumes, ...spec };
    const pod = buildPod({ metadata: { name, namespace: 'default' }, spec: whole } as object);
    const { uid: _, ...metadata } = pod.metadata ?? {};
    return (await this.request('POST', '/api/v1/namespaces/default/pods', { ...pod, metadata })).metadata.uid;
  }

  /** A claim that is bound to a persistent volume of the driver, both of this name. */
  async createClaim(name: string, volumeHandle: string, spec: object = {}): Promise<void> {
    const resources = { requests: { storage: '16Mi' } };
    const common = { accessModes: ['ReadWriteOnce'], volumeMode: 'Filesystem', storageClassName: '', ...spec };
    const claims = '/api/v1/namespaces/default/persistentvolumeclaims';
    const claim = await this.request('POST', claims, { metadata: { name }, spec: { ...common, resources, volumeName: name } });
    const claimRef = { kind: 'PersistentVolumeClaim', namespace: 'default', name, uid: claim.metadata.uid };
    const volume = {
      ...common,
      capacity: { storage: '16Mi' },
      csi: { driver: driverName, volumeHandle, fsType: 'ext4' },
      claimRef,
    };
    await this.request('POST', '/api/v1/persistentvolumes', { metadata: { name }, spec: volume });
    await this.patch(`${claims}/${name}/status`, { status: { phase: 'Bound', capacity: { storage: '16Mi' } } });
  }

  /** A pod that has a claim. */
  createPodOf(name: string, claimName: string, spec: object = {}): Promise<string> {
    return this.createPod(name, { volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }], ...spec });
  }

  /** What the attach-detach controller and an attacher do. */
  async attach(volumeHandle: string, attachmentMetadata: object = {}): Promise<void> {
    const name = `csi-${createHash('sha256').update(`${volumeHandle}${driverName}node-1`).digest('hex')}`;
    const attachments = '/apis/storage.k8s.io/v1/volumeattachments';
    const spec = { attacher: driverName, nodeName: 'node-1', source: { persistentVolumeName: 'disk' } };
    await this.request('POST', attachments, { metadata: { name }, spec });
    await this.patch(`${attachments}/${name}/status`, { status: { attached: true, attachmentMetadata } });
    const volumesAttached = [{ name: `kubernetes.io/csi/${driverName}^${volumeHandle}`, devicePath: '' }];
    await this.patch('/api/v1/nodes/node-1/status', { status: { volumesAttached } });
  }

  async volumesInUse(): Promise<readonly string[]> {
    return (await this.request('GET', '/api/v1/nodes/node-1')).status.volumesInUse ?? [];
  }

  async patch(path: string, body: object): Promise<Answer> {
    const address = this.#server.kubeConfig().getCurrentCluster()?.server ?? '';
    const headers = { 'content-type': 'application/merge-patch+json' };
    return (await fetch(`${address}${path}`, { method: 'PATCH', body: JSON.stringify(body), headers })).json();
  }

  async phaseOf(name: string): Promise<string | undefined> {
    return (await this.request('GET', `/api/v1/namespaces/default/pods/${name}`)).status?.phase;
  }

  deletePod(name: string): Promise<Answer> {
    return this.request('DELETE', `/api/v1/namespaces/default/pods/${name}`);
  }

  volumeFolder(podUID: string, name = 'data'): string {
    return join(this.rootDirectory, 'pods', podUID, 'volumes', 'kubernetes.io~csi', name);
  }

  /** The group that the files were given to. */
  async groupOf(path: string): Promise<number | undefined> {
    return this.mounter instanceof FakeMounter ? this.mounter.owners.get(path)?.gid : (await stat(path)).gid;
  }

  async podFolders(): Promise<readonly string[]> {
    return readdir(join(this.rootDirectory, 'pods'));
  }

  /** The messages of the events of pods. */
  async events(): Promise<string[]> {
    const { items } = await this.request('GET', '/api/v1/namespaces/default/events');
    return items.map(({ reason, message }: Answer) => `${reason} ${message}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.driver.goOn();
    for (const agent of this.#agents) await agent.stop();
    await this.driver[Symbol.asyncDispose]();
    for (const path of await this.mounter.mountsBelow(this.rootDirectory)) await this.mounter.unmount(path);
    await this.#server.stop();
  }
}
