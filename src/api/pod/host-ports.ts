// Behaviour of the scheduler's NodePorts plugin and of its HostPortInfo, v1.36.3.
import type { Pod } from '../json/types.ts';
import { isRestartableInitContainer } from './pod-containers.ts';

/** A port of the node that a pod takes. */
export interface HostPort {
  /** `0.0.0.0` for every address. */
  readonly ip: string;
  /** `TCP`, `UDP` or `SCTP`. */
  readonly protocol: string;
  /** The number of the port, 1 to 65535. */
  readonly port: number;
}

type Containers = NonNullable<Pod['spec']>['containers'];

/** The address that stands for every address of the node. */
export const everyAddress = '0.0.0.0';

/** The ports of the node that the pod's sidecars and regular containers take, in this order. */
export function hostPortsOf({ spec }: Pod): HostPort[] {
  const sidecars = spec?.initContainers?.filter(isRestartableInitContainer) ?? [];
  return [...hostPortsOfContainers(sidecars), ...hostPortsOfContainers(spec?.containers ?? [])];
}

/** The ports of the node that these containers take, in their order. */
export function hostPortsOfContainers(containers: Containers): HostPort[] {
  const found: HostPort[] = [];
  for (const { ports } of containers) {
    for (const { hostPort = 0, hostIP, protocol } of ports ?? []) {
      if (hostPort > 0) found.push({ ip: hostIP || everyAddress, protocol: protocol || 'TCP', port: hostPort });
    }
  }
  return found;
}

/** True where no two pods may have both ports on one node. */
export function portsConflict(one: HostPort, other: HostPort): boolean {
  if (one.port !== other.port || one.protocol !== other.protocol) return false;
  return one.ip === other.ip || one.ip === everyAddress || other.ip === everyAddress;
}

/** True when no pod of `others` has a port of the node that `pod` asks for. */
export function hasFreePorts(pod: Pod, others: readonly Pod[]): boolean {
  const wanted = hostPortsOf(pod);
  if (wanted.length === 0) return true;
  const taken = new TakenPorts();
  for (const other of others) for (const port of hostPortsOf(other)) taken.add(port);
  return !wanted.some((port) => taken.conflictsWith(port));
}

/** Ports of a node, found by number and protocol: a pod may ask for thousands, beside thousands of others. */
class TakenPorts {
  readonly #addresses = new Map<string, Set<string>>();

  add(port: HostPort): void {
    const addresses = this.#addresses.get(keyOf(port));
    if (addresses === undefined) this.#addresses.set(keyOf(port), new Set([port.ip]));
    else addresses.add(port.ip);
  }

  /** As {@link portsConflict} with one of them. */
  conflictsWith(port: HostPort): boolean {
    const addresses = this.#addresses.get(keyOf(port));
    return addresses !== undefined && (port.ip === everyAddress || addresses.has(everyAddress) || addresses.has(port.ip));
  }
}

function keyOf({ port, protocol }: HostPort): string {
  return `${port}/${protocol}`;
}
