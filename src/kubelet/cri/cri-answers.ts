import type { RuntimeEvent, RuntimeHealth } from '../runtime/container-runtime.ts';
import type {
  ContainerDetails,
  ContainerMetadata,
  ContainerRecord,
  ContainerStats,
  ContainerUser,
  LinuxContainerResources,
  Mount,
  PodSandboxStats,
  MountPropagation as Propagation,
  ResourceUsage,
  ContainerState as StateName,
} from '../runtime/runtime-containers.ts';
import type { FilesystemUsage, RuntimeImage } from '../runtime/runtime-images.ts';
import type { PodSandboxDetails, PodSandboxMetadata, PodSandboxRecord } from '../runtime/runtime-sandboxes.ts';
import type { NamespaceMode as ModeName, NamespaceOptions } from '../runtime/security.ts';
import {
  type LinuxContainerResources as Answer,
  type Container,
  type ContainerEventResponse,
  ContainerEventType,
  type ContainerMetadata as ContainerMetadataAnswer,
  ContainerState,
  type ContainerStats as ContainerStatsAnswer,
  type ContainerStatus,
  type CpuUsage,
  type FilesystemUsage as FilesystemUsageAnswer,
  type Image,
  type LinuxContainerUser,
  type MemoryUsage,
  type Mount as MountAnswer,
  MountPropagation,
  NamespaceMode,
  type NamespaceOption,
  type PodSandbox,
  type PodSandboxMetadata as PodSandboxMetadataAnswer,
  type PodSandboxNetworkStatus,
  PodSandboxState,
  type PodSandboxStats as PodSandboxStatsAnswer,
  type PodSandboxStatus,
  Signal,
  type StatusResponse,
  type SwapUsage,
} from './proto/api_pb.ts';

/** A container as a list has it. */
export function containerRecord(answer: Container): ContainerRecord {
  return { ...sharedFields(answer), sandboxID: answer.podSandboxId };
}

/** All of a container. The runtime does not say its sandbox: the caller does, or it stays empty. */
export function containerDetails(answer: ContainerStatus, sandboxID: string): ContainerDetails {
  const { exitCode, reason, message, logPath, imageId } = answer;
  const [resources, user] = [answer.resources?.linux, answer.user?.linux];
  const stopSignal = signalName(answer.stopSignal);
  return {
    ...sharedFields(answer),
    sandboxID,
    startedAt: msOf(answer.startedAt),
    finishedAt: msOf(answer.finishedAt),
    exitCode,
    reason,
    message,
    imageID: imageId,
    logPath,
    mounts: answer.mounts.map(mountOf),
    ...(resources && { resources: resourcesOf(resources) }),
    ...(user && { user: userOf(user) }),
    ...(stopSignal !== undefined && { stopSignal }),
  };
}

function sharedFields(answer: Container | ContainerStatus) {
  const { id, imageRef, labels, annotations } = answer;
  return {
    id,
    metadata: containerMetadataOf(answer.metadata),
    image: answer.image?.image ?? '',
    imageRef,
    state: stateOf(answer.state),
    createdAt: msOf(answer.createdAt),
    labels,
    annotations,
  };
}

function containerMetadataOf(answer: ContainerMetadataAnswer | undefined): ContainerMetadata {
  return { name: answer?.name ?? '', attempt: answer?.attempt ?? 0 };
}

function stateOf(state: ContainerState): StateName {
  if (state === ContainerState.CONTAINER_CREATED) return 'created';
  if (state === ContainerState.CONTAINER_RUNNING) return 'running';
  return state === ContainerState.CONTAINER_EXITED ? 'exited' : 'unknown';
}

function mountOf(answer: MountAnswer): Mount {
  const { containerPath, hostPath, readonly, selinuxRelabel, recursiveReadOnly, image, imageSubPath } = answer;
  return {
    containerPath,
    hostPath,
    readonly,
    selinuxRelabel,
    propagation: propagationOf(answer.propagation),
    ...(recursiveReadOnly && { recursiveReadOnly }),
    ...(image && { image: image.image }),
    ...(imageSubPath !== '' && { imageSubPath }),
  };
}

function propagationOf(propagation: MountPropagation): Propagation {
  if (propagation === MountPropagation.PROPAGATION_HOST_TO_CONTAINER) return 'hostToContainer';
  return propagation === MountPropagation.PROPAGATION_BIDIRECTIONAL ? 'bidirectional' : 'private';
}

function userOf({ uid, gid, supplementalGroups }: LinuxContainerUser): ContainerUser {
  return { uid: Number(uid), gid: Number(gid), supplementalGroups: supplementalGroups.map(Number) };
}

/** As a pod writes the signal, which is as the proto file does; undefined while the runtime does not say. */
function signalName(signal: Signal): string | undefined {
  if (signal === Signal.RUNTIME_DEFAULT) return undefined;
  return Object.entries(Signal).find(([, number]) => number === signal)?.[0];
}

/** A sandbox as a list has it. */
export function sandboxRecord(answer: PodSandbox | PodSandboxStatus): PodSandboxRecord {
  const { id, labels, annotations, runtimeHandler } = answer;
  return {
    id,
    metadata: sandboxMetadataOf(answer.metadata),
    state: answer.state === PodSandboxState.SANDBOX_READY ? 'ready' : 'notready',
    createdAt: msOf(answer.createdAt),
    labels,
    annotations,
    runtimeHandler,
  };
}

/** A sandbox with its network. */
export function sandboxDetails(answer: PodSandboxStatus): PodSandboxDetails {
  const namespaces = answer.linux?.namespaces?.options;
  return {
    ...sandboxRecord(answer),
    ips: addressesOf(answer.network),
    ...(namespaces && { namespaces: namespacesOf(namespaces) }),
  };
}

function sandboxMetadataOf(answer: PodSandboxMetadataAnswer | undefined): PodSandboxMetadata {
  const { name = '', uid = '', namespace = '', attempt = 0 } = answer ?? {};
  return { name, uid, namespace, attempt };
}

function addressesOf(network: PodSandboxNetworkStatus | undefined): string[] {
  if (network === undefined) return [];
  return [network.ip, ...network.additionalIps.map(({ ip }) => ip)].filter((ip) => ip !== '');
}

function namespacesOf({ network, pid, ipc, targetId }: NamespaceOption): NamespaceOptions {
  return {
    network: modeOf(network),
    pid: modeOf(pid),
    ipc: modeOf(ipc),
    ...(targetId !== '' && { targetID: targetId }),
  };
}

function modeOf(mode: NamespaceMode): ModeName {
  if (mode === NamespaceMode.NODE) return 'node';
  if (mode === NamespaceMode.CONTAINER) return 'container';
  return mode === NamespaceMode.TARGET ? 'target' : 'pod';
}

export function imageOf(answer: Image): RuntimeImage {
  const { id, repoTags, repoDigests, size, username, pinned } = answer;
  const uid = numberIn(answer.uid);
  return { id, repoTags, repoDigests, sizeBytes: Number(size), username, pinned, ...(uid !== undefined && { uid }) };
}

/** What a file system holds. */
export function filesystemOf(answer: FilesystemUsageAnswer): FilesystemUsage {
  return {
    mountpoint: answer.fsId?.mountpoint ?? '',
    usedBytes: numberIn(answer.usedBytes) ?? 0,
    inodesUsed: numberIn(answer.inodesUsed) ?? 0,
    at: msOf(answer.timestamp),
  };
}

/** What one container takes. */
export function containerStatsOf(answer: ContainerStatsAnswer): ContainerStats {
  const { attributes, writableLayer } = answer;
  return present({
    containerID: attributes?.id ?? '',
    name: attributes?.metadata?.name ?? '',
    labels: attributes?.labels ?? {},
    ...usageOf(answer.cpu, answer.memory, answer.swap),
    writableLayerBytes: numberIn(writableLayer?.usedBytes),
    writableLayerInodes: numberIn(writableLayer?.inodesUsed),
  });
}

/** What one pod takes. */
export function sandboxStatsOf({ attributes, linux }: PodSandboxStatsAnswer): PodSandboxStats {
  const network = linux?.network?.defaultInterface;
  return present({
    sandboxID: attributes?.id ?? '',
    labels: attributes?.labels ?? {},
    ...usageOf(linux?.cpu, linux?.memory),
    receivedBytes: numberIn(network?.rxBytes),
    sentBytes: numberIn(network?.txBytes),
    processes: numberIn(linux?.process?.processCount),
    containers: (linux?.containers ?? []).map(containerStatsOf),
  });
}

function usageOf(cpu: CpuUsage | undefined, memory: MemoryUsage | undefined, swap?: SwapUsage): ResourceUsage {
  return present({
    at: Math.max(msOf(cpu?.timestamp ?? 0n), msOf(memory?.timestamp ?? 0n)),
    cpuNanoseconds: numberIn(cpu?.usageCoreNanoSeconds),
    cpuNanocores: numberIn(cpu?.usageNanoCores),
    memoryWorkingSetBytes: numberIn(memory?.workingSetBytes),
    memoryUsageBytes: numberIn(memory?.usageBytes),
    memoryRssBytes: numberIn(memory?.rssBytes),
    swapUsageBytes: numberIn(swap?.swapUsageBytes),
    swapAvailableBytes: numberIn(swap?.swapAvailableBytes),
  });
}

/** The same object without members that are undefined. */
type Present<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

function present<T extends object>(fields: T): Present<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Present<T>;
}

/** What the runtime says of itself. */
export function healthOf({ status, runtimeHandlers, features }: StatusResponse): RuntimeHealth {
  return {
    conditions: (status?.conditions ?? []).map(({ type, status, reason, message }) => ({ type, status, reason, message })),
    handlers: runtimeHandlers.map(({ name, features }) => ({
      name,
      recursiveReadOnlyMounts: features?.recursiveReadOnlyMounts ?? false,
      userNamespaces: features?.userNamespaces ?? false,
    })),
    features: { supplementalGroupsPolicy: features?.supplementalGroupsPolicy ?? false },
  };
}

/** What happened; undefined for what this version of CRI does not know. */
export function eventOf(answer: ContainerEventResponse): RuntimeEvent | undefined {
  const type = typeOf(answer.containerEventType);
  if (type === undefined) return undefined;
  const { containerId: containerID, podSandboxStatus, containersStatuses } = answer;
  const sandbox = podSandboxStatus && sandboxDetails(podSandboxStatus);
  const event = { type, containerID, at: msOf(answer.createdAt), podUID: sandbox?.metadata.uid ?? '' };
  if (sandbox === undefined) return event;
  return { ...event, sandbox, containers: containersStatuses.map((status) => containerDetails(status, sandbox.id)) };
}

function typeOf(type: ContainerEventType): RuntimeEvent['type'] | undefined {
  switch (type) {
    case ContainerEventType.CONTAINER_CREATED_EVENT:
      return 'created';
    case ContainerEventType.CONTAINER_STARTED_EVENT:
      return 'started';
    case ContainerEventType.CONTAINER_STOPPED_EVENT:
      return 'stopped';
    case ContainerEventType.CONTAINER_DELETED_EVENT:
      return 'deleted';
    default:
      return undefined;
  }
}

/** Limits that are in force. 0 and the empty string stand for what is absent. */
function resourcesOf(answer: Answer): LinuxContainerResources {
  const { cpusetCpus, cpusetMems, hugepageLimits, unified } = answer;
  return {
    ...(answer.cpuPeriod !== 0n && { cpuPeriod: Number(answer.cpuPeriod) }),
    ...(answer.cpuQuota !== 0n && { cpuQuota: Number(answer.cpuQuota) }),
    ...(answer.cpuShares !== 0n && { cpuShares: Number(answer.cpuShares) }),
    ...(answer.memoryLimitInBytes !== 0n && { memoryLimitInBytes: Number(answer.memoryLimitInBytes) }),
    ...(answer.memorySwapLimitInBytes !== 0n && { memorySwapLimitInBytes: Number(answer.memorySwapLimitInBytes) }),
    ...(answer.oomScoreAdj !== 0n && { oomScoreAdj: Number(answer.oomScoreAdj) }),
    ...(cpusetCpus !== '' && { cpusetCpus }),
    ...(cpusetMems !== '' && { cpusetMems }),
    ...(hugepageLimits.length > 0 && {
      hugepageLimits: hugepageLimits.map(({ pageSize, limit }) => ({ pageSize, limit: Number(limit) })),
    }),
    ...(Object.keys(unified).length > 0 && { unified }),
  };
}

/** Nanoseconds since the epoch as milliseconds; 0 for what is no time, such as the zero time of Go. */
function msOf(nanoseconds: bigint): number {
  return nanoseconds > 0n ? Number(nanoseconds / 1_000_000n) : 0;
}

/** The number in a message that may be absent. */
function numberIn(message: { readonly value: bigint } | undefined): number | undefined {
  return message === undefined ? undefined : Number(message.value);
}
