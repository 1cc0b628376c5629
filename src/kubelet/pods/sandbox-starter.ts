// Behaviour of createPodSandbox in pkg/kubelet/kuberuntime, v1.36.3.

import type { Pod } from '../../api/json/types.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import type { SteadyClock } from '../../base/clock.ts';
import { settlesWithin } from '../../base/concurrency/aborts.ts';
import { Semaphore } from '../../base/concurrency/semaphore.ts';
import { errorText } from '../../base/errors.ts';
import { ignoreFailure } from '../../base/guard.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import { isCriticalPod } from '../admission/pod-admission.ts';
import type { ContainerConfigs } from '../containers/container-configs.ts';
import { type ContainerRuntime, isRuntimeError } from '../runtime/container-runtime.ts';
import type { PodSandboxConfig } from '../runtime/runtime-sandboxes.ts';

type SandboxRuntime = Pick<
  ContainerRuntime,
  'runPodSandbox' | 'podSandboxStatus' | 'listPodSandboxes' | 'stopPodSandbox' | 'removePodSandbox'
>;

export interface SandboxStarterOptions {
  readonly runtime: SandboxRuntime;
  readonly configs: Pick<ContainerConfigs, 'sandboxConfig'>;
  /** The runtime handler that the pod's RuntimeClass names; empty: the default one. Rejects for a class that is not there. */
  readonly runtimeHandlerOf: (pod: Pod, signal: AbortSignal) => Promise<string>;
  readonly eventRecorder: EventRecorder;
  readonly clock: SteadyClock;
}

/** A sandbox that containers can be made in. */
export interface ReadySandbox {
  readonly id: string;
  readonly config: PodSandboxConfig;
  readonly runtimeHandler: string;
  /** The pod's addresses; empty in the node's network. */
  readonly ips: readonly string[];
}

/** So many names are tried that the runtime says are taken. */
const mostTries = 4;
/** So many sandboxes begin at once: where many pods start, the first ones run while others begin. */
const mostAtOnce = 4;
/** After so long a sandbox keeps no other one from beginning. */
const turnMs = 1000;

/** Makes the sandboxes of pods. */
export class SandboxStarter {
  readonly #options: SandboxStarterOptions;
  readonly #turns = new Semaphore(mostAtOnce);

  constructor(options: SandboxStarterOptions) {
    this.#options = options;
  }

  /** What containers are made with in a sandbox that is there. */
  async existing(
    pod: Pod,
    sandboxID: string,
    attempt: number,
    ips: readonly string[],
    signal: AbortSignal,
  ): Promise<ReadySandbox> {
    const { configs, runtimeHandlerOf } = this.#options;
    const runtimeHandler = await runtimeHandlerOf(pod, signal);
    const config = await configs.sandboxConfig({ pod, attempt, runtimeHandler }, signal);
    return { id: sandboxID, config, runtimeHandler, ips };
  }

  /**
   * Makes a sandbox. What was begun is waited for, also when `signal` aborts, so that nothing is made that nobody knows of. Writes
   * the event `FailedCreatePodSandBox` and rejects when it cannot be made.
   */
  async start(pod: Pod, attempt: number, signal: AbortSignal): Promise<ReadySandbox> {
    const { runtime, eventRecorder } = this.#options;
    let made: Omit<ReadySandbox, 'ips'>;
    try {
      made = await this.#make(pod, attempt, signal);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      const message = `Failed to create pod sandbox: ${errorText(error)}`;
      eventRecorder.event(pod, 'Warning', 'FailedCreatePodSandBox', message);
      throw new Error(message, { cause: error });
    }
    signal.throwIfAborted();
    try {
      const { ips } = await runtime.podSandboxStatus(made.id, { signal });
      return { ...made, ips: pod.spec?.hostNetwork === true ? [] : ips };
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      const message = `Unable to get pod sandbox status: ${errorText(error)}`;
      eventRecorder.event(pod, 'Warning', 'FailedPodSandBoxStatus', message);
      throw new Error(message, { cause: error });
    }
  }

  async #make(pod: Pod, firstAttempt: number, signal: AbortSignal): Promise<Omit<ReadySandbox, 'ips'>> {
    const { runtime } = this.#options;
    for (let attempt = firstAttempt; ; attempt += 1) {
      const prepared = await this.existing(pod, '', attempt, [], signal);
      signal.throwIfAborted();
      try {
        const id = await this.#inTurn(pod, signal, () => runtime.runPodSandbox(prepared.config, prepared.runtimeHandler));
        return { ...prepared, id };
      } catch (error) {
        if (!isRuntimeError(error, 'already-exists') || attempt - firstAttempt >= mostTries) throw error;
        const id = await this.#adopt(pod, attempt);
        if (id !== undefined) return { ...prepared, id };
      }
    }
  }

  /**
   * Makes the call when it is its turn, and has the next one wait for it for a moment only. What the node or its network may need,
   * so that other pods can begin, waits for nobody.
   */
  async #inTurn(pod: Pod, signal: AbortSignal, run: () => Promise<string>): Promise<string> {
    if (isCriticalPod(pod) || pod.spec?.hostNetwork === true) return run();
    const { clock } = this.#options;
    const running = await this.#turns.run(async () => {
      signal.throwIfAborted();
      const answer = run();
      await settlesWithin(answer, { clock, timeoutMs: turnMs }).catch(ignoreFailure);
      return { answer };
    }, signal);
    return running.answer;
  }

  /** A sandbox of this attempt was made before, by a start that was given up: it is used, or it is removed if it cannot be. */
  async #adopt(pod: Pod, attempt: number): Promise<string | undefined> {
    const { runtime } = this.#options;
    const podUID = podUIDOf(pod);
    const all = await runtime.listPodSandboxes({ podUID });
    const found = all.find(({ metadata }) => metadata.uid === podUID && metadata.attempt === attempt);
    if (found === undefined) return undefined;
    if (found.state === 'ready') return found.id;
    await runtime.stopPodSandbox(found.id);
    await runtime.removePodSandbox(found.id);
    return undefined;
  }
}
