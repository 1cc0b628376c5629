import { isDeepStrictEqual } from 'node:util';
import type { WireNodeAddress } from '../../api/json/types.ts';
import { type Clock, sleep } from '../../base/clock.ts';
import { callGuarded } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { AdvertisedStatus } from '../../node/node-object/advertised-status.ts';
import type { ContainerRuntime } from '../runtime/container-runtime.ts';
import type { RuntimeImage } from '../runtime/runtime-images.ts';
import type { Machine } from './machine.ts';
import type { NodeAddresses } from './node-addresses.ts';
import { nodeImages } from './node-images.ts';
import type { NodeResources } from './node-resources.ts';
import { nodeStatus } from './node-status.ts';
import type { RuntimeWatch } from './runtime-watch.ts';

export interface NodeReporterOptions extends NodeResources {
  readonly nodeName: string;
  readonly addresses: Pick<NodeAddresses, 'found' | 'look'>;
  /** The port of the agent's own API as it is now; 0: none. */
  readonly port: () => number;
  readonly machine: Machine;
  readonly runtime: Pick<ContainerRuntime, 'listImages'>;
  readonly watch: Pick<RuntimeWatch, 'health' | 'version'>;
  /** So many images are named; -1: all. */
  readonly maxImages: number;
  readonly periodMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Gets the status whenever it has changed. */
  readonly tell: (status: AdvertisedStatus) => void;
}

/** Says what the node has, again and again: what the runtime can do and which images there are may change. */
export class NodeReporter {
  readonly #options: NodeReporterOptions;
  readonly #stopping = new AbortController();
  #images: readonly RuntimeImage[] | undefined;
  #told: AdvertisedStatus | undefined;
  #run: Promise<void> = Promise.resolve();

  constructor(options: NodeReporterOptions) {
    this.#options = options;
  }

  /** The status as it is known now. */
  status(): AdvertisedStatus {
    const { watch, maxImages, port } = this.#options;
    const images = this.#images && nodeImages(this.#images, maxImages);
    const { version, health } = watch;
    return nodeStatus({ ...this.#options, addresses: this.#addresses(), port: port(), version, health, images });
  }

  /** Looks for the addresses of the node once. */
  async lookOnce(): Promise<void> {
    await this.#options.addresses.look(this.#stopping.signal);
  }

  start(): void {
    this.#run = this.#report();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#run;
  }

  async #report(): Promise<void> {
    const { runtime, clock, periodMs, logger } = this.#options;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        this.#images = await runtime.listImages({ signal });
      } catch (err) {
        if (!signal.aborted) logger.warn({ err }, 'the container runtime did not list its images');
      }
      if (!signal.aborted) this.#tell();
      await sleep(clock, periodMs, signal);
      if (!signal.aborted) await this.lookOnce();
    }
  }

  /** Null where they are not known. */
  #addresses(): WireNodeAddress[] | null {
    const { addresses, nodeName } = this.#options;
    if (addresses.found === undefined) return null;
    const own = addresses.found.map((address) => ({ type: 'InternalIP', address }));
    return [...own, { type: 'Hostname', address: nodeName }];
  }

  #tell(): void {
    const { tell, logger } = this.#options;
    const status = this.status();
    if (isDeepStrictEqual(status, this.#told)) return;
    callGuarded(
      () => {
        tell(status);
        this.#told = status;
      },
      (err) => logger.error({ err }, 'the status of the node could not be told'),
    );
  }
}
