import type { Pod } from '../../api/json/types.ts';
import { apiserverSource, isTerminalPhase, podUIDOf } from '../../api/pod/pod-identity.ts';
import { wholeUnits } from '../../api/quantity/quantity-arithmetic.ts';
import { KubePodClient } from '../../client/resources/kube-pod-client.ts';
import { PodConfig } from '../../node/config/pod-config.ts';
import { MirrorPodClient } from '../../node/mirror/mirror-pod-client.ts';
import { MirrorPodReconciler } from '../../node/mirror/mirror-pod-reconciler.ts';
import { ApiServerSource, HandledSource } from '../../node/sources/api-server-source.ts';
import { FileSource } from '../../node/sources/file-source.ts';
import { HttpSource } from '../../node/sources/http-source.ts';
import { PodWorkers } from '../../node/workers/pod-workers.ts';
import { SyncLoop } from '../../node/workers/sync-loop.ts';
import type { HousekeepingReport } from '../../node/workers/sync-loop-options.ts';
import type { BasicPodManager } from '../../status/pods/basic-pod-manager.ts';
import { StatusManager } from '../../status/status-manager.ts';
import type { PodCgroups } from '../cgroups/cgroup-manager.ts';
import { podsMemory } from '../eviction/read-usage.ts';
import { LogRotation } from '../logs/log-rotation.ts';
import { MachineCgroups, noPodCgroups, pageSizesOf } from '../machine/machine.ts';
import { ClassUpdates } from '../pods/class-updates.ts';
import { ResizeParts, type ResizePartsOptions } from '../resize/allocation-manager.ts';
import { KubeletApi } from '../server/kubelet-api.ts';
import { CpuSampler, readProcessorTime } from '../server/node-stats.ts';
import { AgentApiHost } from './agent-api-host.ts';
import { AgentCleanup } from './agent-cleanup.ts';
import { ClusterParts, LateSource } from './agent-clients.ts';
import { NodeParts } from './agent-node.ts';
import { DiskParts } from './garbage-collection.ts';
import { ContainerParts } from './new-pod-syncer.ts';
import { type NodeAgentOptions, type ResolvedAgentOptions, resolveAgentOptions } from './node-agent-options.ts';

/**
 * The parts of a node agent, put together in the order of the constructor. Nothing of them runs before its start. A part that asks
 * one made later asks for it when it runs.
 */
export class AgentParts {
  readonly options: ResolvedAgentOptions;
  readonly podManager: BasicPodManager;
  readonly cluster: ClusterParts;
  readonly source: HandledSource;
  readonly config: PodConfig;
  readonly cgroups: PodCgroups;
  readonly classes: ClassUpdates;
  readonly statusManager: StatusManager;
  readonly node: NodeParts;
  readonly resizes: ResizeParts;
  readonly containers: ContainerParts;
  readonly podWorkers: PodWorkers;
  readonly loop: SyncLoop;
  readonly disk: DiskParts;
  readonly cleanup: AgentCleanup;
  readonly rotation: LogRotation;
  readonly mirrorPods: MirrorPodReconciler;
  /** What the API shows of the machine's processors. */
  readonly cpu: CpuSampler;
  /** What the agent's API shows. */
  readonly shown: AgentApiHost;
  readonly api: KubeletApi | undefined;
  readonly #apiServer: ApiServerSource;
  readonly #limits: ResizePartsOptions['limits'];
  #wasReady = false;

  /** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
  constructor(options: NodeAgentOptions) {
    this.options = resolveAgentOptions(options);
    this.podManager = this.options.podManager;
    this.#limits = limitsOf(this.options);
    this.cluster = new ClusterParts(this.options);
    this.#apiServer = this.#makeApiServerSource();
    this.source = new HandledSource(this.#apiServer);
    this.config = this.#makeConfig();
    this.cgroups = options.cgroups ?? this.#makeCgroups();
    this.classes = this.#makeClassUpdates();
    this.statusManager = this.#makeStatusManager();
    this.node = this.#makeNode();
    this.resizes = this.#makeResizes();
    this.containers = this.#makeContainers();
    this.podWorkers = this.#makePodWorkers();
    this.loop = this.#makeLoop();
    this.disk = this.#makeDisk();
    this.cleanup = this.#makeCleanup();
    this.rotation = this.#makeRotation();
    this.mirrorPods = this.#makeMirrorPods();
    this.cpu = new CpuSampler({ read: readProcessorTime, clock: this.options.timed.clock });
    this.shown = this.#makeApiHost();
    this.api = this.#makeApi();
  }

  #makeApiServerSource(): ApiServerSource {
    const { given, nodeName, shared } = this.options;
    return new ApiServerSource({ transport: this.cluster.lanes.own, nodeName, podBudget: given.podBudget ?? {}, ...shared });
  }

  #makeConfig(): PodConfig {
    const { nodeName, settings, sources, timed } = this.options;
    const config = new PodConfig({ eventRecorder: this.cluster.eventRecorder, ...timed });
    // whether a pod may run depends on what the node has, and on what others say of it
    config.addSource(apiserverSource, new LateSource(this.#apiServer, () => this.node.object.synced()));
    const { staticPodPath: path, staticPodURL: url, staticPodURLHeader: headers } = settings;
    if (path !== undefined) {
      const file = new FileSource({ path, nodeName, checkPeriodMs: settings.fileCheckFrequencyMs, ...timed });
      config.addSource('file', file);
    }
    if (url !== undefined) {
      const http = new HttpSource({ url, headers, nodeName, checkPeriodMs: settings.httpCheckFrequencyMs, ...timed });
      config.addSource('http', http);
    }
    for (const [name, each] of sources) config.addSource(name, each);
    return config;
  }

  #makeCgroups(): PodCgroups {
    const { given, settings, timed } = this.options;
    if (!settings.cgroupsPerQOS) return noPodCgroups;
    const { cgroupRoot, cgroupDriver: driver } = settings;
    const { clock, logger } = timed;
    const askDriver = () => given.runtime.cgroupDriver();
    return new MachineCgroups({ cgroupRoot, driver, limits: this.#limits, clock }, { askDriver, logger });
  }

  #makeClassUpdates(): ClassUpdates {
    const activePods = (): Pod[] => this.podManager.getPods().filter((pod) => this.#isActive(pod));
    return new ClassUpdates({ cgroups: this.cgroups, activePods, logger: this.options.timed.logger });
  }

  #makeStatusManager(): StatusManager {
    const { given, shared } = this.options;
    return new StatusManager({
      ...given.statusManager,
      podClient: given.podClient ?? new KubePodClient({ ...this.cluster.lanes.statuses, close: async () => {} }),
      podManager: this.podManager,
      podSource: this.source,
      podDeletionSafety: {
        podCouldHaveRunningContainers: (pod) => this.podWorkers.podCouldHaveRunningContainers(pod),
        podResourcesAreReclaimed: (pod) => this.podWorkers.podResourcesAreReclaimed(pod),
      },
      ...shared,
    });
  }

  #makeNode(): NodeParts {
    return new NodeParts({
      options: this.options,
      cluster: this.cluster,
      notReady: () => this.#notReady(),
      pressures: () => this.disk.pressures,
      tooLarge: (podUID) => this.#apiServer.refusal(podUID),
    });
  }

  #makeResizes(): ResizeParts {
    const { given, settings, timed } = this.options;
    return new ResizeParts({
      rootDirectory: settings.rootDirectory,
      runtime: given.runtime,
      cgroups: this.cgroups,
      limits: this.#limits,
      statusManager: this.statusManager,
      podManager: this.podManager,
      admit: (pod, others) => this.node.admit(pod, others),
      podChanged: (podUID) => this.loop.podChanged(podUID),
      eventRecorder: this.cluster.eventRecorder,
      logger: timed.logger,
    });
  }

  #makeContainers(): ContainerParts {
    return new ContainerParts({
      options: this.options,
      cluster: this.cluster,
      cgroups: this.cgroups,
      classes: this.classes,
      watch: this.node.watch,
      statusManager: this.statusManager,
      hostIPs: () => this.node.hostIPs(),
      allocatable: () => this.node.resources.allocatable,
      resizer: this.resizes.resizer,
      podChanged: (podUID) => this.loop.podChanged(podUID),
    });
  }

  #makePodWorkers(): PodWorkers {
    const { settings, shared } = this.options;
    return new PodWorkers({
      podSyncer: this.containers.syncer,
      runtimeStatusCache: this.containers.lifecycle,
      eventRecorder: this.cluster.eventRecorder,
      resyncIntervalMs: settings.syncFrequencyMs,
      ...shared,
    });
  }

  #makeLoop(): SyncLoop {
    return new SyncLoop({
      config: this.config,
      podManager: this.podManager,
      podWorkers: this.resizes.workers(this.podWorkers),
      workQueue: this.podWorkers.workQueue,
      statusManager: this.statusManager,
      runtime: this.containers.lifecycle,
      eventRecorder: this.cluster.eventRecorder,
      admitPod: (pod, others) => this.resizes.admit(pod, others),
      onHousekeeping: (report) => this.#housekeep(report),
      onCaughtUp: () => this.#noteCaughtUp(),
      ...this.options.measured,
    });
  }

  #makeDisk(): DiskParts {
    return new DiskParts({
      options: this.options,
      eventRecorder: this.cluster.eventRecorder,
      activePods: () => this.podManager.getPods().filter(({ metadata }) => !this.#isOver(metadata?.uid ?? '')),
      podWorkers: this.podWorkers,
      sourcesReady: () => this.loop.sourcesReady(),
      forgetImages: (list) => this.containers.images.forgetImages(list),
      readPodsMemory: () => podsMemory(this.cgroups, this.node.forPods.memory),
      pressureChanged: () => this.node.object.changed(),
    });
  }

  #makeCleanup(): AgentCleanup {
    return new AgentCleanup({
      lifecycle: this.containers.lifecycle,
      volumes: this.containers.volumes,
      cgroups: this.cgroups,
      containers: this.disk.containers,
      isKnown: (podUID) => this.podManager.getPodByUID(podUID) !== undefined || this.podWorkers.explain(podUID) !== undefined,
      logger: this.options.timed.logger,
    });
  }

  #makeRotation(): LogRotation {
    const { given, settings, timed } = this.options;
    return new LogRotation({
      runtime: given.runtime,
      maxSize: wholeUnits(settings.containerLogMaxSize),
      maxFiles: settings.containerLogMaxFiles,
      checkPeriodMs: settings.containerLogMonitorIntervalMs,
      ...timed,
    });
  }

  #makeMirrorPods(): MirrorPodReconciler {
    const { nodeName, shared, timed } = this.options;
    return new MirrorPodReconciler({
      podManager: this.podManager,
      mirrorPodClient: new MirrorPodClient({
        transport: this.cluster.lanes.own,
        nodeName,
        getNode: () => this.node.object.node,
        clock: timed.clock,
      }),
      nodeName,
      podSource: this.source,
      staticPodsReady: () => this.loop.sourcesReady(),
      isPodTerminating: (podFullName) => this.podWorkers.isPodForMirrorPodTerminatingByFullName(podFullName),
      ...shared,
    });
  }

  #makeApiHost(): AgentApiHost {
    const { given, nodeName, timed, settings } = this.options;
    const { runtime, metricsText = () => '' } = given;
    return new AgentApiHost({
      nodeName,
      runtime,
      metricsText,
      settings,
      clock: timed.clock,
      cgroups: this.cgroups,
      podManager: this.podManager,
      statusManager: this.statusManager,
      lifecycle: this.containers.lifecycle,
      cpu: this.cpu,
      memoryLimitsOf: (pod) => this.resizes.memoryLimitsOf(pod),
      filesOf: (podUID) => this.disk.filesOf(podUID),
      lastIterationAt: () => this.loop.lastIterationAt(),
    });
  }

  #makeApi(): KubeletApi | undefined {
    const { given, nodeName, timed } = this.options;
    if (given.server === undefined) return undefined;
    const { tlsCertFile: certFile, tlsPrivateKeyFile: keyFile, ...more } = given.server;
    const { clientCAFile, tlsMinVersion, tlsCipherSuites, ...others } = more;
    return new KubeletApi({
      host: this.shown,
      nodeName,
      transport: this.cluster.lanes.reviews,
      ...others,
      ...timed,
      tls: { certFile, keyFile, clientCAFile, tlsMinVersion, tlsCipherSuites },
    });
  }

  #housekeep(report: HousekeepingReport): void {
    const desired = new Set([...report.possiblyRunning, ...report.pods.map(podUIDOf)]);
    this.containers.probes.cleanupPods(desired);
    this.containers.forgetWaits();
    void this.classes.update();
    this.cleanup.look(report);
    this.resizes.housekeep(desired);
  }

  #noteCaughtUp(): void {
    this.source.noteCaughtUp();
    const isReady = this.loop.sourcesReady();
    // the node need not wait for the next look at it
    if (isReady && !this.#wasReady) this.node.object.changed();
    this.#wasReady = isReady;
  }

  /** pkg/kubelet/kubelet_pods.go isPodInactive: a pod that has ended counts while it is being brought to its end. */
  #isActive({ metadata, status }: Pod): boolean {
    const podUID = metadata?.uid ?? '';
    if (this.podWorkers.isPodKnownTerminated(podUID)) return false;
    const phases = [status?.phase, this.statusManager.getPodStatus(podUID)?.phase];
    return !phases.some(isTerminalPhase) || this.podWorkers.isPodTerminationRequested(podUID);
  }

  #isOver(podUID: string): boolean {
    return this.podWorkers.isPodKnownTerminated(podUID) || isTerminalPhase(this.statusManager.getPodStatus(podUID)?.phase);
  }

  #notReady(): string | undefined {
    const { ok, message } = this.containers.lifecycle.healthy();
    return ok ? undefined : `PLEG is not healthy: ${message}`;
  }
}

/** What the cgroups of pods are limited by, on this machine. */
function limitsOf({ settings, machine }: ResolvedAgentOptions): ResizePartsOptions['limits'] {
  const { cpuCFSQuota, podPidsLimit } = settings;
  return { cpuCFSQuota, podPidsLimit, hugePageSizes: pageSizesOf(machine), memoryCapacityBytes: machine.memoryBytes };
}
