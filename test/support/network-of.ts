import type { NodeNetwork } from '../../src/kubelet.ts';

/** The network of a machine in memory: these addresses on one interface, and no names. */
export function networkOf(...addresses: readonly string[]): NodeNetwork {
  return {
    addresses: () => addresses.map((address) => ({ name: 'eth0', address, loopback: false })),
    defaultRoutes: () => [],
    lookup: async (name) => {
      throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' });
    },
  };
}
