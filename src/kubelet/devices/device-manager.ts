// Behaviour of pkg/kubelet/cm/devicemanager, v1.36.3.

import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pod, WireContainerStatus } from '../../api/json/types.ts';
import type { Container } from '../../api/pod/pod-containers.ts';
import { podFields } from '../../api/pod/pod-log-fields.ts';
import type { SteadyClock } from '../../base/clock.ts';
import { errorText, ifCode } from '../../base/errors.ts';
import { type Failing, FailureRun } from '../../base/failure-run.ts';
import { callGuarded } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { Metrics } from '../../base/metrics/metrics.ts';
import { problemFields } from '../../base/problem.ts';
import { makeFolders } from '../../node/files/make-folders.ts';
import { helped } from '../../node/problem-help.ts';
import { CheckpointFile, checkpointName } from './checkpoint-file.ts';
import { DeviceAdmissions, type DeviceAdmissionsOptions, type DeviceAnswer } from './device-admissions.ts';
import { DeviceAllocator } from './device-allocator.ts';
import type { CheckpointEntry, DeviceCheckpoint } from './device-checkpoint.ts';
import type { DeviceAllocation, DevicePluginConnector, PluginDevice, ServedSocket } from './device-plugin.ts';
import { DevicePlugins } from './device-plugins.ts';
import { DevicePools, healthy } from './device-pools.ts';
import { type ContainerDevices, deviceIDs, PodDevices, type PodDevicesEntry } from './pod-devices.ts';

export interface DeviceManagerOptions extends Pick<DeviceAdmissionsOptions, 'sourcesReady' | 'runs'> {
  /** The folder of the sockets of device plugins and of the checkpoint. */
  readonly folder: string;
  readonly connector: DevicePluginConnector;
  /** Whether pods may still use their devices; undefined while nobody can say. `ends`: the pod is over, and something of it runs still. */
  readonly holders: () => ((podUID: string) => 'holds' | 'ends' | 'gone') | undefined;
  /** Called when what the node has has changed. */
  readonly nodeChanged: () => void;
  /** Called when the health of a device of the pod has changed. */
  readonly podChanged: (podUID: string) => void;
  readonly clock: SteadyClock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** What a node has by its device plugins, and what of it may be given. */
export interface DeviceCounts {
  readonly capacity: Readonly<Record<string, string>>;
  readonly allocatable: Readonly<Record<string, string>>;
}

const socketName = 'kubelet.sock';
/** The device plugins of a node: which there are, what they have, and which pod has what of it. */
export class DeviceManager {
  /** Registers and deregisters plugins. */
  readonly plugins: DevicePlugins;
  readonly #options: DeviceManagerOptions;
  readonly #pools: DevicePools;
  readonly #podDevices: PodDevices;
  readonly #file: CheckpointFile;
  readonly #allocator: DeviceAllocator;
  readonly #admissions: DeviceAdmissions;
  readonly #writes: FailureRun;
  #server: ServedSocket | undefined;
  #unreadable: Failing | undefined;
  #isStopped = false;

  constructor(options: DeviceManagerOptions) {
    this.#options = options;
    const { folder, clock, logger, metrics } = options;
    const pools = new DevicePools(clock);
    this.#pools = pools;
    this.#podDevices = new PodDevices((allocation) => options.connector.allocationBytes(allocation));
    this.plugins = new DevicePlugins({
      ...options,
      pools,
      listed: (resource, changed) => this.#listed(resource, changed),
      gone: () => options.nodeChanged(),
    });
    this.#file = new CheckpointFile(folder, () => this.#checkpoint());
    this.#writes = new FailureRun(clock, (ended) => logger.info(ended, 'the devices of pods can be written down again'));
    this.#allocator = new DeviceAllocator({
      pools,
      podDevices: this.#podDevices,
      unreadable: () => this.#unreadable?.message,
      free: () => this.free(),
      awaitPlugin: (resource, signal) => this.plugins.awaitPlugin(resource, signal),
      save: () => this.#save(),
      clock,
      metrics,
    });
    this.#admissions = new DeviceAdmissions({ ...options, allocator: this.#allocator });
  }

  /** Why what pods have cannot be read or written; undefined while it can. */
  get failing(): Failing | undefined {
    return this.#unreadable ?? this.#writes.failing;
  }

  /**
   * Reads what pods have, removes the sockets of plugins that have registered with an earlier agent, which tells them to come again, and
   * serves the socket that they come to. Rejects where it cannot be served.
   */
  async start(): Promise<void> {
    const { folder, connector } = this.#options;
    await makeFolders(folder, 0o750);
    this.plugins.start();
    await this.#read();
    this.#options.nodeChanged();
    await this.#removeSockets();
    if (this.#isStopped) return;
    const served = await connector.serveDeviceRegistration(join(folder, socketName), (plugin) => this.plugins.registered(plugin));
    this.#server = served;
    if (this.#isStopped) await served.close();
  }

  /** Pods keep what they have. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all([this.#admissions.stop(), this.#server?.close(), this.plugins.stop()]);
    await this.#file.settled();
  }

  // What the rest of the agent asks.

  /** What the node has; what was removed five minutes ago counts as none. */
  counts(): DeviceCounts {
    const gone = this.#pools.removeOld();
    for (const resource of gone) this.#endSeries(resource);
    if (gone.length > 0) this.#saveSoon();
    return this.#pools.counts();
  }

  /** Plugins invent names, and each has series of its own. */
  #endSeries(resource: string): void {
    const { metrics } = this.#options;
    metrics.remove('kubelet_device_plugin_registration_total', { resource_name: resource });
    metrics.remove('kubelet_device_plugin_alloc_duration_seconds', { resource_name: resource });
  }

  /**
   * What of it a pod may be compared with. A pod that has its devices is not refused for a plugin that is gone: as much as all pods have
   * counts as there.
   */
  allocatableFor(podUID: string): Readonly<Record<string, string>> {
    const { allocatable } = this.counts();
    if (!this.#podDevices.has(podUID)) return allocatable;
    const given = [...this.#podDevices.counts()].map(([resource, count]) => [
      resource,
      String(Math.max(count, Number(allocatable[resource] ?? 0))),
    ]);
    return { ...allocatable, ...Object.fromEntries(given) };
  }

  /** Whether a new pod has its devices. Never waits. */
  admit(pod: Pod): DeviceAnswer {
    return this.#admissions.admit(pod);
  }

  /** What a container that is about to be made needs for its devices; undefined where it has none. Rejects with the kubelet's words. */
  prepareContainer(pod: Pod, container: Container, signal: AbortSignal): Promise<DeviceAllocation | undefined> {
    return this.#allocator.prepareContainer(pod, container, signal);
  }

  /** What a container has, by resource. */
  devicesOf(podUID: string, containerName: string): ReadonlyMap<string, ContainerDevices> {
    return this.#podDevices.ofContainer(podUID, containerName);
  }

  /** The healthy devices, by resource. */
  healthyDevices(): ReadonlyMap<string, readonly PluginDevice[]> {
    return new Map(
      this.#pools.resources.map((resource) => {
        const { devices, healthy: ids } = this.#pools.get(resource) ?? {
          devices: new Map<string, PluginDevice>(),
          healthy: new Set(),
        };
        return [resource, [...devices.values()].filter(({ id }) => ids.has(id))] as const;
      }),
    );
  }

  /** How the devices of a container are, for its status. A device that no plugin knows counts as healthy, as for the kubelet. */
  resourceStatuses(podUID: string, containerName: string): NonNullable<WireContainerStatus['allocatedResourcesStatus']> {
    return Array.from(this.devicesOf(podUID, containerName), ([name, devices]) => ({
      name,
      resources: Array.from(deviceIDs(devices), (resourceID) => ({ resourceID, health: this.#healthOf(name, resourceID) })),
    }));
  }

  /**
   * Frees what pods had that are over. Told of the pods that are known, also gives up what is asked for others. True where pods are over
   * whose devices will be free soon.
   */
  free(known?: ReadonlySet<string>): boolean {
    if (known !== undefined) this.#admissions.retain(known);
    const holderOf = this.#options.holders();
    if (holderOf === undefined) return false;
    const pods = this.#podDevices.podUIDs().map((podUID) => ({ podUID, holder: holderOf(podUID) }));
    const gone = pods.filter(({ holder }) => holder === 'gone');
    for (const { podUID } of gone) this.#podDevices.removePod(podUID);
    if (gone.length > 0) this.#saveSoon();
    return pods.some(({ holder }) => holder === 'ends');
  }

  #healthOf(resource: string, id: string): 'Healthy' | 'Unhealthy' {
    const device = this.#pools.get(resource)?.devices.get(id);
    return device === undefined || device.health === healthy ? 'Healthy' : 'Unhealthy';
  }

  #listed(resource: string, changed: ReadonlySet<string>): void {
    const { podChanged, nodeChanged, logger } = this.#options;
    for (const podUID of changed.size === 0 ? [] : this.#podDevices.podsWith(resource, changed)) {
      callGuarded(
        () => podChanged(podUID),
        (err) => logger.error({ err, ...podFields({ uid: podUID }) }, 'the function that has a pod synced again failed'),
      );
    }
    this.#saveSoon();
    nodeChanged();
  }

  // The checkpoint.

  #checkpoint(): DeviceCheckpoint {
    const { connector } = this.#options;
    const entries = this.#podDevices.entries().map(({ podUID, containerName, resource, byNUMA, allocation }): CheckpointEntry => {
      const AllocResp = Buffer.from(connector.allocationBytes(allocation)).toString('base64');
      const DeviceIDs = Object.fromEntries(byNUMA);
      return { PodUID: podUID, ContainerName: containerName, ResourceName: resource, DeviceIDs, AllocResp };
    });
    return { entries, registered: this.#pools.registered() };
  }

  async #read(): Promise<void> {
    const { connector, logger, clock } = this.#options;
    try {
      const checkpoint = await this.#file.read();
      const entries = checkpoint?.entries.map((entry) => entryOf(entry, connector)) ?? [];
      for (const entry of entries) this.#podDevices.add(entry);
      for (const resource of Object.keys(checkpoint?.registered ?? {})) this.#pools.expect(resource);
    } catch (err) {
      const words = `the file ${this.#file.path}, which says what devices pods have, cannot be read: ${errorText(err)}`;
      this.#unreadable = new FailureRun(clock).failed(words);
      const problem = problemFields({ ...this.#unreadable, ...helped('device-checkpoint') }, clock.now());
      logger.error({ err, ...problem }, 'no pod gets devices: nobody knows which ones other pods have');
    }
  }

  /** What pods have must not be lost: a file that could not be read is not written over. */
  async #save(): Promise<void> {
    if (this.#unreadable !== undefined) return;
    try {
      await this.#file.save();
      this.#writes.succeeded();
    } catch (error) {
      this.#writes.failed(error);
      throw new Error(`failed to write checkpoint file ${JSON.stringify(checkpointName)}: ${errorText(error)}`, { cause: error });
    }
  }

  #saveSoon(): void {
    const { logger, clock } = this.#options;
    this.#save().catch((err: unknown) => {
      const problem = problemFields(
        { ...(this.#writes.failing ?? { message: '' }), ...helped('device-checkpoint') },
        clock.now(),
      );
      logger.error({ err, ...problem }, 'what devices there are could not be written down');
    });
  }

  /** As the kubelet does, so that plugins see that a new one is there. */
  async #removeSockets(): Promise<void> {
    const { folder, logger } = this.#options;
    for (const name of await readdir(folder)) {
      const path = join(folder, name);
      const stats = await lstat(path).catch(ifCode('ENOENT'));
      if (!stats?.isSocket()) continue;
      await rm(path, { force: true }).catch((err: unknown) => logger.error({ err, path }, 'a socket could not be removed'));
    }
  }
}

function entryOf(entry: CheckpointEntry, connector: DevicePluginConnector): PodDevicesEntry {
  const { PodUID: podUID, ContainerName: containerName, ResourceName: resource, DeviceIDs, AllocResp } = entry;
  const byNUMA = new Map(Object.entries(DeviceIDs ?? {}).map(([node, ids]) => [Number(node), ids ?? []]));
  return {
    podUID,
    containerName,
    resource,
    byNUMA,
    allocation: connector.readAllocation(Buffer.from(AllocResp ?? '', 'base64')),
  };
}
