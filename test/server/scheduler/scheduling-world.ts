import { randomBytes } from 'node:crypto';
import type { JsonObject } from '../../../src/api/json/types.ts';
import { ClusterScheduler, type ClusterSchedulerOptions } from '../../../src/scheduler.ts';
import { podOf, type ServedPod } from '../../support/answers.ts';
import { pollUntil } from '../../support/poll-until.ts';
import type { TestServer } from '../../support/servers.ts';
import { type PodJsonOptions, podJson } from '../pods-contract/pods-contract-fixture.ts';

const withinMs = 60_000;

/** Nodes without agents and pods for them, of one test, and schedulers that are to schedule these pods alone. */
export class SchedulingWorld implements AsyncDisposable {
  readonly schedulerName = `scheduler-${randomBytes(3).toString('hex')}`;
  readonly namespace: string;
  readonly #server: TestServer;
  readonly #nodes: string[] = [];

  constructor(server: TestServer, namespace: string) {
    this.#server = server;
    this.namespace = namespace;
  }

  scheduler(options: Partial<ClusterSchedulerOptions> = {}): ClusterScheduler {
    const own = options.transport === undefined ? { kubeConfig: this.#server.kubeConfig() } : {};
    return new ClusterScheduler({
      ...own,
      profiles: [{ schedulerName: this.schedulerName }],
      leaderElection: false,
      logger: null,
      ...options,
    });
  }

  /** Options of a leader election of this test, with short times. */
  get election() {
    const { namespace, schedulerName: name } = this;
    return { name, namespace, leaseDurationMs: 3000, renewDeadlineMs: 2000, retryPeriodMs: 200 };
  }

  get leasePath(): string {
    return `/apis/coordination.k8s.io/v1/namespaces/${this.namespace}/leases/${this.schedulerName}`;
  }

  /** Resolves to the node's name, which no other test has. */
  async addNode(name: string, cpu: string, spec: JsonObject = {}): Promise<string> {
    const nodeName = `${this.schedulerName}-${name}`;
    const labels = { 'example.com/test': this.schedulerName };
    const status = { allocatable: { cpu, memory: '8Gi', pods: '110' } };
    await this.#server.admin.send('POST', '/api/v1/nodes', { body: { metadata: { name: nodeName, labels }, spec, status } });
    this.#nodes.push(nodeName);
    return nodeName;
  }

  async addPod(name: string, cpu: string, { metadata = {}, spec: more = {} }: PodJsonOptions = {}): Promise<ServedPod> {
    const spec: JsonObject = {
      nodeName: null,
      schedulerName: this.schedulerName,
      nodeSelector: { 'example.com/test': this.schedulerName },
      tolerations: [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists' }],
      containers: [{ name: 'main', image: 'example.test/main:1', resources: { requests: { cpu } } }],
      ...more,
    };
    return podOf(await this.#server.admin.createPod(this.namespace, podJson(name, { metadata, spec })));
  }

  async nodeOf(name: string): Promise<string | undefined> {
    const { spec } = podOf(await this.#server.admin.getPod(this.namespace, name));
    return (spec as { nodeName?: string | null }).nodeName ?? undefined;
  }

  /** Resolves to the pod's node once it has one. */
  async bound(name: string): Promise<string> {
    return this.until(`pod ${name} is bound`, async () => (await this.nodeOf(name)) ?? false);
  }

  until<T>(what: string, fact: () => T | false | Promise<T | false>): Promise<T> {
    return pollUntil(what, fact, { withinMs });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#nodes.map((name) => this.#server.admin.send('DELETE', `/api/v1/nodes/${name}`)));
  }
}
