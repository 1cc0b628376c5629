// Behaviour of startContainer in pkg/kubelet/kuberuntime, v1.36.3.

import path from 'node:path';
import type { Pod } from '../../api/json/types.ts';
import type { Container } from '../../api/pod/pod-containers.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import { podFields } from '../../api/pod/pod-log-fields.ts';
import type { Clock } from '../../base/clock.ts';
import { errorText } from '../../base/errors.ts';
import { ignoreFailure } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import type { RestartBackoff } from '../../node/workers/restart-backoff.ts';
import { containerEntries, type EphemeralContainer, newestEntry } from '../actions/pod-actions.ts';
import type { ContainerConfigs } from '../containers/container-configs.ts';
import type { EnsuredImage, ImagePuller } from '../images/image-puller.ts';
import type { PullSecret } from '../images/keyring.ts';
import type { AgentPodStatus } from '../pleg/agent-status.ts';
import type { PodResizer } from '../resize/pod-resizer.ts';
import { type ContainerRuntime, isRuntimeError } from '../runtime/container-runtime.ts';
import type { ContainerConfig } from '../runtime/runtime-containers.ts';
import type { PodVolumes } from '../volumes/pod-folder.ts';
import { recordContainerEvent } from './container-events.ts';
import { type ContainerKiller, graceSeconds } from './container-killer.ts';
import type { LifecycleHooks } from './lifecycle-hooks.ts';
import type { ReadySandbox } from './sandbox-starter.ts';
import { asStartError, ContainerStartError } from './start-failures.ts';

type StartRuntime = Pick<ContainerRuntime, 'createContainer' | 'startContainer' | 'removeContainer' | 'listContainers'>;

export interface ContainerStarterOptions {
  readonly runtime: StartRuntime;
  readonly images: Pick<ImagePuller, 'ensureImage'>;
  readonly configs: Pick<ContainerConfigs, 'containerConfig'>;
  readonly restartBackoff: Pick<RestartBackoff, 'tryRestart'>;
  readonly hooks: LifecycleHooks;
  readonly killer: ContainerKiller;
  readonly resizer: Pick<PodResizer, 'containerMade'> | undefined;
  readonly lastLogNumber: (folder: string) => Promise<number>;
  readonly eventRecorder: EventRecorder;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What the containers of one sync are started with. */
export interface StartContext {
  readonly pod: Pod;
  /** What the runtime had of the pod when the sync began. */
  readonly status: AgentPodStatus;
  readonly sandbox: ReadySandbox;
  readonly volumes: PodVolumes;
  readonly pullSecrets: readonly PullSecret[];
  /** The pod's addresses, the primary one first; those of the node for a pod in its network. */
  readonly podIPs: readonly string[];
}

type AnyContainer = Container | EphemeralContainer;

/** So many attempts are tried whose names the runtime says are taken. */
const mostTries = 4;

/** Starts containers: image, configuration, creation, start, and the hook `postStart`. */
export class ContainerStarter {
  readonly #options: ContainerStarterOptions;

  constructor(options: ContainerStarterOptions) {
    this.#options = options;
  }

  /**
   * Resolves once the container runs and its hook has succeeded. `turn` is waited for between the image and the creation. Rejects
   * with a {@link ContainerStartError}, or with the signal's reason; what was begun is waited for, so that nothing runs that nobody
   * knows of.
   */
  async start(context: StartContext, container: AnyContainer, turn: Promise<unknown>, signal: AbortSignal): Promise<void> {
    const { restartBackoff, clock } = this.#options;
    const answer = restartBackoff.tryRestart(context.pod, container, context.status);
    if (answer.wait) {
      throw new ContainerStartError(answer.reason, answer.message, { until: clock.now() + answer.remainingMs });
    }
    const pulled = await this.#image(context, container, signal);
    await turn;
    signal.throwIfAborted();
    const containerID = await this.#create(context, container, pulled, signal);
    await this.#run(context, container, containerID);
    await this.#afterStart(context, container, containerID, signal);
  }

  async #image(context: StartContext, container: AnyContainer, signal: AbortSignal): Promise<EnsuredImage> {
    const { pod, pullSecrets, sandbox } = context;
    const { runtimeHandler, config } = sandbox;
    try {
      const request = { pod, container, pullSecrets, sandbox: config, runtimeHandler };
      return await this.#options.images.ensureImage(request, signal);
    } catch (error) {
      signal.throwIfAborted();
      const failure = asStartError(error, 'ErrImagePull');
      this.#failed(context, container, `Error: ${failure.reason}`);
      throw failure;
    }
  }

  /** Makes the container, and resolves with its id. A name that a start took that was given up is used again. */
  async #create(context: StartContext, container: AnyContainer, pulled: EnsuredImage, signal: AbortSignal): Promise<string> {
    const firstAttempt = await this.#attempt(context, container);
    for (let attempt = firstAttempt; ; attempt += 1) {
      const held = Promise.withResolvers<void>();
      try {
        const config = await this.#config(context, container, attempt, { ...pulled, held: held.promise }, signal);
        signal.throwIfAborted();
        const containerID = await this.#make(context, container, config, attempt - firstAttempt < mostTries);
        if (containerID !== undefined) return containerID;
        if (await this.#makeRoom(context, container.name, attempt)) attempt -= 1;
      } finally {
        held.resolve();
      }
    }
  }

  /** Resolves with the container's id; undefined where its name is taken, and another may be tried. */
  async #make(context: StartContext, container: AnyContainer, config: ContainerConfig, mayTryAgain: boolean) {
    const { runtime, resizer, eventRecorder } = this.#options;
    const { pod, sandbox } = context;
    let containerID: string;
    try {
      containerID = await runtime.createContainer(sandbox.id, config, sandbox.config);
    } catch (error) {
      if (mayTryAgain && isRuntimeError(error, 'already-exists')) return undefined;
      this.#failed(context, container, `Error: ${errorText(error)}`);
      throw new ContainerStartError('CreateContainerError', errorText(error), { cause: error });
    }
    resizer?.containerMade(pod, container.name);
    const event = { type: 'Normal', reason: 'Created', message: 'Container created' } as const;
    recordContainerEvent(eventRecorder, pod, container.name, event);
    return containerID;
  }

  async #config(
    { pod, status, sandbox, volumes, podIPs }: StartContext,
    container: AnyContainer,
    attempt: number,
    made: EnsuredImage & { readonly held: Promise<unknown> },
    signal: AbortSignal,
  ): Promise<ContainerConfig> {
    const { configs } = this.#options;
    const { runtimeHandler } = sandbox;
    try {
      const targetContainerID = targetOf(container, status);
      const { image, imageRef, held } = made;
      const request = { pod, attempt, image, imageRef, held, runtimeHandler, volumes, podIPs, targetContainerID };
      return await configs.containerConfig({ ...request, container: container as Container }, signal);
    } catch (error) {
      signal.throwIfAborted();
      const failure = asStartError(error, 'CreateContainerConfigError');
      this.#failed({ pod }, container, `Error: ${failure.message}`);
      throw failure;
    }
  }

  /**
   * How often the container had been made before. One that was made but never started is removed, and counts for nothing. Where the
   * runtime has forgotten the container, its log files tell.
   */
  async #attempt({ status, sandbox }: StartContext, { name }: AnyContainer): Promise<number> {
    const newest = newestEntry(containerEntries(status), name);
    if (newest === undefined) return (await this.#options.lastLogNumber(path.join(sandbox.config.logDirectory, name))) + 1;
    const restartCount = newest.status.restartCount ?? newest.details.metadata.attempt;
    if (newest.status.state !== 'created') return restartCount + 1;
    await this.#options.runtime.removeContainer(newest.details.id).catch(ignoreFailure);
    return restartCount;
  }

  /** True once the container is removed that has this name and was never started. */
  async #makeRoom({ pod, sandbox }: StartContext, name: string, attempt: number): Promise<boolean> {
    const { runtime } = this.#options;
    const podUID = podUIDOf(pod);
    const all = await runtime.listContainers({ podUID, sandboxID: sandbox.id });
    const found = all.find(({ metadata }) => metadata.name === name && metadata.attempt === attempt);
    if (found?.state !== 'created') return false;
    await runtime.removeContainer(found.id);
    return true;
  }

  async #run(context: StartContext, container: AnyContainer, containerID: string): Promise<void> {
    const { runtime, eventRecorder } = this.#options;
    try {
      await runtime.startContainer(containerID);
    } catch (error) {
      this.#failed(context, container, `Error: ${errorText(error)}`, containerID);
      throw new ContainerStartError('RunContainerError', errorText(error), { cause: error });
    }
    const event = { type: 'Normal', reason: 'Started', message: 'Container started' } as const;
    recordContainerEvent(eventRecorder, context.pod, container.name, event);
  }

  /** A container whose hook fails is ended. */
  async #afterStart({ pod, podIPs }: StartContext, container: AnyContainer, containerID: string, signal: AbortSignal) {
    const { hooks, killer, eventRecorder, logger } = this.#options;
    const handler = container.lifecycle?.postStart;
    if (!handler) return;
    const [podIP] = podIPs;
    try {
      await hooks.run({ pod, container: container as Container, containerID, handler, podIP }, signal);
    } catch (error) {
      signal.throwIfAborted();
      const event = { type: 'Warning', reason: 'FailedPostStartHook', message: 'PostStartHook failed', containerID } as const;
      recordContainerEvent(eventRecorder, pod, container.name, event);
      const kill = {
        pod,
        containerName: container.name,
        container: container as Container,
        containerID,
        message: 'FailedPostStartHook',
        graceSeconds: graceSeconds(pod, container as Container, 'other'),
        podIP,
      };
      await killer.kill(kill, signal).catch((err: unknown) => {
        const fields = { ...podFields(pod.metadata), containerName: container.name, containerID };
        logger.warn({ err, ...fields }, 'a container whose hook failed goes on');
      });
      signal.throwIfAborted();
      throw new ContainerStartError('PostStartHookError', errorText(error), { cause: error });
    }
  }

  #failed({ pod }: Pick<StartContext, 'pod'>, { name }: AnyContainer, message: string, containerID = ''): void {
    const event = { type: 'Warning', reason: 'Failed', message, containerID } as const;
    recordContainerEvent(this.#options.eventRecorder, pod, name, event);
  }
}

/** The container whose processes an ephemeral container is to see. */
function targetOf(container: AnyContainer, status: AgentPodStatus): string | undefined {
  const name = 'targetContainerName' in container ? container.targetContainerName : undefined;
  if (!name) return undefined;
  const target = newestEntry(containerEntries(status), name);
  if (target === undefined) throw new Error(`unable to find target container ${name}`);
  return target.details.id;
}
