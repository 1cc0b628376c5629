// Behaviour of the resources in pkg/kubelet/cm/devicemanager/manager.go and endpoint.go, v1.36.3.

import type { SteadyClock } from '../../base/clock.ts';
import { textBeginning } from '../../base/text-beginning.ts';
import type { DevicePlugin, DevicePluginOptions, PluginDevice } from './device-plugin.ts';

/** How long the devices of a plugin that is gone still count as the node's. */
const stopGracePeriodMs = 300_000;
/** So many devices of a plugin are kept. */
const mostDevices = 10_000;
/** The API says 63, and nobody checks it. */
const longestID = 256;
const mostNUMANodes = 64;
/** So many resources that are gone for good are still said to be none. */
const mostRemoved = 100;
/** So many bytes of ids are written down of the healthy devices. Nobody reads them again: what counts after a restart are the resources. */
const mostRegisteredBytes = 16 * 1024 * 1024;
export const healthy = 'Healthy';

/** A plugin with which one can speak. */
export interface ConnectedPlugin {
  readonly plugin: DevicePlugin;
  readonly options: DevicePluginOptions;
  readonly socketPath: string;
}

/** The devices of one resource. */
export interface DevicePool {
  /** By id, as the plugin has listed them last, in its order. */
  readonly devices: ReadonlyMap<string, PluginDevice>;
  /** The ids of those that may be given. None while no plugin is connected. */
  readonly healthy: ReadonlySet<string>;
  /** Undefined while the plugin is gone. */
  readonly connected: ConnectedPlugin | undefined;
  /** What the plugin wants to be asked, or the last one wanted. Undefined where none has come since the agent began. */
  readonly options: DevicePluginOptions | undefined;
  /** When the plugin was found to be gone, by `Clock.elapsed`. */
  readonly stoppedAt: number | undefined;
}

/** What device plugins say that the node has. */
export class DevicePools {
  readonly #clock: SteadyClock;
  readonly #pools = new Map<string, DevicePool>();
  /** Resources whose plugins are gone for good: the node says that it has none. */
  readonly #removed = new Set<string>();

  constructor(clock: SteadyClock) {
    this.#clock = clock;
  }

  get(resource: string): DevicePool | undefined {
    return this.#pools.get(resource);
  }

  /** True for a resource that has devices, or is said to have none any more. */
  knows(resource: string): boolean {
    return this.#pools.has(resource) || this.#removed.has(resource);
  }

  get resources(): readonly string[] {
    return [...this.#pools.keys()];
  }

  /** Resources that were there before a restart: they have no devices until their plugins come back. */
  expect(resource: string): void {
    const none = { devices: new Map(), healthy: new Set<string>(), connected: undefined, options: undefined };
    this.#pools.set(resource, { ...none, stoppedAt: this.#clock.elapsed() });
  }

  connect(resource: string, connected: ConnectedPlugin): void {
    const { devices = new Map(), healthy: ids = new Set<string>() } = this.#pools.get(resource) ?? {};
    this.#removed.delete(resource);
    this.#pools.set(resource, { devices, healthy: ids, connected, options: connected.options, stoppedAt: undefined });
  }

  /** Takes a list of a plugin in. Returns the ids of the devices whose health is another one than it was, or that are new. */
  list(resource: string, listed: readonly PluginDevice[]): ReadonlySet<string> {
    const pool = this.#pools.get(resource);
    if (pool === undefined) return new Set();
    const devices = new Map(listed.map((device) => [device.id, device]));
    const ids = new Set([...devices.values()].filter(({ health }) => health === healthy).map(({ id }) => id));
    this.#pools.set(resource, { ...pool, devices, healthy: ids });
    return new Set([...devices.values()].filter(({ id, health }) => pool.devices.get(id)?.health !== health).map(({ id }) => id));
  }

  /** The plugin is gone: none of its devices is given any more. */
  disconnect(resource: string): void {
    const pool = this.#pools.get(resource);
    if (pool === undefined) return;
    this.#pools.set(resource, { ...pool, healthy: new Set(), connected: undefined, stoppedAt: this.#clock.elapsed() });
  }

  /**
   * Removes resources whose plugins have been gone for five minutes, and returns their names. Of very many, those that were removed first
   * are forgotten.
   */
  removeOld(): readonly string[] {
    const gone: string[] = [];
    for (const [resource, { stoppedAt }] of this.#pools) {
      if (stoppedAt === undefined || this.#clock.elapsed() - stoppedAt <= stopGracePeriodMs) continue;
      this.#pools.delete(resource);
      this.#removed.add(resource);
      gone.push(resource);
    }
    for (const resource of this.#removed) {
      if (this.#removed.size <= mostRemoved) break;
      this.#removed.delete(resource);
    }
    return gone;
  }

  /** The devices of the node, and those of them that may be given. */
  counts(): { readonly capacity: Record<string, string>; readonly allocatable: Record<string, string> } {
    const capacity: Record<string, string> = {};
    const allocatable: Record<string, string> = {};
    for (const resource of this.#removed) {
      capacity[resource] = '0';
      allocatable[resource] = '0';
    }
    for (const [resource, { devices, healthy: ids }] of this.#pools) {
      capacity[resource] = String(devices.size);
      allocatable[resource] = String(ids.size);
    }
    return { capacity, allocatable };
  }

  /** The ids of the healthy devices, by resource. Of a resource whose ids would be too many bytes, none. */
  registered(): Record<string, readonly string[]> {
    let bytes = 0;
    const listed = Array.from(this.#pools, ([resource, { healthy: ids }]) => {
      const more = jsonBytes(ids);
      if (bytes + more > mostRegisteredBytes) return [resource, []] as const;
      bytes += more;
      return [resource, [...ids]] as const;
    });
    return Object.fromEntries(listed);
  }
}

/** How many bytes ids are as a list in JSON. */
export function jsonBytes(ids: Iterable<string>): number {
  let bytes = 2;
  for (const id of ids) bytes += Buffer.byteLength(JSON.stringify(id)) + 1;
  return bytes;
}

/** Whatever a plugin lists becomes devices, or an error that says what no plugin may list. */
export function checkedDevices(listed: readonly PluginDevice[]): readonly PluginDevice[] {
  if (listed.length > mostDevices) {
    throw new Error(`the plugin lists ${listed.length} devices, and a node keeps ${mostDevices} of one resource at most`);
  }
  for (const { id, numaNodes } of listed) {
    const shown = JSON.stringify(textBeginning(id, 100));
    if (id === '') throw new Error('the plugin lists a device without an id');
    if (id.length > longestID) {
      throw new Error(`the plugin lists a device whose id has ${id.length} characters, and ${longestID} are the most: ${shown}`);
    }
    if (numaNodes.length > mostNUMANodes)
      throw new Error(`the plugin lists a device near to ${numaNodes.length} NUMA nodes: ${shown}`);
  }
  return listed;
}
