import { NodeFleet, type NodeFleetOptions } from '../../../src/fleet.ts';
import { pollUntil } from '../../support/poll-until.ts';
import type { TestServer } from '../../support/servers.ts';
import { FaultProxy } from './fault-proxy.ts';
import { ShownPage } from './shown-page.ts';
import type { LogLine } from './stuck-node.ts';

type FleetSettings = Omit<NodeFleetOptions, 'kubeConfig' | 'transport' | 'id' | 'logger'>;

/** A member of a fleet behind a proxy that refuses what a test says, with its log and its debug page; and another one, without. */
export class StuckFleet implements AsyncDisposable {
  readonly logs: LogLine[] = [];
  readonly proxy: FaultProxy;
  readonly #server: TestServer;
  readonly #options: FleetSettings;
  #fleet: NodeFleet | undefined;
  #other: NodeFleet | undefined;
  #page: ShownPage | undefined;

  private constructor(server: TestServer, proxy: FaultProxy, options: FleetSettings) {
    this.#server = server;
    this.proxy = proxy;
    this.#options = options;
  }

  /** Begins nothing: `start` does. */
  static async prepare(
    server: TestServer,
    name: string,
    namespace: string,
    options: Partial<NodeFleetOptions> = {},
  ): Promise<StuckFleet> {
    const proxy = await FaultProxy.start(server.kubeConfig());
    const provider = () => ({ createPod() {}, deletePod() {}, getPodStatus: () => undefined });
    return new StuckFleet(server, proxy, {
      nodes: [`${name}-a`],
      shards: 2,
      provider,
      leaseDurationMs: 2000,
      ...options,
      name,
      namespace,
    });
  }

  get fleet(): NodeFleet {
    if (this.#fleet === undefined) throw new Error('there is no member yet');
    return this.#fleet;
  }

  get page(): ShownPage {
    if (this.#page === undefined) throw new Error('there is no page yet');
    return this.#page;
  }

  async start(): Promise<void> {
    await this.startAgain({});
  }

  /** Ends the member that there is, and starts another one. */
  async startAgain(changes: Partial<NodeFleetOptions>): Promise<void> {
    await this.#end();
    const note = (fields: object, message: string): void => void this.logs.push({ message, fields: { ...fields } });
    const logger = { debug() {}, info() {}, warn: note, error: note };
    this.#fleet = new NodeFleet({ ...this.#options, ...changes, kubeConfig: this.proxy.kubeConfig(), id: 'member', logger });
    this.#page = await ShownPage.serve({ fleet: this.#fleet });
    void this.#fleet.start().catch(() => {});
  }

  /** Starts another member, beside the proxy, and waits until it serves. */
  async other(changes: Partial<NodeFleetOptions>): Promise<void> {
    const kubeConfig = this.#server.kubeConfig();
    const other = new NodeFleet({ ...this.#options, kubeConfig, id: 'other', logger: null, ...changes });
    this.#other = other;
    await other.start({ timeoutMs: 20_000 });
    await pollUntil('the other member owns all shards', () => other.snapshot().shards.every(({ state }) => state === 'owned'));
  }

  async endOther(): Promise<void> {
    await this.#other?.stop();
    this.#other = undefined;
  }

  async #end(): Promise<void> {
    await this.#page?.[Symbol.asyncDispose]();
    await this.#fleet?.stop({ timeoutMs: 5000 });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.proxy.heal();
    await this.#end();
    await this.endOther();
    this.proxy.cut();
    await this.proxy[Symbol.asyncDispose]();
  }
}
