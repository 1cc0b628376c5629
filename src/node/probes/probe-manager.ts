// Behaviour of pkg/kubelet/prober/prober_manager.go, v1.36.3, and of what kubelet.go does with its results.

import type { Pod, WireContainerStatus, WirePodStatus } from '../../api/json/types.ts';
import { type NamedContainers, namedContainers } from '../../api/pod/pod-containers.ts';
import { podUIDOf, requirePod } from '../../api/pod/pod-identity.ts';
import { podFields } from '../../api/pod/pod-log-fields.ts';
import { settlesWithin } from '../../base/concurrency/aborts.ts';
import { RunState, type RunStateName } from '../../base/concurrency/run-state.ts';
import { invalidArgument } from '../../base/errors.ts';
import { callGuarded } from '../../base/guard.ts';
import { requireObject } from '../../base/options.ts';
import { type ProbedState, type ProbedStateContext, stateOfContainer, withProbedStates } from './container-state.ts';
import {
  type ProbeManagerOptions,
  type ResolvedProbeManagerOptions,
  resolveProbeManagerOptions,
} from './probe-manager-options.ts';
import { type ProbeFailure, type ProbeResult, ProbeResults, type ProbeType, probeTypes } from './probe-types.ts';
import { ProbeWorkers } from './probe-workers.ts';
import type { ProbeDefinition } from './probed-container.ts';

/** How long `stop` waits for calls that do not heed their signal. */
const stopWaitsMs = 1000;

/**
 * Probes the containers of pods as the kubelet does: liveness, readiness and startup probes, each with its period, delay,
 * timeout and thresholds. A result goes to the status manager, then to the handler. What a probe cannot learn (the prober
 * throws, or the status manager does) leaves the last result as it is; a probe that takes too long has failed.
 *
 * It runs from the beginning. Once a pod is removed, or the manager stopped, none of its probes is made or heard.
 *
 * @example
 * ```ts
 * import { NetworkProber, ProbeManager } from 'pod-status-manager/node';
 * import { buildPod, buildRunningStatus, FakeClock } from 'pod-status-manager/testing';
 *
 * const readinessProbe = { exec: { command: ['is-ready'] }, periodSeconds: 10 };
 * const pod = buildPod({ spec: { containers: [{ name: 'app', image: 'app:1', readinessProbe }] } });
 * const status = buildRunningStatus(pod);
 * const clock = new FakeClock(); // an agent uses the machine's
 * const probes = new ProbeManager({
 *   prober: new NetworkProber({ exec: async () => ({ result: 'success' }) }),
 *   // an agent gives its StatusManager
 *   statusManager: { getPodStatus: () => status, setContainerReadiness: () => {}, setContainerStartup: () => {} },
 *   clock,
 * });
 * probes.addPod(pod);
 * await clock.advance(10_000);
 * console.log(probes.result('readiness', status.containerStatuses?.[0]?.containerID ?? '')); // Success
 * await probes.stop();
 * ```
 */
export class ProbeManager {
  readonly #options: ResolvedProbeManagerOptions;
  readonly #results = new ProbeResults();
  readonly #workers: ProbeWorkers;
  readonly #runState = new RunState('probe manager');
  readonly #stateContext: ProbedStateContext;
  /** Of each pod that was asked about: a status of a pod asks for each of its containers. */
  readonly #containers = new WeakMap<Pod, NamedContainers>();

  /** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
  constructor(options: ProbeManagerOptions) {
    const resolved = resolveProbeManagerOptions(options);
    const workers = new ProbeWorkers(resolved, this.#results, (...told) => this.#note(...told));
    this.#options = resolved;
    this.#workers = workers;
    this.#stateContext = {
      results: this.#results,
      get agentStartedAt(): number {
        return resolved.agentStart.ms;
      },
      hasWorker: (podUID, name, type) => workers.find(podUID, name, type) !== undefined,
      triggerReadiness: (podUID, name) => workers.find(podUID, name, 'readiness')?.trigger(),
    };
    this.#runState.start();
  }

  /** `running` until `stop` is called. */
  get state(): RunStateName {
    return this.#runState.name;
  }

  /**
   * Begins to probe the pod's regular containers and sidecars. Of a pod whose probes are known already nothing changes.
   * Throws ERR_INVALID_ARGUMENT for a pod without uid, name and namespace, ERR_STOPPED after `stop`.
   */
  addPod(pod: Pod): void {
    this.#runState.assertNotStopped('addPod');
    this.#workers.add(requirePod(pod), pod);
  }

  /**
   * The pod is being ended: its liveness and startup probes stop, its readiness probes go on. A sidecar's probes all go on,
   * as upstream's do. Throws ERR_INVALID_ARGUMENT.
   */
  stopLivenessAndStartup(pod: Pod): void {
    const podUID = requirePod(pod);
    for (const { name } of pod.spec?.containers ?? []) {
      this.#workers.stop(podUID, name, 'liveness');
      this.#workers.stop(podUID, name, 'startup');
    }
  }

  /** Ends all probes of the pod, and forgets their results. Throws ERR_INVALID_ARGUMENT. */
  removePod(pod: Pod): void {
    this.#workers.stopPod(requirePod(pod));
  }

  /** Ends the probes of every pod whose uid is not in the set. Throws ERR_INVALID_ARGUMENT for anything but a set. */
  cleanupPods(desiredPodUIDs: ReadonlySet<string>): void {
    if (typeof desiredPodUIDs?.has !== 'function') throw invalidArgument('desiredPodUIDs', 'a Set of pod uids', desiredPodUIDs);
    for (const podUID of this.#workers.podUIDs()) {
      if (!desiredPodUIDs.has(podUID)) this.#workers.stopPod(podUID);
    }
  }

  /**
   * The status with `started` and `ready` of each container, as its probes see it; the one given stays as it is. The
   * readiness probe of a container that is not ready runs at once, and its period begins anew. `pod.status` is the
   * apiserver's copy. Works in every state. Throws ERR_INVALID_ARGUMENT.
   */
  updatePodStatus(pod: Pod, status: WirePodStatus): WirePodStatus {
    requirePod(pod);
    requireObject('status', status);
    return withProbedStates(pod, status, this.#stateContext);
  }

  /**
   * The same for one container of the pod. A container that the pod's spec does not name is judged by its results alone.
   * Throws ERR_INVALID_ARGUMENT.
   */
  containerState(pod: Pod, container: WireContainerStatus): ProbedState {
    requirePod(pod);
    requireObject('container', container);
    const containers = this.#containers.get(pod) ?? namedContainers(pod);
    this.#containers.set(pod, containers);
    return stateOfContainer(pod, container, this.#stateContext, containers);
  }

  /** The last result of a container's probe; undefined before the first one. */
  result(type: ProbeType, containerID: string): ProbeResult | undefined {
    if (!probeTypes.includes(type)) throw invalidArgument('type', `one of ${probeTypes.join(', ')}`, type);
    return this.#results.get(type, containerID);
  }

  /**
   * The probes of the pod that have failed at least as often in a row as their thresholds say; empty when all is well, and for a pod
   * that is not probed. Works in every state.
   */
  failures(podUID: string): readonly ProbeFailure[] {
    return this.#workers.failures(podUID);
  }

  /**
   * Ends every probe. Resolves when no call of the prober is under way and no timer is left, at the latest after a second
   * where the prober does not heed its signal. Every call after the first returns the first one's promise.
   */
  stop(): Promise<void> {
    return this.#runState.stop(() => this.#stop());
  }

  /** The same as `stop()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #stop(): Promise<void> {
    for (const podUID of this.#workers.podUIDs()) this.#workers.stopPod(podUID);
    const { clock, logger } = this.#options;
    const isSettled = await settlesWithin(this.#workers.settled(), { clock, timeoutMs: stopWaitsMs }).catch((err: unknown) => {
      logger.error({ err }, 'the clock set no timer; the calls of the prober are not waited for');
      return false;
    });
    if (!isSettled) logger.warn({}, 'stopped before every call of the prober had settled');
  }

  /** A worker has a result. */
  #note({ pod, type }: ProbeDefinition, containerID: string, result: ProbeResult): void {
    if (!this.#results.set(type, containerID, result)) return;
    const { statusManager, handlers, logger } = this.#options;
    const podUID = podUIDOf(pod);
    const isGood = result === 'Success';
    const tell = (): unknown => {
      if (type === 'readiness') return statusManager.setContainerReadiness(podUID, containerID, isGood);
      return type === 'startup' ? statusManager.setContainerStartup(podUID, containerID, isGood) : undefined;
    };
    const fields = { ...podFields(pod.metadata), containerID, probe: type };
    callGuarded(tell, (err) => logger.error({ err, ...fields }, 'the status manager took no probe result'));
    const needsSync = type !== 'liveness' || result === 'Failure';
    callGuarded(
      () => handlers.resultChanged?.({ type, podUID, containerID, result, needsSync }),
      (err) => logger.error({ err, method: 'resultChanged', ...fields }, 'a handler of the probe manager failed'),
    );
  }
}
