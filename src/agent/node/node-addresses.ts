import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { WireNodeAddress } from '../../node-object/wire-node.ts';

/** The addresses of a node: those that are given, or else the one that its name leads to, or else the machine's first. */
export async function nodeAddresses(nodeName: string, nodeIPs: readonly string[]): Promise<WireNodeAddress[]> {
  const ips = nodeIPs.length > 0 ? nodeIPs : [await ownAddress(nodeName)].filter((ip) => ip !== undefined);
  return [...ips.map((address) => ({ type: 'InternalIP', address })), { type: 'Hostname', address: nodeName }];
}

async function ownAddress(nodeName: string): Promise<string | undefined> {
  if (isIP(nodeName) !== 0) return nodeName;
  const own = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, address }) => !internal && !address.startsWith('fe80:'));
  const found = await lookup(nodeName, { all: true }).catch(() => []);
  const named = found.find(({ address }) => own.some((each) => each.address === address));
  return named?.address ?? (own.find(({ family }) => family === 'IPv4') ?? own[0])?.address;
}
