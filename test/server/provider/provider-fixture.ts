import { randomBytes } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { JsonObject, Pod, PodStatus } from '../../../src/api/json/types.ts';
import { podUIDOf } from '../../../src/api/pod/pod-identity.ts';
import type { NotifyPods, PodProvider, ProviderTools } from '../../../src/node/provider/pod-provider.ts';
import { ProviderNode } from '../../../src/node/provider/provider-node.ts';
import type { ProviderNodeOptions } from '../../../src/node/provider/provider-node-options.ts';
import { FileSource } from '../../../src/node/sources/file-source.ts';
import { podOf, type ServedPod } from '../../support/answers.ts';
import { pollUntil } from '../../support/poll-until.ts';
import type { TestServer } from '../../support/servers.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { type PodJsonOptions, podJson } from '../pods-contract/pods-contract-fixture.ts';

const withinMs = 60_000;

/** Runs pods in a map; a pod that is deleted ends after `endsAfterMs`. */
export class MapProvider implements PodProvider {
  readonly pods = new Map<string, { readonly pod: Pod; status: PodStatus }>();
  /** `METHOD NAME`. */
  readonly calls: string[] = [];
  endsAfterMs = 0;
  /** Called before a method has its effect. What it returns is waited for. */
  before: (method: string, pod: Pod) => unknown = () => undefined;
  /** What the node has handed over at its start. */
  tools: ProviderTools | undefined;

  notifyPods(_: NotifyPods, tools: ProviderTools): void {
    this.tools = tools;
  }

  async createPod(pod: Pod): Promise<void> {
    await this.#note('createPod', pod);
    this.pods.set(podUIDOf(pod), { pod, status: { phase: 'Running', podIP: '10.0.0.1' } });
  }

  async updatePod(pod: Pod): Promise<void> {
    await this.#note('updatePod', pod);
  }

  async deletePod(pod: Pod): Promise<void> {
    await this.#note('deletePod', pod);
    if (this.endsAfterMs > 0) await delay(this.endsAfterMs);
    this.pods.delete(podUIDOf(pod));
  }

  async getPodStatus(pod: Pod): Promise<PodStatus | undefined> {
    await this.before('getPodStatus', pod);
    return this.pods.get(podUIDOf(pod))?.status;
  }

  getPods(): Pod[] {
    return Array.from(this.pods.values(), ({ pod }) => pod);
  }

  named(name: string): { readonly pod: Pod; status: PodStatus } | undefined {
    return [...this.pods.values()].find(({ pod }) => pod.metadata?.name === name);
  }

  callsOf(name: string): string[] {
    return this.calls.filter((call) => call.endsWith(` ${name}`));
  }

  async #note(method: string, pod: Pod): Promise<void> {
    this.calls.push(`${method} ${pod.metadata?.name}`);
    await this.before(method, pod);
  }
}

/** A provider node on the test's server, in a namespace of its own. */
export class ProviderNodeFixture implements AsyncDisposable {
  readonly name: string;
  readonly namespace: string;
  readonly provider: MapProvider;
  /** Holds the manifests of static pods. */
  readonly manifests: string;
  node: ProviderNode;
  readonly #server: TestServer;
  readonly #options: Partial<ProviderNodeOptions>;

  private constructor(server: TestServer, namespace: string, manifests: string, options: Partial<ProviderNodeOptions>) {
    this.name = `${namespace}-${randomBytes(3).toString('hex')}`;
    this.namespace = namespace;
    this.provider = new MapProvider();
    this.manifests = manifests;
    this.#server = server;
    this.#options = options;
    this.node = this.#newNode();
  }

  static async start(
    server: TestServer,
    namespace: string,
    options: Partial<ProviderNodeOptions> = {},
  ): Promise<ProviderNodeFixture> {
    const fixture = new ProviderNodeFixture(server, namespace, await tempDir(), options);
    await fixture.node.start();
    return fixture;
  }

  /** The agent ends, and another one begins; its pods go on. */
  async restart(): Promise<void> {
    await this.node.stop();
    this.node = this.#newNode();
    await this.node.start();
  }

  async create(name: string, { metadata = {}, spec = {} }: PodJsonOptions = {}): Promise<ServedPod> {
    const json = podJson(name, { metadata, spec: { nodeName: this.name, ...spec } });
    return podOf(await this.#server.admin.createPod(this.namespace, json));
  }

  async delete(name: string, gracePeriodSeconds = 30): Promise<void> {
    await this.#server.admin.deletePod(this.namespace, name, { gracePeriodSeconds });
  }

  /** Resolves to the pod once it is there and as wanted. */
  async served(name: string, isWanted: (pod: ServedPod) => boolean = () => true): Promise<ServedPod> {
    return this.until(`pod ${name} as wanted`, async () => {
      const answer = await this.#server.admin.getPod(this.namespace, name);
      const pod = answer.status === 200 ? podOf(answer) : undefined;
      return pod !== undefined && isWanted(pod) && pod;
    });
  }

  ready(name: string): Promise<ServedPod> {
    return this.served(name, isReady);
  }

  gone(name: string): Promise<true> {
    return this.until(`pod ${name} is gone`, async () => {
      return (await this.#server.admin.getPod(this.namespace, name)).status === 404;
    });
  }

  until<T>(what: string, fact: () => Promise<T | false>): Promise<T> {
    return pollUntil(what, fact, { withinMs });
  }

  /** GET of any object; undefined where there is none. */
  async object(path: string): Promise<JsonObject | undefined> {
    const { status, body } = await this.#server.admin.send('GET', path);
    return status === 200 ? (body as JsonObject) : undefined;
  }

  get nodePath(): string {
    return `/api/v1/nodes/${this.name}`;
  }

  get leasePath(): string {
    return `/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${this.name}`;
  }

  /** Writes the manifest of a static pod, and returns the pod's name. */
  async writeManifest(name: string): Promise<string> {
    const lines = [
      'apiVersion: v1',
      'kind: Pod',
      `metadata: { name: ${name}, namespace: ${this.namespace} }`,
      'spec: { containers: [{ name: main, image: "example.test/main:1" }] }',
    ];
    await writeFile(join(this.manifests, `${name}.yaml`), lines.join('\n'));
    return `${name}-${this.name}`;
  }

  async removeManifest(name: string): Promise<void> {
    await rm(join(this.manifests, `${name}.yaml`));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.node.stop();
  }

  #newNode(): ProviderNode {
    return new ProviderNode({
      logger: null,
      kubeConfig: this.#server.kubeConfig(),
      nodeName: this.name,
      provider: this.provider,
      sources: { file: new FileSource({ logger: null, path: this.manifests, nodeName: this.name, checkPeriodMs: 200 }) },
      removeOnStop: true,
      pods: { pollIntervalMs: 200 },
      ...this.#options,
    });
  }
}

export function isReady({ status }: ServedPod): boolean {
  return status.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') ?? false;
}
