import type { Pod } from '../../api/json/types.ts';
import { apiserverSource, isTerminalPhase } from '../../api/pod/pod-identity.ts';
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
import { KubeletApi } from '../server/kubelet-api.ts';
import { CpuSampler, readProcessorTime } from '../server/node-stats.ts';
import { AgentApiHost } from './agent-api-host.ts';
import { AgentCleanup } from './agent-cleanup.ts';
import { ClusterParts, LateSource } from './cluster-parts.ts';
import { ContainerParts } from './container-parts.ts';
import { DiskParts } from './disk-parts.ts';
import { type NodeAgentOptions, type ResolvedAgentOptions, resolveAgentOptions } from './node-agent-options.ts';
import { NodeParts } from './node-parts.ts';
import { ResizeParts } from './resize-parts.ts';

/** The parts of a node agent, put together. Nothing of them runs before its start. */
export class AgentParts {
  readonly options: ResolvedAgentOptions;
  readonly podManager: BasicPodManager;
  readonly statusManager: StatusManager;
  readonly podWorkers: PodWorkers;
  readonly cluster: ClusterParts;
  readonly containers: ContainerParts;
  readonly resizes: ResizeParts;
  readonly node: NodeParts;
  readonly config: PodConfig;
  readonly source: HandledSource;
  readonly loop: SyncLoop;
  readonly mirrorPods: MirrorPodReconciler;
  readonly cleanup: AgentCleanup;
  readonly cgroups: PodCgroups;
  readonly classes: ClassUpdates;
  /** What the agent's API shows. */
  readonly shown: AgentApiHost;
  readonly api: KubeletApi | undefined;
  /** What the API shows of the machine's processors. */
  readonly cpu: CpuSampler;
  readonly rotation: LogRotation;
  readonly disk: DiskParts;
  #wasReady = false;

  /** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
  constructor(options: NodeAgentOptions) {
    const resolved = resolveAgentOptions(options);
    const { settings, machine, timed, measured, shared, nodeName, podManager } = resolved;
    const { statusManager, podClient, runtime, cgroups } = options;
    this.options = resolved;
    this.podManager = podManager;
    this.cluster = new ClusterParts(resolved);
    const { lanes, eventRecorder } = this.cluster;
    this.config = new PodConfig({ eventRecorder, ...timed });
    const source = new ApiServerSource({ transport: lanes.own, nodeName, podBudget: options.podBudget ?? {}, ...shared });
    this.source = new HandledSource(source);
    // whether a pod may run depends on what the node has, and on what others say of it
    this.config.addSource(apiserverSource, new LateSource(source, () => this.node.object.synced()));
    this.#addOtherSources();
    const { cpuCFSQuota, podPidsLimit } = settings;
    const hugePageSizes = pageSizesOf(machine);
    const limits = { cpuCFSQuota, podPidsLimit, hugePageSizes, memoryCapacityBytes: machine.memoryBytes };
    const { cgroupRoot, cgroupDriver: driver } = settings;
    const { clock, logger } = timed;
    const askDriver = () => runtime.cgroupDriver();
    const ofMachine = (): PodCgroups => new MachineCgroups({ cgroupRoot, driver, limits, clock }, { askDriver, logger });
    this.cgroups = cgroups ?? (settings.cgroupsPerQOS ? ofMachine() : noPodCgroups);
    const activePods = (): Pod[] => podManager.getPods().filter((pod) => this.#isActive(pod));
    this.classes = new ClassUpdates({ cgroups: this.cgroups, activePods, logger });
    this.statusManager = new StatusManager({
      ...statusManager,
      podClient: podClient ?? new KubePodClient({ ...lanes.statuses, close: async () => {} }),
      podManager,
      podSource: this.source,
      podDeletionSafety: {
        podCouldHaveRunningContainers: (pod) => this.podWorkers.podCouldHaveRunningContainers(pod),
        podResourcesAreReclaimed: (pod) => this.podWorkers.podResourcesAreReclaimed(pod),
      },
      ...shared,
    });
    this.node = new NodeParts({
      ...{ options: resolved, cluster: this.cluster },
      notReady: () => this.#notReady(),
      pressures: () => this.disk.pressures,
      tooLarge: (podUID) => source.refusal(podUID),
    });
    this.resizes = new ResizeParts({
      ...{ runtime, cgroups: this.cgroups, limits, statusManager: this.statusManager, podManager, eventRecorder },
      rootDirectory: settings.rootDirectory,
      admit: (pod, others) => this.node.admit(pod, others),
      podChanged: (podUID) => this.loop.podChanged(podUID),
      logger: timed.logger,
    });
    this.containers = new ContainerParts({
      resizer: this.resizes.resizer,
      ...{
        options: resolved,
        cluster: this.cluster,
        cgroups: this.cgroups,
        classes: this.classes,
        watch: this.node.watch,
        statusManager: this.statusManager,
      },
      hostIPs: () => this.node.hostIPs(),
      allocatable: () => this.node.resources.allocatable,
      podChanged: (podUID) => this.loop.podChanged(podUID),
    });
    const { lifecycle, syncer, volumes } = this.containers;
    this.podWorkers = new PodWorkers({
      ...{ podSyncer: syncer, runtimeStatusCache: lifecycle, eventRecorder },
      resyncIntervalMs: settings.syncFrequencyMs,
      ...shared,
    });
    this.loop = new SyncLoop({
      ...{
        config: this.config,
        podManager,
        podWorkers: this.resizes.workers(this.podWorkers),
        workQueue: this.podWorkers.workQueue,
      },
      ...{ statusManager: this.statusManager, runtime: lifecycle, eventRecorder },
      admitPod: (pod, others) => this.resizes.admit(pod, others),
      onHousekeeping: (report) => this.#housekeep(report),
      onCaughtUp: () => this.#noteCaughtUp(),
      ...measured,
    });
    this.disk = new DiskParts({
      ...{ options: resolved, eventRecorder },
      activePods: () => podManager.getPods().filter(({ metadata }) => !this.#isOver(metadata?.uid ?? '')),
      podWorkers: () => this.podWorkers,
      sourcesReady: () => this.loop.sourcesReady(),
      forgetImages: (list) => this.containers.images.forgetImages(list),
      readPodsMemory: () => podsMemory(this.cgroups, this.node.forPods.memory),
      pressureChanged: () => this.node.object.changed(),
    });
    this.cleanup = new AgentCleanup({
      ...{ lifecycle, volumes, cgroups: this.cgroups, containers: this.disk.containers, logger: timed.logger },
      isKnown: (podUID) => podManager.getPodByUID(podUID) !== undefined || this.podWorkers.explain(podUID) !== undefined,
    });
    this.rotation = new LogRotation({
      runtime,
      maxSize: wholeUnits(settings.containerLogMaxSize),
      maxFiles: settings.containerLogMaxFiles,
      checkPeriodMs: settings.containerLogMonitorIntervalMs,
      ...timed,
    });
    this.mirrorPods = this.#makeMirrorPods();
    this.cpu = new CpuSampler({ read: readProcessorTime, clock });
    this.shown = this.#makeApiHost();
    this.api = this.#makeApi();
  }

  #addOtherSources(): void {
    const { nodeName, settings, sources, timed } = this.options;
    const { staticPodPath: path, staticPodURL: url, staticPodURLHeader: headers } = settings;
    if (path !== undefined) {
      const file = new FileSource({ path, nodeName, checkPeriodMs: settings.fileCheckFrequencyMs, ...timed });
      this.config.addSource('file', file);
    }
    if (url !== undefined) {
      const http = new HttpSource({ url, headers, nodeName, checkPeriodMs: settings.httpCheckFrequencyMs, ...timed });
      this.config.addSource('http', http);
    }
    for (const [name, each] of sources) this.config.addSource(name, each);
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
      ...{ nodeName, runtime, metricsText, settings, clock: timed.clock, cgroups: this.cgroups },
      ...{ podManager: this.podManager, statusManager: this.statusManager, lifecycle: this.containers.lifecycle },
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
      ...{ host: this.shown, nodeName, transport: this.cluster.lanes.reviews, ...others, ...timed },
      tls: { certFile, keyFile, clientCAFile, tlsMinVersion, tlsCipherSuites },
    });
  }

  #housekeep(report: HousekeepingReport): void {
    const desired = new Set([...report.possiblyRunning, ...report.pods.map(({ metadata }) => metadata?.uid ?? '')]);
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
