// Behaviour of pkg/kubelet/cm/devicemanager/plugin/v1beta1, v1.36.3.

import { basename, join } from 'node:path';
import { type SteadyClock, sleep } from '../../base/clock.ts';
import { LinkedAbort } from '../../base/concurrency/aborts.ts';
import { errorText } from '../../base/errors.ts';
import { type Failing, FailureRun } from '../../base/failure-run.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { Metrics } from '../../base/metrics/metrics.ts';
import { isExtendedResource, isLabelKey } from '../../base/names.ts';
import { problemFields } from '../../base/problem.ts';
import { textBeginning } from '../../base/text-beginning.ts';
import { helped } from '../../node/problem-help.ts';
import type { PluginHandler, PluginInfo } from '../registration/plugin-registration.ts';
import { isSocketPath } from '../registration/plugin-sockets.ts';
import type { DevicePluginConnector, DevicePluginRegistration, PluginDevice } from './device-plugin.ts';
import type { DevicePools } from './device-pools.ts';
import { PluginConnection } from './plugin-connection.ts';

export interface DevicePluginsOptions {
  /** The folder of the sockets of plugins that come to the kubelet's own socket. */
  readonly folder: string;
  readonly connector: Pick<DevicePluginConnector, 'devicePlugin'>;
  readonly pools: DevicePools;
  /** Told of the devices of a resource that are new, or whose health has changed. */
  readonly listed: (resource: string, changed: ReadonlySet<string>) => void;
  /** Told when a plugin is gone. */
  readonly gone: () => void;
  readonly clock: SteadyClock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** A plugin that is gone, or has listed what no plugin may list. */
export interface DevicePluginTrouble extends Failing {
  readonly resource: string;
}

const version = 'v1beta1';
/** So many resources have plugins. */
const mostResources = 100;
/** So many plugins are asked at once what they are: one that registers and says nothing costs a connection for ten seconds. */
const mostOpening = 16;
/** After a start pods wait so long for plugins that were there before. The kubelet lets them fail at once. */
const comeBackMs = 60_000;

/** The device plugins that are there, one a resource: who has registered last has it. */
export class DevicePlugins implements PluginHandler {
  readonly #options: DevicePluginsOptions;
  /** By resource. */
  readonly #connections = new Map<string, PluginConnection>();
  /** Those that have registered, and have not answered yet. */
  readonly #opening = new Set<PluginConnection>();
  readonly #closing = new Set<Promise<void>>();
  readonly #failures = new Map<string, FailureRun>();
  /** Called when the plugin of a resource lists its devices. */
  readonly #awaited = new Map<string, Set<() => void>>();
  #startedAt = 0;
  #isStopped = false;

  constructor(options: DevicePluginsOptions) {
    this.#options = options;
  }

  /** From now on plugins that were there before have a while to come back. */
  start(): void {
    this.#startedAt = this.#options.clock.elapsed();
  }

  troubles(): readonly DevicePluginTrouble[] {
    return [...this.#failures].flatMap(([resource, { failing }]) => (failing === undefined ? [] : [{ resource, ...failing }]));
  }

  /** Resolves once no plugin is spoken with any more. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const connection of [...this.#connections.values(), ...this.#opening]) this.#close(connection);
    this.#connections.clear();
    for (const resource of this.#awaited.keys()) this.#wake(resource);
    await Promise.all(this.#closing);
  }

  // The way of plugins in plugins_registry.

  validate({ name, supportedVersions }: PluginInfo): void {
    if (!supportedVersions.includes(version)) {
      throw new Error(`manager version, ${version}, is not among plugin supported versions [${supportedVersions.join(' ')}]`);
    }
    if (!isDeviceResource(name)) {
      throw new Error(`invalid name of device plugin socket: the ResourceName ${shown(name)} is invalid`);
    }
  }

  async register({ name, endpoint }: PluginInfo, signal: AbortSignal): Promise<void> {
    await this.#connect(name, endpoint, signal);
  }

  async deregister({ name }: PluginInfo): Promise<void> {
    const connection = this.#connections.get(name);
    if (connection !== undefined) this.#disconnect(name, connection);
  }

  /** A plugin has come to the kubelet's own socket. What this rejects with is told to it. */
  async registered({ version: spoken, endpoint, resourceName }: DevicePluginRegistration): Promise<void> {
    const { folder, metrics } = this.#options;
    if (spoken !== version) {
      throw new Error(`requested API version ${shown(spoken)} is not supported by kubelet. Supported version is ["${version}"]`);
    }
    if (!isDeviceResource(resourceName)) throw new Error(`the ResourceName ${shown(resourceName)} is invalid`);
    if (basename(endpoint) !== endpoint || ['', '.', '..'].includes(endpoint)) {
      throw new Error(`the endpoint ${shown(endpoint)} is no name of a socket in ${folder}`);
    }
    await this.#connect(resourceName, join(folder, endpoint));
    metrics.increment('kubelet_device_plugin_registration_total', { resource_name: resourceName });
  }

  /** After a start: resolves once the plugin of a resource has listed its devices, or has had its time for that. */
  async awaitPlugin(resource: string, signal: AbortSignal): Promise<void> {
    const { clock, pools } = this.#options;
    const pool = pools.get(resource);
    const leftMs = this.#startedAt + comeBackMs - clock.elapsed();
    if (pool === undefined || pool.devices.size > 0 || leftMs <= 0 || this.#isStopped) return;
    const waiting = new LinkedAbort(signal);
    const wake = (): void => waiting.abort();
    const all = this.#awaited.get(resource) ?? new Set();
    this.#awaited.set(resource, all.add(wake));
    await sleep(clock, leftMs, waiting.signal);
    all.delete(wake);
    if (all.size === 0) this.#awaited.delete(resource);
    waiting.release();
    signal.throwIfAborted();
  }

  /** The plugin that has registered last has the resource. */
  async #connect(resource: string, socketPath: string, signal?: AbortSignal): Promise<void> {
    const { connector, clock, logger, pools } = this.#options;
    if (this.#isStopped) throw new Error('the agent stops');
    if (!isSocketPath(socketPath)) throw new Error(`the path ${shown(socketPath)} is none of a socket`);
    if (pools.get(resource) === undefined && pools.resources.length >= mostResources) {
      throw new Error(`device plugins have ${mostResources} resources already, and no more are kept`);
    }
    if (this.#opening.size >= mostOpening) throw new Error(`${mostOpening} device plugins register already; try again`);
    const connection = new PluginConnection({
      plugin: connector.devicePlugin(socketPath),
      clock,
      listed: (devices) => this.#listed(resource, connection, devices),
      ended: (error) => this.#ended(resource, connection, error),
    });
    let options: Awaited<ReturnType<PluginConnection['open']>>;
    this.#opening.add(connection);
    try {
      options = await connection.open(signal ?? new AbortController().signal);
    } catch (error) {
      this.#close(connection);
      throw new Error(`failed to get device plugin options: ${errorText(error)}`, { cause: error });
    } finally {
      this.#opening.delete(connection);
    }
    if (this.#isStopped) {
      this.#close(connection);
      throw new Error('the agent stops');
    }
    const earlier = this.#connections.get(resource);
    if (earlier !== undefined) this.#close(earlier);
    this.#connections.set(resource, connection);
    pools.connect(resource, { plugin: connection.plugin, options, socketPath });
    logger.info({ resource, path: socketPath }, 'a device plugin is registered');
    connection.watch();
  }

  #listed(resource: string, connection: PluginConnection, devices: readonly PluginDevice[]): void {
    if (this.#connections.get(resource) !== connection) return;
    const { pools, listed } = this.#options;
    const changed = pools.list(resource, devices);
    this.#failures.get(resource)?.succeeded();
    listed(resource, changed);
    this.#wake(resource);
  }

  #ended(resource: string, connection: PluginConnection, err: unknown): void {
    const { clock, logger, pools } = this.#options;
    if (this.#connections.get(resource) !== connection) return;
    const run =
      this.#failures.get(resource) ??
      new FailureRun(clock, (ended) => logger.info({ ...ended, resource }, 'a device plugin lists its devices again'));
    for (const each of this.#failures.keys()) if (!pools.knows(each)) this.#failures.delete(each);
    this.#failures.set(resource, run);
    const problem = problemFields({ ...run.failed(err), ...helped('device-plugin') }, clock.now());
    logger.warn({ err, resource, ...problem }, 'a device plugin is gone; its devices are given to no pod');
    this.#disconnect(resource, connection);
  }

  #disconnect(resource: string, connection: PluginConnection): void {
    this.#connections.delete(resource);
    this.#options.pools.disconnect(resource);
    this.#close(connection);
    this.#options.gone();
  }

  #close(connection: PluginConnection): void {
    const closed = connection.close().finally(() => this.#closing.delete(closed));
    this.#closing.add(closed);
  }

  #wake(resource: string): void {
    for (const wake of this.#awaited.get(resource) ?? []) wake();
  }
}

function isDeviceResource(name: string): boolean {
  return isExtendedResource(name) && isLabelKey(name);
}

function shown(text: string): string {
  return JSON.stringify(textBeginning(text, 100));
}
