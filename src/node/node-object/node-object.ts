import type { WireNode } from '../../api/json/types.ts';
import { settlesWithin, TimeLeft } from '../../base/concurrency/aborts.ts';
import { RateLimiter } from '../../base/concurrency/rate-limiter.ts';
import {
  awaitStart,
  RunState,
  type RunStateName,
  requireStartOptions,
  type StartOptions,
} from '../../base/concurrency/run-state.ts';
import { StatusManagerError } from '../../base/errors.ts';
import { type EndedFailures, endedFailures } from '../../base/failure-run.ts';
import { beginAtZero, sampleGauges } from '../../base/metrics/metrics.ts';
import { longestTimerMs, numberOption, requireKnownOptions } from '../../base/options.ts';
import { type ProblemFields, problemFields } from '../../base/problem.ts';
import { failureInWords } from '../../client/resources/api-problem.ts';
import { resources } from '../../client/resources/api-resource.ts';
import type { ErrorClass } from '../../client/resources/error-class.ts';
import { awaitedAnswer, ResourceClient } from '../../client/resources/resource-client.ts';
import { type AdvertisedStatus, type ResolvedStatus, resolveStatus, statusMembers } from './advertised-status.ts';
import { KnownNode } from './initial-node.ts';
import type { LeaseRival } from './lease-rivals.ts';
import type { NodeHealth } from './node-conditions.ts';
import { NodeLease } from './node-lease.ts';
import { type NodeObjectOptions, type ResolvedNodeOptions, resolveNodeOptions } from './node-object-options.ts';
import { NodeRegistration } from './node-registration.ts';
import { type NodeObjectStopped, removeNode } from './node-removal.ts';
import { NodeRequests } from './node-requests.ts';
import { NodeWatch } from './node-watch.ts';
import { SteadyLoop, type StepFailure } from './steady-loop.ts';

/** So many told changes are looked at at once, and one a second after that. */
const toldLimits = { qps: 1, burst: 5 };
/** How long the first list of the watch is waited for, before the node is created without. */
const firstLookMs = 3000;
/** How long `stop` waits for requests that do not heed their signal. */
const stopWaitsMs = 1000;
/** How long `stop` waits until the Lease says that this agent has ended. */
const lastWriteMs = 500;

const nodeChecks = 'pod_status_manager_node_checks_total';
const leaseRenewals = 'pod_status_manager_lease_renewals_total';
type StepCounter = typeof nodeChecks | typeof leaseRenewals;

/** How long a stop may take. */
export interface StopNodeOptions {
  /** How long the whole stop may take, in milliseconds. Default 20 000: Kubernetes kills an agent after 30 seconds. */
  readonly timeoutMs?: number;
}

/** The fields of a line about a step that failed. */
interface NodeFailureFields extends ProblemFields {
  readonly err: unknown;
  readonly errorClass: ErrorClass;
  readonly node: string;
  readonly retryInMs: number;
}

/** The fields of a line about a step that succeeds again. */
interface RecoveredNodeFields extends EndedFailures {
  readonly node: string;
}

/**
 * The node that an agent is: its object and its Lease on the apiserver. Registers the node, or takes over the one that is
 * there; writes the status when it changes and every five minutes; renews the Lease every ten seconds, with one request. What
 * others write stays: labels, annotations, taints, conditions, resources. A node that is deleted is created again.
 *
 * No two writes of the node are ever in flight. A request that fails is logged, and made again after a backoff.
 *
 * @example
 * ```ts with-server
 * import { KubeTransport } from 'pod-status-manager';
 * import { NodeObject } from 'pod-status-manager/node';
 *
 * const transport = new KubeTransport(kubeConfig);
 * const node = new NodeObject({
 *   transport,
 *   nodeName: 'node-1',
 *   capacity: { cpu: '4', memory: '8Gi', pods: '110' },
 *   removeOnStop: true,
 * });
 * node.start();
 * await node.registered();
 * console.log(node.node?.status?.capacity?.cpu); // 4
 * console.log((await node.stop()).node); // removed
 * await transport.close();
 * ```
 */
export class NodeObject {
  readonly #options: ResolvedNodeOptions;
  readonly #known: KnownNode;
  readonly #requests: { readonly node: NodeRequests; readonly lease: NodeRequests };
  readonly #loops: { readonly node: SteadyLoop; readonly lease: SteadyLoop };
  readonly #registration: NodeRegistration;
  readonly #lease: NodeLease;
  readonly #watch: NodeWatch;
  readonly #told: RateLimiter;
  readonly #firstRegistration = Promise.withResolvers<void>();
  readonly #firstAnswer = Promise.withResolvers<void>();
  readonly #runState = new RunState<NodeObjectStopped>('node object');
  readonly #advertised = new Set<string>();
  #endMeasuring = (): void => {};
  #given: AdvertisedStatus;
  #status: ResolvedStatus;
  /** The node that the Lease was last told of. */
  #ownerUID: string | undefined;

  /** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. Starts nothing. */
  constructor(options: NodeObjectOptions) {
    const checked = resolveNodeOptions(options);
    const { clock, transport, requestTimeoutMs: timeoutMs, renewIntervalMs, statusUpdateFrequencyMs, logger, metrics } = checked;
    this.#options = checked;
    this.#known = new KnownNode(clock);
    this.#given = structuredClone(statusOf(options));
    this.#status = checked.status;
    const nodes = new ResourceClient(transport, resources.nodes);
    const leases = new ResourceClient(transport, resources.leases);
    const limits = { clock, timeoutMs: Math.min(timeoutMs, renewIntervalMs), leavesBehind: true };
    this.#requests = { node: new NodeRequests({ clock, timeoutMs, leavesBehind: false }), lease: new NodeRequests(limits) };
    const desired = () => ({ initial: checked.initial, status: this.#status, advertised: this.#advertised });
    const seen = () => settlesWithin(this.#firstAnswer.promise, { clock, timeoutMs: firstLookMs });
    const ofNode = { nodes, requests: this.#requests.node, known: this.#known, desired, seen };
    this.#registration = new NodeRegistration(checked, ofNode);
    this.#lease = new NodeLease({ settings: checked, leases, requests: this.#requests.lease, nodeUID: () => this.#uid });
    const { nodeName } = checked;
    const told = (counter: StepCounter, tell: (fields: NodeFailureFields) => void): ((failure: StepFailure) => void) => {
      return ({ error: err, errorClass, attempt, retryInMs, since }) => {
        metrics.increment(counter, { result: errorClass });
        const problem = problemFields({ ...failureInWords(err), attempt, since }, clock.now());
        tell({ err, errorClass, node: nodeName, ...problem, retryInMs });
      };
    };
    const well = (tell: (fields: RecoveredNodeFields) => void): ((failure: StepFailure) => void) => {
      return (failure) => tell({ node: nodeName, ...endedFailures(failure, clock.now()) });
    };
    this.#loops = {
      node: new SteadyLoop({
        ...checked,
        periodMs: () => statusUpdateFrequencyMs,
        step: () => this.#stepOfNode(),
        failed: told(nodeChecks, (fields) => logger.warn(fields, 'the node could not be kept in step')),
        recovered: well((fields) => logger.info(fields, 'the node is kept in step again')),
      }),
      lease: new SteadyLoop({
        ...checked,
        periodMs: () => this.#lease.nextRenewalMs(),
        step: () => this.#lease.step(),
        failed: told(leaseRenewals, (fields) => logger.warn(fields, 'the Lease of the node could not be renewed')),
        recovered: well((fields) => logger.info(fields, 'the Lease of the node is renewed again')),
      }),
    };
    this.#watch = new NodeWatch(checked, this.#known, {
      shown: (node) => this.#lookForRival(node),
      deleted: () => this.#loops.node.wake(),
      synced: () => this.#firstAnswer.resolve(),
    });
    this.#told = new RateLimiter(toldLimits, clock, () => this.changed());
    // stop() rejects them, also when no caller waits
    this.#firstRegistration.promise.catch(() => {});
    this.#firstAnswer.promise.catch(() => {});
  }

  /** `idle`, `running`, `stopping` or `stopped`. */
  get state(): RunStateName {
    return this.#runState.name;
  }

  /** A copy of the node as it was last seen; undefined while it is not registered. */
  get node(): WireNode | undefined {
    const { newest } = this.#known;
    return this.#registration.isRegistered && newest !== undefined ? structuredClone(newest) : undefined;
  }

  /** A copy of the node as the apiserver last showed it, registered by this object or not; undefined where there is none. */
  get newest(): WireNode | undefined {
    return structuredClone(this.#known.newest);
  }

  /** Throws ERR_ALREADY_STARTED on a second call, ERR_STOPPED after `stop`. */
  start(): void {
    this.#runState.start();
    this.#watch.start();
    this.#loops.node.start();
    this.#loops.lease.start();
    this.#startMeasuring();
  }

  /**
   * Resolves once the node is registered. Rejects with ERR_STOPPED when it is stopped before that, with ERR_START_TIMEOUT after
   * `timeoutMs`, saying in words what the server answered, and with the reason of a signal that aborts; then it goes on trying.
   */
  registered(options: StartOptions = {}): Promise<void> {
    try {
      requireStartOptions(options);
    } catch (error) {
      return Promise.reject(error);
    }
    const waitsFor = () => awaitedAnswer('the node object is not registered', this.#loops.node.failure);
    return awaitStart(this.#firstRegistration.promise, options, { owner: 'node object', clock: this.#options.clock, waitsFor });
  }

  /**
   * Resolves once `newest` is what the apiserver has, which may be no node at all. Rejects with ERR_STOPPED when it is stopped before
   * that.
   */
  synced(): Promise<void> {
    return this.#firstAnswer.promise;
  }

  /**
   * The answer of `readiness` or `pressures` may have changed: they are asked at once, and at most once a second when told
   * again and again. Does nothing unless running.
   */
  changed(): void {
    if (this.state === 'running' && this.#told.tryTake()) this.#loops.node.wake();
  }

  /**
   * Replaces what the node says of itself; what is left out stays. Throws ERR_INVALID_OPTION, and changes nothing then. A
   * resource that is not in the capacity any more goes from the node.
   */
  setStatus(status: Partial<AdvertisedStatus>): void {
    requireKnownOptions('status', status, statusMembers);
    const given = { ...this.#given, ...statusOf(status) };
    const next = resolveStatus(given, this.#options.nodeName);
    for (const resource of Object.keys(this.#status.capacity)) this.#advertised.add(resource);
    this.#given = structuredClone(given);
    this.#status = next;
    this.changed();
  }

  /** What was done last, and what could not be done. */
  explain(): NodeObjectReport {
    return {
      registered: this.#registration.isRegistered,
      readiness: this.#registration.health?.readiness,
      uid: this.#uid,
      lastReportAt: this.#registration.lastReportAt,
      lastRenewAt: this.#lease.lastRenewAt,
      nodeFailure: this.#loops.node.failure,
      leaseFailure: this.#loops.lease.failure,
      watchFailure: this.#watch.failure(),
      rival: this.#lease.rival,
    };
  }

  /**
   * Gives up what is under way. When it resolves, no timer is left, and nothing in flight that heeds its signal. The node and
   * the Lease stay, but with `removeOnStop` what this process has created is deleted, unless another agent has taken over the
   * node. A cluster's controllers find the node not ready when its Lease has run out. Rejects with ERR_INVALID_OPTION, and
   * stops nothing then. Every call after the first returns the first one's promise.
   */
  stop(options: StopNodeOptions = {}): Promise<NodeObjectStopped> {
    try {
      requireKnownOptions('options', options, ['timeoutMs']);
      const timeoutMs = numberOption('timeoutMs', options.timeoutMs ?? 20_000, 0, longestTimerMs);
      const wasStarted = this.state !== 'idle';
      return this.#runState.stop(() => this.#stop(timeoutMs, wasStarted));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** The same as `stop()` with its defaults, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  get #uid(): string | undefined {
    return this.#registration.isRegistered ? this.#known.newest?.metadata?.uid : undefined;
  }

  #startMeasuring(): void {
    const { metrics, clock } = this.#options;
    beginAtZero(metrics, [nodeChecks, leaseRenewals]);
    this.#endMeasuring = sampleGauges(metrics, clock, () => {
      metrics.set('pod_status_manager_node_registered', this.explain().registered ? 1 : 0);
      const { ageMs } = this.#lease;
      if (ageMs !== undefined) metrics.set('pod_status_manager_lease_age_seconds', ageMs / 1000);
    });
  }

  /** Another agent under this name writes the node when it starts: the Lease, which both renew, tells more. */
  #lookForRival(node: WireNode): void {
    if (this.#registration.isByAnother(node) && this.#lease.hint()) this.#loops.lease.wake();
  }

  async #stepOfNode(): Promise<void> {
    try {
      await this.#registration.step();
      this.#options.metrics.increment(nodeChecks, { result: 'ok' });
    } finally {
      const uid = this.#uid;
      if (uid !== undefined) {
        this.#firstRegistration.resolve();
        this.#firstAnswer.resolve();
      }
      // a new node is the new owner of the Lease
      if (uid !== undefined && uid !== this.#ownerUID && this.#lease.lacksOwner(uid)) this.#loops.lease.wake();
      this.#ownerUID = uid;
    }
  }

  /** A server that did not answer the last renewal is not asked. */
  async #sayEnded(timeLeft: TimeLeft): Promise<void> {
    if (this.#loops.lease.failure !== undefined) return;
    const requests = new NodeRequests({ clock: this.#options.clock, timeoutMs: lastWriteMs, leavesBehind: true });
    await timeLeft.allows(this.#lease.sayEnded(requests), lastWriteMs);
    requests.stop();
  }

  async #stop(timeoutMs: number, wasStarted: boolean): Promise<NodeObjectStopped> {
    const { node, lease } = this.#requests;
    const { removeOnStop, requestTimeoutMs, clock, logger } = this.#options;
    const timeLeft = new TimeLeft(clock, timeoutMs);
    this.#told.release();
    const stopped = new StatusManagerError('ERR_STOPPED', 'The node object was stopped before the node was registered');
    this.#firstRegistration.reject(stopped);
    this.#firstAnswer.reject(stopped);
    const renewal = this.#loops.lease.stop();
    const steps = Promise.all([this.#loops.node.stop(), renewal]);
    const watch = this.#watch.stop();
    // the answer to a create says what is ours to delete, which takes the other half of the time
    if (removeOnStop) await timeLeft.allows(steps, Math.min(requestTimeoutMs, timeoutMs / 2));
    node.stop();
    // a renewal that is given up may have its effect later than the last word
    if (this.#loops.lease.failure === undefined) await timeLeft.allows(renewal, Math.min(lastWriteMs, timeoutMs / 4));
    lease.stop();
    const all = Promise.all([steps, node.settled(), lease.settled()]);
    if (!(await timeLeft.allows(all, stopWaitsMs))) {
      logger.warn({}, 'stopped before every request of the node object had settled');
    }
    await watch;
    this.#endMeasuring();
    if (!wasStarted) return { node: 'notStarted', lease: 'notStarted' };
    const removed = removeOnStop ? await this.#remove(timeLeft) : ({ node: 'kept', lease: 'kept' } as const);
    if (removed.lease !== 'removed') await this.#sayEnded(timeLeft);
    return removed;
  }

  async #remove(timeLeft: TimeLeft): Promise<NodeObjectStopped> {
    const createdUIDs = { node: this.#registration.createdUID, lease: this.#lease.createdUID };
    const isAnotherAlive = this.#lease.isAnotherAlive.bind(this.#lease);
    const removed = await removeNode({ ...this.#options, createdUIDs, isAnotherAlive, timeLeft });
    if (removed.node === 'removed') this.#options.metrics.set('pod_status_manager_node_registered', 0);
    return removed;
  }
}

function statusOf<T extends Partial<AdvertisedStatus>>(given: T): Pick<T, (typeof statusMembers)[number]> {
  const members = statusMembers.filter((name) => given[name] !== undefined).map((name) => [name, given[name]]);
  return Object.fromEntries(members);
}

/** What a `NodeObject` did last, and what it could not do. */
export interface NodeObjectReport {
  /** True while the node is on the apiserver, as far as is known. */
  readonly registered: boolean;
  /** What the Ready condition is to say: the last answer of `readiness`; undefined before it was asked. */
  readonly readiness: NodeHealth['readiness'] | undefined;
  /** Undefined while the node is not known. */
  readonly uid: string | undefined;
  /** When the status was last written, in milliseconds since the epoch. */
  readonly lastReportAt: number | undefined;
  /** When the Lease was last renewed, in milliseconds since the epoch. */
  readonly lastRenewAt: number | undefined;
  /** The last failure of the node, while no success has followed. */
  readonly nodeFailure: StepFailure | undefined;
  /** The same of the Lease. */
  readonly leaseFailure: StepFailure | undefined;
  /** The same of the watch of the node: while it fails, the node is read before each write, and what others change is known late. */
  readonly watchFailure: StepFailure | undefined;
  /** Another agent under the name of this node; undefined once it has missed two renewals, or has said that it ended. */
  readonly rival: LeaseRival | undefined;
}
