import { randomBytes } from 'node:crypto';
import { FairTurns } from '../base/concurrency/fair-turns.ts';
import {
  awaitStart,
  RunState,
  type RunStateName,
  requireStartOptions,
  type StartOptions,
} from '../base/concurrency/run-state.ts';
import { Semaphore } from '../base/concurrency/semaphore.ts';
import { type MetricsSink, sampleGauges } from '../base/metrics/metrics.ts';
import { longestTimerMs, numberOption, optionOfType, requireKnownOptions, requireText } from '../base/options.ts';
import { ownProcess } from '../client/leases/own-process.ts';
import type { ResourceTransport } from '../client/resources/resource-client.ts';
import { awaitedAnswer } from '../client/resources/resource-client.ts';
import { GuardedTransport } from '../client/transport/guarded-transport.ts';
import { type KubeRequest, KubeTransport } from '../client/transport/kube-transport.ts';
import { TurnTransport } from '../client/transport/turn-transport.ts';
import { ProviderNode } from '../node/provider/provider-node.ts';
import { SharedWatches } from '../node/provider/shared-watches.ts';
import { FleetLog } from './fleet-log.ts';
import type {
  FleetNodeExplanation,
  FleetSnapshot,
  FleetSnapshotOptions,
  StopFleetOptions,
  StoppedFleet,
} from './fleet-reports.ts';
import { explainNode, fleetSnapshot, ownershipProblems, type ReportedFleet, setFleetGauges } from './fleet-snapshot.ts';
import { FleetMember } from './member/fleet-member.ts';
import type { ShardTerm } from './member/shard-term.ts';
import { type CheckedFleetOptions, checkedFleetOptions, type NodeFleetOptions } from './node-fleet-options.ts';
import type { FleetNode } from './nodes/fleet-node-options.ts';
import { FleetNodeSource } from './nodes/fleet-node-source.ts';
import { guardedProvider } from './nodes/guarded-provider.ts';
import { removeLeftNode } from './nodes/left-node.ts';
import { ServedNodes } from './nodes/served-nodes.ts';

/** So many sockets are there beside those that the requests of the nodes can take: for the Leases of the fleet, one for so many shards. */
const ownConnections = { least: 4, shardsOfEach: 25 };
/** So many statuses of one node are written at once: hundreds of nodes share what a member may have under way, and a request waits for its turn within its limit. */
const statusesAtOnce = 4;

/**
 * A member of a fleet: one of several processes that share many virtual nodes. Each node is run by one member at a time, by the Leases of
 * the cluster; when a member comes, goes or fails, its share of the nodes moves. A member that may own a node no more writes nothing for
 * it: that is asked at the moment at which a request is sent.
 *
 * @example
 * ```ts with-server
 * import { NodeFleet } from 'pod-status-manager/fleet';
 *
 * const fleet = new NodeFleet({
 *   kubeConfig,
 *   name: 'edge',
 *   shards: 8,
 *   nodes: ['edge-1', 'edge-2', 'edge-3'],
 *   provider: () => ({ createPod: () => {}, deletePod: () => {}, getPodStatus: () => ({ phase: 'Running' }) }),
 * });
 * await fleet.start();
 * const { isMember, nodeCounts } = fleet.snapshot();
 * console.log(isMember, nodeCounts.known); // true 3
 * await fleet.stop(); // hands the nodes over, and leaves
 * ```
 */
export class NodeFleet {
  readonly #options: CheckedFleetOptions;
  readonly #transport: ResourceTransport;
  /** Closed by `stop()`; undefined where the transport is the caller's. */
  readonly #ownTransport: KubeTransport | undefined;
  readonly #turns: FairTurns;
  readonly #sharedWatches: SharedWatches;
  readonly #nodes: ServedNodes;
  readonly #source: FleetNodeSource;
  readonly #member: FleetMember;
  readonly #log: FleetLog;
  readonly #runState = new RunState<StoppedFleet>('fleet');
  #endMeasuring = (): void => {};

  /** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. Starts nothing. */
  constructor(options: NodeFleetOptions) {
    const checked = checkedFleetOptions(options);
    const { kubeConfig, names, id, clock, logger, startsAtOnce, requests } = checked;
    this.#options = checked;
    const { least, shardsOfEach } = ownConnections;
    const connections = requests.concurrency + Math.max(least, Math.ceil(names.shards / shardsOfEach));
    // requests of one node that hang leave places to the others
    const concurrencyPerKey = Math.max(1, Math.floor(requests.concurrency / 2));
    this.#turns = new FairTurns({ ...requests, concurrencyPerKey, clock });
    const userAgent = `pod-status-manager-fleet/${names.name} ${id}`;
    this.#ownTransport = kubeConfig && new KubeTransport(kubeConfig, { userAgent, connections, clock, logger });
    this.#transport = checked.transport ?? (this.#ownTransport as KubeTransport);
    const { random, sink } = checked;
    const measured = sink === undefined ? {} : { metrics: sink };
    this.#sharedWatches = new SharedWatches({ transport: this.#transport, clock, random, logger, ...measured });
    this.#nodes = new ServedNodes({
      ...checked,
      shards: names.shards,
      make: (node, term) => this.#newNode(node, term),
      startTurns: new Semaphore(startsAtOnce),
      hasLeft: (...left) => this.#hasLeft(...left),
    });
    this.#source = new FleetNodeSource({ ...checked, transport: this.#transport }, this.#nodes);
    const process = randomBytes(6).toString('hex');
    const own = { transport: this.#transport, process, agent: ownProcess(clock) };
    this.#member = new FleetMember({ ...checked, ...own }, this.#nodes);
    const problems = () => ownershipProblems(this.#reported());
    this.#log = new FleetLog({ fleet: names.name, member: id, problems, clock, logger });
  }

  /** `idle`, `running`, `stopping` or `stopped`. */
  get state(): RunStateName {
    return this.#runState.name;
  }

  /** What this member is called. */
  get id(): string {
    return this.#options.id;
  }

  /** The node of this name, where this process runs it now; undefined otherwise. The fleet starts and stops it. */
  node(nodeName: string): ProviderNode | undefined {
    return this.#nodes.served.get(nodeName)?.agent;
  }

  /**
   * Resolves once this process is a member, or has found out that it must wait: `snapshot().notes` say so then. Its shards and their nodes
   * come afterwards. What the server refuses is tried again. Rejects with ERR_ALREADY_STARTED, with ERR_STOPPED when the fleet is
   * stopped before that, with ERR_INVALID_OPTION, and with the reason of a signal that had aborted before; then nothing is started.
   * Rejects with ERR_START_TIMEOUT after `timeoutMs`, saying in words what the server answered, and with the signal's reason; then the
   * fleet goes on trying, and `stop()` ends it.
   */
  async start(options: StartOptions = {}): Promise<void> {
    requireStartOptions(options);
    this.#runState.start();
    const { metrics, clock, nodeOptions } = this.#options;
    this.#endMeasuring = sampleGauges(metrics, clock, () => setFleetGauges(metrics, this.#reported()));
    this.#source.start();
    // what every node needs is there before the first one comes
    this.#sharedWatches.start();
    if (nodeOptions.rawPods !== true) this.#sharedWatches.services.start();
    this.#log.start();
    const waitsFor = () => awaitedAnswer('this process is no member yet', this.#member.failure ?? this.#member.watchFailure);
    await awaitStart(this.#member.start(), options, { owner: 'fleet', clock, waitsFor });
  }

  /** Who owns a node, since when, and why it is not here. Works in every state. Sends nothing and changes nothing. Throws ERR_INVALID_ARGUMENT for what is no text. */
  explain(nodeName: string): FleetNodeExplanation {
    requireText('nodeName', nodeName);
    return explainNode(this.#reported(), nodeName);
  }

  /** How the fleet is, as this member sees it, and what is wrong. Sends nothing and changes nothing. */
  snapshot(options: FleetSnapshotOptions = {}): FleetSnapshot {
    requireKnownOptions('options', options, ['nodes']);
    const withNodes = optionOfType('nodes', options.nodes ?? true, 'boolean');
    return fleetSnapshot(this.#reported(), withNodes);
  }

  /**
   * Hands the nodes over to the other members, and leaves the fleet: the shards a few at a time, each as soon as what is left of its nodes
   * is written. No pod is ended. What is not done in time is given up: nothing is written for it any more, and its Leases run out. When it
   * resolves, no timer is left, and nothing in flight that heeds its signal. Every call after the first returns the first one's promise.
   */
  stop(options: StopFleetOptions = {}): Promise<StoppedFleet> {
    try {
      requireKnownOptions('options', options, ['timeoutMs']);
      const timeoutMs = numberOption('timeoutMs', options.timeoutMs ?? 25_000, 0, longestTimerMs);
      return this.#runState.stop(() => this.#stop(timeoutMs));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** The same as `stop()` with its defaults, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #stop(timeoutMs: number): Promise<StoppedFleet> {
    this.#log.stop();
    await this.#source.stop();
    const stopped = await this.#member.stop(timeoutMs);
    await this.#sharedWatches.stop();
    this.#turns.stop();
    this.#endMeasuring();
    await this.#ownTransport?.close();
    return stopped;
  }

  #newNode({ name, options }: FleetNode, term: ShardTerm): ProviderNode {
    const { provider, nodeOptions, clock, logger, random, sink } = this.#options;
    const guard = (): void => term.requireOwned();
    const statusManager = { concurrency: statusesAtOnce, ...nodeOptions.statusManager, ...options?.statusManager };
    return new ProviderNode({
      ...nodeOptions,
      ...options,
      statusManager,
      nodeName: name,
      isSoleAgent: true,
      provider: guardedProvider(provider(name), guard),
      transport: this.#transportOf(name, term),
      sharedWatches: this.#sharedWatches,
      clock,
      logger,
      random,
      ...(sink !== undefined && { metrics: withoutGauges(sink) }),
    });
  }

  /** The limit of a write, and the guard, begin with the turn. */
  #transportOf(nodeName: string, term: ShardTerm): ResourceTransport {
    const limits = { writeLimitMs: () => term.writeLimitMs() };
    const guarded = new GuardedTransport(this.#transport, () => term.requireOwned(), limits);
    return new TurnTransport(guarded, { turns: this.#turns, key: nodeName, isUrgent });
  }

  async #hasLeft(nodeName: string, term: ShardTerm, isWanted: () => boolean, leftAt: number): Promise<boolean> {
    const { removeNodes, logger } = this.#options;
    return !removeNodes || removeLeftNode(nodeName, { transport: this.#transportOf(nodeName, term), isWanted, leftAt, logger });
  }

  #reported(): ReportedFleet {
    const parts = { member: this.#member, nodes: this.#nodes, source: this.#source, watches: this.#sharedWatches };
    return { options: this.#options, state: this.state, ...parts };
  }
}

/** A node whose Lease is renewed late counts as not ready. */
function isUrgent({ path }: KubeRequest): boolean {
  return path.startsWith('/apis/coordination.k8s.io/');
}

/** Counters and histograms of many nodes add up. Of their gauges each node would overwrite the others', and none is taken. */
function withoutGauges(sink: MetricsSink): MetricsSink {
  return {
    increment: (...counted) => sink.increment(...counted),
    observe: (...observed) => sink.observe(...observed),
    set: () => {},
    onCollect: () => () => {},
  };
}
