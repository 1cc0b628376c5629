// Behaviour of the registration handler in pkg/volume/csi/csi_plugin.go, v1.36.3.

import { isDnsSubdomain } from '../../base/names.ts';
import type { PluginHandler, PluginInfo } from '../registration/plugin-registration.ts';
import type { CsiNode, CsiNodeCapability, PluginConnector } from './csi-node.ts';
import type { CsiNodeObject } from './csi-node-object.ts';

export interface CsiDriversOptions {
  readonly connect: PluginConnector['csiNode'];
  readonly nodeObject: Pick<CsiNodeObject, 'install' | 'uninstall'>;
}

/** The longest name of a driver, as the apiserver takes it. */
const longestDriverName = 63;

/** A storage driver that is registered. */
export interface CsiDriverOnNode {
  readonly node: CsiNode;
  /** Asked once of each driver. */
  capabilities(): Promise<ReadonlySet<CsiNodeCapability>>;
}

/** The storage drivers that are registered on this node. */
export class CsiDrivers implements PluginHandler {
  readonly #options: CsiDriversOptions;
  readonly #drivers = new Map<string, CsiDriverOnNode>();

  constructor(options: CsiDriversOptions) {
    this.#options = options;
  }

  /** Throws where no driver of this name is registered. */
  driver(name: string): CsiDriverOnNode {
    const driver = this.#drivers.get(name);
    if (driver === undefined) throw new Error(`driver name ${name} not found in the list of registered CSI drivers`);
    return driver;
  }

  names(): Iterable<string> {
    return [...this.#drivers.keys()];
  }

  /** Asks a driver what it says of the node now, and tells of that. */
  async update(name: string, signal: AbortSignal): Promise<void> {
    const driver = this.driver(name);
    const info = await driver.node.getInfo({ signal });
    // it may be gone meanwhile, or be another one
    const isCurrent = (): boolean => this.#drivers.get(name) === driver;
    if (isCurrent()) await this.#options.nodeObject.install({ name, ...info }, signal, isCurrent);
  }

  validate({ name, supportedVersions }: PluginInfo): void {
    if (!isDnsSubdomain(name) || name.length > longestDriverName) {
      throw new Error(`the name of a CSI driver is a DNS subdomain of at most ${longestDriverName} characters, got ${name}`);
    }
    if (supportedVersions.length === 0) throw new Error(`the CSI driver ${name} names no version that it supports`);
    // 0.x counts as with the kubelet, which takes any driver below 2
    if (!supportedVersions.some((version) => /^v?[01](?:\.\d+)*(?:[-+].*)?$/.test(version))) {
      throw new Error(`none of the versions of the CSI driver ${name} is supported: ${supportedVersions.join(', ')}`);
    }
  }

  async register({ name, endpoint }: PluginInfo, signal: AbortSignal): Promise<void> {
    const node = this.#options.connect(endpoint);
    try {
      const info = await node.getInfo({ signal });
      await this.#options.nodeObject.install({ name, ...info }, signal);
      // nobody deregisters what was given up
      signal.throwIfAborted();
    } catch (error) {
      node.close();
      throw error;
    }
    this.#drivers.get(name)?.node.close();
    this.#drivers.set(name, withCapabilities(node));
  }

  async deregister({ name }: PluginInfo, signal: AbortSignal): Promise<void> {
    const driver = this.#drivers.get(name);
    this.#drivers.delete(name);
    driver?.node.close();
    await this.#options.nodeObject.uninstall(name, signal);
  }

  /** Ends the connections. The drivers stay registered on the apiserver. */
  close(): void {
    for (const { node } of this.#drivers.values()) node.close();
    this.#drivers.clear();
  }
}

function withCapabilities(node: CsiNode): CsiDriverOnNode {
  let known: ReadonlySet<CsiNodeCapability> | undefined;
  return {
    node,
    async capabilities() {
      known ??= await node.getCapabilities();
      return known;
    },
  };
}
