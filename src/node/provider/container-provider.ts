import { isRestartableInitContainer } from '../../api/pod/pod-containers.ts';
import { type Clock, type SteadyClock, safeClock, systemClock } from '../../base/clock.ts';
import { untilAborted } from '../../base/concurrency/aborts.ts';
import { StatusManagerError } from '../../base/errors.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import { loggerOption } from '../../base/logging/logger.ts';
import { RecoveryLines } from '../../base/logging/recovery-lines.ts';
import { longestTimerMs, numberOption, optionOfType, requireKnownOptions, requireMethods } from '../../base/options.ts';
import { noEvents, safeEventRecorder } from '../../client/events/event-recorder.ts';
import type { GivenContainer } from '../pod-status/given-status.ts';
import { RestartBackoff, type RestartBackoffOptions } from '../workers/restart-backoff.ts';
import { type ContainerLifeOptions, type RunContainer, RunningContainer } from './container-life.ts';
import type { DeletePodCall, NodePod, NotifyPods, PodProvider, ProviderTools } from './pod-provider.ts';
import type { ReportTools } from './run-report.ts';

/** The function that runs containers, and how long restarts wait. `runContainer` is needed. */
export interface ContainerProviderOptions {
  /** Called for each run of a container. What it rejects with becomes exit code 128, with the reason `StartError`. */
  readonly runContainer: RunContainer;
  /** How long a container waits before it is started again: as `RestartBackoff`'s, whose defaults are the kubelet's. */
  readonly backoff?: Pick<RestartBackoffOptions, 'baseMs' | 'maxMs' | 'resetAfterMs'>;
  /** Where the time comes from. Default: the machine's clock. */
  readonly clock?: Clock;
}

const knownOptions = ['runContainer', 'backoff', 'clock'] as const satisfies readonly (keyof ContainerProviderOptions)[];

/**
 * A provider for agents that have a function which runs one container. The provider calls the function for every container of
 * every pod, and does the rest: init containers in their order, sidecars, restart policies, the waits between restarts, grace
 * periods, and the status.
 *
 * When a pod ends, its sidecars are asked to end after all other containers, one by one, the last one first. One grace period
 * holds for all: whatever runs when it is over is killed. A sidecar with a startup probe holds back the containers after it
 * until its run says that it is ready.
 *
 * A container lives as long as the process of the agent at most. After a restart of the agent, a pod is begun again where the
 * restart policy of a regular container, its own or the pod's, is `Always` or `OnFailure`: restart counts are raised, and a
 * container that had ended for good does not run again. A pod whose containers all have the policy `Never` becomes Failed. The
 * provider runs no probes: the function may say itself when its container is ready. Through its node it writes a kubelet's events
 * `Started`, `Failed` and `BackOff`, a log line for each run that has failed and is followed by another, and one when a
 * container that had failed is well again: it has run for 10 s, or for as long as its next wait if that is longer, or has succeeded for
 * good. It ignores ephemeral containers, and changes of a pod's spec while the pod runs.
 *
 * The function gets each container as the node hands it over: its variables have plain values, and `pod.files` has the files of its
 * volumes (with `podFilesFolder` of the node, `pod.volumeFolders` their folders), as they are when the run begins: before a container is
 * started again, the node is asked for them anew. While something of them is missing, that run waits with the reason
 * `CreateContainerConfigError`, and is tried again after 1 s, later after 10 s. Where the apiserver cannot say, the values of the run
 * before serve. A pod that asks for what the function does not do is best refused, by `admitPod` of the
 * node.
 *
 * @example
 * ```ts with-server
 * import { ContainerProvider, ProviderNode } from 'pod-status-manager/node';
 *
 * // a container that runs until it is asked to end
 * const provider = new ContainerProvider({
 *   runContainer: (_, { stop }) => new Promise((resolve) => stop.addEventListener('abort', () => resolve(0))),
 * });
 * const node = new ProviderNode({ kubeConfig, nodeName: 'node-1', provider, removeOnStop: true });
 * await node.start();
 * await node.stop(); // the pods stay the node's
 * await provider.close(); // their containers end
 * ```
 */
export class ContainerProvider implements PodProvider {
  readonly #runContainer: RunContainer;
  readonly #backoff: RestartBackoff;
  readonly #clock: SteadyClock;
  readonly #pods = new Map<string, ContainerPod>();
  #notify: NotifyPods = () => {};
  #tools: ReportTools = { logger: loggerOption(null), eventRecorder: noEvents };
  /** Of the containers of all pods. */
  #recoveries: RecoveryLines | undefined;
  #isClosed = false;

  /** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
  constructor(options: ContainerProviderOptions) {
    requireKnownOptions('options', options, knownOptions);
    const { runContainer, backoff = {}, clock = systemClock } = options;
    this.#runContainer = optionOfType('runContainer', runContainer, 'function');
    requireKnownOptions('backoff', backoff, ['baseMs', 'maxMs', 'resetAfterMs']);
    requireMethods('clock', clock, ['now', 'setTimer']);
    this.#clock = withTimers(safeClock(clock));
    this.#backoff = new RestartBackoff({
      ...backoff,
      clock: this.#clock,
      eventRecorder: { event: (...event) => this.#tools.eventRecorder.event(...event) },
    });
  }

  /** Without `tools` nobody is told of containers that are started, fail, and wait to be started again, but by the status. */
  notifyPods(notify: NotifyPods, tools?: Omit<ProviderTools, 'resolvePod'> & Partial<ProviderTools>): void {
    this.#notify = notify;
    if (tools === undefined) return;
    const logger = loggerOption(tools.logger);
    this.#recoveries?.stop();
    const recoveries = new RecoveryLines({ clock: this.#clock, logger });
    this.#recoveries = recoveries;
    const { resolvePod } = tools;
    const eventRecorder = safeEventRecorder(tools.eventRecorder);
    this.#tools = { logger, eventRecorder, recoveries, ...(resolvePod !== undefined && { resolvePod }) };
  }

  /** Throws ERR_STOPPED after `close`. */
  createPod(pod: NodePod): void {
    if (this.#isClosed) throw new StatusManagerError('ERR_STOPPED', 'The container provider is closed: it begins no pod');
    const { uid } = pod.metadata;
    if (this.#pods.has(uid)) return;
    this.#backoff.gc();
    const changed = (): void => void callGuarded(() => this.#notify(uid), ignoreFailure);
    const tools = (): ReportTools => this.#tools;
    const own = { runContainer: this.#runContainer, backoff: this.#backoff, clock: this.#clock, tools };
    this.#pods.set(uid, new ContainerPod({ ...own, pod, changed }));
  }

  getPodStatus({ metadata }: NodePod): readonly GivenContainer[] | undefined {
    return this.#pods.get(metadata.uid)?.containers;
  }

  /** The pods that run in this process: all that there are. */
  getPods(): readonly NodePod[] {
    return Array.from(this.#pods.values(), ({ pod }) => pod);
  }

  /** Resolves, once nothing of the pod runs, to how its containers have ended. */
  async deletePod({ metadata }: NodePod, { gracePeriodSeconds }: Pick<DeletePodCall, 'gracePeriodSeconds'>) {
    const pod = this.#pods.get(metadata.uid);
    const ended = await pod?.stop(gracePeriodSeconds);
    if (this.#pods.get(metadata.uid) === pod) this.#pods.delete(metadata.uid);
    return ended;
  }

  /**
   * Ends what runs, for an agent that ends: call it once the node has stopped, so that the pods stay the node's and begin again
   * when the agent is back. Resolves when nothing runs and no timer is left. `gracePeriodSeconds`: 0 or more; default 10.
   */
  async close({ gracePeriodSeconds = 10 }: { readonly gracePeriodSeconds?: number } = {}): Promise<void> {
    numberOption('gracePeriodSeconds', gracePeriodSeconds, 0, longestTimerMs / 1000);
    this.#isClosed = true;
    await Promise.all(Array.from(this.#pods.values(), (pod) => pod.stop(gracePeriodSeconds)));
    this.#pods.clear();
    this.#recoveries?.stop();
  }

  /** The same as `close()` with its default, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** The clock, with the machine's timers where it sets none: a container must not wait for ever for its end. */
function withTimers(clock: SteadyClock): SteadyClock {
  return {
    now: () => clock.now(),
    elapsed: () => clock.elapsed(),
    setTimer: (callback, delayMs, options) =>
      callGuarded(() => clock.setTimer(callback, delayMs, options), ignoreFailure) ??
      systemClock.setTimer(callback, delayMs, options),
  };
}

export type ContainerPodOptions = Pick<ContainerLifeOptions, 'pod' | 'runContainer' | 'backoff' | 'clock' | 'tools' | 'changed'>;

/** A pod's own grace period where nobody says one, in seconds, as the apiserver's default. */
const defaultGracePeriodSeconds = 30;

/**
 * The containers of one pod that runs: init containers one after the other, sidecars beside what follows them, then the regular
 * ones all at once. When these have ended for good, or the pod ends, the sidecars are ended too, one by one, the last one first.
 */
class ContainerPod {
  /** The pod as it was begun. */
  readonly pod: NodePod;
  readonly #clock: Clock;
  readonly #inits: readonly RunningContainer[];
  readonly #regulars: readonly RunningContainer[];
  /** Asks the containers to end that are no sidecars. */
  readonly #stop = new AbortController();
  /** Aborts when no sidecar is to be started any more. */
  readonly #sidecarsEnd = new AbortController();
  /** Ask one sidecar each to end, in the order of the spec. */
  readonly #sidecarStops = new Map<RunningContainer, AbortController>();
  readonly #kill = new AbortController();
  /** Resolves once no container runs or will run. Never rejects. */
  readonly #over: Promise<unknown>;

  constructor(options: ContainerPodOptions) {
    const { pod, clock } = options;
    this.pod = pod;
    this.#clock = clock;
    const { initContainers = [], containers = [] } = pod.spec;
    const kill = this.#kill.signal;
    const own = { ...options, ending: this.#stop.signal, stop: this.#stop.signal, kill };
    this.#inits = initContainers.map((spec) => {
      if (!isRestartableInitContainer(spec)) return new RunningContainer({ ...own, spec, isInit: true });
      const stop = new AbortController();
      const ending = this.#sidecarsEnd.signal;
      const life = new RunningContainer({ ...options, ending, stop: stop.signal, kill, spec, isInit: true });
      this.#sidecarStops.set(life, stop);
      return life;
    });
    this.#regulars = containers.map((spec) => new RunningContainer({ ...own, spec, isInit: false }));
    this.#over = this.#live();
  }

  get containers(): readonly GivenContainer[] {
    return [...this.#inits, ...this.#regulars].map(({ state }) => state);
  }

  /** Resolves once nothing of the pod runs. Called again, the shorter grace period counts. */
  async stop(gracePeriodSeconds: number): Promise<readonly GivenContainer[]> {
    this.#stop.abort();
    this.#sidecarsEnd.abort();
    const cancel = this.#killIn(gracePeriodSeconds);
    await this.#over;
    cancel();
    return this.containers;
  }

  async #live(): Promise<void> {
    const beside = new Map<RunningContainer, Promise<unknown>>();
    if (await this.#initialize(beside)) await Promise.all(this.#regulars.map((life) => life.live()));
    this.#sidecarsEnd.abort();
    // a pod that is being stopped has its grace period already
    const isStopped = this.#stop.signal.aborted;
    const cancel = isStopped ? undefined : this.#killIn(this.pod.spec.terminationGracePeriodSeconds ?? defaultGracePeriodSeconds);
    for (const [life, over] of [...beside].reverse()) {
      this.#sidecarStops.get(life)?.abort();
      await over;
    }
    cancel?.();
  }

  /** True once all init containers have succeeded; a sidecar counts as soon as it has started. */
  async #initialize(beside: Map<RunningContainer, Promise<unknown>>): Promise<boolean> {
    for (const life of this.#inits) {
      if (this.#stop.signal.aborted) return false;
      if (life.isSidecar) {
        beside.set(life, life.live());
        await untilAborted(life.started, this.#stop.signal).catch(ignoreFailure);
      } else if (!(await life.live())) return false;
    }
    return !this.#stop.signal.aborted;
  }

  /** Everything that still runs then is killed. Returns a function that is to be called once nothing runs. */
  #killIn(seconds: number): () => void {
    const kill = (): void => {
      for (const stop of [this.#stop, this.#sidecarsEnd, ...this.#sidecarStops.values(), this.#kill]) stop.abort();
    };
    return this.#clock.setTimer(kill, Math.min(seconds * 1000, longestTimerMs), { keepAlive: true });
  }
}
