// Behaviour of Allocate and GetDeviceRunContainerOptions in pkg/kubelet/cm/devicemanager/manager.go, v1.36.3.

import type { Pod } from '../../api/json/types.ts';
import { type Container, isRestartableInitContainer } from '../../api/pod/pod-containers.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import { wholeUnits } from '../../api/quantity/quantity-arithmetic.ts';
import { type SteadyClock, sleep } from '../../base/clock.ts';
import { Semaphore } from '../../base/concurrency/semaphore.ts';
import { errorText } from '../../base/errors.ts';
import type { Metrics } from '../../base/metrics/metrics.ts';
import { checkpointName } from './checkpoint-file.ts';
import { checkedAllocation, mergedAllocation } from './device-allocation.ts';
import type { DeviceAllocation } from './device-plugin.ts';
import type { ConnectedPlugin, DevicePool, DevicePools } from './device-pools.ts';
import { type PodDevices, withoutNUMA } from './pod-devices.ts';

export interface DeviceAllocatorOptions {
  readonly pools: DevicePools;
  readonly podDevices: PodDevices;
  /** Why no devices are given; undefined while they are. */
  readonly unreadable: () => string | undefined;
  /** Frees the devices of pods that are over. True where something of such a pod runs still, and keeps its devices until it does not. */
  readonly free: () => boolean;
  /** After a restart: resolves once the plugin of a resource has listed its devices, or has had its time for that. */
  readonly awaitPlugin: (resource: string, signal: AbortSignal) => Promise<void>;
  /** Writes what pods have to the disk. */
  readonly save: () => Promise<void>;
  readonly clock: SteadyClock;
  readonly metrics: Metrics;
}

/** A pod that is to get its devices. */
export interface DeviceRequest {
  readonly pod: Pod;
  /** True: a container of the pod ran before this agent. What its containers were given then they have. */
  readonly runs: boolean;
  /** True: the agent has just begun, so plugins may still have to come back. */
  readonly isRestart: boolean;
}

interface ContainerRequest extends DeviceRequest {
  readonly container: Container;
  readonly resource: string;
  readonly count: number;
  /** The devices of init containers that are free again, by resource. */
  readonly reusable: Map<string, Set<string>>;
}

/** What was given in one go, so that it can be taken back. */
type Given = (readonly [containerName: string, resource: string])[];

/** How long a plugin may take for one container. The kubelet waits for ever, and does nothing else meanwhile. */
const allocateTimeoutMs = 60_000;
const preStartTimeoutMs = 30_000;
/** How long a pod waits for the devices of those that are over and run still, and how often it looks. */
const endsTimeoutMs = 30_000;
const endsPeriodMs = 200;

/** So many bytes of the checkpoint are what pods have. A file with more than 64 MiB could not be read after a restart. */
const mostPodBytes = 16 * 1024 * 1024;

/** Gives the devices of plugins to the containers of pods. Containers that want the same resource have their turns. */
export class DeviceAllocator {
  readonly #options: DeviceAllocatorOptions;
  /** Of a resource that nobody is given there is none. */
  readonly #turns = new Map<string, Semaphore>();

  constructor(options: DeviceAllocatorOptions) {
    this.#options = options;
  }

  /** The resources of plugins that the containers of the pod ask for, also of plugins that are gone. */
  resourcesOf(pod: Pod): readonly string[] {
    const { initContainers, containers } = pod.spec ?? {};
    const all = [...(initContainers ?? []), ...(containers ?? [])].flatMap((container) => this.#wanted(pod, container));
    return [...new Set(all.map(([resource]) => resource))];
  }

  /**
   * Gives every container of the pod its devices; what an init container had goes to those after it. Rejects with the kubelet's words
   * where that cannot be, and then nothing is given that was not before.
   */
  async allocatePod(request: DeviceRequest, signal: AbortSignal): Promise<void> {
    const { podDevices, save } = this.#options;
    const { pod } = request;
    const podUID = podUIDOf(pod);
    const reusable = new Map<string, Set<string>>();
    const given: Given = [];
    try {
      for (const container of pod.spec?.initContainers ?? []) {
        await this.#allocate(request, container, reusable, given, signal);
        const keeps = isRestartableInitContainer(container);
        for (const [resource, devices] of this.#idsOf(podUID, container)) {
          const ids = reusable.get(resource) ?? new Set();
          for (const id of devices) keeps ? ids.delete(id) : ids.add(id);
          reusable.set(resource, ids);
        }
      }
      for (const container of pod.spec?.containers ?? []) {
        await this.#allocate(request, container, reusable, given, signal);
        for (const [resource, devices] of this.#idsOf(podUID, container)) {
          for (const id of devices) reusable.get(resource)?.delete(id);
        }
      }
      if (given.length > 0) await save();
    } catch (error) {
      for (const [containerName, resource] of given) podDevices.remove(podUID, containerName, resource);
      throw error;
    }
  }

  /** What a container that is about to be made needs for its devices; undefined where it has none. Rejects with the kubelet's words. */
  async prepareContainer(pod: Pod, container: Container, signal: AbortSignal): Promise<DeviceAllocation | undefined> {
    const podUID = podUIDOf(pod);
    const { pools, podDevices } = this.#options;
    const wanted = this.#wanted(pod, container);
    // a container that ran before this agent may have got its devices from nobody that this agent knows of
    if (wanted.some(([resource]) => podDevices.idsOf(podUID, container.name, resource) === undefined)) {
      await this.allocatePod({ pod, runs: false, isRestart: false }, signal);
    }
    for (const [resource] of wanted) {
      const pool = pools.get(resource);
      if (pool === undefined) throw new Error(`endpoint not found in cache for a registered resource: ${resource}`);
      if (pool.options?.preStartRequired !== true) continue;
      const ids = podDevices.idsOf(podUID, container.name, resource);
      if (ids === undefined) {
        throw new Error(
          `no devices found allocated in local cache for pod ${podUID}, container ${container.name}, resource ${resource}`,
        );
      }
      try {
        const { plugin } = connectedPlugin(resource, pool);
        await plugin.preStartContainer([...ids], { timeoutMs: preStartTimeoutMs, signal });
      } catch (error) {
        signal.throwIfAborted();
        throw new Error(`device plugin PreStartContainer rpc failed with err: ${errorText(error)}`, { cause: error });
      }
    }
    const devices = podDevices.ofContainer(podUID, container.name);
    return devices.size === 0 ? undefined : mergedAllocation(Array.from(devices.values(), ({ allocation }) => allocation));
  }

  #idsOf(podUID: string, { name }: Container): (readonly [string, ReadonlySet<string>])[] {
    const { podDevices } = this.#options;
    const resources = podDevices.ofContainer(podUID, name).keys();
    return Array.from(resources, (resource) => [resource, podDevices.idsOf(podUID, name, resource) ?? new Set()] as const);
  }

  /** The resources of plugins that the container asks for, and how many devices of each. */
  #wanted(pod: Pod, container: Container): (readonly [resource: string, count: number])[] {
    const { pools, podDevices } = this.#options;
    return Object.entries(container.resources?.limits ?? {}).flatMap(([resource, quantity]) => {
      if (pools.get(resource) === undefined && !podDevices.hasResource(resource)) return [];
      const count = wholeUnits(quantity);
      return count > 0 && !isClaimed(pod, container.name, resource) ? [[resource, count] as const] : [];
    });
  }

  async #allocate(
    request: DeviceRequest,
    container: Container,
    reusable: ContainerRequest['reusable'],
    given: Given,
    signal: AbortSignal,
  ): Promise<void> {
    for (const [resource, count] of this.#wanted(request.pod, container)) {
      const turn = this.#turns.get(resource) ?? new Semaphore(1);
      this.#turns.set(resource, turn);
      const each = { ...request, container, resource, count, reusable };
      const isNew = await turn
        .run(() => this.#allocateResource(each, signal), signal)
        .finally(() => {
          if (!turn.isFull && this.#turns.get(resource) === turn) this.#turns.delete(resource);
        });
      if (isNew) given.push([container.name, resource]);
    }
  }

  /** False where the container has its devices already. */
  async #allocateResource(request: ContainerRequest, signal: AbortSignal): Promise<boolean> {
    const { pools, podDevices, unreadable, clock, metrics } = this.#options;
    const { pod, container, resource, count, runs, isRestart } = request;
    const podUID = podUIDOf(pod);
    const had = podDevices.idsOf(podUID, container.name, resource);
    if (had !== undefined && had.size !== count) {
      const names = `pod ${JSON.stringify(podUID)} container ${JSON.stringify(container.name)}`;
      throw new Error(`${names} changed request for resource ${JSON.stringify(resource)} from ${had.size} to ${count}`);
    }
    if (runs && (had !== undefined || isRestart)) return false;
    const unread = unreadable();
    if (unread !== undefined) throw new Error(unread);
    if (isRestart) await this.#options.awaitPlugin(resource, signal);
    await this.#awaitEnds(request, signal);
    requireHealthy(resource, pools.get(resource), had);
    if (had !== undefined) return false;
    const ids = await this.#choose(request, signal);
    const connected = connectedPlugin(resource, pools.get(resource));
    const began = clock.elapsed();
    const answer = await connected.plugin.allocate(ids, { timeoutMs: allocateTimeoutMs, signal }).finally(() => {
      const seconds = (clock.elapsed() - began) / 1000;
      // of one that is gone the series has ended
      if (pools.get(resource) !== undefined)
        metrics.observe('kubelet_device_plugin_alloc_duration_seconds', seconds, { resource_name: resource });
    });
    if (answer === undefined)
      throw new Error(
        'no containers return in allocation response &AllocateResponse{ContainerResponses:[]*ContainerAllocateResponse{},}',
      );
    const allocation = checkedAllocation(answer);
    signal.throwIfAborted();
    const byNUMA = nodesOf(ids, pools.get(resource));
    const entry = { podUID, containerName: container.name, resource, byNUMA, allocation };
    const bytes = podDevices.bytesWith(entry);
    if (bytes > mostPodBytes) {
      const limit = `and ${mostPodBytes} are the most that are kept`;
      throw new Error(`what all pods have of device plugins would be ${bytes} bytes in ${checkpointName}, ${limit}`);
    }
    podDevices.add(entry);
    return true;
  }

  /** Which devices the container gets: those of init containers first, then those that the plugin prefers. */
  async #choose({ pod, container, resource, count, reusable }: ContainerRequest, signal: AbortSignal): Promise<string[]> {
    const chosen = new Set<string>();
    const take = (ids: Iterable<string>): boolean => {
      for (const id of ids) if (chosen.size < count) chosen.add(id);
      return chosen.size === count;
    };
    if (take(reusable.get(resource) ?? [])) return [...chosen];
    const available = this.#available(resource);
    const missing = count - chosen.size;
    if (available.size < missing) {
      throw new Error(
        `requested number of devices unavailable for ${resource}. Requested: ${missing}, Available: ${available.size}`,
      );
    }
    const { connected } = this.#options.pools.get(resource) ?? {};
    if (connected?.options.preferredAllocationAvailable === true) {
      const request = { available: [...available, ...chosen], mustInclude: [...chosen], size: count };
      const preferred = await preferredBy(connected, request, signal);
      // what the plugin names beside those that it was asked about is passed over
      const now = this.#available(resource);
      if (take(preferred.filter((id) => available.has(id) && now.has(id)))) return [...chosen];
    }
    // its health may have changed while the plugin was asked
    if (take(this.#available(resource))) return [...chosen];
    const wanted = `Requested: ${count}, Got: ${chosen.size}`;
    const names = `pod ${podUIDOf(pod)}, container ${container.name}`;
    throw new Error(`unexpectedly allocated less resources than required. ${wanted} (${names}, resource ${resource})`);
  }

  /** A pod whose end is forced is gone before its containers are: those that come after it wait for its devices. */
  async #awaitEnds({ resource, count }: ContainerRequest, signal: AbortSignal): Promise<void> {
    const { free, clock } = this.#options;
    const began = clock.elapsed();
    while (free() && this.#available(resource).size < count && clock.elapsed() - began < endsTimeoutMs) {
      await sleep(clock, endsPeriodMs, signal);
      signal.throwIfAborted();
    }
  }

  #available(resource: string): Set<string> {
    const { pools, podDevices } = this.#options;
    const used = podDevices.inUse(resource);
    return new Set([...(pools.get(resource)?.healthy ?? [])].filter((id) => !used.has(id)));
  }
}

async function preferredBy(
  { plugin }: ConnectedPlugin,
  request: { readonly available: readonly string[]; readonly mustInclude: readonly string[]; readonly size: number },
  signal: AbortSignal,
): Promise<readonly string[]> {
  try {
    return await plugin.getPreferredAllocation(request, { timeoutMs: allocateTimeoutMs, signal });
  } catch (error) {
    signal.throwIfAborted();
    throw new Error(`device plugin GetPreferredAllocation rpc failed with err: ${errorText(error)}`, { cause: error });
  }
}

function requireHealthy(resource: string, pool: DevicePool | undefined, had: ReadonlySet<string> | undefined): void {
  if (pool === undefined) throw new Error(`cannot allocate unregistered device ${resource}`);
  if (pool.healthy.size === 0) {
    throw new Error(`no healthy devices present; cannot allocate unhealthy devices ${resource}`);
  }
  if ([...(had ?? [])].some((id) => !pool.healthy.has(id))) {
    throw new Error(`previously allocated devices are no longer healthy; cannot allocate unhealthy devices ${resource}`);
  }
}

function connectedPlugin(resource: string, pool: DevicePool | undefined): ConnectedPlugin {
  if (pool === undefined) throw new Error(`unknown Device Plugin ${resource}`);
  if (pool.connected === undefined) throw new Error(`endpoint ${resource} has been stopped`);
  return pool.connected;
}

function nodesOf(ids: readonly string[], pool: DevicePool | undefined): Map<number, string[]> {
  const byNUMA = new Map<number, string[]>();
  for (const id of ids) {
    const nodes = pool?.devices.get(id)?.numaNodes ?? [];
    for (const node of nodes.length === 0 ? [withoutNUMA] : new Set(nodes)) {
      const ofNode = byNUMA.get(node) ?? [];
      byNUMA.set(node, ofNode);
      ofNode.push(id);
    }
  }
  return byNUMA;
}

/** True where dynamic resource allocation gives the resource to the container. */
function isClaimed({ status }: Pod, containerName: string, resource: string): boolean {
  const { requestMappings = [] } = status?.extendedResourceClaimStatus ?? {};
  return requestMappings.some((each) => each.containerName === containerName && each.resourceName === resource);
}
