import { lookupBy } from '../../api/json/json.ts';
import type { Pod } from '../../api/json/types.ts';
import type { Container } from '../../api/pod/pod-containers.ts';
import type { RuntimeContainerStatus } from '../../api/pod/runtime-pod.ts';
import type { ProbeResult, ProbeType } from '../../node/probes/probe-types.ts';
import type { AgentPodStatus } from '../pleg/agent-status.ts';
import type { ContainerDetails } from '../runtime/runtime-containers.ts';

export type EphemeralContainer = NonNullable<NonNullable<Pod['spec']>['ephemeralContainers']>[number];

/** What decides how long a container may take to end: a probe can have a grace period of its own. */
export type KillReason = 'livenessProbe' | 'startupProbe' | 'other';

/** A container that is to be ended while its pod goes on. */
export interface ContainerToKill {
  readonly entry: ContainerEntry;
  readonly container: Container;
  readonly reason: KillReason;
  /** What the event says. */
  readonly message: string;
}

/** A container that is to be removed, so that all containers of the pod begin anew. */
export interface ContainerToReset {
  readonly entry: ContainerEntry;
  readonly container: Container;
  /** True: it may still run. */
  readonly kill: boolean;
}

/** What is to be done with a pod now. Lists are in the order in which it is to be done. */
export interface PodActions {
  /** End all containers and sandboxes of the pod. */
  killPod: boolean;
  /** Make a sandbox. With it, what is left of init containers is removed. */
  createSandbox: boolean;
  /** The sandbox in use, or the newest one of those that are not. */
  sandboxID: string | undefined;
  /** How many sandboxes the pod had before the one in use, or before the one to make. */
  attempt: number;
  initContainersToStart: Container[];
  containersToStart: Container[];
  ephemeralContainersToStart: EphemeralContainer[];
  containersToKill: ContainerToKill[];
  containersToReset: ContainerToReset[];
}

/** What the actions follow from. */
export interface PodActionsInput {
  readonly pod: Pod;
  readonly status: AgentPodStatus;
  /** All containers are being restarted in place: the pod's condition AllContainersRestarting is True. */
  readonly restartsAll: boolean;
  /** The last result of a container's probe; undefined before the first one. The id begins with the runtime's name. */
  readonly probeResult: (type: ProbeType, containerID: string) => ProbeResult | undefined;
  /** What changes when a container of the spec changes so that it must be made again. */
  readonly containerHash: (container: Container) => string;
  /** True for a running container whose new resources can only be had by a restart. Default: none. */
  readonly resizeRestarts?: ((container: Container, entry: ContainerEntry) => boolean) | undefined;
}

/** True where nothing is to be done. */
export function isNoAction(actions: PodActions): boolean {
  const { killPod, createSandbox, initContainersToStart, containersToStart, ephemeralContainersToStart } = actions;
  const lists = [
    initContainersToStart,
    containersToStart,
    ephemeralContainersToStart,
    actions.containersToKill,
    actions.containersToReset,
  ];
  return !killPod && !createSandbox && lists.every((list) => list.length === 0);
}

/** One container that the runtime lists, in both forms in which the agent has it. */
export interface ContainerEntry {
  /** As statuses and probes name it: its id begins with the runtime's name. */
  readonly status: RuntimeContainerStatus;
  /** As the runtime names it. */
  readonly details: ContainerDetails;
}

/** All containers that the runtime lists of the pod, the newest first. */
export function containerEntries({ containers, containerDetails }: AgentPodStatus): ContainerEntry[] {
  return containers.flatMap((status, index) => {
    const details = containerDetails[index];
    return details === undefined ? [] : [{ status, details }];
  });
}

/** Finds the newest of the containers that have a name in the spec. */
export type NewestEntries = (name: string) => ContainerEntry | undefined;

/** The entries by name, for many questions: how many there are is their pod's choice. */
export function newestEntries(entries: readonly ContainerEntry[]): NewestEntries {
  return lookupBy(entries, ({ status }) => status.name);
}

/** The newest of the containers that have this name in the spec. */
export function newestEntry(entries: readonly ContainerEntry[], name: string): ContainerEntry | undefined {
  return entries.find(({ status }) => status.name === name);
}
