import { TimeLeft } from '../../base/concurrency/aborts.ts';
import {
  awaitStart,
  RunState,
  type RunStateName,
  requireStartOptions,
  type StartOptions,
} from '../../base/concurrency/run-state.ts';
import { errorText, StatusManagerError } from '../../base/errors.ts';
import { ignoreFailure } from '../../base/guard.ts';
import { longestTimerMs, numberOption, optionOfType, requireKnownOptions } from '../../base/options.ts';
import { problemFields } from '../../base/problem.ts';
import type { EventType } from '../../client/events/event-recorder.ts';
import type { NodeObject } from '../../node/node-object/node-object.ts';
import { HealthzServer } from '../../node/server/healthz-server.ts';
import type { PodWorkers } from '../../node/workers/pod-workers.ts';
import type { BasicPodManager } from '../../status/pods/basic-pod-manager.ts';
import type { StatusManager } from '../../status/status-manager.ts';
import { MachineCgroups } from '../machine/machine.ts';
import { type OwnState, problemsOfAgent, startProblem } from './agent-node-problems.ts';
import { MainKubelet } from './main-kubelet.ts';
import type { NodeAgentOptions } from './node-agent-options.ts';
import {
  type AgentPodExplanation,
  agentSnapshot,
  explainAgentPod,
  type NodeAgentSnapshot,
  type NodeAgentSnapshotOptions,
  type StopNodeAgentOptions,
  type StoppedNodeAgent,
} from './node-agent-reports.ts';
/**
 * A node whose pods a container runtime runs, in the kubelet's place: its object and its Lease, the pods of the apiserver and of
 * other sources, volumes, images, containers, probes, and the agent's own API.
 *
 * `start` takes over what an earlier run has left, of this agent or of a kubelet; nothing is ended before every source was heard.
 * `stop` leaves the pods running, unless it is told otherwise.
 *
 * @example
 * ```ts with-server
 * import { mkdtemp, rm } from 'node:fs/promises';
 * import { NodeAgent } from 'pod-status-manager/kubelet';
 * import { FakeMounter, FakeRuntime } from 'pod-status-manager/testing';
 *
 * const folder = await mkdtemp('/tmp/agent-');
 * const agent = new NodeAgent({
 *   kubeConfig,
 *   nodeName: 'node-1',
 *   runtime: new FakeRuntime(), // a CriRuntime of pod-status-manager/cri runs real containers
 *   rootDirectory: folder,
 *   podLogsDirectory: `${folder}/logs`,
 *   cgroupsPerQOS: false,
 *   imageGCHighThresholdPercent: 100, // FakeRuntime has no disk
 *   mounter: new FakeMounter(),
 *   removeOnStop: true,
 * });
 * await agent.start();
 * const { registered, runtime } = agent.snapshot();
 * console.log(registered, runtime?.name); // true fake
 * await agent.stop();
 * await rm(folder, { recursive: true });
 * ```
 */
export class NodeAgent {
  /** The pods of the node, those of every source. Read it; the agent writes it. */
  readonly podManager: BasicPodManager;
  /** Writes the statuses of the pods. The agent starts and stops it. */
  readonly statusManager: StatusManager;
  /** What is done for each pod. The agent starts and stops them. */
  readonly podWorkers: PodWorkers;
  /** The Node and its Lease on the apiserver. The agent starts and stops it. */
  readonly nodeObject: NodeObject;
  readonly #kubelet: MainKubelet;
  readonly #healthz: HealthzServer | undefined;
  readonly #runState = new RunState<StoppedNodeAgent>('node agent');
  #startFailure: OwnState['startFailure'];

  /** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. Starts nothing. */
  constructor(options: NodeAgentOptions) {
    this.#kubelet = new MainKubelet(options);
    this.#healthz = healthzOf(this.#kubelet);
    this.podManager = this.#kubelet.options.podManager;
    this.statusManager = this.#kubelet.statusManager;
    this.podWorkers = this.#kubelet.podWorkers;
    this.nodeObject = this.#kubelet.node.object;
  }

  /** `idle`, `running`, `stopping` or `stopped`. */
  get state(): RunStateName {
    return this.#runState.name;
  }

  /**
   * Resolves once the agent's API is served, the node is registered, and the apiserver's pods are known. What the server and the
   * runtime refuse is tried again. Rejects with ERR_ALREADY_STARTED, with ERR_STOPPED when the agent is stopped before that, with
   * ERR_INVALID_OPTION, also for a configuration of credential plugins that breaks a rule, with the reason of a signal that had aborted before, and
   * with what makes a start impossible: a port that is taken, cgroups that cannot be made. Rejects with ERR_START_TIMEOUT after `timeoutMs`, saying in words what was waited for,
   * and with the signal's reason; then the agent goes on. `stop()` ends it in any case.
   */
  async start(options: StartOptions = {}): Promise<void> {
    requireStartOptions(options);
    this.#runState.start();
    const { clock } = this.#kubelet.options;
    const waitsFor = () => ({ text: this.#waitsFor() || 'the pods of the apiserver are not handled' });
    await awaitStart(this.#start(), options, { owner: 'node agent', clock, waitsFor });
  }

  /** Why this pod is as it is: `problem` is the most telling of what is wrong with it. Works in every state. Sends nothing and changes nothing. */
  explain(podUID: string): AgentPodExplanation {
    return explainAgentPod(this.#kubelet, this.podManager.translatePodUID(podUID));
  }

  /** How the agent is, and what it waits for, also while it starts and once it has stopped. Sends nothing and changes nothing. */
  snapshot(options: NodeAgentSnapshotOptions = {}): NodeAgentSnapshot {
    requireKnownOptions('options', options, ['pods']);
    const pods = optionOfType('pods', options.pods ?? true, 'boolean');
    return agentSnapshot(this.#kubelet, this.#own(), pods);
  }

  /**
   * Ends in this order: the agent's API and the sources, with `leavePodsRunning: false` the pods, the sync loop, the workers, the
   * status manager, which writes what is left, the node's object. When it resolves, no timer is left, and nothing in flight that
   * heeds its signal. All of it shares `timeoutMs`. Every call after the first returns the first one's promise.
   */
  stop(options: StopNodeAgentOptions = {}): Promise<StoppedNodeAgent> {
    try {
      requireKnownOptions('options', options, ['leavePodsRunning', 'timeoutMs', 'drainTimeoutMs', 'callsTimeoutMs']);
      const leavePodsRunning = optionOfType('leavePodsRunning', options.leavePodsRunning ?? true, 'boolean');
      const timeoutMs = numberOption('timeoutMs', options.timeoutMs ?? 20_000, 0, longestTimerMs);
      const drainTimeoutMs = numberOption('drainTimeoutMs', options.drainTimeoutMs ?? 10_000, 0, longestTimerMs);
      const callsTimeoutMs = numberOption('callsTimeoutMs', options.callsTimeoutMs ?? 5000, 0, longestTimerMs);
      return this.#runState.stop(() => this.#stop({ leavePodsRunning, timeoutMs, drainTimeoutMs, callsTimeoutMs }));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** The same as `stop()` with its defaults, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #own(): OwnState {
    return { state: this.state, startFailure: this.#startFailure, healthzFailing: this.#healthz?.failing };
  }

  #waitsFor(): string {
    const { options, node, podConfig } = this.#kubelet;
    const asked = { at: options.clock.now(), node: node.object.explain(), sources: podConfig.explain() };
    return problemsOfAgent(this.#kubelet, this.#own(), asked)
      .map(({ message }) => message)
      .join('; ');
  }

  /** What makes a start impossible is told as long as the agent is not stopped. */
  async #start(): Promise<void> {
    try {
      await this.#startParts();
    } catch (error) {
      const { clock, logger } = this.#kubelet.options;
      if (this.state === 'running') {
        this.#startFailure = { error, at: clock.now() };
        const fields = { err: error, node: this.#kubelet.options.nodeName, ...problemFields(startProblem(this.#startFailure)) };
        logger.error(fields, 'the node agent could not start');
        this.#tellNode('KubeletSetupFailed', errorText(error), 'Warning');
      }
      throw error;
    }
  }

  async #startParts(): Promise<void> {
    const { limitGroups, node, api, cpu, pleg, services, logRotation } = this.#kubelet;
    const { mirrorPods, loop, podConfig, garbageCollection, source, plugins } = this.#kubelet;
    this.#tellNode('Starting', 'Starting kubelet.');
    await this.#kubelet.imageCredentials?.load();
    await limitGroups.start();
    this.#healthz?.start();
    const listening = await api?.listen();
    if (this.state === 'running') {
      if (listening !== undefined) cpu.start();
      pleg.start();
      services.start();
      logRotation.start();
      this.statusManager.start();
      await node.start(listening?.port);
    }
    await plugins?.startDevices();
    if (this.state === 'running') {
      mirrorPods.start();
      loop.start();
      podConfig.start();
      garbageCollection.start();
      this.#startPlugins();
    }
    await Promise.all([this.nodeObject.registered(), source.firstList()]);
  }

  /** What plugins say of the node is written to its Node. */
  #startPlugins(): void {
    const { plugins } = this.#kubelet;
    const start = (): void => void (this.state === 'running' && plugins?.start());
    this.nodeObject.registered().then(start).catch(ignoreFailure);
  }

  #tellNode(reason: string, message: string, type: EventType = 'Normal'): void {
    const { clients, options } = this.#kubelet;
    clients.eventRecorder.nodeEvent(options.nodeName, type, reason, message);
  }

  async #stop(limits: Required<StopNodeAgentOptions>): Promise<StoppedNodeAgent> {
    const { options, source, api, cpu, podConfig, loop, cleanup, logRotation, garbageCollection, podSyncer } = this.#kubelet;
    const { limitGroups, cgroups } = this.#kubelet;
    const { probeManager, pleg, node, mirrorPods, services, referencedObjects, tokenManager, clients } = this.#kubelet;
    const timeLeft = new TimeLeft(options.clock, limits.timeoutMs);
    // the node's object comes last, and needs some of the time
    const beforeNode = new TimeLeft(options.clock, limits.timeoutMs * 0.75);
    source.giveUp(new StatusManagerError('ERR_STOPPED', 'The node agent was stopped before its first list of pods'));
    await Promise.all([api?.close(), this.#healthz?.stop(), cpu.stop(), node.shutdown?.stop()]);
    await podConfig.stop();
    if (!limits.leavePodsRunning) await beforeNode.allows(this.#endPods());
    await loop.stop();
    await Promise.all([cleanup.stop(), logRotation.stop(), garbageCollection.stop(), beforeNode.allows(limitGroups.stop())]);
    const workers = await this.podWorkers.stop({ timeoutMs: beforeNode.ms(limits.callsTimeoutMs) });
    await this.#kubelet.plugins?.stop();
    podSyncer.stop();
    await probeManager.stop();
    await pleg.stop();
    await node.stopLooking();
    const statuses = await this.statusManager.stop({ drainTimeoutMs: beforeNode.ms(limits.drainTimeoutMs) });
    await mirrorPods.stop();
    await Promise.all([services.stop(), referencedObjects.stop(), tokenManager.stop()]);
    const object = await this.nodeObject.stop({ timeoutMs: timeLeft.ms() });
    await clients.close();
    // those of the options are whose they are
    if (cgroups instanceof MachineCgroups) cgroups.close();
    return { statuses, workers, node: object };
  }

  /** Ends every pod, each within its grace period. Never rejects. */
  async #endPods(): Promise<void> {
    await Promise.allSettled(this.podManager.getPods().map((pod) => this.podWorkers.killPodNow(pod)));
  }
}

/** Undefined where nothing is served. */
function healthzOf({ options, apiHost }: MainKubelet): HealthzServer | undefined {
  const { settings, clock, logger } = options;
  const { healthzPort: port, healthzBindAddress: address } = settings;
  return port === 0 ? undefined : new HealthzServer({ port, address, healthChecks: () => apiHost.healthChecks(), clock, logger });
}
