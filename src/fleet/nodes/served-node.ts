import { type SteadyClock, sleep } from '../../base/clock.ts';
import { settlesWithin } from '../../base/concurrency/aborts.ts';
import { nthDelayMs } from '../../base/concurrency/backoff.ts';
import type { Semaphore } from '../../base/concurrency/semaphore.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { problemFields } from '../../base/problem.ts';
import type { ProviderNode } from '../../node/provider/provider-node.ts';
import type { StopProviderNodeOptions } from '../../node/provider/provider-node-reports.ts';
import type { ShardTerm } from '../member/shard-term.ts';
import type { FleetNode } from './fleet-node-options.ts';
import { type NodeStartFailure, nodeStartProblem } from './fleet-node-problems.ts';

export interface ServedNodeOptions {
  /** Makes the node, which is not started. May throw. */
  readonly make: (node: FleetNode, term: ShardTerm) => ProviderNode;
  /** So many nodes start at once. */
  readonly startTurns: Semaphore;
  /** How long a node may take to end in peace. */
  readonly handOverTimeoutMs: number;
  readonly clock: SteadyClock;
  readonly logger: Logger;
}

export type ServedNodeState = 'starting' | 'running' | 'failed' | 'stopping';

/** A node that takes longer to start lets others start meanwhile. */
const longestTurnMs = 2000;
const startRetry = { firstMs: 1000, longestMs: 60_000 };
/** How long the end of a node may take that can write nothing any more. */
const lostTimeoutMs = 2000;

/** One node in this process, for a term of its shard. A start that fails is tried again, with another ProviderNode. */
export class ServedNode {
  readonly node: FleetNode;
  readonly shard: number;
  readonly #options: ServedNodeOptions;
  readonly #term: ShardTerm;
  readonly #stopping = new AbortController();
  #agent: ProviderNode | undefined;
  #state: ServedNodeState = 'starting';
  #since: number;
  #failure: NodeStartFailure | undefined;
  #started: Promise<void> = Promise.resolve();
  #stopped: Promise<void> | undefined;

  constructor(options: ServedNodeOptions, node: FleetNode, term: ShardTerm) {
    this.#options = options;
    this.node = node;
    this.shard = term.shard;
    this.#term = term;
    this.#since = options.clock.now();
  }

  get state(): ServedNodeState {
    return this.#state;
  }

  /** When the state began, in milliseconds since the epoch. */
  get since(): number {
    return this.#since;
  }

  get failure(): NodeStartFailure | undefined {
    return this.#failure;
  }

  /** Undefined before it is made, and between two tries. */
  get agent(): ProviderNode | undefined {
    return this.#agent;
  }

  /** Resolves once the node runs, or goes on starting by itself, or is to stop. */
  start(): Promise<void> {
    this.#started = this.#startUntilStopped();
    return this.#started;
  }

  /** Ends the node, and nothing of its pods. In peace: what is left is written before. The first call says how. Never rejects. */
  stop(inPeace: boolean): Promise<void> {
    this.#stopped ??= this.#stop(inPeace);
    return this.#stopped;
  }

  async #stop(inPeace: boolean): Promise<void> {
    this.#enter('stopping');
    this.#stopping.abort();
    const timeoutMs = this.#options.handOverTimeoutMs;
    const limits = inPeace
      ? { timeoutMs, drainTimeoutMs: timeoutMs / 2, callsTimeoutMs: timeoutMs / 4 }
      : { timeoutMs: lostTimeoutMs, drainTimeoutMs: 0, callsTimeoutMs: lostTimeoutMs / 2 };
    await this.#endAgent(limits);
    await this.#started;
  }

  async #startUntilStopped(): Promise<void> {
    const { startTurns } = this.#options;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const hasStarted = await startTurns.run(() => this.#start(), signal).catch(() => false);
      if (hasStarted) return;
      await this.#waitForRetry();
    }
  }

  /** False where the start has failed, or the node is to stop. */
  async #start(): Promise<boolean> {
    const { make, clock } = this.#options;
    const { signal } = this.#stopping;
    if (signal.aborted) return false;
    this.#enter('starting');
    try {
      const agent = make(this.node, this.#term);
      this.#agent = agent;
      const started = agent.start();
      const runs = started.then(() => this.#runs());
      // a node goes on trying by itself, and what it waits for its snapshot says
      if (await settlesWithin(runs, { clock, timeoutMs: longestTurnMs, signal })) await runs;
      else runs.catch((error) => this.#failedLate(error));
      return !signal.aborted;
    } catch (error) {
      if (!signal.aborted) await this.#failed(error);
      return false;
    }
  }

  /** It has let others start meanwhile. */
  #failedLate(error: unknown): void {
    if (this.#stopping.signal.aborted) return;
    const again = async (): Promise<void> => {
      await this.#failed(error);
      await this.#waitForRetry();
      await this.#startUntilStopped();
    };
    this.#started = again();
  }

  #waitForRetry(): Promise<void> {
    const waitMs = nthDelayMs(this.#failure?.attempt ?? 1, startRetry);
    return sleep(this.#options.clock, waitMs, this.#stopping.signal);
  }

  #runs(): void {
    if (this.#failure !== undefined) this.#options.logger.info({ node: this.node.name }, 'the node of the fleet has started');
    this.#failure = undefined;
    this.#enter('running');
  }

  async #failed(error: unknown): Promise<void> {
    const { clock, logger } = this.#options;
    const { since = clock.now(), attempt: before = 0 } = this.#failure ?? {};
    const attempt = before + 1;
    this.#failure = { error, since, attempt, retryAt: Math.round(clock.now() + nthDelayMs(attempt, startRetry)) };
    this.#enter('failed');
    const { name } = this.node;
    const problem = problemFields(nodeStartProblem(name, this.#failure), clock.now());
    logger.error({ err: error, node: name, ...problem }, 'a node of the fleet could not be started');
    await this.#endAgent({ timeoutMs: lostTimeoutMs });
  }

  async #endAgent(limits: StopProviderNodeOptions): Promise<void> {
    const agent = this.#agent;
    try {
      await agent?.stop(limits);
    } catch (err) {
      this.#options.logger.error({ err, node: this.node.name }, 'a node of the fleet has not ended in good order');
    }
    this.#agent = undefined;
  }

  #enter(state: ServedNodeState): void {
    if (this.#state === 'stopping') return;
    this.#state = state;
    this.#since = this.#options.clock.now();
  }
}
