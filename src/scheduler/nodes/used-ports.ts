// Behaviour of kube-scheduler/framework HostPortInfo, v0.36.3.
import { everyAddress, type HostPort } from '../../api/pod/host-ports.ts';

/** The addresses on which a port is taken, by `PROTOCOL PORT`. Never changed: a change makes another one. */
export type UsedPorts = ReadonlyMap<string, readonly string[]>;

/** A port counts once, however many pods take it. */
export function withPorts(used: UsedPorts, ports: readonly HostPort[]): UsedPorts {
  if (ports.length === 0) return used;
  const changed = new Map(used);
  for (const { ip, protocol, port } of ports) {
    const key = `${protocol} ${port}`;
    const addresses = changed.get(key) ?? [];
    if (!addresses.includes(ip)) changed.set(key, [...addresses, ip]);
  }
  return changed;
}

/** Ports that are not taken are passed over. */
export function withoutPorts(used: UsedPorts, ports: readonly HostPort[]): UsedPorts {
  if (ports.length === 0) return used;
  const changed = new Map(used);
  for (const { ip, protocol, port } of ports) {
    const key = `${protocol} ${port}`;
    const left = changed.get(key)?.filter((address) => address !== ip) ?? [];
    if (left.length === 0) changed.delete(key);
    else changed.set(key, left);
  }
  return changed;
}

export function isTaken(used: UsedPorts, { ip, protocol, port }: HostPort): boolean {
  if (used.size === 0) return false;
  const addresses = used.get(`${protocol} ${port}`);
  if (addresses === undefined) return false;
  return ip === everyAddress || addresses.includes(ip) || addresses.includes(everyAddress);
}
