import type { Logger } from '../../base/logging/logger.ts';
import type { ContainerRuntime, RuntimeCall } from '../runtime/container-runtime.ts';
import type { ContainerDetails, ContainerRecord } from '../runtime/runtime-containers.ts';
import { isRuntimeError } from '../runtime/runtime-error.ts';
import type { PodSandboxDetails, PodSandboxRecord } from '../runtime/runtime-sandboxes.ts';
import type { AgentPodStatus } from './agent-pod-status.ts';
import { agentPodStatus, emptyStatus, type ReadContainer } from './agent-status.ts';
import { type ListedPod, listPods } from './listed-pods.ts';

export interface PodReaderParts {
  readonly runtime: ContainerRuntime;
  readonly terminationMessageOf: (details: ContainerDetails) => Promise<string>;
  readonly logger: Logger;
}

/** What a read of one pod has brought. */
export interface PodReading {
  readonly status: AgentPodStatus;
  /** The list that the status was made from; undefined when the runtime has nothing of the pod. */
  readonly listed: ListedPod | undefined;
  /** Containers that have ended, by id: what they say cannot change any more. */
  readonly ended: ReadonlyMap<string, ReadContainer>;
}

/** Asks the runtime all that it knows of a pod. */
export class PodReader {
  readonly #parts: PodReaderParts;
  #runtimeName: string | undefined;

  constructor(parts: PodReaderParts) {
    this.#parts = parts;
  }

  /**
   * Reads the pod that was listed; without a list, lists it first. `former` is the reading before: containers that had ended are
   * not asked for again. Rejects as the runtime does; what is gone between the list and the question counts as not listed.
   */
  async read(
    podUID: string,
    listed: ListedPod | undefined,
    former: PodReading | undefined,
    call: RuntimeCall,
  ): Promise<PodReading> {
    const pod = listed ?? (await listPods(this.#parts.runtime, podUID, call)).get(podUID);
    if (pod === undefined) return nothingOf(podUID);
    const [runtimeName, sandboxes, containers] = await Promise.all([
      this.#name(call),
      Promise.all(pod.sandboxes.map((sandbox) => this.#sandbox(sandbox, call))),
      Promise.all(pod.containers.map((container) => this.#container(container, former, call))),
    ]);
    const found = {
      sandboxes: sandboxes.filter((sandbox) => sandbox !== undefined),
      containers: containers.filter((container) => container !== undefined),
    };
    if (found.sandboxes.length + found.containers.length === 0) return nothingOf(podUID);
    const formerIPs = former?.status.ips ?? [];
    const ended = found.containers.filter(({ details }) => details.state === 'exited');
    return {
      status: agentPodStatus({ pod, ...found, runtimeName, formerIPs }),
      listed: pod,
      ended: new Map(ended.map((container) => [container.details.id, container])),
    };
  }

  async #name(call: RuntimeCall): Promise<string> {
    this.#runtimeName ??= (await this.#parts.runtime.version(call)).runtimeName;
    return this.#runtimeName;
  }

  #sandbox({ id }: PodSandboxRecord, call: RuntimeCall): Promise<PodSandboxDetails | undefined> {
    return unlessGone(this.#parts.runtime.podSandboxStatus(id, call));
  }

  async #container(
    { id }: ContainerRecord,
    former: PodReading | undefined,
    call: RuntimeCall,
  ): Promise<ReadContainer | undefined> {
    const known = former?.ended.get(id);
    if (known !== undefined) return known;
    const details = await unlessGone(this.#parts.runtime.containerStatus(id, call));
    if (details === undefined) return undefined;
    return { details, terminationMessage: details.state === 'exited' ? await this.#lastWords(details) : '' };
  }

  /** A message that cannot be read hides no exit code. */
  async #lastWords(details: ContainerDetails): Promise<string> {
    const { terminationMessageOf, logger } = this.#parts;
    try {
      const message: unknown = await terminationMessageOf(details);
      return typeof message === 'string' ? message : '';
    } catch (err) {
      logger.warn({ err, containerID: details.id }, 'the termination message of a container could not be read');
      return '';
    }
  }
}

function nothingOf(podUID: string): PodReading {
  return { status: emptyStatus(podUID), listed: undefined, ended: new Map() };
}

async function unlessGone<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isRuntimeError(error, 'not-found')) return undefined;
    throw error;
  }
}
