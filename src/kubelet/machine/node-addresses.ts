// Behaviour of NodeAddress in pkg/kubelet/nodestatus/setters.go and validateNodeIP in pkg/kubelet/kubelet_node_status.go, v1.36.3.
import { isIP } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import { callWithin } from '../../base/concurrency/aborts.ts';
import { errorCodeOf, errorText } from '../../base/errors.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { parseAddress } from '../../node/pod-status/pod-ips.ts';
import { isGlobalUnicast, isIPv4, isUnspecified, unusableKind } from './ip-kinds.ts';
import type { InterfaceAddress, NodeNetwork } from './node-network.ts';

export interface NodeAddressesOptions {
  readonly nodeName: string;
  /** One address, one of each family, or `0.0.0.0` or `::` for a family. */
  readonly given: readonly string[];
  readonly network: NodeNetwork;
  readonly clock: Clock;
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

  constructor(options: NodeAddressesOptions) {
    this.#options = options;
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
    } catch (error) {
      if (!signal.aborted) this.#tell(error);
    }
  }

  #tell(err: unknown): void {
    const message = errorText(err);
    if (message === this.#told) return;
    this.#told = message;
    const { nodeName, logger } = this.#options;
    const isGiven = this.#found === this.#given;
    if (isGiven) logger.warn({ err, nodeName }, 'an address that the node was given cannot be reached; it is told all the same');
    else logger.warn({ err, nodeName }, 'the addresses of the node could not be found; those found before stay');
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
