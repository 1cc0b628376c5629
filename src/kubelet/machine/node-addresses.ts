// Behaviour of NodeAddress in pkg/kubelet/nodestatus/setters.go and validateNodeIP in pkg/kubelet/kubelet_node_status.go, v1.36.3.

import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { SteadyClock } from '../../base/clock.ts';
import { callWithin } from '../../base/concurrency/aborts.ts';
import { errorCodeOf, errorText } from '../../base/errors.ts';
import { FailureRun } from '../../base/failure-run.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { parseAddress } from '../../node/pod-status/pod-ips.ts';
import { kernelText } from './machine.ts';

export interface NodeAddressesOptions {
  readonly nodeName: string;
  /** One address, one of each family, or `0.0.0.0` or `::` for a family. */
  readonly given: readonly string[];
  readonly network: NodeNetwork;
  readonly clock: SteadyClock;
  readonly logger: Logger;
}

/** How long a name is looked up at most. The next look waits for the same answer. */
const lookupPatienceMs = 5000;

/** The addresses of a node, found anew at each look. Where a look finds none, those that were found before stay. */
export class NodeAddresses {
  readonly #options: NodeAddressesOptions;
  readonly #given: readonly string[];
  readonly #prefersIPv4: boolean;
  #lookup: Promise<readonly string[]> | undefined;
  #found: readonly string[] | undefined;
  #told: string | undefined;
  readonly #failures: FailureRun;

  constructor(options: NodeAddressesOptions) {
    this.#options = options;
    const { nodeName: node, clock, logger } = options;
    this.#failures = new FailureRun(clock, (ended) =>
      logger.info({ node, ...ended }, 'the addresses of the node are in order again'),
    );
    this.#given = options.given.map(shortForm);
    this.#prefersIPv4 = isIPv4(this.#given[0] ?? '0.0.0.0');
  }

  /** The primary one first; undefined before any was found. */
  get found(): readonly string[] | undefined {
    return this.#found;
  }

  /** Never rejects. */
  async look(signal: AbortSignal): Promise<void> {
    const [first] = this.#given;
    const isGiven = first !== undefined && !isUnspecified(first);
    if (isGiven) this.#found = this.#given;
    try {
      const { network } = this.#options;
      const ofMachine = network.addresses().map((each) => ({ ...each, address: shortForm(each.address) }));
      if (isGiven) for (const address of this.#given) requireUsable(address, ofMachine);
      else this.#found = await this.#find(ofMachine, signal);
      this.#told = undefined;
      this.#failures.succeeded();
    } catch (error) {
      if (!signal.aborted) this.#tell(error);
    }
  }

  #tell(err: unknown): void {
    const message = errorText(err);
    this.#failures.failed(err);
    if (message === this.#told) return;
    this.#told = message;
    const { nodeName, logger } = this.#options;
    const isGiven = this.#found === this.#given;
    if (isGiven)
      logger.warn({ err, node: nodeName }, 'an address that the node was given cannot be reached; it is told all the same');
    else logger.warn({ err, node: nodeName }, 'the addresses of the node could not be found; those found before stay');
  }

  async #find(ofMachine: readonly InterfaceAddress[], signal: AbortSignal): Promise<readonly string[]> {
    const { nodeName } = this.#options;
    if (isIP(nodeName) !== 0) return [shortForm(nodeName)];
    const ofName = (await this.#addressesOfName(signal)).filter((address) => problemOf(address, ofMachine) === undefined);
    const [chosen] = [...ofName.filter((address) => isIPv4(address) === this.#prefersIPv4), ...ofName];
    const address = chosen ?? this.#routed(ofMachine) ?? this.#any(ofMachine);
    if (address === undefined) throw new Error(`no address of the node ${nodeName} was found, by its name or on the machine`);
    return [address];
  }

  /** None for a name that nobody knows. Without an answer what was found before counts, if anything was. */
  async #addressesOfName(signal: AbortSignal): Promise<readonly string[]> {
    const { nodeName, network, clock } = this.#options;
    const ask = async (): Promise<readonly string[]> => network.lookup(nodeName);
    this.#lookup ??= ask().finally(() => {
      this.#lookup = undefined;
    });
    const lookup = this.#lookup;
    const late = (): Error => new Error(`the name ${nodeName} was not looked up within ${lookupPatienceMs} ms`);
    try {
      const answer = await callWithin(() => lookup, { clock, timeoutMs: lookupPatienceMs, signal, late });
      return answer.map(shortForm);
    } catch (error) {
      if (signal.aborted || (this.#found !== undefined && errorCodeOf(error) !== 'ENOTFOUND')) throw error;
      return [];
    }
  }

  /** Of the interface of a default route; or else of the loopback interface, where networks of routers have the node's address. */
  #routed(ofMachine: readonly InterfaceAddress[]): string | undefined {
    const routes = this.#options.network.defaultRoutes();
    for (const family of this.#families()) {
      const usable = ofMachine.filter(({ address }) => isOfFamily(address, family) && isGlobalUnicast(address));
      for (const route of routes.filter((each) => each.family === family)) {
        const found = usable.find(({ name }) => name === route.name) ?? usable.find(({ loopback }) => loopback);
        if (found !== undefined) return found.address;
      }
    }
    return undefined;
  }

  #any(ofMachine: readonly InterfaceAddress[]): string | undefined {
    const usable = ofMachine.filter(({ address, loopback }) => !loopback && isGlobalUnicast(address));
    const byFamily = this.#families().map((family) => usable.find(({ address }) => isOfFamily(address, family)));
    return byFamily.find((each) => each !== undefined)?.address;
  }

  #families(): readonly (4 | 6)[] {
    return this.#prefersIPv4 ? [4, 6] : [6, 4];
  }
}

function isOfFamily(address: string, family: 4 | 6): boolean {
  return isIPv4(address) === (family === 4);
}

function requireUsable(address: string, ofMachine: readonly InterfaceAddress[]): void {
  const problem = problemOf(address, ofMachine);
  if (problem !== undefined) throw new Error(`${address} cannot be the node's: it is ${problem}`);
}

function problemOf(address: string, ofMachine: readonly InterfaceAddress[]): string | undefined {
  const kind = unusableKind(address);
  if (kind !== undefined) return `of the kind ${kind}`;
  return ofMachine.some((each) => each.address === address) ? undefined : 'on no interface of the machine';
}

function shortForm(address: string): string {
  return parseAddress(address)?.text ?? address;
}

// Facts of k8s.io/apimachinery/pkg/util/net/interface.go, v0.36.3: what of the kernel's tables of routes counts.

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
  defaultRoutes: () => [...ipv4Routes(kernelText('/proc/net/route')), ...ipv6Routes(kernelText('/proc/net/ipv6_route'))],
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

/** Addresses that no node has: why this is one of them; undefined for any other. The address is in its short form. */
function unusableKind(address: string): string | undefined {
  if (address === '0.0.0.0' || address === '::') return 'unspecified';
  const [first, second] = leadingBytes(address);
  if (address === '::1' || (isIPv4(address) && first === 127)) return 'loopback';
  if (isIPv4(address)) {
    if (first >= 224 && first < 240) return 'multicast';
    return first === 169 && second === 254 ? 'link-local' : undefined;
  }
  if (first === 0xff) return 'multicast';
  return first === 0xfe && (second & 0xc0) === 0x80 ? 'link-local' : undefined;
}

/** True for `0.0.0.0` and `::`, which name a family and no machine. */
export function isUnspecified(address: string): boolean {
  return unusableKind(address) === 'unspecified';
}

/** True for the address of one machine that others than its neighbours can reach; those of private networks are such. */
function isGlobalUnicast(address: string): boolean {
  return unusableKind(address) === undefined && address !== '255.255.255.255';
}

function isIPv4(address: string): boolean {
  return !address.includes(':');
}

function leadingBytes(address: string): [number, number] {
  if (isIPv4(address)) {
    const [first, second] = address.split('.').map(Number);
    return [first ?? 0, second ?? 0];
  }
  const word = Number.parseInt(address.split(':')[0] || '0', 16);
  return [word >> 8, word & 0xff];
}
