// Behaviour of pkg/kubelet/kubelet_pods.go sortPodIPs and generateAPIPodStatus (host IPs), v1.36.3.
import { isIPv6 } from 'node:net';
import type { WirePodStatus } from '../../api/json/types.ts';

interface Address {
  readonly text: string;
  readonly family: 4 | 6;
}

/**
 * At most one address of each family, that of the node's primary address first (IPv4 where the node's is not known): the
 * runtime may list any number, in any order. Addresses come in their short form; what is none is left out.
 */
export function podIPsInOrder(podIPs: readonly string[], nodeIPs: readonly string[]): string[] {
  const addresses = podIPs.map(parseAddress);
  const primary = parseAddress(nodeIPs[0] ?? '')?.family === 6 ? 6 : 4;
  const chosen = [primary, 10 - primary].map((family) => addresses.find((address) => address?.family === family));
  return chosen.flatMap((address) => (address === undefined ? [] : [address.text]));
}

/**
 * The members of a status that hold addresses. A pod in the node's network has the node's addresses, those that it was first
 * given; a second one is added once the node has it.
 */
export function addressMembers(
  podIPs: readonly string[],
  hostIPs: readonly string[],
  hostNetwork: boolean,
): Pick<WirePodStatus, 'hostIP' | 'hostIPs' | 'podIP' | 'podIPs'> {
  const ofNode = hostIPs.slice(0, 2).flatMap((ip) => parseAddress(ip) ?? []);
  const [first, second] = ofNode;
  const ips = [...podIPs];
  if (hostNetwork && first !== undefined) {
    if (ips.length === 0) ips.push(first.text);
    if (ips.length === 1 && second !== undefined && parseAddress(ips[0] ?? '')?.family !== second.family) ips.push(second.text);
  }
  return {
    ...(first !== undefined && { hostIP: first.text, hostIPs: ofNode.map(({ text }) => ({ ip: text })) }),
    ...(ips[0] !== undefined && { podIP: ips[0], podIPs: ips.map((ip) => ({ ip })) }),
  };
}

/** Undefined for what is no address. Leading zeros in IPv4 addresses are decimal, and an IPv4 address within IPv6 is IPv4. */
export function parseAddress(text: unknown): Address | undefined {
  if (typeof text !== 'string') return undefined;
  const parts = text.split('.');
  if (parts.length === 4 && parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) <= 255)) {
    return { family: 4, text: parts.map(Number).join('.') };
  }
  if (!isIPv6(text) || text.includes('%')) return undefined;
  const short = new URL(`http://[${text}]`).hostname.slice(1, -1);
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(short);
  if (mapped === null) return { family: 6, text: short };
  const words = mapped.slice(1).map((word) => Number.parseInt(word, 16));
  return { family: 4, text: words.flatMap((word) => [word >> 8, word & 255]).join('.') };
}
