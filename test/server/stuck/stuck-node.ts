import type { JsonObject } from '../../../src/api/json/types.ts';
import type { PodProvider } from '../../../src/node/provider/pod-provider.ts';
import { ProviderNode } from '../../../src/node/provider/provider-node.ts';
import type { ProviderNodeOptions } from '../../../src/node/provider/provider-node-options.ts';
import { podOf, type ServedPod } from '../../support/answers.ts';
import { pollUntil } from '../../support/poll-until.ts';
import type { TestServer } from '../../support/servers.ts';
import { podJson } from '../pods-contract/pods-contract-fixture.ts';
import { FaultProxy } from './fault-proxy.ts';
import { ShownPage } from './shown-page.ts';

export interface LogLine {
  readonly level?: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface ToldEvent {
  readonly involvedObject: { readonly kind: string; readonly name: string };
  readonly reason: string;
  readonly message: string;
}

export interface StuckNodeOptions extends Partial<Omit<ProviderNodeOptions, 'provider'>> {
  readonly provider?: Partial<PodProvider>;
}

/** A provider node behind a proxy that refuses what a test says, with its log and its debug page. */
export class StuckNode implements AsyncDisposable {
  readonly logs: LogLine[] = [];
  /** Lines that tell of no failure. */
  readonly infos: LogLine[] = [];
  readonly namespace: string;
  readonly name: string;
  readonly proxy: FaultProxy;
  readonly node: ProviderNode;
  readonly #server: TestServer;
  #page: ShownPage | undefined;

  private constructor(server: TestServer, namespace: string, name: string, proxy: FaultProxy, options: StuckNodeOptions) {
    this.#server = server;
    this.namespace = namespace;
    this.name = name;
    this.proxy = proxy;
    const note = (fields: object, message: string): void => void this.logs.push({ message, fields: { ...fields } });
    const noteInfo = (fields: object, message: string): void => void this.infos.push({ message, fields: { ...fields } });
    const running = new Set<string>();
    const provider: PodProvider = {
      createPod: ({ metadata }) => void running.add(metadata.uid),
      deletePod: ({ metadata }) => void running.delete(metadata.uid),
      getPodStatus: ({ metadata }) => (running.has(metadata.uid) ? { phase: 'Running' } : undefined),
      ...options.provider,
    };
    this.node = new ProviderNode({
      ...(options.transport === undefined && { kubeConfig: proxy.kubeConfig() }),
      nodeName: name,
      removeOnStop: true,
      workers: { backOffPeriodMs: 200 },
      ...options,
      provider,
      logger: { debug() {}, info: noteInfo, warn: note, error: note },
    });
  }

  /** Begins the start of a node. */
  static async begin(
    server: TestServer,
    namespace: string,
    name: string,
    options: StuckNodeOptions = {},
    broken?: (proxy: FaultProxy) => void,
  ): Promise<StuckNode> {
    const proxy = await FaultProxy.start(server.kubeConfig());
    broken?.(proxy);
    const stuck = new StuckNode(server, namespace, name, proxy, options);
    stuck.#page = await ShownPage.serve({ manager: stuck.node.statusManager, node: stuck.node });
    void stuck.node.start().catch(() => {});
    return stuck;
  }

  async started(): Promise<void> {
    await pollUntil('the node is ready', () => this.node.snapshot({ pods: false }).ready);
  }

  async createPod(spec: JsonObject = {}, name = 'web'): Promise<ServedPod> {
    const json = podJson(name, { spec: { nodeName: this.name, ...spec } });
    return podOf(await this.#server.admin.createPod(this.namespace, json));
  }

  async deletePod(gracePeriodSeconds: number, name = 'web'): Promise<void> {
    await this.#server.admin.deletePod(this.namespace, name, { gracePeriodSeconds });
  }

  get server(): TestServer {
    return this.#server;
  }

  get page(): ShownPage {
    if (this.#page === undefined) throw new Error('there is no page yet');
    return this.#page;
  }

  /** The events of the pod, or of the node. */
  async events(kind: 'Pod' | 'Node'): Promise<ToldEvent[]> {
    const namespace = kind === 'Pod' ? this.namespace : 'default';
    const { body } = await this.#server.admin.send('GET', `/api/v1/namespaces/${namespace}/events`);
    const { items = [] } = body as { items?: ToldEvent[] };
    const name = kind === 'Node' ? this.name : 'web';
    return items.filter(({ involvedObject }) => involvedObject.kind === kind && involvedObject.name === name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.proxy.heal();
    this.proxy.cut();
    await this.node.stop({ timeoutMs: 2000, drainTimeoutMs: 0, callsTimeoutMs: 0 });
    await this.#page?.[Symbol.asyncDispose]();
    await this.proxy[Symbol.asyncDispose]();
  }
}
