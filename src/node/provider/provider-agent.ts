import { apiserverSource, podUIDOf } from '../../api/pod/pod-identity.ts';
import { safeClock } from '../../base/clock.ts';
import type { Failing } from '../../base/failure-run.ts';
import { metricsOption } from '../../base/metrics/metrics.ts';
import { ApiEventRecorder } from '../../client/events/api-event-recorder.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import { KubePodClient } from '../../client/resources/kube-pod-client.ts';
import type { ResourceTransport } from '../../client/resources/resource-client.ts';
import { KubeTransport } from '../../client/transport/kube-transport.ts';
import type { BasicPodManager } from '../../status/pods/basic-pod-manager.ts';
import { StatusManager } from '../../status/status-manager.ts';
import { PodConfig } from '../config/pod-config.ts';
import { MirrorPodClient } from '../mirror/mirror-pod-client.ts';
import { MirrorPodReconciler } from '../mirror/mirror-pod-reconciler.ts';
import type { NodeReadiness } from '../node-object/node-conditions.ts';
import { NodeObject } from '../node-object/node-object.ts';
import { NodeApiServer } from '../server/node-api-server.ts';
import { ApiServerSource, HandledSource } from '../sources/api-server-source.ts';
import type { PodSource, SendPods } from '../sources/pod-source.ts';
import { PodWorkers } from '../workers/pod-workers.ts';
import { SyncLoop } from '../workers/sync-loop.ts';
import { NodeTakeOver } from './node-take-over.ts';
import { PodResolver } from './pod-resolver.ts';
import { ProviderApiHost } from './provider-api-host.ts';
import { ProviderHandOver } from './provider-hand-over.ts';
import { ProviderMetrics } from './provider-metrics.ts';
import { type ProviderNodeOptions, type ResolvedProviderOptions, resolveProviderOptions } from './provider-node-options.ts';
import { ProviderPodSyncer } from './provider-pod-syncer.ts';

/** Many nodes share a process, and most of them are at rest. */
const quietHousekeepingIntervalMs = 15_000;

/**
 * The parts of a provider node, each made after those that it needs. Nothing of them runs before its start. What goes in a circle is
 * asked when it runs: the workers and the sync loop.
 */
export class ProviderAgent {
  readonly options: ResolvedProviderOptions;
  readonly transport: ResourceTransport;
  readonly eventRecorder: EventRecorder;
  readonly source: HandledSource;
  readonly config: PodConfig;
  readonly podManager: BasicPodManager;
  readonly statusManager: StatusManager;
  /** Undefined where the provider wants pods as they are. */
  readonly resolver: PodResolver | undefined;
  readonly podSyncer: ProviderPodSyncer;
  /** What the provider is told of the runs before and after this one. */
  readonly handOver: ProviderHandOver;
  readonly podWorkers: PodWorkers;
  readonly loop: SyncLoop;
  readonly nodeObject: NodeObject;
  readonly mirrorPods: MirrorPodReconciler;
  /** The node's API; undefined where none is served. */
  readonly api: NodeApiServer | undefined;
  readonly #ownTransport: KubeTransport | undefined;
  readonly #ownEvents: ApiEventRecorder | undefined;
  readonly #takeOver: NodeTakeOver;
  #wasReady = false;

  /** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
  constructor(options: ProviderNodeOptions) {
    this.options = resolveProviderOptions(options);
    const { podManager, shared, timed, selection, sources, node } = this.options;
    const { nodeName, kubeConfig } = options;
    this.#ownTransport =
      options.transport === undefined ? new KubeTransport(kubeConfig as NonNullable<typeof kubeConfig>, timed) : undefined;
    const transport = options.transport ?? (this.#ownTransport as KubeTransport);
    this.transport = transport;
    const events = { transport, nodeName, ...timed, random: shared.random };
    this.#ownEvents = options.eventRecorder === undefined ? new ApiEventRecorder(events) : undefined;
    this.eventRecorder = options.eventRecorder ?? (this.#ownEvents as ApiEventRecorder);
    const { eventRecorder } = this;

    const { sharedWatches } = options;
    const watched = sharedWatches && { transport: sharedWatches.podsOf(nodeName, transport), streamLists: false };
    const source = new ApiServerSource({ ...options.apiServerSource, transport, ...watched, ...selection, ...shared });
    this.source = new HandledSource(source);
    this.config = new PodConfig({ eventRecorder, ...timed });
    this.config.addSource(apiserverSource, this.#seenSource(source));
    for (const [name, each] of sources) this.config.addSource(name, each);
    this.podManager = podManager;
    this.statusManager = this.#newStatusManager();
    this.resolver = this.#newResolver();
    this.podSyncer = this.#newPodSyncer();
    const { podSyncer } = this;
    this.handOver = this.#newHandOver();
    const runtimeStatusCache = podSyncer.pods;
    this.podWorkers = new PodWorkers({ ...options.workers, podSyncer, runtimeStatusCache, eventRecorder, ...shared });
    this.loop = this.#newLoop();
    const readiness = (): NodeReadiness => this.#readiness();
    const watch = sharedWatches && { watchTransport: sharedWatches.nodeOf(nodeName, transport) };
    this.nodeObject = new NodeObject({ ...node, nodeName, transport, ...watch, readiness, eventRecorder, ...shared });
    const { clock } = this.options;
    this.#takeOver = new NodeTakeOver({ nodeObject: this.nodeObject, clock: safeClock(clock) });
    this.mirrorPods = this.#newMirrorPods();
    this.api = this.#newApi();
  }

  /** Why events are not written; undefined while they are, and where the recorder is somebody else's. */
  eventsFailing(): Failing | undefined {
    return this.#ownEvents?.failing;
  }

  /** Nothing of the node has been said yet. */
  begin(): void {
    this.#takeOver.begin();
    this.nodeObject.start();
    this.statusManager.start();
  }

  /** Writes the events that wait. */
  async stopEvents(): Promise<void> {
    await this.#ownEvents?.stop();
  }

  /** What was given to the node stays open. */
  async close(): Promise<void> {
    this.#takeOver.end();
    await this.#ownTransport?.close();
  }

  /** The source, whose lists the provider's hand-over sees, too. */
  #seenSource(source: ApiServerSource): PodSource {
    const start = (send: SendPods): void =>
      source.start((pods) => {
        this.handOver.seen(pods);
        send(pods);
      });
    const [lastObservedAt, lastFailure] = [() => source.lastObservedAt(), () => source.lastFailure()];
    return { start, stop: () => source.stop(), lastObservedAt, lastFailure };
  }

  #newHandOver(): ProviderHandOver {
    const { given, logger } = this.options;
    const { provider, nodeName } = given;
    const { pods } = this.podSyncer;
    const clock = safeClock(this.options.clock);
    const metrics = new ProviderMetrics({ metrics: metricsOption(given.metrics), clock });
    const notice = (podUID: string): void => this.podSyncer.notice(podUID);
    return new ProviderHandOver({ provider, pods, notice, nodeName, metrics, clock, logger });
  }

  #newStatusManager(): StatusManager {
    const { given, shared } = this.options;
    const { transport } = this;
    return new StatusManager({
      ...given.statusManager,
      podClient:
        given.podClient ?? new KubePodClient({ request: (request) => transport.request(request), close: async () => {} }),
      podManager: this.podManager,
      podSource: this.source,
      // the workers are asked, and the provider must have let go of the pod
      podDeletionSafety: {
        podCouldHaveRunningContainers: (pod) => this.podWorkers.podCouldHaveRunningContainers(pod),
        podResourcesAreReclaimed: (pod) =>
          this.podWorkers.podResourcesAreReclaimed(pod) && this.podSyncer.isReleased(podUIDOf(pod)),
      },
      ...shared,
    });
  }

  #newResolver(): PodResolver | undefined {
    const { given, hostIPs, shared } = this.options;
    const { capacity, allocatable = capacity } = this.options.node;
    if (given.rawPods === true) return undefined;
    const { transport } = this;
    const { sharedWatches } = given;
    return new PodResolver({
      transport,
      ...(sharedWatches && { sharedWatches }),
      allocatable: () => allocatable,
      hostIPs: () => hostIPs,
      ...shared,
    });
  }

  #newPodSyncer(): ProviderPodSyncer {
    const { given, selection, hostIPs, shared } = this.options;
    return new ProviderPodSyncer({
      ...given.pods,
      provider: given.provider,
      statusManager: this.statusManager,
      podChanged: (podUID) => this.loop.podChanged(podUID),
      ...selection,
      hostIPs,
      ...(this.resolver !== undefined && { resolver: this.resolver }),
      ...(given.podFilesFolder !== undefined && { podFilesFolder: given.podFilesFolder }),
      eventRecorder: this.eventRecorder,
      ...shared,
    });
  }

  #newLoop(): SyncLoop {
    const { given, measured } = this.options;
    const { syncLoop, admitPod } = given;
    const { quietHousekeepingIntervalMs: quiet = syncLoop?.housekeepingIntervalMs ?? quietHousekeepingIntervalMs } =
      syncLoop ?? {};
    return new SyncLoop({
      ...syncLoop,
      quietHousekeepingIntervalMs: quiet,
      config: this.config,
      podManager: this.podManager,
      podWorkers: this.podWorkers,
      workQueue: this.podWorkers.workQueue,
      statusManager: this.statusManager,
      runtime: this.podSyncer.pods,
      ...(admitPod !== undefined && { admitPod }),
      onHousekeeping: ({ pods }) => this.podSyncer.releasePods(pods, (podUID) => this.#isFinished(podUID)),
      onCaughtUp: () => this.#noteCaughtUp(),
      eventRecorder: this.eventRecorder,
      ...measured,
    });
  }

  #newMirrorPods(): MirrorPodReconciler {
    const { shared, timed, given } = this.options;
    const { nodeName } = given;
    return new MirrorPodReconciler({
      ...given.mirrorPods,
      podManager: this.podManager,
      mirrorPodClient: new MirrorPodClient({
        transport: this.transport,
        nodeName,
        getNode: () => this.nodeObject.node,
        ...(timed.clock !== undefined && { clock: timed.clock }),
      }),
      nodeName,
      podSource: this.source,
      staticPodsReady: () => this.loop.sourcesReady(),
      isPodTerminating: (podFullName) => this.podWorkers.isPodForMirrorPodTerminatingByFullName(podFullName),
      ...shared,
    });
  }

  #newApi(): NodeApiServer | undefined {
    const { given, server, logger } = this.options;
    if (server === undefined) return undefined;
    const { podManager, statusManager, loop, transport } = this;
    const { provider, nodeName, metricsText } = given;
    const clock = safeClock(this.options.clock);
    const { streamIdleTimeoutMs } = server;
    const facts = { podManager, statusManager, provided: this.podSyncer.pods, loop, metricsText, streamIdleTimeoutMs };
    const host = new ProviderApiHost({ provider, ...facts, clock, logger });
    const addresses = () => this.nodeObject.newest?.status?.addresses ?? given.addresses ?? [];
    const { random = Math.random } = given;
    const certificates = server.certificatesWith({ nodeName, addresses, transport, clock, random, logger });
    return new NodeApiServer({ ...server, certificates, host, nodeName, transport, clock, logger });
  }

  /** True for a pod that the workers know and are done with. */
  #isFinished(podUID: string): boolean {
    return this.podWorkers.isPodKnownTerminated(podUID) && this.podWorkers.shouldPodBeFinished(podUID);
  }

  #noteCaughtUp(): void {
    this.source.noteCaughtUp();
    const isReady = this.loop.sourcesReady();
    // the node need not wait for the next look at it
    if (isReady && !this.#wasReady) {
      this.#takeOver.end();
      this.nodeObject.changed();
    }
    this.#wasReady = isReady;
  }

  #readiness(): NodeReadiness {
    const { readiness } = this.options.node;
    if (!this.loop.sourcesReady() && !this.#takeOver.staysReady)
      return { ready: false, message: 'the pod sources have not been heard yet' };
    return readiness === undefined ? { ready: true } : readiness();
  }
}
