import type { Pod } from '../../api/json/types.ts';
import { apiserverSource, isTerminalPhase, podUIDOf } from '../../api/pod/pod-identity.ts';
import { TimeLeft } from '../../base/concurrency/aborts.ts';
import {
  awaitStart,
  RunState,
  type RunStateName,
  requireStartOptions,
  type StartOptions,
} from '../../base/concurrency/run-state.ts';
import { longestTimerMs, numberOption, requireKnownOptions } from '../../base/options.ts';
import { notRunning, type PodProblem, type ProblemReport, problemReport } from '../../base/problem.ts';
import { retriedError } from '../../client/resources/api-problem.ts';
import { KubePodClient } from '../../client/resources/kube-pod-client.ts';
import { awaitedAnswer } from '../../client/resources/resource-client.ts';
import { KubeTransport } from '../../client/transport/kube-transport.ts';
import type { BasicPodManager } from '../../status/pods/basic-pod-manager.ts';
import { StatusManager } from '../../status/status-manager.ts';
import type { PodExplanation } from '../../status/sync/explain.ts';
import type { StopResult } from '../../status/sync/status-sync.ts';
import { namesOf, sourceProblems } from '../node-problems.ts';
import { ApiServerPodSource } from '../sources/api-server-pod-source.ts';
import {
  type PodStatusAgentOptions,
  type ResolvedStatusAgentOptions,
  resolveStatusAgentOptions,
  type StopPodStatusAgentOptions,
} from './pod-status-agent-options.ts';

/** How much of a stop's time the drain may take: the source and the transport need the rest. */
const drainShare = 0.75;

/** What an agent knows of itself. It can be turned into JSON. */
export interface PodStatusAgentSnapshot extends ProblemReport {
  /** When it was made, in milliseconds since the epoch. */
  readonly at: number;
  /** `idle`, `running`, `stopping` or `stopped`. */
  readonly state: RunStateName;
  /** The node whose pods these are. */
  readonly nodeName: string;
  /** True once a full list of the node's pods was delivered. */
  readonly hasListed: boolean;
  /** When the source of pods last heard from the apiserver, in milliseconds since the epoch; undefined before the first answer. */
  readonly lastObservedAt: number | undefined;
  /** The pods of the pod manager that have no status yet and have not ended before, at most 1000: nobody has set one. */
  readonly podsWithoutStatus: readonly Pick<PodProblem, 'podUID' | 'podNamespace' | 'podName'>[];
}

/** At most so many pods without a status are listed. */
const mostWithoutStatus = 1000;

/** What an agent knows of one pod. It can be turned into JSON. */
export interface PodStatusAgentExplanation {
  /** The uid that was asked about; for a mirror pod its static pod's. */
  readonly podUID: string;
  /** The pod's namespace; empty for a pod of which nothing is known. */
  readonly namespace: string;
  /** The pod's name; empty for a pod of which nothing is known. */
  readonly name: string;
  /** What is wrong with the pod, as the status manager says; undefined when all is well. */
  readonly problem: PodProblem | undefined;
  /** Where the pod's status stands on its way to the apiserver. */
  readonly status: PodExplanation;
  /** True once a full list of the node's pods was delivered: before that a pod may be unknown that is there. */
  readonly hasListed: boolean;
}

/**
 * A status manager with all that it needs around it: one transport, a pod client over it, a source of the node's pods, and a pod
 * manager which the source fills. It starts and stops them in order. For an agent that runs pods already and has statuses to tell;
 * the parts stay usable alone, for any other wiring.
 *
 * `start` ends no pod and `stop` ends none: they go on while the agent restarts.
 *
 * @example
 * ```ts with-server
 * import { PodStatusAgent } from 'pod-status-manager';
 *
 * server.store.create({ metadata: { name: 'web' }, spec: { nodeName: 'node-1', containers: [{ name: 'app', image: 'app:1' }] } });
 *
 * const agent = new PodStatusAgent({
 *   kubeConfig,
 *   nodeName: 'node-1',
 *   // your container runtime's own list
 *   runtimeCache: { hasSynced: () => true, getContainers: () => [{ state: 'running' }] },
 * });
 * await agent.start(); // the pods of the node are known
 * for (const pod of agent.podManager.getPods()) agent.statusManager.setPodStatus(pod, { phase: 'Running' });
 * const { pods } = await agent.stop(); // what was set is written, then nothing is in flight
 * console.log(server.store.get('default', 'web').status?.phase, pods.length); // Running 0
 * ```
 */
export class PodStatusAgent {
  /** The pods of the node. Read it; the pod source writes it. Static pods are yours to add. */
  readonly podManager: BasicPodManager;
  /** Takes the statuses, and writes them. The agent starts and stops it. */
  readonly statusManager: StatusManager;
  /** Lists and watches the pods of the node. The agent starts and stops it. */
  readonly podSource: ApiServerPodSource;
  /** The connections of both, for other clients of yours too. Closed by `stop()`, unless it was given. */
  readonly transport: KubeTransport;
  readonly #options: ResolvedStatusAgentOptions;
  readonly #ownsTransport: boolean;
  readonly #runState = new RunState<StopResult>('pod status agent');

  /** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. Starts nothing. */
  constructor(options: PodStatusAgentOptions) {
    const resolved = resolveStatusAgentOptions(options);
    const { podManager, podDeletionSafety, reading, writing, shared } = resolved;
    const { clock, logger } = shared;
    this.#options = resolved;
    this.#ownsTransport = options.transport === undefined;
    const transport =
      options.transport ??
      new KubeTransport(options.kubeConfig as NonNullable<typeof options.kubeConfig>, {
        logger,
        ...(clock !== undefined && { clock }),
      });
    this.transport = transport;
    this.podManager = podManager;
    this.podSource = new ApiServerPodSource({ ...reading, ...shared, transport, podManager });
    this.statusManager = new StatusManager({
      ...writing,
      ...shared,
      podClient: new KubePodClient(transport),
      podManager,
      podSource: this.podSource,
      podDeletionSafety,
    });
  }

  /** `idle`, `running`, `stopping` or `stopped`. */
  get state(): RunStateName {
    return this.#runState.name;
  }

  /**
   * Resolves once the apiserver's pods are in the pod manager; a list that fails is tried again. Rejects with
   * ERR_ALREADY_STARTED, with ERR_STOPPED when the agent is stopped before that, with ERR_INVALID_OPTION, and with the reason of
   * a signal that had aborted before; then nothing is started. Rejects with ERR_START_TIMEOUT after `timeoutMs`, saying in words
   * what the server answered, and with the signal's reason; then the agent goes on trying, and `stop()` ends it.
   */
  start(options: StartOptions = {}): Promise<void> {
    try {
      requireStartOptions(options);
      this.#runState.start();
    } catch (error) {
      return Promise.reject(error);
    }
    // first: a handler may set a status while the first list is still being delivered
    this.statusManager.start();
    const { clock } = this.#options;
    const waitsFor = () => awaitedAnswer('the pods are not listed', this.podSource.lastFailure());
    return awaitStart(this.podSource.start(), options, { owner: 'pod status agent', clock, waitsFor });
  }

  /**
   * What is wrong with the source and with the pods, also while the agent starts: its `notes` are empty exactly when all is well. What
   * is known of each pod, `statusManager.snapshot()` has. Sends nothing and changes nothing.
   */
  snapshot(): PodStatusAgentSnapshot {
    const at = this.#options.clock.now();
    const ofPods = this.statusManager.problems();
    const failure = this.podSource.lastFailure();
    const hasListed = this.#hasListed();
    const lastError = failure && retriedError(failure);
    const source = { name: apiserverSource, hasSent: hasListed, isWaiting: false, lastError, leftOut: [] };
    const ofAgent = this.state === 'running' ? sourceProblems(source) : [notRunning('the agent', this.state)];
    const { nodeName } = this.#options;
    const problems = problemReport([...ofAgent, ...ofPods], at);
    return Object.freeze({
      at,
      state: this.state,
      nodeName,
      hasListed,
      lastObservedAt: this.podSource.lastObservedAt(),
      podsWithoutStatus: this.#podsWithoutStatus(),
      ...problems,
    });
  }

  /** Why this pod's status is, or is not, on the apiserver. What is wrong with the source, `snapshot()` says. Sends nothing and changes nothing. */
  explain(podUID: string): PodStatusAgentExplanation {
    const status = this.statusManager.explain(podUID);
    const pod = this.podManager.getPodByUID(status.podUID);
    const { podNamespace: namespace, podName: name } = status.podName === '' && pod !== undefined ? namesOf(pod) : status;
    const { problem } = status;
    return Object.freeze({ podUID: status.podUID, namespace, name, problem, status, hasListed: this.#hasListed() });
  }

  /**
   * Ends in this order: the status manager, which writes what is left while the source still shows it what becomes of the pods; the
   * source; the transport, unless it was given. No pod is ended. Resolves to what could not be written. When it resolves, no timer
   * is left and nothing in flight, but for requests that you have made over `transport` yourself and that outlast `timeoutMs`. Every
   * call after the first returns the first one's promise. Rejects with ERR_INVALID_OPTION, and stops nothing, for an option that is
   * wrong.
   */
  stop(options: StopPodStatusAgentOptions = {}): Promise<StopResult> {
    try {
      requireKnownOptions('options', options, ['timeoutMs', 'drainTimeoutMs']);
      const timeoutMs = numberOption('timeoutMs', options.timeoutMs ?? 20_000, 0, longestTimerMs);
      const drainTimeoutMs = numberOption('drainTimeoutMs', options.drainTimeoutMs ?? 10_000, 0, longestTimerMs);
      return this.#runState.stop(() => this.#stop({ timeoutMs, drainTimeoutMs }));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** The same as `stop()` with its defaults, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #podsWithoutStatus(): PodStatusAgentSnapshot['podsWithoutStatus'] {
    const hasStatus = (pod: Pod): boolean => this.statusManager.getPodStatus(podUIDOf(pod)) !== undefined;
    const untold = this.podManager.getPods().filter((pod) => !isTerminalPhase(pod.status?.phase) && !hasStatus(pod));
    return Object.freeze(untold.slice(0, mostWithoutStatus).map((pod) => Object.freeze(namesOf(pod))));
  }

  #hasListed(): boolean {
    return this.podSource.lastListedAt() !== undefined;
  }

  async #stop({ timeoutMs, drainTimeoutMs }: Required<StopPodStatusAgentOptions>): Promise<StopResult> {
    const timeLeft = new TimeLeft(this.#options.clock, timeoutMs);
    const result = await this.statusManager.stop({ drainTimeoutMs: Math.min(drainTimeoutMs, timeoutMs * drainShare) });
    await this.podSource.stop();
    if (this.#ownsTransport) await timeLeft.allows(this.transport.close());
    return result;
  }
}
