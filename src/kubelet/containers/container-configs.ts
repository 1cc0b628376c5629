// Behaviour of pkg/kubelet/kuberuntime generatePodSandboxConfig and generateContainerConfig, v1.36.3.
import { join } from 'node:path';
import type { Pod } from '../../api/json/types.ts';
import type { Container } from '../../api/pod/pod-containers.ts';
import { isStaticPod } from '../../api/pod/pod-identity.ts';
import { servicesUnread } from '../../node/environment/cluster-services.ts';
import { asConfigError, ContainerConfigError } from '../../node/environment/config-error.ts';
import { containerEnvironment, type Environment } from '../../node/environment/environment.ts';
import { serviceEnvironment } from '../../node/environment/service-environment.ts';
import { StartTurns } from '../../node/environment/start-limits.ts';
import { type KeyValue, startTexts } from '../../node/environment/start-texts.ts';
import { makeFolders } from '../../node/files/make-folders.ts';
import { podIPsInOrder } from '../../node/pod-status/pod-ips.ts';
import { containerCgroupResources, sandboxOverhead, sandboxResources } from '../cgroups/cgroup-resources.ts';
import type { DeviceAllocation } from '../devices/device-plugin.ts';
import type { ContainerConfig, Mount } from '../runtime/runtime-containers.ts';
import type { RuntimeImage } from '../runtime/runtime-images.ts';
import type { PodSandboxConfig } from '../runtime/runtime-sandboxes.ts';
import type { PodVolumes } from '../volumes/pod-folder.ts';
import type { ContainerConfigsOptions } from './container-configs-options.ts';
import { containerDevices } from './container-devices.ts';
import { containerMounts } from './container-mounts.ts';
import { podDNS, readResolvConf } from './dns-config.ts';
import { kernelHostname, podHostname } from './pod-hosts.ts';
import {
  containerAnnotations,
  containerHash,
  containerLabels,
  containerLogPath,
  podLogDirectory,
  portMappings,
  sandboxLabels,
} from './runtime-names.ts';
import { containerSecurityContext, numericUser, sandboxSecurityContext, verifyRunAsNonRoot } from './security-context.ts';
import { requireSupportedContainer, requireSupportedPod } from './supported-pods.ts';
import { readVolumeFile } from './volume-file.ts';

/** What is to become of one sandbox. */
export interface SandboxConfigSource {
  readonly pod: Pod;
  /** How many sandboxes the pod had before. */
  readonly attempt: number;
  /** The runtime handler; empty: the default one. */
  readonly runtimeHandler: string;
}

/** What is to become of one container, also of an init container or an ephemeral one. */
export interface ContainerConfigSource {
  readonly pod: Pod;
  readonly container: Container;
  /** How often the container had been made before. */
  readonly attempt: number;
  /** The image, for the user that it names. */
  readonly image: Pick<RuntimeImage, 'uid' | 'username'>;
  /** The reference that pulling the image gave. */
  readonly imageRef: string;
  /** The runtime handler; empty: the default one. */
  readonly runtimeHandler: string;
  readonly volumes: PodVolumes;
  /** The pod's addresses, the primary one first; those of the node for a pod in its network. */
  readonly podIPs: readonly string[];
  /** Of an ephemeral container: the container whose processes it sees, by the runtime's id. */
  readonly targetContainerID?: string | undefined;
  /** Settles once the configuration is held no more: the runtime has it. Default: as soon as it is made. */
  readonly held?: Promise<unknown> | undefined;
}

interface ContainerStart {
  readonly environment: Environment;
  readonly texts: ReturnType<typeof startTexts>;
}

/** Makes what the runtime gets of pods and containers. It keeps nothing of them but files under `rootDirectory`. */
export class ContainerConfigs {
  readonly #options: ContainerConfigsOptions;
  readonly #turns = new StartTurns();

  constructor(options: ContainerConfigsOptions) {
    this.#options = options;
  }

  /** What a sandbox is made from. Makes the folder of the pod's logs. Rejects with {@link ContainerConfigError}. */
  async sandboxConfig({ pod, attempt, runtimeHandler }: SandboxConfigSource, signal: AbortSignal): Promise<PodSandboxConfig> {
    signal.throwIfAborted();
    const { limits, cgroups, podLogsDirectory, clusterDomain, idsOf } = this.#options;
    const { name = '', namespace = '', uid = '' } = pod.metadata ?? {};
    try {
      this.#requireSupported(pod);
      const logDirectory = podLogDirectory(podLogsDirectory, pod);
      const dnsConfig = await this.#dns(pod);
      const hostname = pod.spec?.hostNetwork === true ? '' : kernelHostname(pod, podHostname(pod, clusterDomain));
      const overhead = sandboxOverhead(pod, limits);
      const users = await idsOf(pod, runtimeHandler);
      await makeFolders(logDirectory, 0o755);
      const sysctls = (pod.spec?.securityContext?.sysctls ?? []).map(({ name, value }) => [name, value] as const);
      return {
        metadata: { name, namespace, uid, attempt },
        hostname,
        logDirectory,
        dnsConfig,
        portMappings: portMappings(pod),
        labels: sandboxLabels(pod),
        annotations: { ...pod.metadata?.annotations },
        linux: {
          cgroupParent: cgroups.podParent(pod),
          securityContext: sandboxSecurityContext(pod, users),
          sysctls: Object.fromEntries(sysctls),
          ...(overhead && { overhead }),
          resources: sandboxResources(pod, limits),
        },
      };
    } catch (error) {
      signal.throwIfAborted();
      throw asConfigError(error);
    }
  }

  /**
   * What a container is made from. Writes the pod's hosts file and makes the container's termination log and the folder of its
   * logs. Rejects with {@link ContainerConfigError}, whose message is the kubelet's. What starts with more than 256 KiB of texts
   * waits until it is one of two at most that are made, and held, at once.
   */
  async containerConfig(request: ContainerConfigSource, signal: AbortSignal): Promise<ContainerConfig> {
    const { services, awaitServices } = this.#options;
    if (services() === undefined) await awaitServices(signal);
    signal.throwIfAborted();
    const { pod, container, attempt, image, imageRef, targetContainerID } = request;
    try {
      this.#requireSupported(pod);
      requireSupportedContainer(container);
      const users = await this.#options.idsOf(pod, request.runtimeHandler);
      const devices = await this.#options.devicesOf?.(pod, container, signal);
      const { environment, texts } = await this.#start(request, signal);
      const mounts = [...deviceMounts(devices), ...(await this.#mounts(request, environment, signal))];
      verifyRunAsNonRoot(pod, container, image);
      await makeFolders(join(podLogDirectory(this.#options.podLogsDirectory, pod), container.name), 0o755);
      const claimed = (await this.#options.claimedDevicesOf?.(pod, container)) ?? [];
      const cdiDevices = [...new Set([...(devices?.cdiDevices ?? []), ...claimed])];
      signal.throwIfAborted();
      const { stopSignal } = container.lifecycle ?? {};
      return {
        metadata: { name: container.name, attempt },
        image: { image: imageRef, userSpecifiedImage: container.image ?? '' },
        ...texts,
        envs: [...deviceVariables(devices, texts.envs), ...texts.envs],
        workingDir: container.workingDir ?? '',
        mounts: users === undefined ? mounts : mounts.map((mount) => ({ ...mount, users })),
        devices: [...(devices?.devices ?? []), ...containerDevices(container, request.volumes)],
        ...(cdiDevices.length > 0 && { cdiDevices }),
        labels: containerLabels(pod, container),
        annotations: { ...devices?.annotations, ...containerAnnotations(pod, container, attempt) },
        logPath: containerLogPath(container.name, attempt),
        stdin: container.stdin === true,
        stdinOnce: container.stdinOnce === true,
        tty: container.tty === true,
        ...(stopSignal && { stopSignal }),
        resources: containerCgroupResources(pod, container, this.#options.limits),
        securityContext: containerSecurityContext(pod, container, imageUser(image), this.#options, {
          ...{ targetID: targetContainerID, users },
        }),
      };
    } catch (error) {
      signal.throwIfAborted();
      throw asConfigError(error);
    }
  }

  /** What changes when a container of the spec changes so that it must be made anew. */
  containerHash(container: Pick<Container, 'name' | 'image'>): string {
    return containerHash(container);
  }

  #requireSupported(pod: Pod): void {
    requireSupportedPod(pod, { hasClaims: this.#options.claimedDevicesOf !== undefined });
  }

  async #dns(pod: Pod): Promise<NonNullable<PodSandboxConfig['dnsConfig']>> {
    const { clusterDNS, clusterDomain, resolvConf, nodeIPs, eventRecorder } = this.#options;
    const host = await readResolvConf(resolvConf);
    const { config, warnings } = podDNS(pod, { clusterDNS, clusterDomain, host, nodeIPs: nodeIPs() });
    for (const { reason, message } of warnings) eventRecorder.event(pod, 'Warning', reason, message);
    return config;
  }

  /** What the container starts with. */
  #start(request: ContainerConfigSource, signal: AbortSignal): Promise<ContainerStart> {
    return this.#turns.make((isTurn) => this.#startOf(request, isTurn), signal, request.held);
  }

  async #startOf(request: ContainerConfigSource, isTurn: boolean): Promise<ContainerStart> {
    const environment = await this.#environment(request, isTurn);
    return { environment, texts: startTexts(request.container, environment, isTurn) };
  }

  async #environment({ pod, container, podIPs, volumes }: ContainerConfigSource, isTurn: boolean): Promise<Environment> {
    const { objects, services, nodeIPs, hostIPs, nodeAllocatable } = this.#options;
    const known = services();
    if (known === undefined && !isStaticPod(pod)) {
      throw new ContainerConfigError(servicesUnread);
    }
    return containerEnvironment(pod, container, {
      objects,
      services: serviceEnvironment(known ?? [], pod.metadata?.namespace ?? '', pod.spec?.enableServiceLinks !== false),
      addresses: { podIPs: podIPsInOrder(podIPs, nodeIPs()), hostIPs: hostIPs() },
      allocatable: nodeAllocatable(),
      isTurn,
      readVolumeFile: (volumeName, path) => readVolumeFile(volumes, volumeName, path),
    });
  }

  #mounts(request: ContainerConfigSource, environment: Environment, signal: AbortSignal): Promise<readonly Mount[]> {
    return containerMounts({ ...request, environment }, this.#options, signal);
  }
}

function deviceMounts(devices: DeviceAllocation | undefined): Mount[] {
  return (devices?.mounts ?? []).map(({ containerPath, hostPath, readOnly }) => ({
    ...{ containerPath, hostPath, readonly: readOnly },
    ...{ selinuxRelabel: false, propagation: 'private' },
  }));
}

/** What the pod's spec says of a variable counts more. */
function deviceVariables(devices: DeviceAllocation | undefined, others: readonly KeyValue[]): KeyValue[] {
  const named = new Set(others.map(({ key }) => key));
  return Object.entries(devices?.envs ?? {}).flatMap(([key, value]) => (named.has(key) ? [] : [{ key, value }]));
}

/** An image that names no user runs as root. */
function imageUser(image: Pick<RuntimeImage, 'uid' | 'username'>): Pick<RuntimeImage, 'uid' | 'username'> {
  const uid = numericUser(image);
  return uid === undefined ? image : { uid, username: '' };
}
