import { lookupBy } from '../../api/json/json.ts';
import type { RuntimeContainerStatus } from '../../api/pod/runtime-pod.ts';
import type { AgentPodStatus } from '../pleg/agent-pod-status.ts';
import type { ContainerDetails } from '../runtime/runtime-containers.ts';

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
