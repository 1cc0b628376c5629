import type { Pod } from '../../api/json/types.ts';
import type { Container } from '../../api/pod/pod-containers.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import { NetworkProber } from '../../node/probes/network-prober.ts';
import { ProbeManager } from '../../node/probes/probe-manager.ts';
import { RestartBackoff } from '../../node/workers/restart-backoff.ts';
import type { StatusManager } from '../../status/status-manager.ts';
import type { PodCgroups } from '../cgroups/cgroup-manager.ts';
import { ContainerConfigs } from '../containers/container-configs.ts';
import { LinuxMounter, type Mounter } from '../files/mounter.ts';
import { ImagePuller, limitedPulls } from '../images/image-puller.ts';
import { terminationMessageOf } from '../logs/termination-message.ts';
import { pageSizesOf } from '../machine/machine.ts';
import type { RuntimeWatch } from '../machine/runtime-watch.ts';
import { PodLifecycle } from '../pleg/pod-lifecycle.ts';
import { statusesOfKnownPods } from '../pods/agent-pod-statuses.ts';
import { AgentPodSyncer } from '../pods/agent-pod-syncer.ts';
import type { ClassUpdates } from '../pods/class-updates.ts';
import { execProber } from '../pods/exec-prober.ts';
import type { SyncCgroups, SyncConfigs, SyncVolumes } from '../pods/sync-parts.ts';
import type { SyncPodResizer } from '../resize/sync-pod-resizer.ts';
import { podFolder } from '../volumes/pod-folder.ts';
import { prepareSubPath } from '../volumes/sub-paths.ts';
import { VolumeManager } from '../volumes/volume-manager.ts';
import type { ClusterParts } from './agent-clients.ts';
import type { ResolvedAgentOptions } from './node-agent-options.ts';

type ImageVolume = NonNullable<NonNullable<Pod['spec']>['volumes']>[number]['image'];

export interface ContainerPartsOptions {
  readonly options: ResolvedAgentOptions;
  readonly cluster: ClusterParts;
  readonly cgroups: PodCgroups;
  readonly classes: ClassUpdates;
  readonly watch: RuntimeWatch;
  readonly statusManager: StatusManager;
  /** The addresses that the node has. */
  readonly hostIPs: () => readonly string[];
  readonly allocatable: () => Readonly<Record<string, string>>;
  readonly resizer: SyncPodResizer;
  /** Called when a pod is to be synced soon. */
  readonly podChanged: (podUID: string) => void;
}

/** What runs the containers of pods, put together. Nothing of it runs before its start. */
export class ContainerParts {
  readonly lifecycle: PodLifecycle;
  readonly images: ImagePuller;
  readonly volumes: VolumeManager;
  readonly probes: ProbeManager;
  readonly syncer: AgentPodSyncer;
  readonly #restartBackoff: RestartBackoff;
  readonly #parts: ContainerPartsOptions;

  constructor(parts: ContainerPartsOptions) {
    this.#parts = parts;
    const { options, cluster, statusManager, podChanged, hostIPs, watch, cgroups } = parts;
    const { given, settings, timed, measured, shared } = options;
    const nodeIPs = () => settings.nodeIPs;
    const { runtime } = given;
    const { eventRecorder } = cluster;
    this.lifecycle = new PodLifecycle({ runtime, podChanged, terminationMessageOf, ...measured });
    this.images = this.#makeImages();
    const mounter = given.mounter ?? new LinuxMounter();
    this.volumes = new VolumeManager({
      rootDirectory: settings.rootDirectory,
      mounter,
      secrets: cluster.secrets,
      configMaps: cluster.configMaps,
      tokens: cluster.tokens,
      ...given.volumeBudget,
      nodeAllocatable: parts.allocatable,
      ensureImage: (pod, volume, signal) => this.#volumeImage(pod, volume.image, signal),
      clock: timed.clock,
    });
    this.probes = new ProbeManager({
      prober: given.prober ?? new NetworkProber({ exec: execProber(runtime), timesExec: true, clock: timed.clock }),
      statusManager,
      handlers: { resultChanged: ({ podUID, needsSync }) => void (needsSync && podChanged(podUID)) },
      eventRecorder,
      ...shared,
    });
    this.#restartBackoff = new RestartBackoff({ eventRecorder, clock: timed.clock });
    this.syncer = new AgentPodSyncer({
      runtime,
      lifecycle: this.lifecycle,
      statusManager: statusesOfKnownPods(statusManager, options.podManager),
      probes: this.probes,
      images: this.images,
      volumes: this.#syncVolumes(),
      cgroups: syncCgroups(cgroups, parts.classes),
      nodeIPs,
      eventRecorder,
      resizer: parts.resizer,
      resizeConditions: (podUID) => statusManager.resizes.getPodResizeConditions(podUID),
      configs: this.#configs(mounter),
      restartBackoff: this.#restartBackoff,
      pullSecretsOf: (pod) => cluster.pullSecretsOf(pod),
      runtimeHandlerOf: (pod, signal) => cluster.runtimeClasses.handlerOf(pod, signal),
      networkReady: () => ({ ready: watch.networkError() === undefined, message: watch.networkError() }),
      hostIPs,
      requestSync: podChanged,
      onPodStarting: (pod) => cluster.podStarting(pod),
      onPodEnded: (pod) => {
        cluster.podEnded(pod);
        this.images.forgetPod(podUIDOf(pod));
      },
      ...timed,
    });
  }

  /** Forgets the waits of restarts and pulls that would begin anew. */
  forgetWaits(): void {
    this.#restartBackoff.gc();
    this.images.forgetWaits();
  }

  /** Calls of the runtime that are under way are ended by the workers. */
  async stop(): Promise<void> {
    this.syncer.stop();
    await this.probes.stop();
    await this.lifecycle.stop();
  }

  #makeImages(): ImagePuller {
    const { options, cluster } = this.#parts;
    const { given, settings, timed } = options;
    const { serializeImagePulls, maxParallelImagePulls = 5 } = settings;
    const rate = { perSecond: settings.registryPullQPS, burst: settings.registryBurst, clock: timed.clock };
    return new ImagePuller({
      runtime: limitedPulls(given.runtime, rate),
      recordsDirectory: `${settings.rootDirectory}/image_manager`,
      maxParallelImagePulls: serializeImagePulls ? 1 : maxParallelImagePulls,
      credentialVerification: settings.imagePullCredentialsVerificationPolicy,
      eventRecorder: cluster.eventRecorder,
      ...timed,
    });
  }

  /** A pod that names too much waits as one whose volumes cannot be mounted. */
  #syncVolumes(): SyncVolumes {
    return {
      mountVolumes: async (pod, signal) => {
        this.#parts.cluster.requireWithinBudget(pod);
        return this.volumes.mountVolumes(pod, signal);
      },
      unmountVolumes: (podUID) => this.volumes.unmountVolumes(podUID),
    };
  }

  #configs(mounter: Mounter): SyncConfigs {
    const { options, cluster, cgroups, allocatable, hostIPs, watch } = this.#parts;
    const { settings, machine, random } = options;
    const nodeIPs = () => settings.nodeIPs;
    const { rootDirectory, podLogsDirectory, clusterDNS, clusterDomain, resolvConf, seccompDefault, cpuCFSQuota } = settings;
    const { eventRecorder, secrets, configMaps, services } = cluster;
    const handlers = () => watch.health?.handlers ?? [];
    const configs = new ContainerConfigs({
      rootDirectory,
      podLogsDirectory,
      clusterDNS,
      clusterDomain,
      resolvConf,
      seccompDefault,
      cgroups,
      nodeIPs,
      hostIPs,
      eventRecorder,
      random,
      nodeAllocatable: allocatable,
      objects: {
        getSecret: (namespace, name) => secrets.getSecret(namespace, name),
        getConfigMap: (namespace, name) => configMaps.getConfigMap(namespace, name),
      },
      services: () => services.known(),
      limits: {
        cpuCFSQuota,
        memoryCapacityBytes: machine.memoryBytes,
        cgroupVersion: cgroups.version,
        hugePageSizes: pageSizesOf(machine),
      },
      recursiveReadOnly: (handler) => handlers().find(({ name }) => name === handler)?.recursiveReadOnlyMounts ?? false,
      prepareSubPath: (pod, { volume, containerName, index, subPath }, signal) =>
        prepareSubPath({
          mounter,
          containerName,
          index,
          subPath,
          signal,
          volumeName: volume.name,
          volumePath: volume.hostPath,
          podFolder: podFolder(rootDirectory, podUIDOf(pod)),
        }),
    });
    return {
      sandboxConfig: (request, signal) => configs.sandboxConfig(request, signal),
      containerConfig: async (request, signal) => {
        if (services.known() === undefined) await services.awaitFirstList(signal);
        return configs.containerConfig({ ...request, container: request.container as Container }, signal);
      },
      containerHash: (container) => configs.containerHash(container),
    };
  }

  async #volumeImage(pod: Pod, volume: ImageVolume, signal: AbortSignal): Promise<string> {
    const { cluster } = this.#parts;
    const { reference, pullPolicy } = volume ?? {};
    const container = { name: '', image: reference ?? '', imagePullPolicy: pullPolicy };
    const runtimeHandler = await cluster.runtimeClasses.handlerOf(pod, signal);
    const pullSecrets = await cluster.pullSecretsOf(pod);
    return (await this.images.ensureImage({ pod, container, pullSecrets, runtimeHandler }, signal)).imageRef;
  }
}

function syncCgroups(cgroups: PodCgroups, classes: ClassUpdates): SyncCgroups {
  return {
    updateClasses: () => classes.update(),
    ensurePod: (pod) => cgroups.ensurePod(pod),
    removePod: (pod) => cgroups.removePod(pod),
  };
}
