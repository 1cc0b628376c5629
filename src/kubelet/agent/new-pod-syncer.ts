import { existsSync } from 'node:fs';
import type { Pod } from '../../api/json/types.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import { podFields } from '../../api/pod/pod-log-fields.ts';
import { wholeUnits } from '../../api/quantity/quantity-arithmetic.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import { resources } from '../../client/resources/api-resource.ts';
import { ResourceClient, type ResourceTransport } from '../../client/resources/resource-client.ts';
import type { ClusterServices } from '../../node/environment/cluster-services.ts';
import type { ReferencedObjects } from '../../node/object-managers/referenced-objects.ts';
import type { TokenManager } from '../../node/pod-files/token-manager.ts';
import type { ProbeManager } from '../../node/probes/probe-manager.ts';
import { RestartBackoff } from '../../node/workers/restart-backoff.ts';
import type { StatusManager } from '../../status/status-manager.ts';
import type { PodCgroups } from '../cgroups/cgroup-manager.ts';
import { checkedNodeLimits } from '../cgroups/cgroup-resources.ts';
import type { RuntimeClasses } from '../cluster/runtime-classes.ts';
import { ContainerConfigs } from '../containers/container-configs.ts';
import { defaultProcPaths } from '../containers/security-context.ts';
import type { ServiceAccountSource } from '../images/image-credential-plugin.ts';
import { ImageCredentialPlugins } from '../images/image-credential-plugins.ts';
import { ImagePuller, limitedPulls } from '../images/image-puller.ts';
import { NodeCredentials } from '../images/node-credentials.ts';
import { LogRotation } from '../logs/log-rotation.ts';
import { lastLogNumber } from '../logs/pod-logs.ts';
import type { PodLifecycle } from '../pleg/pod-lifecycle.ts';
import { statusesOfKnownPods } from '../pods/agent-pod-statuses.ts';
import { AgentPodSyncer } from '../pods/agent-pod-syncer.ts';
import type { ClassUpdates } from '../pods/class-updates.ts';
import type { PodResizer } from '../resize/pod-resizer.ts';
import type { DriverVolumes } from '../volumes/driver-volumes.ts';
import type { Mounter } from '../volumes/mounter.ts';
import { VolumeManager } from '../volumes/volume-manager.ts';
import type { AgentClients } from './agent-clients.ts';
import type { AgentNode } from './agent-node.ts';
import type { AgentPlugins } from './agent-plugins.ts';
import type { AgentVolumes } from './agent-volumes.ts';
import { pullsAtOnce } from './kubelet-configuration.ts';
import type { ResolvedAgentOptions } from './node-agent-options.ts';
import { limitsOf } from './node-limits.ts';

/** Pulls images within the limits of the options, and remembers in the root directory what it has pulled. */
export function newImageManager(
  { given, settings, clock, logger }: ResolvedAgentOptions,
  eventRecorder: EventRecorder,
  credentialPlugins: ImageCredentialPlugins | undefined,
): ImagePuller {
  const rate = { perSecond: settings.registryPullQPS, burst: settings.registryBurst, clock };
  return new ImagePuller({
    runtime: limitedPulls(given.runtime, rate),
    recordsDirectory: `${settings.rootDirectory}/image_manager`,
    maxParallelImagePulls: pullsAtOnce(settings),
    nodeCredentials: new NodeCredentials({ files: settings.registryCredentialFiles, clock, logger }),
    credentialPlugins,
    credentialVerification: settings.imagePullCredentialsVerificationPolicy,
    eventRecorder,
    clock,
    logger,
  });
}

/** The kubelet asks for tokens without a time, and gets the apiserver's. */
const tokenSeconds = 3600;

type ImageCredentialOptions = Pick<ResolvedAgentOptions, 'clock' | 'logger' | 'metrics'> & {
  readonly settings: Pick<ResolvedAgentOptions['settings'], 'imageCredentialProviderConfig' | 'imageCredentialProviderBinDir'>;
};

/** Undefined where the settings name none. */
export function newImageCredentials(
  { settings, clock, logger, metrics }: ImageCredentialOptions,
  transport: ResourceTransport,
  tokens: TokenManager,
): ImageCredentialPlugins | undefined {
  const { imageCredentialProviderConfig: config, imageCredentialProviderBinDir: binDir } = settings;
  if (config === undefined || binDir === undefined) return undefined;
  const serviceAccounts = new ResourceClient(transport, resources.serviceAccounts);
  const accounts: ServiceAccountSource = {
    account: async (namespace, name, signal) => {
      const { uid = '', annotations = {} } = (await serviceAccounts.get({ namespace, name }, { signal })).metadata ?? {};
      return { uid, annotations };
    },
    token: async (pod, { name: serviceAccountName, uid: serviceAccountUID }, audience, signal) => {
      const request = { serviceAccountName, serviceAccountUID, audience, expirationSeconds: tokenSeconds };
      return (await tokens.getToken(pod, request, signal)).token;
    },
  };
  return new ImageCredentialPlugins({ config, binDir, accounts, clock, logger, metrics });
}

/** Rotates the logs of containers, within the limits of the options. */
export function newLogRotation({ given, settings, clock, logger }: ResolvedAgentOptions): LogRotation {
  return new LogRotation({
    runtime: given.runtime,
    maxSize: wholeUnits(settings.containerLogMaxSize),
    maxFiles: settings.containerLogMaxFiles,
    checkPeriodMs: settings.containerLogMonitorIntervalMs,
    clock,
    logger,
  });
}

interface VolumeNeeds {
  readonly mounter: Mounter;
  readonly referencedObjects: ReferencedObjects;
  readonly tokenManager: TokenManager;
  readonly runtimeClasses: RuntimeClasses;
  readonly imageManager: ImagePuller;
  readonly node: AgentNode;
  readonly drivers: DriverVolumes;
}

/** Mounts volumes below the root directory, from what the agent's objects, tokens and images give. */
export function newVolumeManager(agent: ResolvedAgentOptions, needs: VolumeNeeds): VolumeManager {
  const { mounter, referencedObjects, tokenManager, runtimeClasses, imageManager, node, drivers } = needs;
  return new VolumeManager({
    rootDirectory: agent.settings.rootDirectory,
    mounter,
    secrets: referencedObjects.secretManager,
    configMaps: referencedObjects.configMapManager,
    tokens: tokenManager,
    drivers,
    ...agent.given.volumeBudget,
    nodeAllocatable: () => node.resources.allocatable,
    ensureImage: async (pod, { image: volume }, signal) => {
      const container = { name: '', image: volume?.reference ?? '', imagePullPolicy: volume?.pullPolicy };
      const runtimeHandler = await runtimeClasses.handlerOf(pod, signal);
      const pullSecrets = await referencedObjects.pullSecretsOf(pod);
      return (await imageManager.ensureImage({ pod, container, pullSecrets, runtimeHandler }, signal)).imageRef;
    },
    clock: agent.clock,
  });
}

interface ContainerConfigNeeds {
  readonly plugins: AgentPlugins | undefined;
  readonly cgroups: PodCgroups;
  readonly clients: Pick<AgentClients, 'eventRecorder'>;
  readonly node: AgentNode;
  readonly referencedObjects: ReferencedObjects;
  readonly services: ClusterServices;
}

/** Makes the configurations of sandboxes and containers, with what the node and the cluster say. */
export function newContainerConfigs(
  agent: ResolvedAgentOptions,
  needs: ContainerConfigNeeds,
  volumes: Pick<AgentVolumes, 'prepareSubPath'>,
): ContainerConfigs {
  const { settings, machine, random } = agent;
  const { cgroups, clients, node, referencedObjects, services, plugins } = needs;
  const claims = plugins?.claims;
  const { rootDirectory, podLogsDirectory, clusterDNS, clusterDomain, resolvConf, seccompDefault } = settings;
  const { secretManager, configMapManager } = referencedObjects;
  return new ContainerConfigs({
    rootDirectory,
    podLogsDirectory,
    clusterDNS,
    clusterDomain,
    resolvConf,
    seccompDefault,
    cgroups,
    nodeIPs: () => settings.nodeIPs,
    hostIPs: () => node.hostIPs(),
    idsOf: (pod, runtimeHandler) => node.userNamespaces.idsOf(pod, runtimeHandler),
    claimedDevicesOf: claims && ((pod, container) => claims.cdiDevicesOf(pod, container)),
    ...(plugins !== undefined && {
      devicesOf: (pod, container, signal) => plugins.devices.prepareContainer(pod, container, signal),
    }),
    eventRecorder: clients.eventRecorder,
    random,
    nodeAllocatable: () => node.resources.allocatable,
    objects: {
      getSecret: (namespace, name) => secretManager.getSecret(namespace, name),
      getConfigMap: (namespace, name) => configMapManager.getConfigMap(namespace, name),
    },
    services: () => services.known(),
    awaitServices: (signal) => services.awaitFirstList(signal),
    limits: checkedNodeLimits({ ...limitsOf(agent), cgroupVersion: cgroups.version }, machine.memoryBytes),
    hostsFile: '/etc/hosts',
    seccompProfileRoot: `${rootDirectory}/seccomp`,
    selinux: existsSync('/sys/fs/selinux/enforce'),
    procPaths: defaultProcPaths(),
    recursiveReadOnly: (handler) =>
      node.runtimeWatch.health?.handlers.find(({ name }) => name === handler)?.recursiveReadOnlyMounts ?? false,
    prepareSubPath: volumes.prepareSubPath,
  });
}

interface PodSyncerNeeds {
  readonly cgroups: PodCgroups;
  readonly classUpdates: ClassUpdates;
  readonly containerConfigs: ContainerConfigs;
  readonly eventRecorder: EventRecorder;
  readonly imageManager: ImagePuller;
  readonly node: AgentNode;
  readonly pleg: PodLifecycle;
  readonly plugins: AgentPlugins | undefined;
  /** Called when a pod is to be synced soon. */
  readonly podChanged: (podUID: string) => void;
  readonly probeManager: ProbeManager;
  readonly referencedObjects: ReferencedObjects;
  readonly resizer: PodResizer;
  readonly restartBackoff: RestartBackoff;
  readonly runtimeClasses: RuntimeClasses;
  readonly statusManager: StatusManager;
  readonly volumeManager: VolumeManager;
}

/** The last of them: starts and ends pods with all the others. */
export function newPodSyncer(agent: ResolvedAgentOptions, needs: PodSyncerNeeds): AgentPodSyncer {
  const { given, settings, podManager, clock, logger } = agent;
  const { cgroups, classUpdates, imageManager, node, referencedObjects, runtimeClasses, statusManager, volumeManager } = needs;
  return new AgentPodSyncer({
    runtime: given.runtime,
    lifecycle: needs.pleg,
    statusManager: statusesOfKnownPods(statusManager, podManager),
    probes: needs.probeManager,
    images: imageManager,
    volumes: {
      // a pod that names too much waits as one whose volumes cannot be mounted
      mountVolumes: async (pod, signal) => {
        referencedObjects.requireWithinBudget(pod);
        return volumeManager.mountVolumes(pod, signal);
      },
      unmountVolumes: (podUID) => volumeManager.unmountVolumes(podUID),
    },
    cgroups: {
      updateClasses: () => classUpdates.update(),
      ensurePod: (pod) => cgroups.ensurePod(pod),
      removePod: (pod) => cgroups.removePod(pod),
    },
    claims: needs.plugins?.claims,
    nodeIPs: () => settings.nodeIPs,
    eventRecorder: needs.eventRecorder,
    resizer: needs.resizer,
    resourceStatuses: needs.plugins && ((podUID, name) => needs.plugins?.devices.resourceStatuses(podUID, name) ?? []),
    resizeConditions: (podUID) => statusManager.resizes.getPodResizeConditions(podUID),
    configs: needs.containerConfigs,
    restartBackoff: needs.restartBackoff,
    pullSecretsOf: (pod) => referencedObjects.pullSecretsOf(pod),
    runtimeHandlerOf: (pod, signal) => runtimeClasses.handlerOf(pod, signal),
    networkReady: () => {
      const message = node.runtimeWatch.networkError();
      return { ready: message === undefined, message };
    },
    hostIPs: () => node.hostIPs(),
    lastLogNumber,
    requestSync: needs.podChanged,
    onPodStarting: (pod) => referencedObjects.registerPod(pod),
    onPodEnded: async (pod: Pod) => {
      referencedObjects.unregisterPod(pod);
      imageManager.forgetPod(podUIDOf(pod));
      await node.userNamespaces.release(podUIDOf(pod)).catch((err: unknown) => {
        logger.warn({ err, ...podFields(pod.metadata) }, 'the ids of the user namespace of a pod could not be given back');
      });
    },
    clock,
    logger,
  });
}

const firstRestartWaitMs = 10_000;

/** pkg/kubelet/kubelet.go newCrashLoopBackOff: no wait is longer than the longest, not even the first. */
export function newRestartBackoff({ settings, clock }: ResolvedAgentOptions, eventRecorder: EventRecorder): RestartBackoff {
  const { maxContainerRestartPeriodMs: maxMs } = settings;
  return new RestartBackoff({ baseMs: Math.min(firstRestartWaitMs, maxMs), maxMs, eventRecorder, clock });
}
