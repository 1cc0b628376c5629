// Behaviour of deviceRunContainerOptions in pkg/kubelet/cm/devicemanager/pod_devices.go, v1.36.3.

import type { DeviceAllocation, DeviceMount, DeviceNode } from './device-plugin.ts';

/** Of all resources of one container, what it needs: of two that say something of the same name or path, the first counts. */
export function mergedAllocation(allocations: Iterable<DeviceAllocation>): DeviceAllocation {
  const envs = new Map<string, string>();
  const annotations = new Map<string, string>();
  const mounts = new Map<string, DeviceMount>();
  const devices = new Map<string, DeviceNode>();
  const cdiDevices = new Set<string>();
  for (const allocation of allocations) {
    for (const [name, value] of Object.entries(allocation.envs)) setFirst(envs, name, value);
    for (const [name, value] of Object.entries(allocation.annotations)) setFirst(annotations, name, value);
    for (const mount of allocation.mounts) setFirst(mounts, mount.containerPath, mount);
    for (const device of allocation.devices) setFirst(devices, device.containerPath, device);
    for (const name of allocation.cdiDevices) cdiDevices.add(name);
  }
  return {
    envs: Object.fromEntries(envs),
    annotations: Object.fromEntries(annotations),
    mounts: [...mounts.values()],
    devices: [...devices.values()],
    cdiDevices: [...cdiDevices],
  };
}

function setFirst<T>(map: Map<string, T>, key: string, value: T): void {
  if (!map.has(key)) map.set(key, value);
}

/** The most bytes of what a plugin may have a container get: names, values and paths. */
const mostBytes = 64 * 1024;

/** Whatever a plugin answers becomes an allocation that a container can be started with, or an error that says why not. */
export function checkedAllocation(allocation: DeviceAllocation): DeviceAllocation {
  const { envs, annotations, mounts, devices, cdiDevices } = allocation;
  const texts = [
    ...[envs, annotations].flatMap((map) => Object.entries(map).flat()),
    ...mounts.flatMap(({ containerPath, hostPath }) => [containerPath, hostPath]),
    ...devices.flatMap(({ containerPath, hostPath, permissions }) => [containerPath, hostPath, permissions]),
    ...cdiDevices,
  ];
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 1, 0);
  if (bytes > mostBytes) {
    throw new Error(`the device plugin answered with ${bytes} bytes for one container, and ${mostBytes} are the most`);
  }
  return allocation;
}
