// Behaviour of SyncPod in pkg/kubelet/kuberuntime, v1.36.3; containers are pulled for and made side by side.

import type { Pod, WirePodStatus } from '../../api/json/types.ts';
import { type Container, isRestartableInitContainer } from '../../api/pod/pod-containers.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import { podFields } from '../../api/pod/pod-log-fields.ts';
import { nthDelayMs } from '../../base/concurrency/backoff.ts';
import { errorText } from '../../base/errors.ts';
import { ignoreFailure } from '../../base/guard.ts';

import { BackoffError } from '../../node/workers/backoff-error.ts';
import { podConditionType } from '../../status/conditions/pod-conditions.ts';
import { computePodActions } from '../actions/compute-pod-actions.ts';
import { containerEntries, type EphemeralContainer, isNoAction, newestEntry, type PodActions } from '../actions/pod-actions.ts';
import type { AgentPodStatus } from '../pleg/agent-status.ts';
import { isRuntimeError } from '../runtime/container-runtime.ts';
import type { AgentPodSyncerOptions } from './agent-pod-syncer-options.ts';
import { type ContainerKiller, graceSeconds, type PodKiller } from './container-killer.ts';
import { ContainerStarter, type StartContext } from './container-starter.ts';
import type { LifecycleHooks } from './lifecycle-hooks.ts';
import type { PreparedPod } from './pod-preparation.ts';
import { crashKinds, type PodTroubles } from './pod-troubles.ts';
import { type ReadySandbox, SandboxStarter } from './sandbox-starter.ts';
import { asStartError, type ContainerStartError, type StartFailures, syncFailure } from './start-failures.ts';
import { restartedRuns } from './start-progress.ts';
import { claimWords, containerWords } from './trouble-words.ts';

/** The wait after the first time that claims could not be made ready, doubled by each further one, and the longest. */
const claimRetry = { firstMs: 1000, longestMs: 60_000 };

export interface PodStarterOptions extends AgentPodSyncerOptions {
  readonly hooks: LifecycleHooks;
  readonly killer: ContainerKiller;
  readonly podKiller: PodKiller;
  readonly failures: StartFailures;
  readonly troubles: PodTroubles;
}

export interface PodStartRequest extends PreparedPod {
  readonly pod: Pod;
  /** What the runtime had of the pod when the sync began. */
  readonly status: AgentPodStatus;
  /** The status that follows from that. */
  readonly told: WirePodStatus;
  /** Gets the ids of the runs that are ended so that their containers run again. */
  readonly endedRuns: Set<string>;
}

/** What has become of a sync. */
export interface PodStartOutcome {
  /** Something was done, so the runtime has something new of the pod. */
  readonly changed: boolean;
  /** More can be done at once, once the runtime was asked. */
  readonly again: boolean;
  /** What could not be done. */
  readonly failure: Error | undefined;
}

/** Does what a pod needs now: sandbox, init containers, containers; ends what may not go on. */
export class PodStarter {
  readonly #options: PodStarterOptions;
  readonly #sandboxes: SandboxStarter;
  readonly #containers: ContainerStarter;

  constructor(options: PodStarterOptions) {
    this.#options = options;
    this.#sandboxes = new SandboxStarter(options);
    this.#containers = new ContainerStarter(options);
  }

  /** Rejects when no container could be looked at: with what ended a container or made no sandbox, or the signal's reason. */
  async start(request: PodStartRequest, signal: AbortSignal): Promise<PodStartOutcome> {
    const { configs, probes, resizer } = this.#options;
    const { pod, status, told } = request;
    const actions = computePodActions({
      pod,
      status,
      restartsAll: told.conditions?.some(isRestartOfAll) === true,
      probeResult: (type, containerID) => probes.result(type, containerID),
      containerHash: (container) => configs.containerHash(container),
      resizeRestarts: resizer && ((container, entry) => resizer.needsRestart(pod, container, entry)),
    });
    const isResized = resizer !== undefined && !actions.killPod && (await resizer.resize(pod, status, signal));
    if (isNoAction(actions)) return { changed: isResized, again: false, failure: undefined };
    for (const id of restartedRuns(actions, status)) request.endedRuns.add(id);
    await this.#endBefore(request, actions, signal);
    if (actions.containersToReset.length > 0) return { changed: true, again: true, failure: undefined };
    if (!startsSomething(actions)) return { changed: true, again: false, failure: undefined };
    await this.#pruneInitContainers(request);
    const sandbox = await this.#sandbox(request, actions, signal);
    const podIPs = sandbox.ips.length > 0 ? sandbox.ips : (told.podIPs ?? []).map(({ ip }) => ip);
    return this.#startContainers({ ...request, sandbox, podIPs }, actions, signal);
  }

  /** The address that hooks reach the pod at; that of the node for a pod in its network. */
  podIPOf({ spec }: Pod, { ips }: AgentPodStatus): string | undefined {
    return ips[0] ?? (spec?.hostNetwork === true ? this.#options.hostIPs()[0] : undefined);
  }

  async #sandbox({ pod, status }: PodStartRequest, actions: PodActions, signal: AbortSignal): Promise<ReadySandbox> {
    const { attempt, sandboxID } = actions;
    if (actions.createSandbox) {
      await this.#readyClaims(pod, signal);
      return this.#sandboxes.start(pod, attempt, signal);
    }
    return this.#sandboxes.existing(pod, sandboxID ?? '', attempt, pod.spec?.hostNetwork === true ? [] : status.ips, signal);
  }

  /** Pods that begin are made ready for: what runs goes on without its drivers. */
  async #readyClaims(pod: Pod, signal: AbortSignal): Promise<void> {
    const { claims, eventRecorder, troubles, clock } = this.#options;
    const podUID = podUIDOf(pod);
    try {
      await claims?.prepare(pod, signal);
      troubles.cleared(podUID, 'claims');
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      const text = errorText(error);
      eventRecorder.event(pod, 'Warning', 'FailedPrepareDynamicResources', `Failed to prepare dynamic resources: ${text}`);
      const attempt = (troubles.of(podUID).get('claims')?.attempt ?? 0) + 1;
      const until = clock.now() + nthDelayMs(attempt, claimRetry);
      troubles.failed(pod, 'claims', claimWords(error), { retryAt: until });
      throw new BackoffError(`Failed to prepare dynamic resources: ${text}`, until, { cause: error });
    }
  }

  /** Ends and removes what may not go on. */
  async #endBefore(request: PodStartRequest, actions: PodActions, signal: AbortSignal): Promise<void> {
    const { podKiller, killer, runtime, eventRecorder } = this.#options;
    const { pod, status } = request;
    const podIP = this.podIPOf(pod, status);
    if (actions.killPod) {
      if (actions.createSandbox && actions.sandboxID !== undefined) {
        eventRecorder.event(pod, 'Normal', 'SandboxChanged', 'Pod sandbox changed, it will be killed and re-created.');
      }
      const containers = containerEntries(status)
        .filter((entry) => entry.status.state === 'running' || entry.status.state === 'unknown')
        .map(({ details }) => ({ id: details.id, name: details.metadata.name }));
      const sandboxIDs = status.sandboxDetails.map(({ id }) => id);
      await podKiller.kill({ pod, containers, sandboxIDs, gracePeriodSeconds: undefined, podIP }, signal);
      if (actions.createSandbox) await this.#purgeInitContainers(request);
      return;
    }
    for (const { entry, container, reason, message } of actions.containersToKill) {
      const grace = graceSeconds(pod, container, reason);
      const named = { pod, containerName: container.name, container, containerID: entry.details.id };
      await killer.kill({ ...named, message, graceSeconds: grace, podIP }, signal);
    }
    for (const { entry, container, kill } of actions.containersToReset) {
      const containerID = entry.details.id;
      const named = { pod, containerName: container.name, container, containerID };
      if (kill) await killer.kill({ ...named, message: 'killing', graceSeconds: 0, podIP }, signal);
      await runtime.removeContainer(containerID);
    }
  }

  async #startContainers(context: StartContext, actions: PodActions, signal: AbortSignal): Promise<PodStartOutcome> {
    const failures: ContainerStartError[] = [];
    let again = false;
    const start = async (container: Container | EphemeralContainer, turn: Promise<unknown>): Promise<boolean> => {
      const failure = await this.#startOne(context, container, turn, signal);
      if (failure !== undefined) failures.push(failure);
      return failure === undefined;
    };
    const now = Promise.resolve();
    await Promise.all(actions.ephemeralContainersToStart.map((container) => start(container, now)));
    for (const container of actions.initContainersToStart) {
      const isSidecar = isRestartableInitContainer(container);
      const started = await start(container, now);
      if (started && isSidecar) again = true;
      if (!started && !isSidecar) return outcome(failures, false);
    }
    await this.#startRegular(actions.containersToStart, start);
    return outcome(failures, again);
  }

  /** All at once; but a container is not made before the hooks `postStart` of those before it in the spec are over. */
  async #startRegular(
    containers: readonly Container[],
    start: (container: Container, turn: Promise<unknown>) => Promise<boolean>,
  ): Promise<void> {
    let turn: Promise<unknown> = Promise.resolve();
    const starts: Promise<unknown>[] = [];
    for (const container of containers) {
      const started = start(container, turn);
      starts.push(started);
      if (container.lifecycle?.postStart) turn = Promise.allSettled([turn, started]);
    }
    const settled = await Promise.allSettled(starts);
    for (const one of settled) if (one.status === 'rejected') throw one.reason;
  }

  /** Resolves with why the container could not be started; rejects only with the signal's reason. */
  async #startOne(
    context: StartContext,
    container: Container | EphemeralContainer,
    turn: Promise<unknown>,
    signal: AbortSignal,
  ): Promise<ContainerStartError | undefined> {
    const { failures, troubles, logger } = this.#options;
    const podUID = podUIDOf(context.pod);
    try {
      await this.#containers.start(context, container, turn, signal);
      failures.clear(podUID, container.name);
      troubles.cleared(podUID, partOf(container));
      return undefined;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      const failure = asStartError(error, 'RunContainerError');
      failures.set(podUID, container.name, failure);
      this.#note(context, container, failure);
      logger.debug(
        { err: failure, ...podFields(context.pod.metadata), containerName: container.name },
        'a container could not be started',
      );
      return failure;
    }
  }

  /** A pull that waits says why the last one failed; a container that waits counts its runs. */
  #note({ pod, status }: StartContext, container: Container | EphemeralContainer, failure: ContainerStartError): void {
    const { troubles } = this.#options;
    const { reason, until: retryAt } = failure;
    const podUID = podUIDOf(pod);
    const isCrash = reason === 'CrashLoopBackOff';
    const before = troubles.of(podUID).get(partOf(container));
    // why a start failed says more than that the next one waits
    const isWait = reason === 'ImagePullBackOff' || (isCrash && !crashKinds.has(before?.kind ?? ''));
    if (isWait && troubles.waits(podUID, partOf(container), retryAt)) return;
    const crashed = isCrash ? newestEntry(containerEntries(status), container.name) : undefined;
    const words = containerWords(pod, container, failure, crashed?.details);
    const runs = crashed && (crashed.status.restartCount ?? crashed.details.metadata.attempt) + 1;
    troubles.failed(pod, partOf(container), words, { retryAt, attempt: runs });
  }

  /** A pod that begins anew begins without records of its init containers. */
  async #purgeInitContainers({ pod, status }: PodStartRequest): Promise<void> {
    const names = (pod.spec?.initContainers ?? []).map(({ name }) => name);
    await this.#remove(
      pod,
      containerEntries(status).filter((entry) => names.includes(entry.status.name)),
    );
  }

  /** Of each init container the newest end is kept. */
  async #pruneInitContainers({ pod, status }: PodStartRequest): Promise<void> {
    const entries = containerEntries(status).filter(({ status: { state } }) => state === 'exited' || state === 'unknown');
    for (const { name } of pod.spec?.initContainers ?? []) {
      await this.#remove(pod, entries.filter((entry) => entry.status.name === name).slice(1));
    }
  }

  async #remove(pod: Pod, entries: readonly { readonly details: { readonly id: string } }[]): Promise<void> {
    const { runtime, logger } = this.#options;
    const removals = entries.map(({ details: { id } }) =>
      runtime.removeContainer(id).catch((err: unknown) => {
        if (!isRuntimeError(err, 'not-found'))
          logger.warn({ err, ...podFields(pod.metadata), containerID: id }, 'an init container could not be removed');
      }),
    );
    await Promise.all(removals).catch(ignoreFailure);
  }
}

function partOf({ name }: Container | EphemeralContainer): string {
  return `container ${name}`;
}

function isRestartOfAll({ type, status }: { readonly type: string; readonly status: string }): boolean {
  return type === podConditionType.allContainersRestarting && status === 'True';
}

function startsSomething(actions: PodActions): boolean {
  const { createSandbox, initContainersToStart, containersToStart, ephemeralContainersToStart } = actions;
  return (
    createSandbox || initContainersToStart.length > 0 || containersToStart.length > 0 || ephemeralContainersToStart.length > 0
  );
}

function outcome(failures: readonly ContainerStartError[], again: boolean): PodStartOutcome {
  return { changed: true, again, failure: failures.length > 0 ? syncFailure(failures) : undefined };
}
