// Behaviour of pkg/kubelet/cm/devicemanager/pod_devices.go, v1.36.3.

import type { DeviceAllocation } from './device-plugin.ts';
import { jsonBytes } from './device-pools.ts';

/** The key of devices whose plugin names no NUMA node. */
export const withoutNUMA = -1;

/** What one container has of one resource. */
export interface ContainerDevices {
  /** The ids of the devices by the NUMA node that they are near to; a device that is near to several is there several times. */
  readonly byNUMA: ReadonlyMap<number, readonly string[]>;
  readonly allocation: DeviceAllocation;
}

/** One entry of what pods have. */
export interface PodDevicesEntry extends ContainerDevices {
  readonly podUID: string;
  readonly containerName: string;
  readonly resource: string;
}

interface KeptDevices extends ContainerDevices {
  /** How many bytes they are in the checkpoint, at most. */
  readonly bytes: number;
}

/** The names of the fields of an entry in the checkpoint, and of a NUMA node in it. */
const bytesOfFields = 128;
const bytesOfNode = 32;

/** Which devices the containers of the node's pods have been given. Who calls writes it down. */
export class PodDevices {
  readonly #allocationBytes: (allocation: DeviceAllocation) => Uint8Array;
  /** By pod, container and resource. */
  readonly #pods = new Map<string, Map<string, Map<string, KeptDevices>>>();

  /** `allocationBytes`: an allocation as the checkpoint has it. */
  constructor(allocationBytes: (allocation: DeviceAllocation) => Uint8Array) {
    this.#allocationBytes = allocationBytes;
  }

  /** The uids of the pods that have devices. */
  podUIDs(): string[] {
    return [...this.#pods.keys()];
  }

  has(podUID: string): boolean {
    return this.#pods.has(podUID);
  }

  add(entry: PodDevicesEntry): void {
    const { podUID, containerName, resource, byNUMA, allocation } = entry;
    const containers = this.#pods.get(podUID) ?? new Map<string, Map<string, KeptDevices>>();
    this.#pods.set(podUID, containers);
    const resources = containers.get(containerName) ?? new Map<string, KeptDevices>();
    containers.set(containerName, resources);
    resources.set(resource, { byNUMA, allocation, bytes: this.#bytesOf(entry) });
  }

  /** How many bytes what pods have would be in the checkpoint with this entry, at most. */
  bytesWith(entry: PodDevicesEntry): number {
    let bytes = this.#bytesOf(entry);
    for (const each of this.#each()) bytes += each.bytes;
    return bytes;
  }

  /** What the container has, by resource, in the order of the resources' names. */
  ofContainer(podUID: string, containerName: string): ReadonlyMap<string, ContainerDevices> {
    return new Map([...(this.#pods.get(podUID)?.get(containerName) ?? [])].sort(byKey));
  }

  /** The ids of what the container has of a resource; undefined where it has been given nothing of it. */
  idsOf(podUID: string, containerName: string, resource: string): ReadonlySet<string> | undefined {
    const found = this.#pods.get(podUID)?.get(containerName)?.get(resource);
    return found && deviceIDs(found);
  }

  /** The ids of what all pods have of a resource. */
  inUse(resource: string): Set<string> {
    const used = new Set<string>();
    for (const entry of this.#each()) if (entry.resource === resource) for (const id of deviceIDs(entry)) used.add(id);
    return used;
  }

  /** How many devices all pods have, by resource. */
  counts(): Map<string, number> {
    const resources = new Set(Array.from(this.#each(), ({ resource }) => resource));
    return new Map(Array.from(resources, (resource) => [resource, this.inUse(resource).size]));
  }

  hasResource(resource: string): boolean {
    for (const entry of this.#each()) if (entry.resource === resource) return true;
    return false;
  }

  /** The uids of the pods that have a device of this resource among `ids`. */
  podsWith(resource: string, ids: ReadonlySet<string>): Set<string> {
    const found = new Set<string>();
    for (const entry of this.#each()) {
      if (entry.resource === resource && [...deviceIDs(entry)].some((id) => ids.has(id))) found.add(entry.podUID);
    }
    return found;
  }

  remove(podUID: string, containerName: string, resource: string): void {
    const containers = this.#pods.get(podUID);
    const resources = containers?.get(containerName);
    resources?.delete(resource);
    if (resources?.size === 0) containers?.delete(containerName);
    if (containers?.size === 0) this.#pods.delete(podUID);
  }

  /** True where the pod had any. */
  removePod(podUID: string): boolean {
    return this.#pods.delete(podUID);
  }

  entries(): PodDevicesEntry[] {
    return [...this.#each()];
  }

  #bytesOf({ podUID, containerName, resource, byNUMA, allocation }: PodDevicesEntry): number {
    let bytes = bytesOfFields + jsonBytes([podUID, containerName, resource]);
    for (const ids of byNUMA.values()) bytes += bytesOfNode + jsonBytes(ids);
    // in base64
    return bytes + 4 * Math.ceil(this.#allocationBytes(allocation).byteLength / 3);
  }

  *#each(): Generator<PodDevicesEntry & KeptDevices> {
    for (const [podUID, containers] of this.#pods) {
      for (const [containerName, resources] of containers) {
        for (const [resource, devices] of resources) yield { podUID, containerName, resource, ...devices };
      }
    }
  }
}

/** Each id once. */
export function deviceIDs({ byNUMA }: Pick<ContainerDevices, 'byNUMA'>): Set<string> {
  return new Set([...byNUMA.values()].flat());
}

function byKey([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return one < other ? -1 : 1;
}
