// Behaviour of pkg/kubelet/apis/podresources, v1.36.3.

import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pod } from '../../api/json/types.ts';
import { type Container, isRestartableInitContainer } from '../../api/pod/pod-containers.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import type { Metrics } from '../../base/metrics/metrics.ts';
import type { DeviceManager } from './device-manager.ts';
import type {
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
  /** The pods that are not over. */
  readonly activePods: () => readonly Pod[];
  /** All pods. */
  readonly allPods: () => readonly Pod[];
  readonly podByName: (namespace: string, name: string) => Pod | undefined;
  readonly metrics: Metrics;
}

/** The API that says which pod has what of the node: `pod-resources/kubelet.sock`. */
export class PodResourcesService implements PodResourcesLister {
  readonly #options: PodResourcesServiceOptions;
  #server: ServedSocket | undefined;
  #isStopped = false;

  constructor(options: PodResourcesServiceOptions) {
    this.#options = options;
  }

  /** Rejects where the socket cannot be served. */
  async start(): Promise<void> {
    const folder = join(this.#options.rootDirectory, 'pod-resources');
    await mkdir(folder, { recursive: true, mode: 0o750 });
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
      containers: (pod.spec?.containers ?? []).map((container) => this.#containerOf(pod, container)),
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
    return { ...namesOf(pod), containers: shown.map((container) => this.#containerOf(pod, container)) };
  }

  #containerOf(pod: Pod, { name }: Container): ContainerResources {
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
    return { name, devices: devices.flat() };
  }

  #count(version: 'v1' | 'v1alpha1'): void {
    this.#options.metrics.increment('kubelet_pod_resources_endpoint_requests_total', { server_api_version: version });
  }
}

function namesOf({ metadata }: Pod): Pick<PodResources, 'name' | 'namespace'> {
  return { name: metadata?.name ?? '', namespace: metadata?.namespace ?? '' };
}

/** A device has an entry for each of its NUMA nodes. */
function listed(resourceName: string, deviceID: string, numaNodes: readonly number[]): ListedDevice[] {
  if (numaNodes.length === 0) return [{ resourceName, deviceID }];
  return numaNodes.map((numaNode) => ({ resourceName, deviceID, numaNode }));
}
