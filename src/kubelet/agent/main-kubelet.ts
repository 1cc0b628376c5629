import type { Pod } from '../../api/json/types.ts';
import { apiserverSource, isTerminalPhase, podUIDOf } from '../../api/pod/pod-identity.ts';
import { KubePodClient } from '../../client/resources/kube-pod-client.ts';
import { PodConfig } from '../../node/config/pod-config.ts';
import { ClusterServices } from '../../node/environment/cluster-services.ts';
import { MirrorPodClient } from '../../node/mirror/mirror-pod-client.ts';
import { MirrorPodReconciler } from '../../node/mirror/mirror-pod-reconciler.ts';
import { ReferencedObjects } from '../../node/object-managers/referenced-objects.ts';
import { TokenManager } from '../../node/pod-files/token-manager.ts';
import { NetworkProber } from '../../node/probes/network-prober.ts';
import { ProbeManager } from '../../node/probes/probe-manager.ts';
import { NodeApiServer } from '../../node/server/node-api-server.ts';
import { ApiServerSource, HandledSource, LateSource } from '../../node/sources/api-server-source.ts';
import { FileSource } from '../../node/sources/file-source.ts';
import { HttpSource } from '../../node/sources/http-source.ts';
import { PodWorkers } from '../../node/workers/pod-workers.ts';
import type { RestartBackoff } from '../../node/workers/restart-backoff.ts';
import { SyncLoop } from '../../node/workers/sync-loop.ts';
import type { HousekeepingReport } from '../../node/workers/sync-loop-options.ts';
import { StatusManager } from '../../status/status-manager.ts';
import type { PodCgroups } from '../cgroups/cgroup-manager.ts';
import { RuntimeClasses } from '../cluster/runtime-classes.ts';
import type { ContainerConfigs } from '../containers/container-configs.ts';
import type { ImageCredentialPlugins } from '../images/image-credential-plugins.ts';
import type { ImagePuller } from '../images/image-puller.ts';
import type { LogRotation } from '../logs/log-rotation.ts';
import { terminationMessageOf } from '../logs/termination-message.ts';
import { MachineCgroups, noPodCgroups } from '../machine/machine.ts';
import { PodLifecycle } from '../pleg/pod-lifecycle.ts';
import type { AgentPodSyncer } from '../pods/agent-pod-syncer.ts';
import { ClassUpdates } from '../pods/class-updates.ts';
import { execProber } from '../pods/exec-prober.ts';
import { AllocationManager } from '../resize/allocation-manager.ts';
import { CpuSampler, readProcessorTime } from '../server/node-stats.ts';
import { RuntimeApiHost } from '../server/runtime-api-host.ts';
import { LinuxMounter, type Mounter } from '../volumes/mounter.ts';
import type { VolumeManager } from '../volumes/volume-manager.ts';
import { AgentApiHost } from './agent-api-host.ts';
import { AgentCleanup } from './agent-cleanup.ts';
import { AgentClients } from './agent-clients.ts';
import { deviceNeeds } from './agent-devices.ts';
import { AgentNode } from './agent-node.ts';
import { type AgentPlugins, agentPlugins } from './agent-plugins.ts';
import { type AgentVolumes, newDriverVolumes } from './agent-volumes.ts';
import { GarbageCollection } from './garbage-collection.ts';
import {
  newContainerConfigs,
  newImageCredentials,
  newImageManager,
  newLogRotation,
  newPodSyncer,
  newRestartBackoff,
  newVolumeManager,
} from './new-pod-syncer.ts';
import { type NodeAgentOptions, type ResolvedAgentOptions, resolveAgentOptions } from './node-agent-options.ts';
import { limitsOf, type NodeLimitGroups, newLimitGroups } from './node-limits.ts';

/**
 * The parts of a node agent, each made after those that it needs, as NewMainKubelet in pkg/kubelet/kubelet.go makes them. Nothing of
 * them runs before its start. What goes in a circle is asked when it runs: the workers, the sync loop, and what runs short.
 */
export class MainKubelet {
  readonly options: ResolvedAgentOptions;
  readonly clients: AgentClients;
  readonly referencedObjects: ReferencedObjects;
  readonly tokenManager: TokenManager;
  readonly services: ClusterServices;
  readonly source: HandledSource;
  readonly cgroups: PodCgroups;
  readonly limitGroups: NodeLimitGroups;
  readonly classUpdates: ClassUpdates;
  readonly statusManager: StatusManager;
  /** Lists the pods of the runtime, and hears of their changes: the kubelet's pod lifecycle event generator. */
  readonly pleg: PodLifecycle;
  readonly node: AgentNode;
  readonly plugins: AgentPlugins | undefined;
  readonly imageCredentials: ImageCredentialPlugins | undefined;
  readonly probeManager: ProbeManager;
  readonly podSyncer: AgentPodSyncer;
  readonly podWorkers: PodWorkers;
  readonly podConfig: PodConfig;
  readonly loop: SyncLoop;
  readonly garbageCollection: GarbageCollection;
  readonly cleanup: AgentCleanup;
  readonly logRotation: LogRotation;
  readonly mirrorPods: MirrorPodReconciler;
  /** What the API shows of the machine's processors. */
  readonly cpu: CpuSampler;
  /** What the agent's API shows. */
  readonly apiHost: AgentApiHost;
  readonly api: NodeApiServer | undefined;
  readonly #runtimeClasses: RuntimeClasses;
  readonly #apiServerSource: ApiServerSource;
  readonly #allocationManager: AllocationManager;
  readonly #imageManager: ImagePuller;
  readonly #driverVolumes: AgentVolumes;
  readonly #volumeManager: VolumeManager;
  readonly #containerConfigs: ContainerConfigs;
  readonly #restartBackoff: RestartBackoff;
  #wasReady = false;

  /** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
  constructor(options: NodeAgentOptions) {
    this.options = resolveAgentOptions(options);
    const { given, nodeName, random, clock, logger, shared } = this.options;
    const { mounter = new LinuxMounter() } = given;
    this.clients = new AgentClients(this.options);
    const { kubeClient, objectClient, eventRecorder } = this.clients;
    this.referencedObjects = this.#newReferencedObjects();
    this.tokenManager = new TokenManager({ transport: objectClient, random, clock, logger });
    this.services = new ClusterServices({ transport: kubeClient, ...shared });
    this.#runtimeClasses = new RuntimeClasses(kubeClient);
    const podBudget = given.podBudget ?? {};
    this.#apiServerSource = new ApiServerSource({ transport: kubeClient, nodeName, podBudget, ...shared });
    this.source = new HandledSource(this.#apiServerSource);
    this.cgroups = given.cgroups ?? this.#newCgroups();
    this.statusManager = this.#newStatusManager();
    this.classUpdates = new ClassUpdates({ cgroups: this.cgroups, activePods: () => this.activePods(), clock, logger });
    this.pleg = this.#newPleg();
    this.node = this.#newNode();
    this.limitGroups = newLimitGroups(this.options, { cgroups: this.cgroups, node: this.node, eventRecorder });
    this.#allocationManager = this.#newAllocationManager();
    this.imageCredentials = newImageCredentials(this.options, kubeClient, this.tokenManager);
    this.#imageManager = newImageManager(this.options, eventRecorder, this.imageCredentials);
    const devices = deviceNeeds(this);
    this.plugins = agentPlugins(this, mounter, devices);
    this.#driverVolumes = newDriverVolumes(this.options, this, mounter);
    this.#volumeManager = this.#newVolumeManager(mounter);
    this.#containerConfigs = newContainerConfigs(this.options, this, this.#driverVolumes);
    this.probeManager = this.#newProbeManager();
    this.#restartBackoff = newRestartBackoff(this.options, eventRecorder);
    this.podSyncer = this.#newPodSyncer();
    this.podWorkers = this.#newPodWorkers();
    this.podConfig = this.#newPodConfig();
    this.loop = this.#newLoop();
    this.garbageCollection = this.#newGarbageCollection();
    this.cleanup = this.#newCleanup();
    this.logRotation = newLogRotation(this.options);
    this.mirrorPods = this.#newMirrorPods();
    this.cpu = new CpuSampler({ read: readProcessorTime, clock });
    this.apiHost = this.#newApiHost();
    this.api = this.#newApi();
  }

  #newReferencedObjects(): ReferencedObjects {
    const { settings, objectBudget: budget, shared } = this.options;
    const { objectClient: transport, eventRecorder } = this.clients;
    return new ReferencedObjects(eventRecorder, { transport, budget, resyncIntervalMs: settings.syncFrequencyMs, ...shared });
  }

  #newCgroups(): PodCgroups {
    const { given, settings, clock, logger } = this.options;
    if (!settings.cgroupsPerQOS) return noPodCgroups;
    const { cgroupRoot, cgroupDriver: driver } = settings;
    const { runtime, openSystemBus } = given;
    const options = { cgroupRoot, driver, openSystemBus, limits: limitsOf(this.options), clock };
    return new MachineCgroups(options, { askDriver: (call) => runtime.cgroupDriver(call), logger });
  }

  #newStatusManager(): StatusManager {
    const { given, podManager, shared } = this.options;
    return new StatusManager({
      ...given.statusManager,
      podClient: given.podClient ?? new KubePodClient({ ...this.clients.statusClient, close: async () => {} }),
      podManager,
      podSource: this.source,
      podDeletionSafety: {
        podCouldHaveRunningContainers: (pod) =>
          this.podWorkers.podCouldHaveRunningContainers(pod) || this.plugins?.claims.mayHold(pod) === true,
        podResourcesAreReclaimed: (pod) =>
          this.podWorkers.podResourcesAreReclaimed(pod) && this.plugins?.claims.mayHold(pod) !== true,
      },
      ...shared,
    });
  }

  #newPleg(): PodLifecycle {
    const { given, clock, logger, metrics } = this.options;
    const { runtime } = given;
    return new PodLifecycle({ runtime, podChanged: this.#podChanged, terminationMessageOf, clock, logger, metrics });
  }

  #newNode(): AgentNode {
    const { heartbeatClient, eventRecorder } = this.clients;
    return new AgentNode(this.options, {
      heartbeatClient,
      eventRecorder,
      pleg: this.pleg,
      apiServerSource: this.#apiServerSource,
      ...{ pressures: () => this.garbageCollection.pressures, volumesInUse: () => this.plugins?.storage.volumesInUse() },
      devices: () => this.plugins?.devices,
      pods: {
        activePods: () => this.#podsThatAreNotOver(),
        killPod: (pod, kill) => this.podWorkers.killPodNow(pod, kill),
        isCleanedUp: (pod) => this.podWorkers.shouldPodBeFinished(podUIDOf(pod)),
        flushStatuses: (timeoutMs) => this.statusManager.flush({ timeoutMs }),
      },
    });
  }

  #newAllocationManager(): AllocationManager {
    const { given, settings, podManager, logger } = this.options;
    return new AllocationManager({
      rootDirectory: settings.rootDirectory,
      runtime: given.runtime,
      cgroups: this.cgroups,
      limits: limitsOf(this.options),
      statusManager: this.statusManager,
      podManager,
      admit: (pod, others) => this.node.admit(pod, others),
      admitNew: (pod, others) => this.node.admitNew(pod, others),
      podChanged: this.#podChanged,
      eventRecorder: this.clients.eventRecorder,
      logger,
    });
  }

  #newVolumeManager(mounter: Mounter): VolumeManager {
    const { referencedObjects, tokenManager, node } = this;
    const needs = { mounter, referencedObjects, tokenManager, node, drivers: this.#driverVolumes };
    return newVolumeManager(this.options, { ...needs, runtimeClasses: this.#runtimeClasses, imageManager: this.#imageManager });
  }

  #newProbeManager(): ProbeManager {
    const { given, clock, shared } = this.options;
    return new ProbeManager({
      prober: given.prober ?? new NetworkProber({ exec: execProber(given.runtime), timesExec: true, clock }),
      statusManager: this.statusManager,
      handlers: { resultChanged: ({ podUID, needsSync }) => void (needsSync && this.#podChanged(podUID)) },
      eventRecorder: this.clients.eventRecorder,
      ...shared,
    });
  }

  #newPodSyncer(): AgentPodSyncer {
    return newPodSyncer(this.options, {
      cgroups: this.cgroups,
      classUpdates: this.classUpdates,
      containerConfigs: this.#containerConfigs,
      eventRecorder: this.clients.eventRecorder,
      imageManager: this.#imageManager,
      node: this.node,
      pleg: this.pleg,
      plugins: this.plugins,
      podChanged: this.#podChanged,
      probeManager: this.probeManager,
      referencedObjects: this.referencedObjects,
      resizer: this.#allocationManager.resizer,
      restartBackoff: this.#restartBackoff,
      runtimeClasses: this.#runtimeClasses,
      statusManager: this.statusManager,
      volumeManager: this.#volumeManager,
    });
  }

  #newPodWorkers(): PodWorkers {
    const { settings, shared } = this.options;
    return new PodWorkers({
      podSyncer: this.podSyncer,
      runtimeStatusCache: this.pleg,
      eventRecorder: this.clients.eventRecorder,
      resyncIntervalMs: settings.syncFrequencyMs,
      ...shared,
    });
  }

  #newPodConfig(): PodConfig {
    const { nodeName, settings, sources, clock, logger } = this.options;
    const config = new PodConfig({ eventRecorder: this.clients.eventRecorder, clock, logger });
    // whether a pod may run depends on what the node has, and on what others say of it
    config.addSource(apiserverSource, new LateSource(this.#apiServerSource, () => this.node.object.synced()));
    const { staticPodPath: path, staticPodURL: url, staticPodURLHeader: headers } = settings;
    if (path !== undefined) {
      const file = new FileSource({ path, nodeName, checkPeriodMs: settings.fileCheckFrequencyMs, clock, logger });
      config.addSource('file', file);
    }
    if (url !== undefined) {
      const http = new HttpSource({ url, headers, nodeName, checkPeriodMs: settings.httpCheckFrequencyMs, clock, logger });
      config.addSource('http', http);
    }
    for (const [name, each] of sources) config.addSource(name, each);
    return config;
  }

  #newLoop(): SyncLoop {
    const { podManager, measured } = this.options;
    return new SyncLoop({
      config: this.podConfig,
      podManager,
      podWorkers: this.#allocationManager.workers(this.podWorkers),
      workQueue: this.podWorkers.workQueue,
      statusManager: this.statusManager,
      runtime: this.pleg,
      eventRecorder: this.clients.eventRecorder,
      admitPod: (pod, others) => this.#allocationManager.admit(pod, others),
      onHousekeeping: (report) => this.#housekeep(report),
      onCaughtUp: () => this.#noteCaughtUp(),
      ...measured,
    });
  }

  #newGarbageCollection(): GarbageCollection {
    return new GarbageCollection(this.options, {
      eventRecorder: this.clients.eventRecorder,
      activePods: () => this.#podsThatAreNotOver(),
      podWorkers: this.podWorkers,
      loop: this.loop,
      imageManager: this.#imageManager,
      cgroups: this.cgroups,
      node: this.node,
    });
  }

  #newCleanup(): AgentCleanup {
    const { podManager, shared } = this.options;
    return new AgentCleanup({
      ...shared,
      lifecycle: this.pleg,
      volumes: this.#volumeManager,
      cgroups: this.cgroups,
      userNamespaces: this.node.userNamespaces,
      containers: this.garbageCollection.containers,
      isKnown: (podUID) => podManager.getPodByUID(podUID) !== undefined || this.podWorkers.explain(podUID) !== undefined,
    });
  }

  #newMirrorPods(): MirrorPodReconciler {
    const { nodeName, podManager, shared, clock } = this.options;
    const { kubeClient: transport } = this.clients;
    return new MirrorPodReconciler({
      podManager,
      mirrorPodClient: new MirrorPodClient({ transport, nodeName, getNode: () => this.node.object.node, clock }),
      nodeName,
      podSource: this.source,
      staticPodsReady: () => this.loop.sourcesReady(),
      isPodTerminating: (podFullName) => this.podWorkers.isPodForMirrorPodTerminatingByFullName(podFullName),
      ...shared,
    });
  }

  #newApiHost(): AgentApiHost {
    const { statusManager, pleg, cpu, garbageCollection, loop, cgroups } = this;
    const own = { allocationManager: this.#allocationManager, volumes: this.#driverVolumes };
    return new AgentApiHost(this.options, { ...own, statusManager, pleg, cpu, garbageCollection, loop, cgroups });
  }

  #newApi(): NodeApiServer | undefined {
    const { server, nodeName, clock, random, logger } = this.options;
    if (server === undefined) return undefined;
    const { reviewClient, kubeClient } = this.clients;
    const addresses = () => this.node.addresses();
    return new NodeApiServer({
      ...server,
      certificates: server.certificatesWith({ nodeName, addresses, transport: kubeClient, clock, random, logger }),
      host: new RuntimeApiHost(this.apiHost, { clock, streamIdleTimeoutMs: server.streamIdleTimeoutMs }),
      transport: reviewClient,
      ...{ nodeName, clock, logger },
    });
  }

  /** The sync loop is made after those that tell it of a change. */
  readonly #podChanged = (podUID: string): void => this.loop.podChanged(podUID);

  #housekeep(report: HousekeepingReport): void {
    const desired = new Set([...report.possiblyRunning, ...report.pods.map(podUIDOf)]);
    this.probeManager.cleanupPods(desired);
    this.#restartBackoff.gc();
    this.#imageManager.forgetWaits();
    void this.classUpdates.update();
    this.plugins?.devices.free(desired);
    this.cleanup.look(desired);
    this.#allocationManager.housekeep(desired);
  }

  #noteCaughtUp(): void {
    this.source.noteCaughtUp();
    const isReady = this.loop.sourcesReady();
    // the node need not wait for the next look at it
    if (isReady && !this.#wasReady) this.node.object.changed();
    this.#wasReady = isReady;
  }

  /** pkg/kubelet/kubelet_pods.go isPodInactive: a pod that has ended counts while it is being brought to its end. */
  activePods(): Pod[] {
    return this.options.podManager.getPods().filter((pod) => {
      const podUID = podUIDOf(pod);
      if (this.podWorkers.isPodKnownTerminated(podUID)) return false;
      const phases = [pod.status?.phase, this.statusManager.getPodStatus(podUID)?.phase];
      return !phases.some(isTerminalPhase) || this.podWorkers.isPodTerminationRequested(podUID);
    });
  }

  #podsThatAreNotOver(): Pod[] {
    return this.options.podManager.getPods().filter((pod) => {
      const podUID = podUIDOf(pod);
      return !this.podWorkers.isPodKnownTerminated(podUID) && !isTerminalPhase(this.statusManager.getPodStatus(podUID)?.phase);
    });
  }
}
