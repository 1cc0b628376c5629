// Behaviour of killPodWithSyncResult in pkg/kubelet/kuberuntime, v1.36.3.

import type { Pod } from '../../api/json/types.ts';
import { type Container, isRestartableInitContainer } from '../../api/pod/pod-containers.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import { podFields } from '../../api/pod/pod-log-fields.ts';
import type { SteadyClock } from '../../base/clock.ts';
import { settlesWithin } from '../../base/concurrency/aborts.ts';
import { rejectionsOf, throwAll } from '../../base/errors.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { problemFields } from '../../base/problem.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import type { KillReason } from '../actions/pod-actions.ts';
import { type ContainerRuntime, isRuntimeError } from '../runtime/container-runtime.ts';
import { recordContainerEvent } from './container-events.ts';
import { HookError, type LifecycleHooks } from './lifecycle-hooks.ts';
import { preStopWords } from './trouble-words.ts';

export interface PodKillerOptions {
  readonly runtime: Pick<ContainerRuntime, 'stopPodSandbox'>;
  readonly containers: ContainerKiller;
}

/** So many failures of one end are told. */
const mostTold = 3;

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
    throwAll(failures, (texts) => texts.slice(0, mostTold).join('; '));
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
  return rejectionsOf(await Promise.allSettled(calls));
}

// Behaviour of killContainer in pkg/kubelet/kuberuntime, v1.36.3.

export interface ContainerKillerOptions {
  readonly runtime: Pick<ContainerRuntime, 'stopContainer'>;
  readonly hooks: LifecycleHooks;
  readonly eventRecorder: EventRecorder;
  /** Told of each hook that failed, and why, without what the hook is and what it said. It does not throw. */
  readonly hookFailed: (pod: Pod, containerName: string, why: string) => void;
  readonly clock: SteadyClock;
  readonly logger: Logger;
}

/** Which container is to end, and how. */
export interface KillRequest {
  readonly pod: Pod;
  readonly containerName: string;
  /** As the spec has it; undefined where the spec does not name it: it has no hook then. */
  readonly container: Container | undefined;
  /** As the runtime names it. */
  readonly containerID: string;
  /** What the event says; absent: that the container is stopped. */
  readonly message?: string | undefined;
  /** How long the container may take, in seconds. With 0 its hook is left out. */
  readonly graceSeconds: number;
  /** The pod's address, for a hook that makes a request. */
  readonly podIP: string | undefined;
  /** Resolves when it is the container's turn. Absent: at once. */
  readonly turn?: (() => Promise<void>) | undefined;
}

/** A container that is being ended. It is kept until it has ended, so that another try goes on where the last one was given up. */
interface Killing {
  readonly podUID: string;
  /** When the container is killed at the latest, by the clock's elapsed time. It only comes nearer. */
  deadline: number;
  hook: { readonly done: Promise<void>; readonly abort: AbortController } | undefined;
}

/**
 * Ends containers: the hook `preStop` first, then, when it is the container's turn, the signal that it ends by. Both share one
 * deadline, which may come nearer with a later call but never recedes. A hook is run once, however often the container is asked to
 * end.
 */
export class ContainerKiller {
  readonly #options: ContainerKillerOptions;
  readonly #clock: SteadyClock;
  readonly #killings = new Map<string, Killing>();

  constructor(options: ContainerKillerOptions) {
    this.#options = options;
    this.#clock = options.clock;
  }

  /**
   * Resolves once the container has ended. Rejects as the runtime does, and with the signal's reason once `signal` has aborted; a
   * hook under way goes on then, and the next call waits for it.
   */
  async kill(request: KillRequest, signal: AbortSignal): Promise<void> {
    const { runtime } = this.#options;
    const { containerID } = request;
    const killing = this.#begin(request);
    const remainingMs = (): number => killing.deadline - this.#clock.elapsed();
    await this.#runHook(request, killing, remainingMs, signal);
    if (request.turn !== undefined) await this.#within(request.turn(), remainingMs(), signal);
    signal.throwIfAborted();
    const timeoutSeconds = Math.max(shortestGraceSeconds, Math.ceil(remainingMs() / 1000));
    try {
      await runtime.stopContainer(containerID, timeoutSeconds, { signal });
    } catch (error) {
      if (!isRuntimeError(error, 'not-found')) throw error;
    }
    killing.hook?.abort.abort();
    this.#killings.delete(containerID);
  }

  /** Nothing of the pod is left: containers that could never be ended are forgotten, and their hooks are given up. */
  forget(podUID: string): void {
    for (const [containerID, killing] of this.#killings) {
      if (killing.podUID !== podUID) continue;
      killing.hook?.abort.abort();
      this.#killings.delete(containerID);
    }
  }

  /** Gives up every hook under way. */
  stop(): void {
    for (const { hook } of this.#killings.values()) hook?.abort.abort();
    this.#killings.clear();
  }

  #begin(request: KillRequest): Killing {
    const { eventRecorder } = this.#options;
    const { pod, containerID, containerName } = request;
    const deadline = this.#clock.elapsed() + request.graceSeconds * 1000;
    const known = this.#killings.get(containerID);
    if (known !== undefined) {
      known.deadline = Math.min(known.deadline, deadline);
      return known;
    }
    const message = request.message ?? `Stopping container ${containerName}`;
    recordContainerEvent(eventRecorder, pod, containerName, { type: 'Normal', reason: 'Killing', message, containerID });
    const killing: Killing = { podUID: podUIDOf(pod), deadline, hook: undefined };
    this.#killings.set(containerID, killing);
    return killing;
  }

  async #runHook(request: KillRequest, killing: Killing, remainingMs: () => number, signal: AbortSignal): Promise<void> {
    const handler = request.container?.lifecycle?.preStop;
    if (!handler || (killing.hook === undefined && request.graceSeconds <= 0)) return;
    if (killing.hook === undefined) {
      const abort = new AbortController();
      killing.hook = { abort, done: this.#hook(request, handler, abort.signal) };
    }
    await this.#within(killing.hook.done, remainingMs(), signal);
    signal.throwIfAborted();
  }

  /** Never rejects. What a hook is and what it says is told nowhere: it may be secret. */
  async #hook(request: KillRequest, handler: NonNullable<NonNullable<Container['lifecycle']>['preStop']>, signal: AbortSignal) {
    const { hooks, eventRecorder, hookFailed, logger } = this.#options;
    const { pod, container, containerName, containerID, podIP } = request;
    try {
      await hooks.run({ pod, container: container as Container, containerID, handler, podIP }, signal);
    } catch (error) {
      if (signal.aborted) return;
      const why = error instanceof HookError ? error.brief : 'it could not be run';
      const err = new Error(why);
      const told = { err, ...podFields(pod.metadata), containerName, containerID };
      logger.warn({ ...told, ...problemFields(preStopWords(containerName, why)) }, 'the hook preStop of a container failed');
      const event = { type: 'Warning', reason: 'FailedPreStopHook', message: 'PreStopHook failed', containerID } as const;
      recordContainerEvent(eventRecorder, pod, containerName, event);
      hookFailed(pod, containerName, why);
    }
  }

  /** Waits for `done`, at most so long, and no longer than until the signal aborts. */
  async #within(done: Promise<void>, ms: number, signal: AbortSignal): Promise<void> {
    if (ms > 0) await settlesWithin(done, { clock: this.#clock, timeoutMs: ms, signal });
  }
}

// Behaviour of pkg/kubelet/kuberuntime/kuberuntime_termination_order.go, v1.36.3.

/**
 * Sidecars end after all regular containers, and among themselves in the reverse order of the spec. `runningNames`: the
 * containers that are to be ended; nobody waits for another one.
 */
export class TerminationOrder {
  /** The sidecar that each sidecar waits for, beside all regular containers. */
  readonly #later = new Map<string, string | undefined>();
  readonly #ends = new Map<string, PromiseWithResolvers<void>>();
  readonly #regularEnds: Promise<unknown>;

  constructor({ spec }: Pod, runningNames: readonly string[]) {
    let later: string | undefined;
    for (const container of (spec?.initContainers ?? []).toReversed()) {
      if (!isRestartableInitContainer(container)) continue;
      this.#later.set(container.name, later);
      later = container.name;
    }
    for (const name of runningNames) this.#ends.set(name, Promise.withResolvers());
    this.#regularEnds = Promise.all((spec?.containers ?? []).map(({ name }) => this.#ends.get(name)?.promise));
  }

  /** Resolves when it is the container's turn to end. */
  async turn(name: string): Promise<void> {
    if (!this.#later.has(name)) return;
    await this.#regularEnds;
    await this.#ends.get(this.#later.get(name) ?? '')?.promise;
  }

  /** The container has ended, or nobody can end it: nobody waits for it any more. */
  ended(name: string): void {
    this.#ends.get(name)?.resolve();
  }
}

// Behaviour of setTerminationGracePeriod in pkg/kubelet/kuberuntime, v1.36.3.

/** The least time that a container is given to end by itself, in seconds. */
export const shortestGraceSeconds = 2;

/** How long a container may take to end, in seconds. A probe that has failed may say so itself. */
export function graceSeconds({ metadata, spec }: Pod, container: Container | undefined, reason: KillReason): number {
  const ofDeletion = metadata?.deletionGracePeriodSeconds;
  if (ofDeletion != null) return ofDeletion;
  const ofPod = spec?.terminationGracePeriodSeconds;
  if (ofPod == null) return shortestGraceSeconds;
  if (reason === 'startupProbe') return container?.startupProbe?.terminationGracePeriodSeconds ?? ofPod;
  if (reason === 'livenessProbe') return container?.livenessProbe?.terminationGracePeriodSeconds ?? ofPod;
  return ofPod;
}
