import { randomBytes } from 'node:crypto';
import type { KubeConfig } from '@kubernetes/client-node';
import type { WirePod, WirePodCondition, WirePodStatus } from '../../../src/api/json/types.ts';
import { type Clock, systemClock } from '../../../src/base/clock.ts';
import { KubePodClient } from '../../../src/client/resources/kube-pod-client.ts';
import { ApiServerPodSource } from '../../../src/node/sources/api-server-pod-source.ts';
import type { SyncErrorEvent, SyncedEvent } from '../../../src/status/events/status-manager-events.ts';
import { BasicPodManager } from '../../../src/status/pods/basic-pod-manager.ts';
import { StatusManager } from '../../../src/status/status-manager.ts';
import type { StatusManagerOptions } from '../../../src/status/status-manager-options.ts';
import { podOf, type ServedPod } from '../../support/answers.ts';
import type { TestServer } from '../../support/servers.ts';
import { type PodJsonOptions, podJson } from '../pods-contract/pods-contract-fixture.ts';
import { Facts } from './facts.ts';
import { RecordingPodClient } from './recording-pod-client.ts';

/** Short, so that batches run all the time: a request without need is counted. */
const syncPeriodMs = 47;

export interface TestNodeOptions
  extends Partial<Omit<StatusManagerOptions, 'podClient' | 'podManager' | 'podDeletionSafety' | 'clock' | 'podSource'>> {
  /** The pod source's kubeconfig, when it is another than the manager's. */
  readonly sourceKubeConfig?: KubeConfig;
}

/**
 * A node on the test's server, made of the real parts: a pod source that fills a pod manager, and a status manager on the
 * machine's clock whose requests are recorded.
 */
export class TestNode implements AsyncDisposable {
  readonly name: string;
  readonly podManager = new BasicPodManager();
  readonly client: RecordingPodClient;
  /** The answers of the deletion safety; a test may change them. */
  readonly safety = { running: false, reclaimed: true };
  readonly synced: SyncedEvent[] = [];
  readonly syncErrors: SyncErrorEvent[] = [];
  readonly interruptions: unknown[] = [];
  manager: StatusManager;
  readonly #facts = new Facts();
  readonly #server: TestServer;
  readonly #namespace: string;
  readonly #options: TestNodeOptions;
  readonly #kubePodClient: KubePodClient;
  #source: ApiServerPodSource;
  #batches = 0;

  private constructor(server: TestServer, namespace: string, options: TestNodeOptions) {
    this.name = `${namespace}-${randomBytes(3).toString('hex')}`;
    this.#server = server;
    this.#namespace = namespace;
    this.#options = options;
    this.#kubePodClient = KubePodClient.fromKubeConfig(server.kubeConfig(), { connections: 4 });
    this.client = new RecordingPodClient(this.#kubePodClient, this.#facts.changed);
    this.#source = this.#newSource();
    this.manager = this.#newManager();
  }

  /** Resolves when the pod source has listed and the manager runs. */
  static async start(server: TestServer, namespace: string, options: TestNodeOptions = {}): Promise<TestNode> {
    const node = new TestNode(server, namespace, options);
    await node.#source.start();
    node.manager.start();
    return node;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.manager.stop({ drainTimeoutMs: 0 });
    await this.#source.stop();
    await this.#kubePodClient.close();
  }

  until<T>(what: string, fact: () => T | false | undefined): Promise<T> {
    return this.#facts.until(what, fact);
  }

  /** Resolves after `count` more whole batches. */
  async batches(count: number): Promise<void> {
    const goal = this.#batches + count;
    await this.until(`${count} batches`, () => this.#batches >= goal);
  }

  /** Stops the pod source: the pod manager gets no more changes. */
  async stopSource(): Promise<void> {
    await this.#source.stop();
  }

  /** Starts a new pod source, which lists and watches again. */
  async startSource(): Promise<void> {
    await this.#source.stop();
    this.#source = this.#newSource();
    await this.#source.start();
  }

  lastObservedAt(): number | undefined {
    return this.#source.lastObservedAt();
  }

  lastListedAt(): number | undefined {
    return this.#source.lastListedAt();
  }

  /** Restarts the agent: a new manager over the same pods. */
  async restartManager(): Promise<void> {
    await this.manager.stop();
    this.manager = this.#newManager();
    this.manager.start();
  }

  /** Creates a pod on the apiserver, bound to this node. */
  async createUnseen(name: string, { metadata = {}, spec = {} }: PodJsonOptions = {}): Promise<ServedPod> {
    const json = podJson(name, { metadata, spec: { nodeName: this.name, ...spec } });
    return podOf(await this.#server.admin.createPod(this.#namespace, json));
  }

  /** Creates a pod, and waits until the pod source has seen it. */
  async create(name: string, options?: PodJsonOptions): Promise<ServedPod> {
    const pod = await this.createUnseen(name, options);
    await this.seen(pod.metadata.uid, () => true);
    return pod;
  }

  /** Resolves to the pod manager's pod when `isWanted` is true for it. */
  seen(uid: string, isWanted: (pod: WirePod) => boolean): Promise<WirePod> {
    return this.until(`the source shows pod ${uid} as wanted`, () => {
      const pod = this.podManager.getPodByUID(uid);
      return pod !== undefined && isWanted(pod as WirePod) && (pod as WirePod);
    });
  }

  /** Resolves when the pod source has seen the apiserver's present copy. */
  async seenAsServed(name: string): Promise<WirePod> {
    const { uid, resourceVersion } = (await this.served(name)).metadata;
    return this.seen(uid, (pod) => pod.metadata?.resourceVersion === resourceVersion);
  }

  seenGone(uid: string): Promise<true> {
    return this.until(`the source shows pod ${uid} gone`, () => this.podManager.getPodByUID(uid) === undefined);
  }

  /** The apiserver's copy. */
  async served(name: string): Promise<ServedPod> {
    return podOf(await this.#server.admin.getPod(this.#namespace, name));
  }

  async isGone(name: string): Promise<boolean> {
    return (await this.#server.admin.getPod(this.#namespace, name)).status === 404;
  }

  /** Writes to the status as another controller does. */
  async writeStatus(name: string, status: unknown): Promise<ServedPod> {
    return podOf(await this.#server.admin.patchPodStatus(this.#namespace, name, { status }));
  }

  async patch(name: string, body: unknown): Promise<ServedPod> {
    return podOf(await this.#server.admin.patchPod(this.#namespace, name, body, 'merge'));
  }

  /** Sends a user's DELETE. */
  async askToDelete(name: string, options = {}): Promise<void> {
    const { status, body } = await this.#server.admin.deletePod(this.#namespace, name, options);
    if (status !== 200) throw new Error(`DELETE ${name} answered ${status}: ${JSON.stringify(body)}`);
  }

  #newSource(): ApiServerPodSource {
    const { changed } = this.#facts;
    const handlers = {
      podAdded: changed,
      podUpdated: changed,
      podDeleted: changed,
      synced: changed,
      interrupted: ({ error }: { readonly error: unknown }) => {
        this.interruptions.push(error);
        changed();
      },
    };
    return new ApiServerPodSource({
      logger: null,
      kubeConfig: this.#options.sourceKubeConfig ?? this.#server.kubeConfig(),
      nodeName: this.name,
      podManager: this.podManager,
      handlers,
    });
  }

  #newManager(): StatusManager {
    const { sourceKubeConfig: _, ...options } = this.#options;
    const manager = new StatusManager({
      logger: null,
      syncPeriodMs,
      ...options,
      podClient: this.client,
      podManager: this.podManager,
      podDeletionSafety: {
        podCouldHaveRunningContainers: () => this.safety.running,
        podResourcesAreReclaimed: () => this.safety.reclaimed,
      },
      podSource: { lastObservedAt: () => this.#source.lastObservedAt() },
      clock: this.#clock(),
    });
    manager.on('synced', (event) => {
      this.synced.push(event);
      this.#facts.changed();
    });
    manager.on('syncError', (event) => {
      this.syncErrors.push(event);
      this.#facts.changed();
    });
    return manager;
  }

  /** The machine's clock, which counts the batches. */
  #clock(): Clock {
    const onTick = (): void => {
      this.#batches++;
      this.#facts.changed();
    };
    return {
      now: () => systemClock.now(),
      setTimer: (callback, delayMs, options) =>
        systemClock.setTimer(
          () => {
            callback();
            if (delayMs === syncPeriodMs) onTick();
          },
          delayMs,
          options,
        ),
    };
  }
}

export function conditionOf(status: WirePodStatus | undefined, type: string): WirePodCondition | undefined {
  return status?.conditions?.find((condition) => condition.type === type);
}

export const foreignCondition = {
  type: 'example.test/Attached',
  status: 'True',
  reason: 'AttachedByAnother',
  lastTransitionTime: '2026-01-02T03:04:05Z',
} as const;
