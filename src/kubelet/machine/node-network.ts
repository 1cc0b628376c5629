// Facts of k8s.io/apimachinery/pkg/util/net/interface.go, v0.36.3: what of the kernel's tables of routes counts.
import { lookup } from 'node:dns/promises';
import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';

/** An address of the machine. */
export interface InterfaceAddress {
  /** The name of the interface, such as `eth0`. */
  readonly name: string;
  /** Its address, without the length of a prefix. */
  readonly address: string;
  /** True: it is an address of the loopback interface. */
  readonly loopback: boolean;
}

/** A way to everywhere else. */
export interface DefaultRoute {
  /** The name of the interface that it leads over. */
  readonly name: string;
  /** The family of the addresses that it leads to. */
  readonly family: 4 | 6;
}

/** How a node's addresses are found. */
export interface NodeNetwork {
  /** The addresses of the machine, in the kernel's order. */
  addresses(): readonly InterfaceAddress[];
  /** The default routes of the machine, in the kernel's order. */
  defaultRoutes(): readonly DefaultRoute[];
  /** The addresses that a name leads to. Rejects with an error of code `ENOTFOUND` where there is no such name. */
  lookup(name: string): Promise<readonly string[]>;
}

/** The network of this machine. */
export const machineNetwork: NodeNetwork = {
  addresses: () =>
    Object.entries(networkInterfaces()).flatMap(([name, all]) =>
      (all ?? []).map(({ address, internal }) => ({ name, address, loopback: internal })),
    ),
  defaultRoutes: () => [...ipv4Routes(readText('/proc/net/route')), ...ipv6Routes(readText('/proc/net/ipv6_route'))],
  lookup: async (name) => (await lookup(name, { all: true, order: 'verbatim' })).map(({ address }) => address),
};

/** The default routes in `/proc/net/route`. */
export function ipv4Routes(text: string): DefaultRoute[] {
  return linesOf(text).flatMap(([name, destination]): DefaultRoute[] =>
    name !== undefined && destination === '00000000' ? [{ name, family: 4 }] : [],
  );
}

/** The default routes in `/proc/net/ipv6_route`: without a gateway it is one of the loopback interface. */
export function ipv6Routes(text: string): DefaultRoute[] {
  const nowhere = '0'.repeat(32);
  return linesOf(text).flatMap(([destination, , , , gateway, ...rest]): DefaultRoute[] => {
    const name = rest[4];
    return name !== undefined && destination === nowhere && gateway !== nowhere ? [{ name, family: 6 }] : [];
  });
}

function linesOf(text: string): string[][] {
  return text.split('\n').map((line) => line.trim().split(/\s+/));
}

function readText(path: string): string {
  return callGuarded(() => readFileSync(path, 'utf8'), ignoreFailure) ?? '';
}
