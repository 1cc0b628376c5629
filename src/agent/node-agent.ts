import type { PodCgroups } from '../cgroups/pod-cgroups.ts';
import { longestTimerMs, numberOption, optionOfType, requireKnownOptions } from '../checks/options.ts';
import { KubePodClient } from '../client/kube-pod-client.ts';
import { RunState, type RunStateName } from '../concurrency/run-state.ts';
import { awaitStart, requireStartOptions, type StartOptions } from '../concurrency/start-wait.ts';
import { TimeLeft } from '../concurrency/time-left.ts';
import { PodConfig } from '../config/pod-config.ts';
import { LogRotation } from '../container-logs/log-rotation.ts';
import { StatusManagerError } from '../errors.ts';
import { KubeletApi } from '../kubelet-api/kubelet-api.ts';
import { MirrorPodClient } from '../mirror/mirror-pod-client.ts';
import { MirrorPodReconciler } from '../mirror/mirror-pod-reconciler.ts';
import type { NodeObject } from '../node-object/node-object.ts';
import type { BasicPodManager } from '../pod/basic-pod-manager.ts';
import { apiserverSource } from '../pod/pod-identity.ts';
import { isTerminalPhase } from '../pod/pod-phase.ts';
import { ApiServerSource } from '../sources/api-server-source.ts';
import { FileSource } from '../sources/file-source.ts';
import { HandledSource } from '../sources/handled-source.ts';
import { HttpSource } from '../sources/http-source.ts';
import { StatusManager } from '../status/status-manager.ts';
import { SyncLoop } from '../sync-loop/sync-loop.ts';
import type { HousekeepingReport } from '../sync-loop/sync-loop-options.ts';
import { wholeUnits } from '../wire/quantity-number.ts';
import { PodWorkers } from '../workers/pod-workers.ts';
import { AgentApiHost } from './agent-api-host.ts';
import { AgentCleanup } from './agent-cleanup.ts';
import { agentSnapshot } from './agent-snapshot.ts';
import { ClusterParts } from './cluster-parts.ts';
import { ContainerParts } from './container-parts.ts';
import { DiskParts } from './disk-parts.ts';
import { pageSizesOf } from './node/machine.ts';
import { MachineCgroups, noPodCgroups } from './node/machine-cgroups.ts';
import { type NodeAgentOptions, type ResolvedAgentOptions, resolveAgentOptions } from './node-agent-options.ts';
import type {
  NodeAgentSnapshot,
  NodeAgentSnapshotOptions,
  StopNodeAgentOptions,
  StoppedNodeAgent,
} from './node-agent-reports.ts';
import { NodeParts } from './node-parts.ts';
import { ResizeParts } from './resize-parts.ts';

/**
 * A node whose pods a container runtime runs, in the kubelet's place: its object and its Lease, the pods of the apiserver and of
 * other sources, volumes, images, containers, probes, and the agent's own API.
 *
 * `start` takes over what an earlier run has left, of this agent or of a kubelet; nothing is ended before every source was heard.
 * `stop` leaves the pods running, unless it is told otherwise.
 *
 * @example
 * ```ts with-server
 * import { mkdtemp, rm } from 'node:fs/promises';
 * import { NodeAgent } from 'pod-status-manager/node';
 * import { FakeMounter, FakeRuntime } from 'pod-status-manager/testing';
 *
 * const folder = await mkdtemp('/tmp/agent-');
 * const agent = new NodeAgent({
 *   kubeConfig,
 *   nodeName: 'node-1',
 *   runtime: new FakeRuntime(), // a CriRuntime of pod-status-manager/cri runs real containers
 *   rootDirectory: folder,
 *   podLogsDirectory: `${folder}/logs`,
 *   cgroupsPerQOS: false,
 *   mounter: new FakeMounter(),
 *   removeOnStop: true,
 * });
 * await agent.start();
 * const { registered, runtime } = agent.snapshot();
 * console.log(registered, runtime?.name); // true fake
 * await agent.stop();
 * await rm(folder, { recursive: true });
 * ```
 */
export class NodeAgent {
  /** The pods of the node, those of every source. Read it; the agent writes it. */
  readonly podManager: BasicPodManager;
  /** Writes the statuses of the pods. The agent starts and stops it. */
  readonly statusManager: StatusManager;
  /** What is done for each pod. The agent starts and stops them. */
  readonly podWorkers: PodWorkers;
  /** The Node and its Lease on the apiserver. The agent starts and stops it. */
  readonly nodeObject: NodeObject;
  readonly #options: ResolvedAgentOptions;
  readonly #cluster: ClusterParts;
  readonly #containers: ContainerParts;
  readonly #resizes: ResizeParts;
  readonly #node: NodeParts;
  readonly #config: PodConfig;
  readonly #source: HandledSource;
  readonly #loop: SyncLoop;
  readonly #mirrorPods: MirrorPodReconciler;
  readonly #cleanup: AgentCleanup;
  readonly #cgroups: PodCgroups;
  readonly #api: KubeletApi | undefined;
  readonly #rotation: LogRotation;
  readonly #disk: DiskParts;
  readonly #runState = new RunState<StoppedNodeAgent>('node agent');
  #wasReady = false;

  /** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. Starts nothing. */
  constructor(options: NodeAgentOptions) {
    const resolved = resolveAgentOptions(options);
    const { settings, machine, timed, measured, shared, nodeName, podManager } = resolved;
    const { statusManager, podClient, runtime, cgroups } = options;
    this.#options = resolved;
    this.podManager = podManager;
    this.#cluster = new ClusterParts(resolved);
    const { transport, eventRecorder } = this.#cluster;
    this.#config = new PodConfig({ eventRecorder, ...timed });
    const source = new ApiServerSource({ transport, nodeName, ...shared });
    this.#source = new HandledSource(source);
    this.#config.addSource(apiserverSource, source);
    this.#addOtherSources();
    const { cpuCFSQuota, podPidsLimit } = settings;
    const hugePageSizes = pageSizesOf(machine);
    const limits = { cpuCFSQuota, podPidsLimit, hugePageSizes, memoryCapacityBytes: machine.memoryBytes };
    const { cgroupRoot, cgroupDriver: driver } = settings;
    const { clock, logger } = timed;
    const askDriver = () => runtime.cgroupDriver();
    const ofMachine = (): PodCgroups => new MachineCgroups({ cgroupRoot, driver, limits, clock }, { askDriver, logger });
    this.#cgroups = cgroups ?? (settings.cgroupsPerQOS ? ofMachine() : noPodCgroups);
    this.statusManager = new StatusManager({
      ...statusManager,
      podClient: podClient ?? new KubePodClient(transport),
      podManager,
      podSource: this.#source,
      podDeletionSafety: {
        podCouldHaveRunningContainers: (pod) => this.podWorkers.podCouldHaveRunningContainers(pod),
        podResourcesAreReclaimed: (pod) => this.podWorkers.podResourcesAreReclaimed(pod),
      },
      ...shared,
    });
    this.#node = new NodeParts({
      ...{ options: resolved, cluster: this.#cluster },
      notReady: () => this.#notReady(),
      pressures: () => this.#disk.pressures,
    });
    this.nodeObject = this.#node.object;
    this.#resizes = new ResizeParts({
      ...{ runtime, cgroups: this.#cgroups, limits, statusManager: this.statusManager, podManager, eventRecorder },
      rootDirectory: settings.rootDirectory,
      admit: (pod, others) => this.#node.admit(pod, others),
      podChanged: (podUID) => this.#loop.podChanged(podUID),
      logger: timed.logger,
    });
    this.#containers = new ContainerParts({
      resizer: this.#resizes.resizer,
      ...{
        options: resolved,
        cluster: this.#cluster,
        cgroups: this.#cgroups,
        watch: this.#node.watch,
        statusManager: this.statusManager,
      },
      nodeIPs: () => this.#node.nodeIPs,
      allocatable: () => this.#node.resources.allocatable,
      podChanged: (podUID) => this.#loop.podChanged(podUID),
    });
    const { lifecycle, syncer, volumes } = this.#containers;
    this.podWorkers = new PodWorkers({
      ...{ podSyncer: syncer, runtimeStatusCache: lifecycle, eventRecorder },
      resyncIntervalMs: settings.syncFrequencyMs,
      ...shared,
    });
    this.#cleanup = new AgentCleanup({
      ...{ lifecycle, volumes, cgroups: this.#cgroups, logger: timed.logger },
      isKnown: (podUID) => podManager.getPodByUID(podUID) !== undefined || this.podWorkers.explain(podUID) !== undefined,
    });
    this.#loop = new SyncLoop({
      ...{
        config: this.#config,
        podManager,
        podWorkers: this.#resizes.workers(this.podWorkers),
        workQueue: this.podWorkers.workQueue,
      },
      ...{ statusManager: this.statusManager, runtime: lifecycle, eventRecorder },
      admitPod: (pod, others) => this.#resizes.admit(pod, others),
      onHousekeeping: (report) => this.#housekeep(report),
      onCaughtUp: () => this.#noteCaughtUp(),
      ...measured,
    });
    this.#disk = new DiskParts({
      ...{ options: resolved, eventRecorder },
      activePods: () => podManager.getPods().filter(({ metadata }) => !this.#isOver(metadata?.uid ?? '')),
      podWorkers: () => this.podWorkers,
      sourcesReady: () => this.#loop.sourcesReady(),
      pressureChanged: () => this.nodeObject.changed(),
    });
    this.#rotation = new LogRotation({
      runtime,
      maxSize: wholeUnits(settings.containerLogMaxSize),
      maxFiles: settings.containerLogMaxFiles,
      checkPeriodMs: settings.containerLogMonitorIntervalMs,
      ...timed,
    });
    this.#mirrorPods = this.#makeMirrorPods();
    this.#api = this.#makeApi();
  }

  /** `idle`, `running`, `stopping` or `stopped`. */
  get state(): RunStateName {
    return this.#runState.name;
  }

  /**
   * Resolves once the agent's API is served, the node is registered, and the apiserver's pods are known. What the server and the
   * runtime refuse is tried again. Rejects with ERR_ALREADY_STARTED, with ERR_STOPPED when the agent is stopped before that, with
   * ERR_INVALID_OPTION, with the reason of a signal that had aborted before, and with what makes a start impossible: a port that
   * is taken, cgroups that cannot be made. Rejects with ERR_START_TIMEOUT after `timeoutMs`, saying in words what was waited for,
   * and with the signal's reason; then the agent goes on. `stop()` ends it in any case.
   */
  async start(options: StartOptions = {}): Promise<void> {
    requireStartOptions(options);
    this.#runState.start();
    const { clock } = this.#options;
    const waitsFor = () => ({
      text: this.snapshot({ pods: false }).notes.join('; ') || 'the pods of the apiserver are not handled',
    });
    await awaitStart(this.#start(), options, { owner: 'node agent', clock, waitsFor });
  }

  /** How the agent is, and what it waits for, also while it starts and once it has stopped. Sends nothing and changes nothing. */
  snapshot(options: NodeAgentSnapshotOptions = {}): NodeAgentSnapshot {
    requireKnownOptions('options', options, ['pods']);
    const pods = optionOfType('pods', options.pods ?? true, 'boolean');
    const { nodeName, clock } = this.#options;
    const { podManager, podWorkers, statusManager, nodeObject, state } = this;
    const parts = { nodeName, clock, podManager, podWorkers, statusManager, nodeObject, state };
    return agentSnapshot({ ...parts, config: this.#config, watch: this.#node.watch }, pods);
  }

  /**
   * Ends in this order: the agent's API and the sources, with `leavePodsRunning: false` the pods, the sync loop, the workers, the
   * status manager, which writes what is left, the node's object. When it resolves, no timer is left, and nothing in flight that
   * heeds its signal. All of it shares `timeoutMs`. Every call after the first returns the first one's promise.
   */
  stop(options: StopNodeAgentOptions = {}): Promise<StoppedNodeAgent> {
    try {
      requireKnownOptions('options', options, ['leavePodsRunning', 'timeoutMs', 'drainTimeoutMs', 'callsTimeoutMs']);
      const leavePodsRunning = optionOfType('leavePodsRunning', options.leavePodsRunning ?? true, 'boolean');
      const timeoutMs = numberOption('timeoutMs', options.timeoutMs ?? 20_000, 0, longestTimerMs);
      const drainTimeoutMs = numberOption('drainTimeoutMs', options.drainTimeoutMs ?? 10_000, 0, longestTimerMs);
      const callsTimeoutMs = numberOption('callsTimeoutMs', options.callsTimeoutMs ?? 5000, 0, longestTimerMs);
      return this.#runState.stop(() => this.#stop({ leavePodsRunning, timeoutMs, drainTimeoutMs, callsTimeoutMs }));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** The same as `stop()` with its defaults, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #start(): Promise<void> {
    await this.#cgroups.createBase(this.#node.forPods);
    await this.#api?.listen();
    if (this.state === 'running') {
      this.#containers.lifecycle.start();
      this.#cluster.start();
      this.#rotation.start();
      this.statusManager.start();
      await this.#node.start();
    }
    if (this.state === 'running') {
      this.#mirrorPods.start();
      this.#loop.start();
      this.#config.start();
      this.#disk.start();
    }
    await Promise.all([this.nodeObject.registered(), this.#source.firstList()]);
  }

  async #stop(limits: Required<StopNodeAgentOptions>): Promise<StoppedNodeAgent> {
    const timeLeft = new TimeLeft(this.#options.clock, limits.timeoutMs);
    // the node's object comes last, and needs some of the time
    const kept = limits.timeoutMs / 4;
    this.#source.giveUp(new StatusManagerError('ERR_STOPPED', 'The node agent was stopped before its first list of pods'));
    await this.#api?.close();
    await this.#config.stop();
    if (!limits.leavePodsRunning) await timeLeft.allows(this.#endPods(), timeLeft.ms() - kept);
    await this.#loop.stop();
    await Promise.all([this.#cleanup.stop(), this.#rotation.stop(), this.#disk.stop()]);
    const workers = await this.podWorkers.stop({ timeoutMs: Math.max(0, timeLeft.ms(limits.callsTimeoutMs + kept) - kept) });
    await this.#containers.stop();
    await this.#node.stopLooking();
    const drainTimeoutMs = Math.max(0, timeLeft.ms(limits.drainTimeoutMs + kept) - kept);
    const statuses = await this.statusManager.stop({ drainTimeoutMs });
    await this.#mirrorPods.stop();
    await this.#cluster.stop();
    const node = await this.nodeObject.stop({ timeoutMs: timeLeft.ms() });
    await this.#cluster.close();
    return { statuses, workers, node };
  }

  /** Ends every pod, each within its grace period. Never rejects. */
  async #endPods(): Promise<void> {
    await Promise.allSettled(this.podManager.getPods().map((pod) => this.podWorkers.killPodNow(pod)));
  }

  #addOtherSources(): void {
    const { nodeName, settings, sources, timed } = this.#options;
    const { staticPodPath: path, staticPodURL: url, staticPodURLHeader: headers } = settings;
    if (path !== undefined) {
      const file = new FileSource({ path, nodeName, checkPeriodMs: settings.fileCheckFrequencyMs, ...timed });
      this.#config.addSource('file', file);
    }
    if (url !== undefined) {
      const http = new HttpSource({ url, headers, nodeName, checkPeriodMs: settings.httpCheckFrequencyMs, ...timed });
      this.#config.addSource('http', http);
    }
    for (const [name, each] of sources) this.#config.addSource(name, each);
  }

  #makeMirrorPods(): MirrorPodReconciler {
    const { nodeName, shared, timed } = this.#options;
    return new MirrorPodReconciler({
      podManager: this.podManager,
      mirrorPodClient: new MirrorPodClient({
        transport: this.#cluster.transport,
        nodeName,
        getNode: () => this.nodeObject.node,
        clock: timed.clock,
      }),
      nodeName,
      podSource: this.#source,
      staticPodsReady: () => this.#loop.sourcesReady(),
      isPodTerminating: (podFullName) => this.podWorkers.isPodForMirrorPodTerminatingByFullName(podFullName),
      ...shared,
    });
  }

  #makeApi(): KubeletApi | undefined {
    const { given, nodeName, timed, settings } = this.#options;
    const { server, runtime, metricsText = () => '' } = given;
    if (server === undefined) return undefined;
    const { tlsCertFile: certFile, tlsPrivateKeyFile: keyFile, clientCAFile, address, port, anonymous = false } = server;
    const host = new AgentApiHost({
      ...{ nodeName, runtime, metricsText, settings, clock: timed.clock, cgroups: this.#cgroups },
      ...{ podManager: this.podManager, statusManager: this.statusManager, lifecycle: this.#containers.lifecycle },
      lastIterationAt: () => this.#loop.lastIterationAt(),
    });
    return new KubeletApi({
      ...{ host, nodeName, transport: this.#cluster.transport, anonymous, ...timed },
      tls: { certFile, keyFile, ...(clientCAFile !== undefined && { clientCAFile }) },
      ...(address !== undefined && { address }),
      ...(port !== undefined && { port }),
    });
  }

  #housekeep(report: HousekeepingReport): void {
    const desired = new Set([...report.possiblyRunning, ...report.pods.map(({ metadata }) => metadata?.uid ?? '')]);
    this.#containers.probes.cleanupPods(desired);
    this.#cleanup.look(report);
    this.#resizes.housekeep(desired);
  }

  #noteCaughtUp(): void {
    this.#source.noteCaughtUp();
    const isReady = this.#loop.sourcesReady();
    // the node need not wait for the next look at it
    if (isReady && !this.#wasReady) this.nodeObject.changed();
    this.#wasReady = isReady;
  }

  #isOver(podUID: string): boolean {
    return this.podWorkers.isPodKnownTerminated(podUID) || isTerminalPhase(this.statusManager.getPodStatus(podUID)?.phase);
  }

  #notReady(): string | undefined {
    const { ok, message } = this.#containers.lifecycle.healthy();
    return ok ? undefined : `PLEG is not healthy: ${message}`;
  }
}
