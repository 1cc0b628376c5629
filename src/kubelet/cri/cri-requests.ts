import type { MessageInitShape } from '@bufbuild/protobuf';
import type { KeyValue } from '../../node/environment/start-texts.ts';
import type { ContainerFilter, SandboxFilter } from '../runtime/container-runtime.ts';
import type {
  ContainerConfig,
  ContainerImage,
  LinuxContainerResources,
  Mount,
  MountPropagation as Propagation,
} from '../runtime/runtime-containers.ts';
import { type PodSandboxConfig, type PortMapping, runtimeLabels, type SandboxLinuxConfig } from '../runtime/runtime-sandboxes.ts';
import type {
  ContainerSecurityContext,
  IDMapping,
  NamespaceMode as ModeName,
  NamespaceOptions,
  SupplementalGroupsPolicy as PolicyName,
  SandboxSecurityContext,
  SecurityProfile,
} from '../runtime/security.ts';
import {
  type ContainerConfigSchema,
  type IDMappingSchema,
  type ImageSpecSchema,
  type LinuxContainerResourcesSchema,
  type LinuxContainerSecurityContextSchema,
  type LinuxPodSandboxConfigSchema,
  type LinuxSandboxSecurityContextSchema,
  MountPropagation,
  type MountSchema,
  NamespaceMode,
  type NamespaceOptionSchema,
  type PodSandboxConfigSchema,
  type PodSandboxFilterSchema,
  PodSandboxState,
  SecurityProfile_ProfileType as ProfileType,
  Protocol,
  type SecurityProfileSchema,
  Signal,
  SupplementalGroupsPolicy,
} from './proto/api_pb.ts';

const protocols: Readonly<Record<PortMapping['protocol'], Protocol>> = {
  TCP: Protocol.TCP,
  UDP: Protocol.UDP,
  SCTP: Protocol.SCTP,
};

/** What a sandbox is made from. */
export function sandboxRequest(config: PodSandboxConfig): MessageInitShape<typeof PodSandboxConfigSchema> {
  const { metadata, hostname, logDirectory, dnsConfig } = config;
  const request: MessageInitShape<typeof PodSandboxConfigSchema> = {
    metadata: { name: metadata.name, uid: metadata.uid, namespace: metadata.namespace, attempt: metadata.attempt },
    hostname,
    logDirectory,
    portMappings: config.portMappings.map(portRequest),
    labels: { ...config.labels },
    annotations: { ...config.annotations },
    linux: linuxRequest(config.linux),
  };
  if (dnsConfig !== undefined) {
    const { servers, searches, options } = dnsConfig;
    request.dnsConfig = { servers: [...servers], searches: [...searches], options: [...options] };
  }
  return request;
}

/** Which sandboxes are listed. */
export function sandboxFilter({ podUID, ready }: SandboxFilter): MessageInitShape<typeof PodSandboxFilterSchema> {
  const state = ready === true ? PodSandboxState.SANDBOX_READY : PodSandboxState.SANDBOX_NOTREADY;
  return { labelSelector: podSelector(podUID), ...(ready !== undefined && { state: { state } }) };
}

/** The labels of one pod's sandboxes and containers; none where the pod is not given. */
export function podSelector(podUID: string | undefined): Record<string, string> {
  return podUID === undefined ? {} : { [runtimeLabels.podUID]: podUID };
}

function linuxRequest(linux: SandboxLinuxConfig): MessageInitShape<typeof LinuxPodSandboxConfigSchema> {
  const { cgroupParent, securityContext, sysctls, overhead, resources } = linux;
  return {
    cgroupParent,
    securityContext: sandboxSecurityRequest(securityContext),
    sysctls: { ...sysctls },
    ...(overhead && { overhead: resourcesRequest(overhead) }),
    ...(resources && { resources: resourcesRequest(resources) }),
  };
}

function portRequest({ protocol, containerPort, hostPort, hostIP }: PortMapping) {
  return { protocol: known('protocol', protocols, protocol), containerPort, hostPort, hostIp: hostIP };
}

const propagations: Readonly<Record<Propagation, MountPropagation>> = {
  private: MountPropagation.PROPAGATION_PRIVATE,
  hostToContainer: MountPropagation.PROPAGATION_HOST_TO_CONTAINER,
  bidirectional: MountPropagation.PROPAGATION_BIDIRECTIONAL,
};
const utf8 = new TextEncoder();

/** What a container is made from. */
export function containerRequest(config: ContainerConfig): MessageInitShape<typeof ContainerConfigSchema> {
  const { metadata, workingDir, logPath, stdin, stdinOnce, tty, stopSignal } = config;
  return {
    metadata: { name: metadata.name, attempt: metadata.attempt },
    image: imageRequest(config.image),
    command: [...config.command],
    args: [...config.args],
    workingDir,
    envs: config.envs.map(envRequest),
    mounts: config.mounts.map(mountRequest),
    devices: config.devices.map(({ containerPath, hostPath, permissions }) => ({ containerPath, hostPath, permissions })),
    CDIDevices: (config.cdiDevices ?? []).map((name) => ({ name })),
    labels: { ...config.labels },
    annotations: { ...config.annotations },
    logPath,
    stdin,
    stdinOnce,
    tty,
    linux: {
      resources: resourcesRequest(config.resources),
      securityContext: containerSecurityRequest(config.securityContext),
    },
    stopSignal: stopSignal === undefined ? Signal.RUNTIME_DEFAULT : signalOf(stopSignal),
  };
}

/** Which containers are listed or measured: two messages with the same fields. */
export function containerFilter({ podUID, sandboxID = '', containerID = '' }: ContainerFilter) {
  return { id: containerID, podSandboxId: sandboxID, labelSelector: podSelector(podUID) };
}

function imageRequest({
  image,
  userSpecifiedImage = '',
  runtimeHandler = '',
}: ContainerImage): MessageInitShape<typeof ImageSpecSchema> {
  return { image, userSpecifiedImage, runtimeHandler };
}

/** Values are bytes in the proto file: an environment may hold what is no text. */
function envRequest({ key, value }: KeyValue) {
  return { key, value: typeof value === 'string' ? utf8.encode(value) : new Uint8Array(value) };
}

function mountRequest(mount: Mount): MessageInitShape<typeof MountSchema> {
  const { containerPath, hostPath, readonly, selinuxRelabel, image, imageSubPath = '', users } = mount;
  return {
    containerPath,
    hostPath,
    readonly,
    selinuxRelabel,
    propagation: known('mount propagation', propagations, mount.propagation),
    recursiveReadOnly: mount.recursiveReadOnly ?? false,
    imageSubPath,
    ...(image !== undefined && { image: { image } }),
    ...(users && { uidMappings: [idsRequest(users)], gidMappings: [idsRequest(users)] }),
  };
}

/** `SIGRTMIN+3` of a pod is `SIGRTMINPLUS3` in the proto file. */
function signalOf(name: string): Signal {
  const key = name.replace('+', 'PLUS').replace('-', 'MINUS');
  return known('signal', Signal as Readonly<Record<string, Signal>>, key);
}

const modes: Readonly<Record<ModeName, NamespaceMode>> = {
  pod: NamespaceMode.POD,
  container: NamespaceMode.CONTAINER,
  node: NamespaceMode.NODE,
  target: NamespaceMode.TARGET,
};
const profileTypes: Readonly<Record<SecurityProfile['type'], ProfileType>> = {
  RuntimeDefault: ProfileType.RuntimeDefault,
  Unconfined: ProfileType.Unconfined,
  Localhost: ProfileType.Localhost,
};
const policies: Readonly<Record<PolicyName, SupplementalGroupsPolicy>> = {
  Merge: SupplementalGroupsPolicy.Merge,
  Strict: SupplementalGroupsPolicy.Strict,
};

/** The rights of a sandbox. */
function sandboxSecurityRequest(context: SandboxSecurityContext): MessageInitShape<typeof LinuxSandboxSecurityContextSchema> {
  return { ...sharedSecurity(context), readonlyRootfs: context.readonlyRootfs ?? false };
}

/** The rights of a container. */
function containerSecurityRequest(
  context: ContainerSecurityContext,
): MessageInitShape<typeof LinuxContainerSecurityContextSchema> {
  const { capabilities } = context;
  const request: MessageInitShape<typeof LinuxContainerSecurityContextSchema> = {
    ...sharedSecurity(context),
    runAsUsername: context.runAsUsername ?? '',
    readonlyRootfs: context.readonlyRootfs,
    noNewPrivs: context.noNewPrivs,
    maskedPaths: [...context.maskedPaths],
    readonlyPaths: [...context.readonlyPaths],
  };
  if (capabilities !== undefined) {
    request.capabilities = { addCapabilities: [...capabilities.add], dropCapabilities: [...capabilities.drop] };
  }
  return request;
}

/** What sandboxes and containers have in common. What is absent is left out, so that the runtime sees it is absent. */
function sharedSecurity(context: SandboxSecurityContext | ContainerSecurityContext) {
  const { selinuxOptions: selinux, seccomp, apparmor, supplementalGroupsPolicy: policy } = context;
  const [runAsUser, runAsGroup] = [optionalInt64(context.runAsUser), optionalInt64(context.runAsGroup)];
  return {
    namespaceOptions: namespacesRequest(context.namespaces),
    privileged: context.privileged,
    supplementalGroups: context.supplementalGroups.map(int64),
    supplementalGroupsPolicy: policy === undefined ? SupplementalGroupsPolicy.Merge : known('policy', policies, policy),
    ...(selinux && { selinuxOptions: { ...selinux } }),
    ...(runAsUser && { runAsUser }),
    ...(runAsGroup && { runAsGroup }),
    ...(seccomp && { seccomp: profileRequest(seccomp) }),
    ...(apparmor && { apparmor: profileRequest(apparmor) }),
  };
}

function namespacesRequest(namespaces: NamespaceOptions): MessageInitShape<typeof NamespaceOptionSchema> {
  const { network, pid, ipc, targetID = '', users } = namespaces;
  return {
    network: known('namespace', modes, network),
    pid: known('namespace', modes, pid),
    ipc: known('namespace', modes, ipc),
    targetId: targetID,
    ...(users && { usernsOptions: { mode: NamespaceMode.POD, uids: [idsRequest(users)], gids: [idsRequest(users)] } }),
  };
}

function idsRequest({ hostID, containerID, length }: IDMapping): MessageInitShape<typeof IDMappingSchema> {
  return { hostId: hostID, containerId: containerID, length };
}

function profileRequest({ type, localhostRef = '' }: SecurityProfile): MessageInitShape<typeof SecurityProfileSchema> {
  return { profileType: known('profile', profileTypes, type), localhostRef };
}

/** Limits of the kernel. In the proto file 0 and the empty string stand for what is absent. */
export function resourcesRequest(resources: LinuxContainerResources): MessageInitShape<typeof LinuxContainerResourcesSchema> {
  const { cpusetCpus = '', cpusetMems = '', hugepageLimits = [], unified = {} } = resources;
  return {
    cpuPeriod: int64(resources.cpuPeriod ?? 0),
    cpuQuota: int64(resources.cpuQuota ?? 0),
    cpuShares: int64(resources.cpuShares ?? 0),
    memoryLimitInBytes: int64(resources.memoryLimitInBytes ?? 0),
    memorySwapLimitInBytes: int64(resources.memorySwapLimitInBytes ?? 0),
    oomScoreAdj: int64(resources.oomScoreAdj ?? 0),
    cpusetCpus,
    cpusetMems,
    hugepageLimits: hugepageLimits.map(({ pageSize, limit }) => ({ pageSize, limit: int64(limit) })),
    unified: { ...unified },
  };
}

/** What a name stands for in the proto file. Throws for a name that is not there: 0 would stand for another one. */
function known<K extends string, V>(what: string, values: Readonly<Record<K, V>>, name: K): V {
  if (Object.hasOwn(values, name)) return values[name];
  throw new TypeError(`unknown ${what} ${JSON.stringify(name)}`);
}

/** A 64-bit integer of a message. Throws for what is no integer. */
export function int64(value: number): bigint {
  if (typeof value !== 'number' || !Number.isInteger(value)) throw new TypeError(`${String(value)} is no integer`);
  return BigInt(value);
}

/** The message around a number that may be absent; 0 is not absent. */
function optionalInt64(value: number | undefined): { value: bigint } | undefined {
  return value === undefined ? undefined : { value: int64(value) };
}
