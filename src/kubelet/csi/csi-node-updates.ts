// Behaviour of pkg/volume/csi/csi_node_updater.go, v1.36.3.

import { type SteadyClock, sleep } from '../../base/clock.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { resources } from '../../client/resources/api-resource.ts';
import { classifyApiError } from '../../client/resources/error-class.ts';
import { ResourceClient, type ResourceTransport } from '../../client/resources/resource-client.ts';
import type { WireCsiDriver } from './csi-driver-objects.ts';
import type { CsiDrivers } from './csi-drivers.ts';

export interface CsiNodeUpdatesOptions {
  readonly drivers: Pick<CsiDrivers, 'names' | 'update'>;
  readonly transport: ResourceTransport;
  readonly clock: SteadyClock;
  readonly logger: Logger;
}

interface KnownPeriod {
  /** 0: the driver is not asked. */
  periodMs: number;
  /** By the clock's elapsed time. */
  checkedMs: number;
  askedMs: number;
  isBusy: boolean;
}

/** The apiserver takes no shorter period. */
const shortestPeriodMs = 10_000;
/** How often the CSIDriver of a driver is looked at. */
const checkPeriodMs = 60_000;

/** Asks drivers again and again how many volumes fit on the node, as often as their CSIDriver says (`nodeAllocatableUpdatePeriodSeconds`). */
export class CsiNodeUpdates {
  readonly #options: CsiNodeUpdatesOptions;
  readonly #csiDrivers: ResourceClient<WireCsiDriver>;
  readonly #periods = new Map<string, KnownPeriod>();
  readonly #stopping = new AbortController();
  #run: Promise<void> = Promise.resolve();

  constructor(options: CsiNodeUpdatesOptions) {
    this.#options = options;
    this.#csiDrivers = new ResourceClient(options.transport, resources.csiDrivers);
  }

  start(): void {
    this.#run = this.#lookOnAndOn();
  }

  /** A driver that hangs is not waited for: its connection ends beside. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#run;
  }

  async #lookOnAndOn(): Promise<void> {
    const { clock, drivers } = this.#options;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await sleep(clock, shortestPeriodMs, signal);
      const names = new Set(drivers.names());
      for (const name of this.#periods.keys()) if (!names.has(name)) this.#periods.delete(name);
      if (!signal.aborted) for (const name of names) void this.#look(name);
    }
  }

  async #look(name: string): Promise<void> {
    const { clock, drivers, logger } = this.#options;
    const { signal } = this.#stopping;
    const now = clock.elapsed();
    const known = this.#periods.get(name) ?? { periodMs: 0, checkedMs: Number.NEGATIVE_INFINITY, askedMs: now, isBusy: false };
    this.#periods.set(name, known);
    if (known.isBusy) return;
    known.isBusy = true;
    try {
      if (now - known.checkedMs >= checkPeriodMs) {
        known.periodMs = await this.#periodOf(name, signal);
        known.checkedMs = now;
      }
      if (known.periodMs === 0 || now - known.askedMs < known.periodMs) return;
      known.askedMs = now;
      await drivers.update(name, signal);
    } catch (err) {
      if (!signal.aborted)
        logger.warn({ err, driver: name }, 'a storage driver could not be asked again how many volumes it takes');
    } finally {
      known.isBusy = false;
    }
  }

  async #periodOf(name: string, signal: AbortSignal): Promise<number> {
    try {
      const { spec } = await this.#csiDrivers.get({ name }, { signal });
      return (spec?.nodeAllocatableUpdatePeriodSeconds ?? 0) * 1000;
    } catch (error) {
      if (classifyApiError(error) === 'gone') return 0;
      throw error;
    }
  }
}
