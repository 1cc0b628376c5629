// Behaviour of pkg/kubelet/cm/dra/healthinfo.go, v1.36.3.

import type { SteadyClock } from '../../base/clock.ts';
import { textBeginning } from '../../base/text-beginning.ts';
import type { DraDeviceHealth } from './dra-driver.ts';

export interface DeviceHealthOptions {
  /** Told of devices of a driver that are otherwise than they were, by the pool and the name. */
  readonly onChange: (driver: string, devices: readonly HealthyDevice[]) => void;
  readonly clock: SteadyClock;
}

type HealthyDevice = Pick<DraDeviceHealth, 'poolName' | 'deviceName'>;
type KnownHealth = Pick<DraDeviceHealth, 'health' | 'message'>;

/** So many devices of one plugin are kept. */
const mostDevices = 10_000;
/** The longest name of a pool, as the apiserver takes it. No name of a device is as long. */
const longestName = 253;
const longestMessage = 1024;
const defaultTimeoutMs = 30_000;
const longestTimeoutMs = 86_400_000;
const unknown: KnownHealth = { health: 'Unknown', message: '' };

interface HeardHealth extends KnownHealth {
  readonly device: HealthyDevice;
  readonly timeoutMs: number;
  /** By the clock's elapsed time. */
  readonly heardMs: number;
}

/** By the pool and the name of the device. */
type HealthOfPlugin = Map<string, HeardHealth>;

/** How devices are, as the plugins of their drivers say. What a plugin has said long ago, or is gone, counts as nothing. */
export class DeviceHealth {
  readonly #options: DeviceHealthOptions;
  /** By the driver, and by the plugin of it, the last one last. */
  readonly #drivers = new Map<string, Map<object, HealthOfPlugin>>();

  constructor(options: DeviceHealthOptions) {
    this.#options = options;
  }

  of(driver: string, poolName: string, deviceName: string): KnownHealth {
    const key = keyOf({ poolName, deviceName });
    const heard = [...(this.#drivers.get(driver)?.values() ?? [])].findLast((plugin) => plugin.has(key))?.get(key);
    return heard === undefined || this.#isOld(heard) ? unknown : heard;
  }

  /** What a plugin says now of its devices. Of very many the first ones count. */
  report(driver: string, plugin: object, devices: readonly DraDeviceHealth[]): void {
    const plugins = this.#drivers.get(driver) ?? new Map<object, HealthOfPlugin>();
    const known: HealthOfPlugin = plugins.get(plugin) ?? new Map();
    this.#drivers.set(driver, plugins.set(plugin, known));
    const heardMs = this.#options.clock.elapsed();
    const changed: HealthyDevice[] = [];
    const named = new Set<string>();
    for (const { poolName, deviceName, health, timeoutSeconds, message } of devices.slice(0, mostDevices)) {
      if (poolName.length > longestName || deviceName.length > longestName) continue;
      const device = { poolName, deviceName };
      const key = keyOf(device);
      named.add(key);
      const timeoutMs = timeoutSeconds > 0 ? Math.min(timeoutSeconds * 1000, longestTimeoutMs) : defaultTimeoutMs;
      const now = { device, health, message: shortened(message), timeoutMs, heardMs };
      const before = known.get(key);
      if (before === undefined && known.size >= mostDevices) continue;
      known.set(key, now);
      const isSame = before?.health === now.health && before.message === now.message && !this.#isOld(before);
      if (!isSame) changed.push(device);
    }
    for (const [key, heard] of known) {
      if (named.has(key) || !this.#isOld(heard)) continue;
      known.delete(key);
      changed.push(heard.device);
    }
    this.#tell(driver, changed);
  }

  /** The plugin says nothing any more. */
  clear(driver: string, plugin: object): void {
    const plugins = this.#drivers.get(driver);
    const gone = [...(plugins?.get(plugin)?.values() ?? [])].map(({ device }) => device);
    plugins?.delete(plugin);
    if (plugins?.size === 0) this.#drivers.delete(driver);
    this.#tell(driver, gone);
  }

  #isOld({ heardMs, timeoutMs }: HeardHealth): boolean {
    return this.#options.clock.elapsed() - heardMs > timeoutMs;
  }

  #tell(driver: string, changed: readonly HealthyDevice[]): void {
    if (changed.length > 0) this.#options.onChange(driver, changed);
  }
}

function keyOf({ poolName, deviceName }: HealthyDevice): string {
  return `${poolName}/${deviceName}`;
}

function shortened(message: string): string {
  return message.length <= longestMessage ? message : `${textBeginning(message, longestMessage - 3)}...`;
}
