import type { Pod } from '../../api/json/types.ts';
import { safeClock } from '../../base/clock.ts';
import { TimeLeft } from '../../base/concurrency/aborts.ts';
import {
  awaitStart,
  RunState,
  type RunStateName,
  requireStartOptions,
  type StartOptions,
} from '../../base/concurrency/run-state.ts';
import { StatusManagerError } from '../../base/errors.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import { longestTimerMs, numberOption, optionOfType, requireKnownOptions } from '../../base/options.ts';
import { problemFields } from '../../base/problem.ts';
import { safeEventRecorder } from '../../client/events/event-recorder.ts';
import type { BasicPodManager } from '../../status/pods/basic-pod-manager.ts';
import type { StatusManager } from '../../status/status-manager.ts';
import type { NodeObject } from '../node-object/node-object.ts';
import type { PodWorkers } from '../workers/pod-workers.ts';
import { isPortTaken, notServed, servedStatus } from './node-serving.ts';
import type { ProviderTools } from './pod-provider.ts';
import { ProviderAgent } from './provider-agent.ts';
import { ProviderListing } from './provider-listing.ts';
import type { ProviderNodeOptions } from './provider-node-options.ts';
import type {
  ProviderNodeSnapshot,
  ProviderNodeSnapshotOptions,
  ProviderPodExplanation,
  StopProviderNodeOptions,
  StoppedProviderNode,
} from './provider-node-reports.ts';
import { awaitedByNode, nodeSnapshot, podProblem, podReport } from './provider-node-snapshot.ts';
import { notServedProblem, type StartFailure } from './provider-problems.ts';

function stoppedBefore(): StatusManagerError {
  return new StatusManagerError('ERR_STOPPED', 'The provider node was stopped before its first list of pods');
}

/**
 * A node whose pods a {@link ProviderNodeOptions.provider} runs: its object and its Lease, the pods of the apiserver and of
 * other sources, a worker for each pod, and a status manager that tells the truth about them.
 *
 * `start` takes over what an earlier run has left, and `stop` ends no pod: they go on while the agent restarts.
 *
 * @example
 * ```ts with-server
 * import { ProviderNode } from 'pod-status-manager/node';
 *
 * const machines = new Set<string>();
 * const node = new ProviderNode({
 *   kubeConfig,
 *   nodeName: 'node-1',
 *   provider: {
 *     createPod: (pod) => machines.add(pod.metadata.uid),
 *     deletePod: (pod) => machines.delete(pod.metadata.uid),
 *     getPodStatus: (pod) => (machines.has(pod.metadata.uid) ? { phase: 'Running' } : undefined),
 *   },
 *   removeOnStop: true,
 * });
 * await node.start();
 * const { registered, notes } = node.snapshot();
 * console.log(registered, notes.length); // true 0
 * await node.stop();
 * ```
 */
export class ProviderNode {
  /** The pods of the node, those of every source. Read it; the node writes it. */
  readonly podManager: BasicPodManager;
  /** Writes the statuses of the pods. The node starts and stops it. */
  readonly statusManager: StatusManager;
  /** What is done for each pod. The node starts and stops them. */
  readonly podWorkers: PodWorkers;
  /** The Node and its Lease on the apiserver, with `setStatus` and `changed`. The node starts and stops it. */
  readonly nodeObject: NodeObject;
  readonly #agent: ProviderAgent;
  readonly #listing: ProviderListing;
  readonly #runState = new RunState<StoppedProviderNode>('provider node');
  /** Why the node's API is not served. */
  #startFailure: StartFailure | undefined;

  /** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. Starts nothing. */
  constructor(options: ProviderNodeOptions) {
    this.#agent = new ProviderAgent(options);
    const { podManager, statusManager, podWorkers, nodeObject, podSyncer } = this.#agent;
    this.podManager = podManager;
    this.statusManager = statusManager;
    this.podWorkers = podWorkers;
    this.nodeObject = nodeObject;
    const { clock, logger } = this.#agent.options;
    this.#listing = new ProviderListing({ pods: podSyncer.pods, nodeName: options.nodeName, clock: safeClock(clock), logger });
  }

  /**
   * `idle`, `running`, `stopping` or `stopped`. A node whose `start` has rejected with ERR_SERVER stays `running` until it is stopped, so
   * that its snapshot says why: it has not registered, and `ready` is false.
   */
  get state(): RunStateName {
    return this.#runState.name;
  }

  /**
   * Resolves once the node's API is served, the node is registered, and the apiserver's pods are known. What the server refuses is
   * tried again. Rejects with ERR_SERVER when the option `server` is given and its port or certificate cannot be used, with
   * ERR_ALREADY_STARTED, with ERR_STOPPED when the node is stopped before that, with ERR_INVALID_OPTION, and with the reason of
   * a signal that had aborted before; then nothing is started. Rejects with ERR_START_TIMEOUT after `timeoutMs`, saying in
   * words what was waited for and what failed last, and with the signal's reason; then the node goes on, and `stop()` ends it.
   */
  async start(options: StartOptions = {}): Promise<void> {
    requireStartOptions(options);
    this.#runState.start();
    const { clock } = this.#agent.options;
    const waitsFor = () => awaitedByNode(this.#agent);
    await awaitStart(this.#start(), options, { owner: 'provider node', clock, waitsFor });
  }

  /**
   * Says that something of a pod has changed: the node then asks its provider for the pod's status. It may be called at any time
   * and as often as things change. A pod that the node does not know is passed over.
   */
  notify(pod: string | Pod): void {
    const podUID: unknown = typeof pod === 'string' ? pod : callGuarded(() => pod?.metadata?.uid, ignoreFailure);
    if (typeof podUID === 'string' && podUID !== '') this.#agent.podSyncer.notice(podUID);
    else this.#agent.options.logger.warn({}, 'the provider told of a pod without its uid');
  }

  /** Why this pod is as it is. Works in every state. */
  explain(podUID: string): ProviderPodExplanation {
    const uid = this.podManager.translatePodUID(podUID);
    const report = podReport(this.#agent, uid);
    const sourceReport = this.#agent.config.explain().find(({ name }) => name === report.source);
    return { ...report, problem: podProblem(this.#agent, uid), status: this.statusManager.explain(uid), sourceReport };
  }

  /** How the node is, and what it waits for, also while it starts and once it has stopped. Sends nothing and changes nothing. */
  snapshot(options: ProviderNodeSnapshotOptions = {}): ProviderNodeSnapshot {
    requireKnownOptions('options', options, ['pods']);
    const pods = optionOfType('pods', options.pods ?? true, 'boolean');
    const own = { state: this.state, listProblem: this.#listing.problem, startFailure: this.#startFailure };
    return nodeSnapshot(this.#agent, own, pods);
  }

  /**
   * Ends in this order: the sources, the sync loop, the workers and the provider's calls, the status manager, which writes what
   * is left, the node's API, the provider by its `release`, the node's object. No pod is ended. After a start that rejected with ERR_SERVER it says `notStarted`
   * of the Node and its Lease: nothing was made. When it resolves, no timer is left, and nothing in flight that heeds its signal.
   * All of it shares `timeoutMs`. Every call after the first returns the first one's promise.
   */
  stop(options: StopProviderNodeOptions = {}): Promise<StoppedProviderNode> {
    try {
      requireKnownOptions('options', options, ['timeoutMs', 'drainTimeoutMs', 'callsTimeoutMs']);
      const timeoutMs = numberOption('timeoutMs', options.timeoutMs ?? 20_000, 0, longestTimerMs);
      const drainTimeoutMs = numberOption('drainTimeoutMs', options.drainTimeoutMs ?? 10_000, 0, longestTimerMs);
      const callsTimeoutMs = numberOption('callsTimeoutMs', options.callsTimeoutMs ?? 5000, 0, longestTimerMs);
      return this.#runState.stop(() => this.#stop({ timeoutMs, drainTimeoutMs, callsTimeoutMs }));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** The same as `stop()` with its defaults, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  /** What makes a start impossible is told as long as the node is not stopped. */
  async #start(): Promise<void> {
    await this.#serve();
    if (this.state === 'running') await this.#startParts();
    else throw stoppedBefore();
  }

  /** The node's API listens before the cluster is told of it. */
  async #serve(): Promise<void> {
    const { api, options } = this.#agent;
    if (api === undefined) return;
    try {
      const { port } = await api.listen();
      this.nodeObject.setStatus(servedStatus(options.given, port));
    } catch (error) {
      if (this.state !== 'running') throw stoppedBefore();
      const { clock, logger, given } = options;
      const failure = notServed(error, given.server ?? {});
      this.#startFailure = { message: failure.message, at: clock.now(), isPortTaken: isPortTaken(error) };
      const problem = problemFields(notServedProblem(this.#startFailure));
      logger.error({ err: failure, node: given.nodeName, ...problem }, 'the provider node could not start');
      throw failure;
    }
  }

  async #startParts(): Promise<void> {
    const { options, eventRecorder, mirrorPods, loop, config, source, handOver } = this.#agent;
    const { provider, nodeName } = options.given;
    safeEventRecorder(eventRecorder).nodeEvent(nodeName, 'Normal', 'Starting', 'Starting the provider node.');
    if (provider.notifyPods !== undefined) {
      const notify = (pod: string | Pod): void => this.notify(pod);
      const resolvePod: ProviderTools['resolvePod'] = (pod, wanted) => this.#agent.podSyncer.resolvePod(pod, wanted);
      const tools = { logger: options.logger, eventRecorder: safeEventRecorder(eventRecorder), resolvePod };
      callGuarded(
        () => provider.notifyPods?.(notify, tools),
        (err) => options.logger.error({ err }, 'notifyPods of the provider failed; each pod is asked about at its resync'),
      );
    }
    this.#agent.begin();
    // what an earlier run of the agent has left is known before the first pod is synced: the lists of pods wait for the loop
    if (handOver.adopts) config.start();
    await handOver.begin();
    await this.#listing.first();
    if (this.state === 'running') {
      mirrorPods.start();
      loop.start();
      if (!handOver.adopts) config.start();
    }
    await Promise.all([this.nodeObject.registered(), source.firstList()]);
  }

  async #stop(limits: Required<StopProviderNodeOptions>): Promise<StoppedProviderNode> {
    const { options, source, config, loop, podSyncer, mirrorPods, resolver, api, handOver } = this.#agent;
    const timeLeft = new TimeLeft(options.clock, limits.timeoutMs);
    // the node's object comes last, and needs some of the time
    const beforeNode = new TimeLeft(options.clock, limits.timeoutMs * 0.75);
    const hasBegun = this.nodeObject.state !== 'idle';
    this.#listing.stop();
    handOver.stop();
    source.giveUp(stoppedBefore());
    await config.stop();
    await loop.stop();
    podSyncer.stop();
    const forCalls = new TimeLeft(options.clock, beforeNode.ms(limits.callsTimeoutMs));
    const workers = await this.podWorkers.stop({ timeoutMs: forCalls.ms() });
    const calls = await this.#callsLeft(forCalls.ms());
    const statuses = await this.statusManager.stop({ drainTimeoutMs: beforeNode.ms(limits.drainTimeoutMs) });
    await mirrorPods.stop();
    await resolver?.stop();
    if (api !== undefined) await beforeNode.allows(api.close());
    if (hasBegun) await handOver.release(beforeNode.ms());
    await this.#agent.stopEvents();
    const node = await this.nodeObject.stop({ timeoutMs: timeLeft.ms() });
    await this.#agent.close();
    return { statuses, workers, calls, node };
  }

  /** The calls of the provider that go on although their signal has aborted. */
  async #callsLeft(timeoutMs: number): Promise<StoppedProviderNode['calls']> {
    const calls = await this.#agent.podSyncer.callsSettled(timeoutMs);
    const podUIDs = [...new Set(calls.map(({ podUID }) => podUID))];
    if (calls.length > 0) {
      this.#agent.options.logger.warn({ podUIDs }, 'stopped before every call of the provider had settled');
    }
    return calls;
  }
}
