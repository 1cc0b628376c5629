import { isDeepStrictEqual } from 'node:util';
import type { WireContainerImage, WireNodeAddress } from '../../api/json/types.ts';
import { type Clock, sleep } from '../../base/clock.ts';
import { callGuarded } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { AdvertisedStatus } from '../../node/node-object/advertised-status.ts';
import type { ContainerRuntime, RuntimeHealth, RuntimeVersion } from '../runtime/container-runtime.ts';
import type { RuntimeImage } from '../runtime/runtime-images.ts';
import type { Machine } from './machine.ts';
import type { NodeAddresses } from './node-addresses.ts';
import type { NodeResources } from './node-resources.ts';
import type { RuntimeWatch } from './runtime-watch.ts';

export interface NodeReporterOptions {
  /** What the node has now. */
  readonly resources: () => NodeResources;
  readonly nodeName: string;
  readonly addresses: Pick<NodeAddresses, 'found' | 'look'>;
  /** The port of the agent's own API as it is now; 0: none. */
  readonly port: () => number;
  readonly machine: Machine;
  readonly runtime: Pick<ContainerRuntime, 'listImages'>;
  readonly watch: Pick<RuntimeWatch, 'health' | 'version'>;
  /** So many images are named; -1: all. */
  readonly maxImages: number;
  /** True: the addresses of the Node are another one's to say. Default: they are the agent's. */
  readonly keepsAddresses?: boolean;
  /** The volumes that may be in use; undefined while it is not known. Default: nothing is said of volumes. */
  readonly volumesInUse?: (() => readonly string[] | undefined) | undefined;
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
    const { watch, maxImages, port, volumesInUse } = this.#options;
    const images = this.#images && nodeImages(this.#images, maxImages);
    const { version, health } = watch;
    const facts = { addresses: this.#addresses(), port: port(), version, health, images, volumesInUse: volumesInUse?.() };
    return nodeStatus({ ...this.#options, ...this.#options.resources(), ...facts });
  }

  async lookOnce(): Promise<void> {
    await this.#options.addresses.look(this.#stopping.signal);
  }

  /** Tells the status now, if it has changed since it was told last. */
  report(): void {
    if (this.#told !== undefined && !this.#stopping.signal.aborted) this.#tell();
  }

  start(): void {
    this.#run = this.#report();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#run;
  }

  /** What may be in use of volumes is told at once: their mounts wait for that. */
  volumesChanged(): void {
    if (!this.#stopping.signal.aborted) this.#tell();
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
    const { addresses, nodeName, keepsAddresses } = this.#options;
    if (addresses.found === undefined || keepsAddresses === true) return null;
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

// Behaviour of defaultNodeStatusFuncs in pkg/kubelet/kubelet_node_status.go, v1.36.3.

/** What a node's status is made from. */
export interface NodeFacts extends NodeResources {
  readonly machine: Machine;
  /** Null: they are not known. */
  readonly addresses: readonly WireNodeAddress[] | null;
  /** The port of the agent's own API; 0: none. */
  readonly port: number;
  /** Undefined until the runtime has answered. */
  readonly version: RuntimeVersion | undefined;
  /** Undefined until the runtime has answered. */
  readonly health: RuntimeHealth | undefined;
  /** Undefined until the runtime has answered. */
  readonly images: readonly WireContainerImage[] | undefined;
  /** Undefined while it is not known. */
  readonly volumesInUse?: readonly string[] | undefined;
}

/** The version of Kubernetes whose kubelet the agent behaves as. */
const kubeletVersion = 'v1.36.3';
/**
 * What that kubelet declares and this agent does, too: without it the apiserver refuses resizes of whole pods, and the scheduler
 * places no pod with a rule to restart all containers here.
 */
const declaredFeatures = ['InPlacePodLevelResourcesVerticalScaling', 'RestartAllContainersOnContainerExits'];

/** What the agent says of its node. What the runtime has not said yet stays as the apiserver has it. */
export function nodeStatus(facts: NodeFacts): AdvertisedStatus {
  const { machine, version, health, images, volumesInUse } = facts;
  const runtime = version === undefined ? 'Unknown' : `${version.runtimeName}://${version.runtimeVersion}`;
  return {
    capacity: facts.capacity,
    allocatable: facts.allocatable,
    addresses: facts.addresses,
    daemonEndpoints: { kubeletEndpoint: { Port: facts.port } },
    nodeInfo: {
      architecture: machine.architecture,
      bootID: machine.bootID,
      containerRuntimeVersion: runtime,
      kernelVersion: machine.kernelVersion,
      kubeletVersion,
      machineID: machine.machineID,
      operatingSystem: 'linux',
      osImage: machine.osImage,
      systemUUID: machine.systemUUID,
      ...(machine.swapBytes && { swap: { capacity: machine.swapBytes } }),
    },
    declaredFeatures,
    ...(images !== undefined && { images }),
    ...(volumesInUse !== undefined && { volumesInUse }),
    ...(health !== undefined && {
      features: { supplementalGroupsPolicy: health.features.supplementalGroupsPolicy },
      runtimeHandlers: health.handlers.map(({ name, recursiveReadOnlyMounts, userNamespaces }) => ({
        ...(name !== '' && { name }),
        features: { recursiveReadOnlyMounts, userNamespaces },
      })),
    }),
  };
}

// Behaviour of pkg/kubelet/nodestatus/setters.go Images, v1.36.3.

/** More names of one image are left out. */
const mostNames = 5;

/** The images that a node names in its status: the largest `most` of them, the largest first. -1: all. */
export function nodeImages(images: readonly RuntimeImage[], most: number): WireContainerImage[] {
  const sorted = images.toSorted((a, b) => b.sizeBytes - a.sizeBytes);
  const shown = most < 0 ? sorted : sorted.slice(0, most);
  return shown.map(({ repoDigests, repoTags, sizeBytes }) => ({
    names: [...repoDigests, ...repoTags].slice(0, mostNames),
    sizeBytes,
  }));
}
