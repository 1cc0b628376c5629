import type {
  ContainerDetails,
  ContainerMetadata,
  ContainerRecord,
  ContainerUser,
  Mount,
  MountPropagation as Propagation,
  ContainerState as StateName,
} from '../../runtime/runtime-containers.ts';
import {
  type Container,
  type ContainerMetadata as ContainerMetadataAnswer,
  ContainerState,
  type ContainerStatus,
  type LinuxContainerUser,
  type Mount as MountAnswer,
  MountPropagation,
  Signal,
} from '../proto/api_pb.ts';
import { msOf } from './numbers.ts';
import { resourcesOf } from './resources-answer.ts';

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
