// Behaviour of pkg/kubelet/cm/devicemanager/plugin/v1beta1/client.go, v1.36.3.

import { type SteadyClock, sleep } from '../../base/clock.ts';
import type { DevicePlugin, DevicePluginOptions, PluginDevice } from './device-plugin.ts';
import { checkedDevices } from './device-pools.ts';

const optionsTimeoutMs = 10_000;
/** A plugin that lists again and again is read so often. */
const listPeriodMs = 1000;

export interface PluginConnectionOptions {
  readonly plugin: DevicePlugin;
  readonly clock: SteadyClock;
  /** Gets each list of devices. */
  readonly listed: (devices: readonly PluginDevice[]) => void;
  /** Told once why no more lists come; not after `close`. */
  readonly ended: (error: unknown) => void;
}

/** Reads what one device plugin lists, until it is gone. */
export class PluginConnection {
  readonly #options: PluginConnectionOptions;
  readonly #closing = new AbortController();
  #run: Promise<void> = Promise.resolve();

  constructor(options: PluginConnectionOptions) {
    this.#options = options;
  }

  get plugin(): DevicePlugin {
    return this.#options.plugin;
  }

  /** Resolves with what the plugin wants to be asked. Rejects where it cannot be spoken with. */
  open(signal: AbortSignal): Promise<DevicePluginOptions> {
    return this.plugin.getOptions({ timeoutMs: optionsTimeoutMs, signal });
  }

  /** Begins to read. */
  watch(): void {
    this.#run = this.#watch();
  }

  /** Ends the connection. Resolves once nothing is read any more. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.plugin.close();
    await this.#run;
  }

  async #watch(): Promise<void> {
    const { plugin, clock, listed, ended } = this.#options;
    const { signal } = this.#closing;
    try {
      for await (const devices of plugin.listAndWatch(signal)) {
        if (signal.aborted) return;
        listed(checkedDevices(devices));
        await sleep(clock, listPeriodMs, signal);
      }
      throw new Error('the plugin has ended its list of devices');
    } catch (error) {
      if (!signal.aborted) ended(error);
    }
  }
}
