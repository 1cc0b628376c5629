// Behaviour of supportsVolumeLifecycleMode in pkg/volume/csi/csi_mounter.go and of skipAttach in csi_plugin.go, v1.36.3.

import type { V1CSIDriver } from '@kubernetes/client-node';
import type { Wire } from '../../api/json/types.ts';
import { errorText } from '../../base/errors.ts';
import { resources } from '../../client/resources/api-resource.ts';
import { classifyApiError } from '../../client/resources/error-class.ts';
import { ResourceClient, type ResourceTransport } from '../../client/resources/resource-client.ts';

export type WireCsiDriver = Wire<V1CSIDriver>;

/** What the cluster says of drivers. */
export class CsiDriverObjects {
  readonly #csiDrivers: ResourceClient<WireCsiDriver>;

  constructor(transport: ResourceTransport) {
    this.#csiDrivers = new ResourceClient(transport, resources.csiDrivers);
  }

  /** Undefined where there is none. */
  async find(name: string, signal?: AbortSignal): Promise<WireCsiDriver | undefined> {
    try {
      return await this.#csiDrivers.get({ name }, { signal });
    } catch (cause) {
      signal?.throwIfAborted();
      if (classifyApiError(cause) === 'gone') return undefined;
      throw new Error(`the CSIDriver ${name} could not be read: ${errorText(cause)}`, { cause });
    }
  }

  /** The driver, which makes volumes of this mode. A driver without a CSIDriver makes persistent ones alone: then it is one that says nothing. */
  async requireMode(name: string, mode: 'Ephemeral' | 'Persistent', signal: AbortSignal): Promise<WireCsiDriver> {
    const driver = await this.find(name, signal);
    if (driver === undefined && mode === 'Persistent') return { spec: {} };
    if (driver === undefined) throw new Error(`volume mode "${mode}" not supported by driver ${name} (no CSIDriver object)`);
    // a server that fills in no defaults
    const modes = driver.spec?.volumeLifecycleModes ?? ['Persistent'];
    if (modes.includes(mode)) return driver;
    const shown = modes.map((each) => JSON.stringify(each)).join(' ');
    throw new Error(`volume mode "${mode}" not supported by driver ${name} (only supports [${shown}])`);
  }
}

/** Whether a controller attaches the driver's volumes to nodes. One without a CSIDriver may be such a driver. */
export function isAttachable(driver: WireCsiDriver | undefined): boolean {
  return driver?.spec?.attachRequired !== false;
}
