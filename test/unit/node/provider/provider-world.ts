import type { Pod, WirePod, WirePodStatus } from '../../../../src/api/json/types.ts';
import type { EventRecorder } from '../../../../src/client/events/event-recorder.ts';
import { PodConfig } from '../../../../src/node/config/pod-config.ts';
import type { DeletePodCall, ProviderTools } from '../../../../src/node/provider/pod-provider.ts';
import { ProviderPodSyncer } from '../../../../src/node/provider/provider-pod-syncer.ts';
import type { ProviderPodSyncerOptions } from '../../../../src/node/provider/provider-pod-syncer-options.ts';
import { PodWorkers } from '../../../../src/node/workers/pod-workers.ts';
import { SyncLoop } from '../../../../src/node/workers/sync-loop.ts';
import { WorkQueue } from '../../../../src/node/workers/work-queue.ts';
import { BasicPodManager } from '../../../../src/status/pods/basic-pod-manager.ts';
import { StatusManager } from '../../../../src/status/status-manager.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { FakePodClient } from '../../../../src/testing/fakes/fake-pod-client.ts';
import { PodStore } from '../../../../src/testing/pods-api/pod-store.ts';
import { FakeProvider } from './fake-provider.ts';

const nodeName = 'node-1';

/** A pods API in memory, a provider, and all that is between them, in virtual time and without a network. */
export class ProviderWorld implements AsyncDisposable {
  readonly clock: FakeClock;
  readonly store: PodStore;
  readonly provider: FakeProvider;
  readonly client: FakePodClient;
  readonly podManager = new BasicPodManager();
  readonly workQueue: WorkQueue;
  readonly config: PodConfig;
  readonly statusManager: StatusManager;
  readonly syncer: ProviderPodSyncer;
  readonly workers: PodWorkers;
  readonly loop: SyncLoop;
  readonly events: string[] = [];
  readonly logged: string[] = [];
  /** The same, with their fields. */
  readonly lines: [object, string][] = [];
  /** Those of the level info. */
  readonly infos: [object, string][] = [];
  /** What a node hands to its provider. */
  readonly tools: ProviderTools;
  /** True: the agent does not hear what changes on the server, so that many pods cost little. */
  isDeaf = false;
  /** The agent hears of all that is on the server. */
  readonly tellAll: () => void;
  readonly #unwatch: () => void;

  /**
   * `listsFirst`: the provider has listed its pods before the first one is synced, as at the start of a node. `random`: what the workers
   * draw.
   */
  constructor(options: Partial<ProviderPodSyncerOptions> = {}, earlier?: ProviderWorld, listsFirst = false, random = () => 0) {
    const clock = earlier?.clock ?? new FakeClock();
    this.clock = clock;
    this.store = earlier?.store ?? new PodStore({ clock });
    this.provider = earlier?.provider ?? new FakeProvider(clock);
    this.client = new FakePodClient({ store: this.store });
    const { podManager } = this;
    const log = (fields: object, message: string): void => {
      this.logged.push(message);
      this.lines.push([fields, message]);
    };
    const info = (fields: object, message: string): void => void this.infos.push([fields, message]);
    const logger = { debug: () => {}, info, warn: log, error: log };
    const eventRecorder = {
      event: (pod: { metadata?: { name?: string } }, type: string, reason: string, message: string) =>
        void this.events.push(`${pod.metadata?.name} ${type} ${reason}: ${message}`),
    } as EventRecorder;
    this.tools = { logger, eventRecorder, resolvePod: (pod, wanted) => this.syncer.resolvePod(pod, wanted) };
    const shared = { clock, logger, random };
    this.workQueue = new WorkQueue({ clock });
    this.config = new PodConfig({ clock });
    this.statusManager = new StatusManager({
      podClient: this.client,
      podManager,
      podDeletionSafety: {
        podCouldHaveRunningContainers: (pod) => this.workers.podCouldHaveRunningContainers(pod),
        podResourcesAreReclaimed: (pod) =>
          this.workers.podResourcesAreReclaimed(pod) && this.syncer.isReleased(pod.metadata?.uid ?? ''),
      },
      ...shared,
    });
    this.syncer = new ProviderPodSyncer({
      provider: this.provider,
      statusManager: this.statusManager,
      podChanged: (podUID) => this.loop.podChanged(podUID),
      hostIPs: ['192.0.2.1'],
      // waits that are easily told apart, each as long as it may be
      ...{ backoffBaseMs: 10_000, random: () => 1 - Number.EPSILON },
      ...{ eventRecorder, clock, logger },
      ...options,
    });
    this.workers = new PodWorkers({
      podSyncer: this.syncer,
      runtimeStatusCache: this.syncer.pods,
      workQueue: this.workQueue,
      ...shared,
    });
    this.loop = new SyncLoop({
      config: this.config,
      podManager,
      podWorkers: this.workers,
      workQueue: this.workQueue,
      statusManager: this.statusManager,
      runtime: this.syncer.pods,
      onHousekeeping: ({ pods }) =>
        this.syncer.releasePods(
          pods,
          (podUID) => this.workers.isPodKnownTerminated(podUID) && this.workers.shouldPodBeFinished(podUID),
        ),
      ...{ clock, logger },
    });
    const send = this.config.channel('api');
    // other objects each time, as they come over a wire
    const told = (): void => send(structuredClone(this.store.list()));
    this.tellAll = told;
    this.#unwatch = this.store.watch(() => void (this.isDeaf || told()));
    const begin = (): void => {
      this.statusManager.start();
      this.loop.start();
      this.config.start();
      told();
    };
    if (listsFirst) void this.syncer.pods.list(new AbortController().signal).then(begin, begin);
    else begin();
  }

  /** The agent ends, and another one begins with the same server and provider. */
  async restart(options: Partial<ProviderPodSyncerOptions> = {}, listsFirst = false): Promise<ProviderWorld> {
    await this.stop();
    return new ProviderWorld(options, this, listsFirst);
  }

  /** Creates a pod, and lets it be synced. */
  async create(name: string, { metadata = {}, spec = {} }: { metadata?: object; spec?: object } = {}): Promise<WirePod> {
    const pod = this.store.create({
      metadata: { name, namespace: 'default', ...metadata },
      spec: { nodeName, containers: [{ name: 'app', image: 'app:1' }], ...spec },
    });
    await settle(20);
    return pod;
  }

  async delete(name: string, gracePeriodSeconds = 30): Promise<void> {
    this.store.delete('default', name, { gracePeriodSeconds });
    await settle(20);
  }

  /** What the server says. */
  status(name: string): WirePodStatus {
    return this.store.get('default', name).status ?? {};
  }

  isGone(name: string): boolean {
    return !this.store.list().some(({ metadata }) => metadata?.name === name);
  }

  condition(name: string, type: string): string | undefined {
    return this.status(name).conditions?.find((each) => each.type === type)?.status;
  }

  get patches(): number {
    return this.client.actions.filter(({ verb }) => verb === 'patch').length;
  }

  async stop(): Promise<void> {
    this.#unwatch();
    await this.config.stop();
    await this.loop.stop();
    this.syncer.stop();
    await this.workers.stop({ timeoutMs: 0 });
    this.workQueue.close();
    await this.statusManager.stop({ drainTimeoutMs: 0 });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

/** A promise that never settles. */
export const never = (): Promise<never> => new Promise<never>(() => {});

/** A provider that takes no more. */
export const refuse = () => Promise.reject(new Error('no room'));

/** Makes the provider one that keeps its pods by name. */
export const byName = ({ provider }: ProviderWorld): void => {
  const names = new Map<string | undefined, string>();
  Object.assign(provider, {
    createPod: ({ metadata }: Pod) => {
      provider.calls.push(`createPod ${metadata?.uid}`);
      names.set(metadata?.name, 'Running');
    },
    deletePod: ({ metadata }: Pod, call: DeletePodCall) => {
      provider.calls.push(`deletePod ${metadata?.uid}`);
      const interference = provider.interferences.get('deletePod *')?.shift();
      const act = (): unknown => names.delete(metadata?.name);
      return interference === undefined ? act() : interference(act, call);
    },
    getPodStatus: ({ metadata }: Pod) => (names.has(metadata?.name) ? { phase: names.get(metadata?.name) } : undefined),
    set: (name: string, { phase = '' }: { phase?: string }) => names.set(name, phase),
    getPods: undefined,
  });
};
