import type { Pod } from '../../api/json/types.ts';
import { apiserverSource, podUIDOf } from '../../api/pod/pod-identity.ts';
import { callWithin, TimeLeft } from '../../base/concurrency/aborts.ts';
import {
  awaitStart,
  RunState,
  type RunStateName,
  requireStartOptions,
  type StartOptions,
} from '../../base/concurrency/run-state.ts';
import { StatusManagerError } from '../../base/errors.ts';
import { callGuarded } from '../../base/guard.ts';
import { longestTimerMs, numberOption, optionOfType, requireKnownOptions } from '../../base/options.ts';
import { ApiEventRecorder } from '../../client/events/api-event-recorder.ts';
import { type EventRecorder, noEvents, safeEventRecorder } from '../../client/events/event-recorder.ts';
import { KubePodClient } from '../../client/resources/kube-pod-client.ts';
import { ApiError } from '../../client/transport/api-error.ts';
import { KubeTransport } from '../../client/transport/kube-transport.ts';
import type { BasicPodManager } from '../../status/pods/basic-pod-manager.ts';
import type { PodDeletionSafety } from '../../status/pods/pod-deletion-safety.ts';
import { StatusManager } from '../../status/status-manager.ts';
import { PodConfig } from '../config/pod-config.ts';
import { MirrorPodClient } from '../mirror/mirror-pod-client.ts';
import { MirrorPodReconciler } from '../mirror/mirror-pod-reconciler.ts';
import type { NodeReadiness } from '../node-object/node-conditions.ts';
import { NodeObject } from '../node-object/node-object.ts';
import { ApiServerSource, HandledSource } from '../sources/api-server-source.ts';
import { PodWorkers } from '../workers/pod-workers.ts';
import { SyncLoop } from '../workers/sync-loop.ts';
import { messageOf } from './provider-calls.ts';
import { type ProviderNodeOptions, type ResolvedProviderOptions, resolveProviderOptions } from './provider-node-options.ts';
import type {
  ProviderNodeSnapshot,
  ProviderNodeSnapshotOptions,
  ProviderPodExplanation,
  StopProviderNodeOptions,
  StoppedProviderNode,
} from './provider-node-reports.ts';
import { awaitedByNode, nodeSnapshot, type ProviderNodeParts, podReport } from './provider-node-snapshot.ts';
import { ProviderPodSyncer } from './provider-pod-syncer.ts';

/** How long the start waits for the provider's list of pods. */
const listTimeoutMs = 10_000;
const lateList = (): ApiError =>
  new ApiError({ reason: 'Timeout', message: `getPods() gave no answer within ${listTimeoutMs} ms` });

/**
 * A node whose pods a {@link ProviderNodeOptions.provider} runs: its object and its Lease, the pods of the apiserver and of
 * other sources, a worker for each pod, and a status manager that tells the truth about them.
 *
 * `start` takes over what an earlier run has left, and `stop` ends no pod: they go on while the agent restarts.
 *
 * @example
 * ```ts with-server
 * import { ProviderNode } from 'pod-status-manager/node';
 *
 * const machines = new Set<string>();
 * const node = new ProviderNode({
 *   kubeConfig,
 *   nodeName: 'node-1',
 *   provider: {
 *     createPod: (pod) => machines.add(pod.metadata.uid),
 *     deletePod: (pod) => machines.delete(pod.metadata.uid),
 *     getPodStatus: (pod) => (machines.has(pod.metadata.uid) ? { phase: 'Running' } : undefined),
 *   },
 *   removeOnStop: true,
 * });
 * await node.start();
 * const { registered, notes } = node.snapshot();
 * console.log(registered, notes.length); // true 0
 * await node.stop();
 * ```
 */
export class ProviderNode {
  /** The pods of the node, those of every source. Read it; the node writes it. */
  readonly podManager: BasicPodManager;
  /** Writes the statuses of the pods. The node starts and stops it. */
  readonly statusManager: StatusManager;
  /** What is done for each pod. The node starts and stops them. */
  readonly podWorkers: PodWorkers;
  /** The Node and its Lease on the apiserver, with `setStatus` and `changed`. The node starts and stops it. */
  readonly nodeObject: NodeObject;
  readonly #options: ResolvedProviderOptions;
  readonly #transport: KubeTransport;
  readonly #config: PodConfig;
  readonly #source: HandledSource;
  readonly #syncer: ProviderPodSyncer;
  readonly #loop: SyncLoop;
  readonly #mirrorPods: MirrorPodReconciler;
  readonly #events: ApiEventRecorder | undefined;
  readonly #stopping = new AbortController();
  readonly #runState = new RunState<StoppedProviderNode>('provider node');
  #wasReady = false;
  /** Why the provider gave no list of its pods at the start. */
  #listFailure: string | undefined;

  /** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. Starts nothing. */
  constructor(options: ProviderNodeOptions) {
    const resolved = resolveProviderOptions(options);
    const { podManager, shared, timed, selection, hostIPs } = resolved;
    const { nodeName, provider, kubeConfig } = options;
    this.#options = resolved;
    const transport = options.transport ?? new KubeTransport(kubeConfig as NonNullable<typeof kubeConfig>, timed);
    this.#transport = transport;
    const events = { transport, nodeName, ...timed, random: shared.random };
    this.#events = options.eventRecorder === undefined ? new ApiEventRecorder(events) : undefined;
    const eventRecorder: EventRecorder = options.eventRecorder ?? (this.#events as ApiEventRecorder);

    this.#config = new PodConfig({ eventRecorder, ...timed });
    const source = new ApiServerSource({ ...options.apiServerSource, transport, ...selection, ...shared });
    this.#source = new HandledSource(source);
    this.#config.addSource(apiserverSource, source);
    for (const [name, each] of resolved.sources) this.#config.addSource(name, each);

    this.podManager = podManager;
    this.statusManager = new StatusManager({
      ...options.statusManager,
      podClient:
        options.podClient ?? new KubePodClient({ request: (request) => transport.request(request), close: async () => {} }),
      podManager,
      podSource: this.#source,
      podDeletionSafety: this.#deletionSafety(),
      ...shared,
    });
    this.#syncer = new ProviderPodSyncer({
      ...options.pods,
      provider,
      statusManager: this.statusManager,
      podChanged: (podUID) => this.#loop.podChanged(podUID),
      ...selection,
      hostIPs,
      eventRecorder,
      ...shared,
    });
    this.podWorkers = new PodWorkers({
      ...options.workers,
      podSyncer: this.#syncer,
      runtimeStatusCache: this.#syncer.pods,
      eventRecorder,
      ...shared,
    });
    this.#loop = this.#makeLoop(options, eventRecorder);
    const readiness = (): NodeReadiness => this.#readiness();
    this.nodeObject = new NodeObject({ ...resolved.node, nodeName, transport, readiness, eventRecorder, ...shared });
    this.#mirrorPods = this.#makeMirrorPods();
  }

  /** `idle`, `running`, `stopping` or `stopped`. */
  get state(): RunStateName {
    return this.#runState.name;
  }

  /**
   * Resolves once the node is registered and the apiserver's pods are known. What the server refuses is tried again. Rejects with
   * ERR_ALREADY_STARTED, with ERR_STOPPED when the node is stopped before that, with ERR_INVALID_OPTION, and with the reason of
   * a signal that had aborted before; then nothing is started. Rejects with ERR_START_TIMEOUT after `timeoutMs`, saying in
   * words what was waited for and what failed last, and with the signal's reason; then the node goes on, and `stop()` ends it.
   */
  async start(options: StartOptions = {}): Promise<void> {
    requireStartOptions(options);
    this.#runState.start();
    const { clock } = this.#options;
    const waitsFor = () => awaitedByNode(this.snapshot({ pods: false }), this.nodeObject, this.#source);
    await awaitStart(this.#start(), options, { owner: 'provider node', clock, waitsFor });
  }

  async #start(): Promise<void> {
    const { logger } = this.#options;
    const { provider, nodeName, eventRecorder = this.#events ?? noEvents } = this.#options.given;
    safeEventRecorder(eventRecorder).nodeEvent(nodeName, 'Normal', 'Starting', 'Starting the provider node.');
    if (provider.notifyPods !== undefined) {
      const notify = (pod: string | Pod): void => this.notify(pod);
      callGuarded(
        () => provider.notifyPods?.(notify),
        (err) => logger.error({ err }, 'notifyPods of the provider failed; each pod is asked about at its resync'),
      );
    }
    this.nodeObject.start();
    this.statusManager.start();
    await this.#listProvided();
    if (this.state === 'running') {
      this.#mirrorPods.start();
      this.#loop.start();
      this.#config.start();
    }
    await Promise.all([this.nodeObject.registered(), this.#source.firstList()]);
  }

  /**
   * Says that something of a pod has changed: the node then asks its provider for the pod's status. It may be called at any time
   * and as often as things change. A pod that the node does not know is passed over.
   */
  notify(pod: string | Pod): void {
    const podUID: unknown =
      typeof pod === 'string'
        ? pod
        : callGuarded(
            () => pod?.metadata?.uid,
            () => {},
          );
    if (typeof podUID === 'string' && podUID !== '') this.#syncer.notice(podUID);
    else this.#options.logger.warn({}, 'the provider told of a pod without its uid');
  }

  /** Why this pod is as it is. Works in every state. */
  explain(podUID: string): ProviderPodExplanation {
    const uid = this.podManager.translatePodUID(podUID);
    const report = podReport(this.#parts, uid);
    const sourceReport = this.#config.explain().find(({ name }) => name === report.source);
    return { ...report, status: this.statusManager.explain(uid), sourceReport };
  }

  /** How the node is, and what it waits for, also while it starts and once it has stopped. Sends nothing and changes nothing. */
  snapshot(options: ProviderNodeSnapshotOptions = {}): ProviderNodeSnapshot {
    requireKnownOptions('options', options, ['pods']);
    const pods = optionOfType('pods', options.pods ?? true, 'boolean');
    return nodeSnapshot({ ...this.#parts, state: this.state, listFailure: this.#listFailure }, pods);
  }

  get #parts(): ProviderNodeParts {
    const { clock, given } = this.#options;
    const { podManager, podWorkers, nodeObject } = this;
    const { pods } = this.#syncer;
    return { nodeName: given.nodeName, podManager, podWorkers, nodeObject, config: this.#config, loop: this.#loop, pods, clock };
  }

  /**
   * Ends in this order: the sources, the sync loop, the workers and the provider's calls, the status manager, which writes what
   * is left, the node's object. No pod is ended. When it resolves, no timer is left, and nothing in flight that heeds its
   * signal. All of it shares `timeoutMs`. Every call after the first returns the first one's promise.
   */
  stop(options: StopProviderNodeOptions = {}): Promise<StoppedProviderNode> {
    try {
      requireKnownOptions('options', options, ['timeoutMs', 'drainTimeoutMs', 'callsTimeoutMs']);
      const timeoutMs = numberOption('timeoutMs', options.timeoutMs ?? 20_000, 0, longestTimerMs);
      const drainTimeoutMs = numberOption('drainTimeoutMs', options.drainTimeoutMs ?? 10_000, 0, longestTimerMs);
      const callsTimeoutMs = numberOption('callsTimeoutMs', options.callsTimeoutMs ?? 5000, 0, longestTimerMs);
      return this.#runState.stop(() => this.#stop({ timeoutMs, drainTimeoutMs, callsTimeoutMs }));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** The same as `stop()` with its defaults, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #stop(limits: Required<StopProviderNodeOptions>): Promise<StoppedProviderNode> {
    const timeLeft = new TimeLeft(this.#options.clock, limits.timeoutMs);
    // the node's object comes last, and needs some of the time
    const beforeNode = new TimeLeft(this.#options.clock, limits.timeoutMs * 0.75);
    this.#stopping.abort();
    this.#source.giveUp(new StatusManagerError('ERR_STOPPED', 'The provider node was stopped before its first list of pods'));
    await this.#config.stop();
    await this.#loop.stop();
    this.#syncer.stop();
    const workers = await this.podWorkers.stop({ timeoutMs: beforeNode.ms(limits.callsTimeoutMs) });
    const statuses = await this.statusManager.stop({ drainTimeoutMs: beforeNode.ms(limits.drainTimeoutMs) });
    await this.#mirrorPods.stop();
    await this.#events?.stop();
    const node = await this.nodeObject.stop({ timeoutMs: timeLeft.ms() });
    if (this.#options.given.transport === undefined) await this.#transport.close();
    return { statuses, workers, node };
  }

  /** The workers are asked, and the provider must have let go of the pod. */
  #deletionSafety(): PodDeletionSafety {
    return {
      podCouldHaveRunningContainers: (pod) => this.podWorkers.podCouldHaveRunningContainers(pod),
      podResourcesAreReclaimed: (pod) => this.podWorkers.podResourcesAreReclaimed(pod) && this.#syncer.isReleased(podUIDOf(pod)),
    };
  }

  #makeLoop({ syncLoop, admitPod }: ProviderNodeOptions, eventRecorder: EventRecorder): SyncLoop {
    return new SyncLoop({
      ...syncLoop,
      config: this.#config,
      podManager: this.podManager,
      podWorkers: this.podWorkers,
      workQueue: this.podWorkers.workQueue,
      statusManager: this.statusManager,
      runtime: this.#syncer.pods,
      ...(admitPod !== undefined && { admitPod }),
      onHousekeeping: ({ pods }) => this.#syncer.releasePods(pods, (podUID) => this.#isFinished(podUID)),
      onCaughtUp: () => this.#noteCaughtUp(),
      eventRecorder,
      ...this.#options.measured,
    });
  }

  #makeMirrorPods(): MirrorPodReconciler {
    const { shared, timed, given } = this.#options;
    const { nodeName } = given;
    return new MirrorPodReconciler({
      ...given.mirrorPods,
      podManager: this.podManager,
      mirrorPodClient: new MirrorPodClient({
        transport: this.#transport,
        nodeName,
        getNode: () => this.nodeObject.node,
        ...(timed.clock !== undefined && { clock: timed.clock }),
      }),
      nodeName,
      podSource: this.#source,
      staticPodsReady: () => this.#loop.sourcesReady(),
      isPodTerminating: (podFullName) => this.podWorkers.isPodForMirrorPodTerminatingByFullName(podFullName),
      ...shared,
    });
  }

  /** What an earlier run of the agent has left is known before the first pod is synced. */
  async #listProvided(): Promise<void> {
    const { clock, logger } = this.#options;
    const { signal } = this.#stopping;
    try {
      await callWithin((own) => this.#syncer.pods.list(own), { clock, timeoutMs: listTimeoutMs, signal, late: lateList });
    } catch (err) {
      if (signal.aborted) return;
      this.#listFailure = messageOf(err);
      logger.error({ err }, 'the provider gave no list of its pods; each pod is asked about');
    }
  }

  /** True for a pod that the workers know and are done with. */
  #isFinished(podUID: string): boolean {
    return this.podWorkers.isPodKnownTerminated(podUID) && this.podWorkers.shouldPodBeFinished(podUID);
  }

  #noteCaughtUp(): void {
    this.#source.noteCaughtUp();
    const isReady = this.#loop.sourcesReady();
    // the node need not wait for the next look at it
    if (isReady && !this.#wasReady) this.nodeObject.changed();
    this.#wasReady = isReady;
  }

  #readiness(): NodeReadiness {
    if (!this.#loop.sourcesReady()) return { ready: false, message: 'the pod sources have not been heard yet' };
    const { readiness } = this.#options.node;
    return readiness === undefined ? { ready: true } : readiness();
  }
}
