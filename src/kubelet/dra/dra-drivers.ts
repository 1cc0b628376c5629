// Behaviour of pkg/kubelet/cm/dra/plugin/dra_plugin_manager.go, v1.36.3.

import { type SteadyClock, sleep } from '../../base/clock.ts';
import { nthDelayMs } from '../../base/concurrency/backoff.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { isDnsSubdomain } from '../../base/names.ts';
import { PluginCallError, type PluginHandler, type PluginInfo } from '../registration/plugin-registration.ts';
import type { DeviceHealth } from './device-health.ts';
import type { DraConnector, DraDriver, DraService } from './dra-driver.ts';
import type { ResourceSlices } from './resource-slices.ts';

export interface DraDriversOptions {
  readonly connect: DraConnector['draDriver'];
  readonly slices: Pick<ResourceSlices, 'keep' | 'deleteLater'>;
  readonly health: Pick<DeviceHealth, 'report' | 'clear'>;
  readonly clock: SteadyClock;
  readonly logger: Logger;
}

/** The longest name of a driver, as the apiserver takes it. */
const longestDriverName = 63;
/** A name of a driver has at most so many plugins. */
const mostInstances = 16;
const services: readonly DraService[] = ['v1.DRAPlugin', 'v1beta1.DRAPlugin'];
const healthRetryMs = 5000;
/** A driver that says again and again how its devices are is read so often. */
const healthPeriodMs = 1000;
/** Of a plugin that comes and goes again and again, the log has a line so often. */
const connectionLinePeriodMs = 10_000;
/** A driver that has no such service is asked more and more rarely: it may be replaced by one that has. */
const noHealthRetry = { firstMs: 5000, longestMs: 300_000 };

/** One plugin of a driver: during an update there may be two. */
interface Instance {
  readonly endpoint: string;
  readonly driver: DraDriver;
  readonly ending: AbortController;
  isConnected: boolean;
  /** True from a line in the log on, until the next one may come. */
  isTold: boolean;
}

/** The drivers of dynamic resource allocation that are registered on this node. */
export class DraDrivers implements PluginHandler {
  readonly takesInstances = true;
  readonly #options: DraDriversOptions;
  /** By the name of the driver, in the order in which they came. */
  readonly #instances = new Map<string, Instance[]>();
  readonly #tasks = new Set<Promise<void>>();

  constructor(options: DraDriversOptions) {
    this.#options = options;
  }

  /** The plugin that came last and is connected, or else the last one. Throws where no plugin of this name is registered. */
  driver(name: string): DraDriver {
    const instances = this.#instances.get(name) ?? [];
    const chosen = instances.findLast(({ isConnected }) => isConnected) ?? instances.at(-1);
    if (chosen === undefined) throw new Error(`DRA driver ${name} is not registered`);
    return chosen.driver;
  }

  validate(plugin: PluginInfo): void {
    const { name } = plugin;
    if (!isDnsSubdomain(name) || name.length > longestDriverName) {
      throw new Error(`the name of a DRA driver is a DNS subdomain of at most ${longestDriverName} characters, got ${name}`);
    }
    serviceOf(plugin);
  }

  async register(plugin: PluginInfo): Promise<void> {
    const { name, endpoint } = plugin;
    const instances = this.#instances.get(name) ?? [];
    if (instances.length >= mostInstances) throw new Error(`the DRA driver ${name} has ${mostInstances} plugins already`);
    const driver = this.#options.connect(endpoint, serviceOf(plugin));
    const instance: Instance = { endpoint, driver, ending: new AbortController(), isConnected: false, isTold: false };
    this.#instances.set(name, [...instances, instance]);
    driver.watchConnection((isConnected) => {
      if (instance.ending.signal.aborted) return;
      instance.isConnected = isConnected;
      if (!instance.isTold) this.#keep(this.#tellConnection(name, instance));
      this.#changed(name);
    });
    this.#changed(name);
    this.#keep(this.#watchHealth(name, instance));
  }

  async deregister({ name, endpoint }: PluginInfo): Promise<void> {
    const instances = this.#instances.get(name) ?? [];
    const gone = instances.find((instance) => instance.endpoint === endpoint);
    if (gone === undefined) return;
    const left = instances.filter((instance) => instance !== gone);
    if (left.length > 0) this.#instances.set(name, left);
    else this.#instances.delete(name);
    end(gone);
    this.#changed(name);
  }

  /** Ends the connections. The drivers' slices stay. Resolves when nothing of them goes on. */
  async close(): Promise<void> {
    for (const instances of this.#instances.values()) for (const instance of instances) end(instance);
    this.#instances.clear();
    await Promise.all(this.#tasks);
  }

  /** A driver that does not answer gives no more devices, so its slices must not say that it does. */
  #changed(name: string): void {
    const { slices } = this.#options;
    if (this.#instances.get(name)?.some(({ isConnected }) => isConnected) === true) slices.keep(name);
    else slices.deleteLater(name);
  }

  #keep(running: Promise<void>): void {
    const task = running.finally(() => this.#tasks.delete(task));
    this.#tasks.add(task);
  }

  /** Says whether the plugin answers, and again after a while where that is otherwise then. */
  async #tellConnection(name: string, instance: Instance): Promise<void> {
    const { clock, logger } = this.#options;
    const { endpoint, ending } = instance;
    const fields = { plugin: name, path: endpoint };
    instance.isTold = true;
    for (let told: boolean | undefined; told !== instance.isConnected && !ending.signal.aborted; ) {
      told = instance.isConnected;
      if (told) logger.info(fields, 'a driver of dynamic resource allocation answers');
      else logger.info(fields, 'a driver of dynamic resource allocation does not answer');
      await sleep(clock, connectionLinePeriodMs, ending.signal);
    }
    instance.isTold = false;
  }

  async #watchHealth(name: string, { driver, ending: { signal } }: Instance): Promise<void> {
    const { health, clock, logger } = this.#options;
    for (let withoutService = 0; !signal.aborted; ) {
      let delayMs = healthRetryMs;
      try {
        for await (const devices of driver.watchHealth(signal)) {
          withoutService = 0;
          health.report(name, driver, devices);
          await sleep(clock, healthPeriodMs, signal);
        }
      } catch (err) {
        const hasNone = err instanceof PluginCallError && err.grpcCode === 'Unimplemented';
        withoutService = hasNone ? withoutService + 1 : 0;
        if (hasNone) delayMs = nthDelayMs(withoutService, noHealthRetry);
        else if (!signal.aborted)
          logger.debug({ err, plugin: name }, 'a driver has ceased to say how its devices are; it is asked again');
      }
      health.clear(name, driver);
      await sleep(clock, delayMs, signal);
    }
  }
}

function end({ driver, ending }: Instance): void {
  ending.abort();
  driver.close();
}

/** The first that both know: a plugin names the newest one first. */
function serviceOf({ name, endpoint, supportedVersions }: PluginInfo): DraService {
  const invalid = `invalid supported gRPC versions of DRA driver plugin ${name} at endpoint ${endpoint}`;
  if (supportedVersions.length === 0)
    throw new Error(`${invalid}: empty list of supported gRPC services (aka supported versions)`);
  for (const version of supportedVersions) {
    const service = services.find((each) => each === version);
    if (service !== undefined) return service;
  }
  const shown = (names: readonly string[]): string => `[${names.map((each) => JSON.stringify(each)).join(' ')}]`;
  throw new Error(
    `${invalid}: none of services supported by the plugin (${shown(supportedVersions)}) are supported by the kubelet (${shown(services)})`,
  );
}
