import { isIP } from 'node:net';
import type { RuntimeContainerStatus, RuntimePodStatus, RuntimeSandbox } from '../../api/pod/runtime-pod.ts';
import type { ContainerDetails } from '../runtime/runtime-containers.ts';
import { type PodSandboxDetails, runtimeAnnotations, runtimeLabels } from '../runtime/runtime-sandboxes.ts';
import { type ListedPod, newestFirst } from './listed-pods.ts';

/** What the runtime has of a pod that it has nothing of. */
export function emptyStatus(podUID: string): AgentPodStatus {
  return { podUID, ips: [], containers: [], sandboxes: [], sandboxDetails: [], containerDetails: [] };
}

/** A container that the runtime has told all of. */
export interface ReadContainer {
  readonly details: ContainerDetails;
  /** What an exited container has left behind; empty for others. */
  readonly terminationMessage: string;
}

export interface AgentStatusSources {
  readonly pod: ListedPod;
  readonly sandboxes: readonly PodSandboxDetails[];
  readonly containers: readonly ReadContainer[];
  /** With which container ids begin. */
  readonly runtimeName: string;
  /** The addresses that the pod had before. */
  readonly formerIPs: readonly string[];
}

/** The status of a pod from what its sandboxes and containers say, as the kubelet puts it together. */
export function agentPodStatus({ pod, sandboxes, containers, runtimeName, formerIPs }: AgentStatusSources): AgentPodStatus {
  const sandboxDetails = sandboxes.toSorted(newestFirst);
  const sorted = containers.toSorted((one, other) => newestFirst(one.details, other.details));
  const [newest] = sandboxDetails;
  const activeID = newest?.state === 'ready' ? newest.id : undefined;
  const ips = newest?.state === 'ready' ? validIPs(newest.ips) : [];
  const hasEnded = sandboxDetails.every(({ state }) => state !== 'ready');
  return {
    podUID: pod.uid,
    name: pod.name,
    namespace: pod.namespace,
    // a pod that has ended keeps the addresses that it had
    ips: ips.length === 0 && hasEnded ? formerIPs : ips,
    containers: sorted.map((container) => containerStatus(container, runtimeName, activeID)),
    sandboxes: sandboxDetails.map(runtimeSandbox),
    sandboxDetails,
    containerDetails: sorted.map(({ details }) => details),
  };
}

/** The container of an id as statuses show it: `containerd://1234`. */
function containerID(runtimeName: string, id: string): string {
  return `${runtimeName}://${id}`;
}

function containerStatus(
  { details, terminationMessage }: ReadContainer,
  runtimeName: string,
  activeSandboxID: string | undefined,
): RuntimeContainerStatus {
  const { id, state, createdAt, startedAt, image, imageRef, labels, metadata } = details;
  return {
    name: labels[runtimeLabels.containerName] ?? metadata.name,
    state,
    id: containerID(runtimeName, id),
    createdAt,
    image,
    imageRef,
    restartCount: restartCountOf(details),
    active: details.sandboxID === activeSandboxID,
    ...(state === 'created' ? {} : { startedAt }),
    ...(state === 'exited' ? exitOf(details, terminationMessage) : {}),
  };
}

function exitOf({ exitCode, finishedAt, reason, message }: ContainerDetails, terminationMessage: string) {
  const said = [message, terminationMessage].filter((text) => text !== '').join(': ');
  return { exitCode, finishedAt, reason, message: said };
}

function restartCountOf({ annotations, metadata }: ContainerDetails): number {
  const written = annotations[runtimeAnnotations.restartCount] ?? '';
  return /^\d{1,9}$/.test(written) ? Number(written) : metadata.attempt;
}

function runtimeSandbox({ state, namespaces, ips }: PodSandboxDetails): RuntimeSandbox {
  const hostNetwork = namespaces?.network === 'node';
  return { ready: state === 'ready', hostNetwork, network: { ip: ips[0] ?? '' } };
}

/** All of them, or none when one is no address. */
export function validIPs(ips: readonly string[]): readonly string[] {
  return ips.every((ip) => isIP(ip) !== 0) ? ips : [];
}

/** What the container runtime has of one pod, with all that the runtime says of it. */
export interface AgentPodStatus extends RuntimePodStatus {
  /** The same sandboxes as `sandboxes`, in the same order: the newest first. */
  readonly sandboxDetails: readonly PodSandboxDetails[];
  /** The same containers as `containers`, in the same order: the newest first. */
  readonly containerDetails: readonly ContainerDetails[];
}
