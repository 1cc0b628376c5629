import type { Duplex } from 'node:stream';
import { isRestartableInitContainer } from '../../api/pod/pod-containers.ts';
import { type Clock, type SteadyClock, safeClock, systemClock } from '../../base/clock.ts';
import { onAbort, untilAborted } from '../../base/concurrency/aborts.ts';
import { StatusManagerError } from '../../base/errors.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import { loggerOption } from '../../base/logging/logger.ts';
import { RecoveryLines } from '../../base/logging/recovery-lines.ts';
import { longestTimerMs, numberOption, optionOfType, requireKnownOptions, requireMethods } from '../../base/options.ts';
import { noEvents, safeEventRecorder } from '../../client/events/event-recorder.ts';
import type { GivenContainer } from '../pod-status/given-status.ts';
import type {
  ContainerLog,
  ContainerLogRequest,
  DeletePodCall,
  NodePod,
  NotifyPods,
  PodProvider,
  ProviderCall,
  ProviderTools,
} from '../provider/pod-provider.ts';
import { KubeletApiRefusal } from '../server/exchange.ts';
import type { ContainerStreams } from '../streams/container-streams.ts';
import { RestartBackoff, type RestartBackoffOptions } from '../workers/restart-backoff.ts';
import { callUntil, type ExecInContainer } from './container-connections.ts';
import { type ContainerLifeOptions, type RunContainer, RunningContainer } from './container-life.ts';
import { type ContainerStatsFn, statsOfContainers } from './container-usage.ts';
import { type ContainerLogsOptions, KeptLogs, type PodLogs } from './kept-logs.ts';
import type { ReportTools } from './run-report.ts';

/** The function that runs containers, what else can be done with them, and how long restarts wait. `runContainer` is needed. */
export interface ContainerProviderOptions {
  /** Called for each run of a container. What it rejects with becomes exit code 128, with the reason `StartError`. */
  readonly runContainer: RunContainer;
  /** Runs a command in a container that runs, for `kubectl exec` and `kubectl cp`. Without it the node answers that it cannot. */
  readonly execInContainer?: ExecInContainer;
  /**
   * Connects a stream with a port of a pod that runs, and resolves once the connection is over, for `kubectl port-forward`. Without it
   * the node answers that it cannot.
   */
  readonly portForward?: (pod: NodePod, port: number, stream: Duplex, call: ProviderCall) => Promise<void>;
  /** Says what a container that runs takes, for `kubectl top`. Without it the node answers that it cannot. */
  readonly containerStats?: ContainerStatsFn;
  /** How much of what containers write is kept in memory, for `kubectl logs`. */
  readonly logs?: ContainerLogsOptions;
  /** How long a container waits before it is started again: as `RestartBackoff`'s, whose defaults are the kubelet's. */
  readonly backoff?: Pick<RestartBackoffOptions, 'baseMs' | 'maxMs' | 'resetAfterMs'>;
  /** Where the time comes from. Default: the machine's clock. */
  readonly clock?: Clock;
}

const givenFunctions = ['execInContainer', 'portForward', 'containerStats'] as const;
const knownOptions = [
  ...givenFunctions,
  ...(['runContainer', 'logs', 'backoff', 'clock'] as const),
] as const satisfies readonly (keyof ContainerProviderOptions)[];

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
 * What a container writes to `stdout` and `stderr` of its run is its log, for `kubectl logs`: whole lines with their time, in memory. Of
 * each container the current or last run and the one before are kept, the newest 1 MiB of each, and 64 MiB of all pods together (the
 * option `logs`); a pod's are gone with the pod. A line counts once its line feed was written, 16 KiB of it are there, or the run has ended. Who reads
 * more slowly than the container writes goes on with the oldest line that is still there. The same is shown to attached clients as it
 * is written. A run that writes nothing has an empty log.
 *
 * With `execInContainer`, `portForward` and `containerStats` the provider can do what they are for, in pods that run: each call's signal
 * aborts when the client is gone, when the container (of `portForward`: the pod) has ended, and when the pod is killed. What they throw is
 * told to the client. The methods `runInContainer`, `portForward` and `getStatsSummary` are there only where their function is given.
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
  readonly #logs: KeptLogs;
  readonly #startedAt: number;
  readonly #pods = new Map<string, ContainerPod>();
  /** Only with the option `execInContainer`. */
  readonly runInContainer?: NonNullable<PodProvider['runInContainer']>;
  /** Only with the option `portForward`. */
  readonly portForward?: NonNullable<PodProvider['portForward']>;
  /** Only with the option `containerStats`: the summary of all that runs. */
  readonly getStatsSummary?: NonNullable<PodProvider['getStatsSummary']>;
  #notify: NotifyPods = () => {};
  #tools: ReportTools = { logger: loggerOption(null), eventRecorder: noEvents };
  /** Of the containers of all pods. */
  #recoveries: RecoveryLines | undefined;
  #isClosed = false;

  /** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
  constructor(options: ContainerProviderOptions) {
    requireKnownOptions('options', options, knownOptions);
    const { runContainer, logs = {}, backoff = {}, clock = systemClock } = options;
    this.#runContainer = optionOfType('runContainer', runContainer, 'function');
    requireKnownOptions('backoff', backoff, ['baseMs', 'maxMs', 'resetAfterMs']);
    requireMethods('clock', clock, ['now', 'setTimer']);
    this.#clock = withTimers(safeClock(clock));
    this.#startedAt = this.#clock.now();
    this.#logs = new KeptLogs('logs', logs, this.#clock);
    for (const name of givenFunctions) if (options[name] !== undefined) optionOfType(name, options[name], 'function');
    const { execInContainer, portForward, containerStats } = options;
    if (execInContainer !== undefined) {
      this.runInContainer = async (pod, name, command, streams, { signal }) =>
        this.#container(pod, name).connections.exec(execInContainer, command, streams, signal);
    }
    if (portForward !== undefined) {
      this.portForward = async (pod, port, stream, { signal }) => {
        const own = this.#pod(pod);
        await callUntil([signal, own.ended], async (over) => portForward(own.pod, port, stream, { signal: over }));
      };
    }
    if (containerStats !== undefined) {
      const [clock, startedAt] = [this.#clock, this.#startedAt];
      this.getStatsSummary = ({ signal }) =>
        statsOfContainers([...this.#pods.values()], containerStats, { clock, startedAt, signal });
    }
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
    const own = { runContainer: this.#runContainer, backoff: this.#backoff, clock: this.#clock, tools, logs: this.#logs.ofPod() };
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
    pod?.logs.forget();
    return ended;
  }

  /** The log that is kept of the current or last run of a container, or with `previous` of the one before. */
  getContainerLogs(pod: NodePod, container: string, request: ContainerLogRequest, { signal }: ProviderCall): ContainerLog {
    const { connections, state } = this.#container(pod, container);
    return connections.log(request, state, signal);
  }

  /** Resolves to the exit code of the container once it has ended, and to undefined when the client is gone. */
  async attachToContainer(pod: NodePod, container: string, streams: ContainerStreams, { signal }: ProviderCall) {
    return this.#container(pod, container).connections.attach(streams, signal);
  }

  /**
   * Ends what runs, for an agent that ends: call it once the node has stopped, so that the pods stay the node's and begin again
   * when the agent is back. Resolves when nothing runs and no timer is left. `gracePeriodSeconds`: 0 or more; default 10.
   */
  async close({ gracePeriodSeconds = 10 }: { readonly gracePeriodSeconds?: number } = {}): Promise<void> {
    numberOption('gracePeriodSeconds', gracePeriodSeconds, 0, longestTimerMs / 1000);
    this.#isClosed = true;
    await Promise.all(Array.from(this.#pods.values(), (pod) => pod.stop(gracePeriodSeconds)));
    for (const { logs } of this.#pods.values()) logs.forget();
    this.#pods.clear();
    this.#recoveries?.stop();
  }

  /** The same as `close()` with its default, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #pod({ metadata }: NodePod): ContainerPod {
    const pod = this.#pods.get(metadata.uid);
    if (pod !== undefined) return pod;
    throw new KubeletApiRefusal(404, `pod ${JSON.stringify(metadata.name)} does not run in this process`);
  }

  #container(pod: NodePod, name: string): RunningContainer {
    const container = this.#pod(pod).lives.find(({ spec }) => spec.name === name);
    if (container !== undefined) return container;
    throw new KubeletApiRefusal(404, `container ${JSON.stringify(name)} not found in pod ${JSON.stringify(pod.metadata.name)}`);
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

export type ContainerPodOptions = Omit<ContainerLifeOptions, 'spec' | 'isInit' | 'ending' | 'stop' | 'kill'>;

/** A pod's own grace period where nobody says one, in seconds, as the apiserver's default. */
const defaultGracePeriodSeconds = 30;

/**
 * The containers of one pod that runs: init containers one after the other, sidecars beside what follows them, then the regular
 * ones all at once. When these have ended for good, or the pod ends, the sidecars are ended too, one by one, the last one first.
 */
class ContainerPod {
  /** The pod as it was begun. */
  readonly pod: NodePod;
  readonly logs: PodLogs;
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
  readonly #ended = new AbortController();
  /** Resolves once no container runs or will run. Never rejects. */
  readonly #over: Promise<unknown>;

  constructor(options: ContainerPodOptions) {
    const { pod, clock } = options;
    this.pod = pod;
    this.logs = options.logs;
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
    const ended = (): void => this.#ended.abort(new Error(`pod ${JSON.stringify(pod.metadata.name)} has ended`));
    onAbort(kill, ended);
    void this.#over.then(ended, ended);
  }

  /** Aborts when nothing of the pod runs or will run, or it is killed. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  get lives(): readonly RunningContainer[] {
    return [...this.#inits, ...this.#regulars];
  }

  get containers(): readonly GivenContainer[] {
    return this.lives.map(({ state }) => state);
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
