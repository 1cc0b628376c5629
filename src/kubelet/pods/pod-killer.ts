// Behaviour of killPodWithSyncResult in pkg/kubelet/kuberuntime, v1.36.3.

import type { Pod } from '../../api/json/types.ts';
import { type Container, isRestartableInitContainer } from '../../api/pod/pod-containers.ts';
import type { ContainerRuntime } from '../runtime/container-runtime.ts';
import { isRuntimeError } from '../runtime/runtime-error.ts';
import type { ContainerKiller } from './container-killer.ts';
import { graceSeconds } from './grace-seconds.ts';
import { TerminationOrder } from './termination-order.ts';

export interface PodKillerOptions {
  readonly runtime: Pick<ContainerRuntime, 'stopPodSandbox'>;
  readonly containers: ContainerKiller;
}

/** What is to end. */
export interface PodKillRequest {
  readonly pod: Pod;
  /** Containers that may run, by the runtime's id. */
  readonly containers: readonly { readonly name: string; readonly id: string }[];
  /** All sandboxes of the pod, by the runtime's id. */
  readonly sandboxIDs: readonly string[];
  /** How long each container may take, in seconds; undefined: as the pod says. */
  readonly gracePeriodSeconds: number | undefined;
  readonly podIP: string | undefined;
}

/** Ends all containers of a pod at once, its sidecars last, and then its sandboxes. */
export class PodKiller {
  readonly #options: PodKillerOptions;

  constructor(options: PodKillerOptions) {
    this.#options = options;
  }

  /**
   * Resolves once nothing runs. Rejects when something could not be ended, after all others were, and with the signal's reason once
   * that has aborted.
   */
  async kill(request: PodKillRequest, signal: AbortSignal): Promise<void> {
    const { runtime } = this.#options;
    const failures = await allFailures(this.#killContainers(request, signal));
    signal.throwIfAborted();
    const stopped = request.sandboxIDs.map(async (sandboxID) => {
      try {
        await runtime.stopPodSandbox(sandboxID, { signal });
      } catch (error) {
        if (!isRuntimeError(error, 'not-found')) throw error;
      }
    });
    failures.push(...(await allFailures(stopped)));
    signal.throwIfAborted();
    if (failures.length === 1) throw failures[0];
    if (failures.length > 1) throw new AggregateError(failures, 'several parts of the pod could not be ended');
  }

  #killContainers({ pod, containers, gracePeriodSeconds, podIP }: PodKillRequest, signal: AbortSignal): Promise<void>[] {
    const hasSidecars = pod.spec?.initContainers?.some(isRestartableInitContainer) === true;
    const names = containers.map(({ name }) => name);
    const ofSpec = containersOfSpec(pod);
    const order = hasSidecars ? new TerminationOrder(pod, names) : undefined;
    return containers.map(async ({ name, id }) => {
      const container = ofSpec.get(name);
      const grace = gracePeriodSeconds ?? graceSeconds(pod, container, 'other');
      const turn = order === undefined ? undefined : () => order.turn(name);
      try {
        const request = { pod, containerName: name, container, containerID: id, graceSeconds: grace, podIP, turn };
        await this.#options.containers.kill(request, signal);
      } finally {
        order?.ended(name);
      }
    });
  }
}

/** The containers of whatever sort, by name. */
function containersOfSpec({ spec }: Pod): ReadonlyMap<string, Container> {
  const ephemeral = spec?.ephemeralContainers as readonly Container[] | undefined;
  const all = [...(ephemeral ?? []), ...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
  return new Map(all.map((container) => [container.name, container]));
}

async function allFailures(calls: readonly Promise<void>[]): Promise<unknown[]> {
  const settled = await Promise.allSettled(calls);
  return settled.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
}
