// Behaviour of pkg/kubelet/apis/podresources, v1.36.3.

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pod } from '../../api/json/types.ts';
import { type Container, isRestartableInitContainer } from '../../api/pod/pod-containers.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import { podFields } from '../../api/pod/pod-log-fields.ts';
import type { SteadyClock } from '../../base/clock.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { Metrics } from '../../base/metrics/metrics.ts';
import { makeFolders } from '../../node/files/make-folders.ts';
import type { DeviceManager } from './device-manager.ts';
import type {
  ContainerClaim,
  ContainerResources,
  DevicePluginConnector,
  ListedDevice,
  PodResources,
  PodResourcesLister,
  ServedSocket,
} from './device-plugin.ts';
import { withoutNUMA } from './pod-devices.ts';

export interface PodResourcesServiceOptions {
  readonly rootDirectory: string;
  readonly connector: Pick<DevicePluginConnector, 'servePodResources'>;
  readonly devices: Pick<DeviceManager, 'free' | 'devicesOf' | 'healthyDevices'>;
  /** The claims that a container uses and that were made ready for its pod, each as it is asked for. */
  readonly claimsOf: (pod: Pod, container: Container) => Iterable<ContainerClaim>;
  /** The pods that are not over. */
  readonly activePods: () => readonly Pod[];
  /** All pods. */
  readonly allPods: () => readonly Pod[];
  readonly podByName: (namespace: string, name: string) => Pod | undefined;
  readonly clock: SteadyClock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Of what the containers of a pod have by claims so many bytes are told: monitors take 16 MiB for all pods of a node. */
const mostClaimBytes = 128 * 1024;
const betweenBytes = 8;
const cutLinesEveryMs = 60_000;

/** The API that says which pod has what of the node: `pod-resources/kubelet.sock`. */
export class PodResourcesService implements PodResourcesLister {
  readonly #options: PodResourcesServiceOptions;
  #server: ServedSocket | undefined;
  #isStopped = false;
  #saidCutAt: number | undefined;

  constructor(options: PodResourcesServiceOptions) {
    this.#options = options;
  }

  /** Rejects where the socket cannot be served. */
  async start(): Promise<void> {
    const folder = join(this.#options.rootDirectory, 'pod-resources');
    await makeFolders(folder, 0o750);
    const path = join(folder, 'kubelet.sock');
    await rm(path, { force: true });
    if (this.#isStopped) return;
    const server = await this.#options.connector.servePodResources(path, this);
    this.#server = server;
    if (this.#isStopped) await server.close();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#server?.close();
  }

  list(): readonly PodResources[] {
    this.#count('v1');
    this.#options.devices.free();
    return this.#options.activePods().map((pod) => this.#resourcesOf(pod));
  }

  listAlpha(): readonly PodResources[] {
    this.#count('v1alpha1');
    this.#options.devices.free();
    return this.#options.allPods().map((pod) => ({
      ...namesOf(pod),
      containers: (pod.spec?.containers ?? []).map((container) => this.#containerOf(pod, container, [])),
    }));
  }

  get(namespace: string, name: string): PodResources | undefined {
    this.#count('v1');
    const pod = this.#options.podByName(namespace, name);
    return pod && this.#resourcesOf(pod);
  }

  allocatable(): readonly ListedDevice[] {
    this.#count('v1');
    return Array.from(this.#options.devices.healthyDevices(), ([resourceName, devices]) =>
      devices.flatMap(({ id, numaNodes }) => listed(resourceName, id, numaNodes)),
    ).flat();
  }

  #resourcesOf(pod: Pod): PodResources {
    const { initContainers, containers } = pod.spec ?? {};
    const shown = [...(initContainers ?? []).filter(isRestartableInitContainer), ...(containers ?? [])];
    const room = { bytes: mostClaimBytes };
    const all = shown.map((container) => this.#containerOf(pod, container, this.#claimsOf(pod, container, room)));
    if (room.bytes < 0) this.#sayCut(pod);
    return { ...namesOf(pod), containers: all };
  }

  /** As many of the container's claims as the pod has room for. The room is below zero once there was one claim too many. */
  #claimsOf(pod: Pod, container: Container, room: { bytes: number }): ContainerClaim[] {
    const found: ContainerClaim[] = [];
    if (room.bytes < 0) return found;
    for (const claim of this.#options.claimsOf(pod, container)) {
      room.bytes -= bytesOf(claim);
      if (room.bytes < 0) break;
      found.push(claim);
    }
    return found;
  }

  #sayCut(pod: Pod): void {
    const { clock, logger } = this.#options;
    const now = clock.elapsed();
    if (this.#saidCutAt !== undefined && now - this.#saidCutAt < cutLinesEveryMs) return;
    this.#saidCutAt = now;
    logger.warn(
      podFields(pod.metadata),
      'a pod has so much by claims that the API for the resources of pods tells only the first of it',
    );
  }

  #containerOf(pod: Pod, { name }: Container, claims: readonly ContainerClaim[]): ContainerResources {
    const resources = this.#options.devices.devicesOf(podUIDOf(pod), name);
    const devices = Array.from(resources, ([resourceName, { byNUMA }]) => {
      const nodes = new Map<string, number[]>();
      for (const [node, ids] of byNUMA) for (const id of ids) nodes.set(id, [...(nodes.get(id) ?? []), node]);
      return Array.from(nodes, ([id, of]) =>
        listed(
          resourceName,
          id,
          of.filter((node) => node !== withoutNUMA),
        ),
      ).flat();
    });
    return { name, devices: devices.flat(), claims };
  }

  #count(version: 'v1' | 'v1alpha1'): void {
    this.#options.metrics.increment('kubelet_pod_resources_endpoint_requests_total', { server_api_version: version });
  }
}

function namesOf({ metadata }: Pod): Pick<PodResources, 'name' | 'namespace'> {
  return { name: metadata?.name ?? '', namespace: metadata?.namespace ?? '' };
}

/** How long a claim is in an answer, with what stands between its names. */
function bytesOf({ namespace, name, devices }: ContainerClaim): number {
  let bytes = namespace.length + name.length + betweenBytes;
  for (const { driverName, poolName, deviceName, shareID = '', cdiDeviceIDs } of devices) {
    for (const text of [driverName, poolName, deviceName, shareID, ...cdiDeviceIDs])
      bytes += Buffer.byteLength(text) + betweenBytes;
  }
  return bytes;
}

/** A device has an entry for each of its NUMA nodes. */
function listed(resourceName: string, deviceID: string, numaNodes: readonly number[]): ListedDevice[] {
  if (numaNodes.length === 0) return [{ resourceName, deviceID }];
  return numaNodes.map((numaNode) => ({ resourceName, deviceID, numaNode }));
}
