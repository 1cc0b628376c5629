// Behaviour of pkg/kubelet/nodestatus/setters.go MachineInfo and pkg/kubelet/cm/node_container_manager_linux.go, v1.36.3.
import type { ResourceQuantities } from '../../api/pod/pod-fields.ts';
import { bytesText, canonicalQuantity, nanoInMilli, nanoInOne } from '../../api/quantity/quantity.ts';
import { quantityInNano } from '../../api/quantity/quantity-arithmetic.ts';
import type { Machine } from './machine.ts';

/** Nothing is kept. */
export const noReservations: Reservations = { systemReserved: {}, kubeReserved: {}, evictionHard: {} };

/** What is kept from pods. */
export interface Reservations {
  /** For the machine's own services. */
  readonly systemReserved: ResourceQuantities;
  /** For the agent and the container runtime. */
  readonly kubeReserved: ResourceQuantities;
  /** How much is left when pods are evicted, by signal: `{ 'memory.available': '100Mi' }`. Percentages are of the capacity. */
  readonly evictionHard: ResourceQuantities;
}

/** What the node has, and what of it pods may use. */
export interface NodeResources {
  readonly capacity: Record<string, string>;
  readonly allocatable: Record<string, string>;
}

export interface NodeSize {
  readonly machine: Machine;
  /** Bytes of the file system that holds the pods' folders; undefined where it is not known. */
  readonly rootBytes: number | undefined;
  readonly maxPods: number;
}

/** The resource that each signal of an eviction keeps something of. */
const signalResources: Readonly<Record<string, string>> = {
  'memory.available': 'memory',
  'nodefs.available': 'ephemeral-storage',
};

/** What the node has, and what of it is for pods: memory that is set aside as huge pages is no other memory. */
export function nodeResources(size: NodeSize, reserved: Reservations): NodeResources {
  const { capacity, allocatable } = lessReserved(size, reserved);
  const huge = Object.entries(capacity).filter(([name]) => name.startsWith('hugepages-'));
  const hugeBytes = huge.reduce((sum, [, quantity]) => sum + nano(quantity), 0n);
  if (hugeBytes > 0n) allocatable.memory = less(allocatable.memory ?? '0', hugeBytes, 'memory');
  return { capacity, allocatable };
}

function lessReserved({ machine, rootBytes, maxPods }: NodeSize, reserved: Reservations): NodeResources {
  const capacity: Record<string, string> = { cpu: String(machine.cpus) };
  if (rootBytes !== undefined) capacity['ephemeral-storage'] = inKi(rootBytes);
  for (const [size, count] of machine.hugepages) capacity[`hugepages-${bytesText(size)}`] = bytes(size * count);
  capacity.memory = inKi(machine.memoryBytes);
  capacity.pods = String(maxPods);
  const allocatable: Record<string, string> = {};
  for (const [resource, quantity] of Object.entries(capacity)) {
    const kept = keptOf(resource, quantity, reserved);
    allocatable[resource] = kept === 0n ? quantity : less(quantity, kept, resource);
  }
  return { capacity, allocatable };
}

/**
 * What all pods together may use: huge pages and processes, too. What an eviction keeps free is part of it: else the kernel would kill
 * before an eviction could. The kernel does not count huge pages as memory of a group, so they are not taken off.
 */
export function resourcesForPods(size: NodeSize, settings: Reservations): ResourceQuantities {
  const reserved = { ...settings, evictionHard: {} };
  const pids = String(size.machine.maxProcesses);
  return { ...lessReserved(size, reserved).allocatable, pid: less(pids, keptOf('pid', pids, reserved), 'pid') };
}

function keptOf(resource: string, quantity: string, { systemReserved, kubeReserved, evictionHard }: Reservations): bigint {
  let kept = 0n;
  for (const reserved of [systemReserved[resource], kubeReserved[resource]]) if (reserved !== undefined) kept += nano(reserved);
  for (const [signal, threshold] of Object.entries(evictionHard)) {
    if (signalResources[signal] === resource) kept += thresholdOf(threshold, nano(quantity));
  }
  return kept;
}

/** A quantity, or a percentage of the whole. */
function thresholdOf(threshold: string, whole: bigint): bigint {
  if (!threshold.endsWith('%')) return nano(threshold);
  const perMille = BigInt(Math.round(Number(threshold.slice(0, -1)) * 1000));
  return (((whole / nanoInOne) * perMille) / 100_000n) * nanoInOne;
}

function less(quantity: string, kept: bigint, resource: string): string {
  const left = nano(quantity) - kept;
  const positive = left > 0n ? left : 0n;
  if (resource === 'cpu') return canonicalQuantity(`${positive / nanoInMilli}m`);
  return resource === 'memory' ? inKi(Number(positive / nanoInOne)) : bytes(Number(positive / nanoInOne));
}

function nano(quantity: string): bigint {
  return quantityInNano(canonicalQuantity(quantity));
}

/** In the kibibytes that the kernel counts in, where it is a whole number of them. */
function inKi(count: number): string {
  return count % 1024 === 0 ? `${count / 1024}Ki` : bytes(count);
}

function bytes(count: number): string {
  return String(count);
}
