import { failedAgain, type LastFailure } from '../../base/concurrency/run-state.ts';
import { callGuarded } from '../../base/guard.ts';
import { problemFields } from '../../base/problem.ts';
import type { FleetShardState } from '../fleet-reports.ts';
import { isWriteRefused } from './fleet-lease-client.ts';
import { isKeptFrom, type Kept, keptAgain } from './kept-shard.ts';
import { gainReason } from './lease-documents.ts';
import { lostShardProblem } from './lease-problems.ts';
import type { EndedTerms, ShardKeeperOptions, ShardOutlook } from './shard-keeper-options.ts';
import { ShardLease } from './shard-lease.ts';
import { ShardTerm, sentNow } from './shard-term.ts';

/** How long each member in the line waits for the one before it: so many retry periods, and no less than a second. */
const inLine = { periods: 2, leastMs: 1000 };

/** After it has joined, a member leaves what was free before alone for so long, so that members that start together share the shards at once. */
const settleMs = 1000;

type State =
  | { readonly name: 'elsewhere' | 'acquiring' | 'lost' }
  | { readonly name: 'owned'; readonly term: ShardTerm }
  | { readonly name: 'handingOver'; readonly term: ShardTerm; hasDrained: boolean; readonly beganAt: number }
  | { readonly name: 'releasing'; readonly untilMs: number };

/**
 * One shard, as one member sees it: takes its Lease when it is this member's turn, renews it, hands it over and loses it. One write of the
 * Lease is under way at most. Behaviour of client-go tools/leaderelection, v0.36.3, but that a Lease that was deleted is left alone for its duration.
 */
export class ShardKeeper {
  readonly #options: ShardKeeperOptions;
  readonly #lease: ShardLease;
  readonly ended: EndedTerms = { handedOver: 0, lost: 0 };
  #state: State = { name: 'elsewhere' };
  /** When the state began, in milliseconds since the epoch. */
  #since: number;
  #isWriting = false;
  /** True while the Lease says, or is to say, that the nodes still start: who has more to hand over to this member waits for that. */
  #areStarting = false;
  /** True while the others are to hear by a renewal that the nodes run. */
  #isToTell = false;
  #isClosed = false;
  #hostEnded: Promise<void> = Promise.resolve();
  #retryAtMs = 0;
  #failure: LastFailure | undefined;
  /** How this member came to the shard that another is to own; undefined where it is to own it itself. */
  #kept: Kept | undefined;

  constructor(options: ShardKeeperOptions) {
    this.#options = options;
    this.#lease = new ShardLease(options);
    this.#since = options.clock.now();
  }

  /** True where nobody owned the shard then, by `clock.elapsed()`: a Lease that has run out since may have been renewed unseen. */
  wasFree(elapsedMs: number): boolean {
    return this.state === 'free' && (this.#lease.seen?.observed.freeSince ?? elapsedMs) <= elapsedMs;
  }

  get state(): FleetShardState {
    const { name } = this.#state;
    if (name === 'releasing') return 'handingOver';
    return name === 'elsewhere' && this.holder === undefined ? 'free' : name;
  }

  /** Since when the shard is in its state, in milliseconds since the epoch; for one of another member, since when that has it, by its own word. */
  get since(): number {
    const { observed } = this.#lease.seen ?? {};
    if (this.#state.name !== 'elsewhere' || observed?.lease === undefined) return this.#since;
    if (this.holder !== undefined) return Date.parse(observed.lease.spec?.acquireTime ?? '') || this.#since;
    const { clock } = this.#options;
    return Math.round(clock.now() - (clock.elapsed() - observed.freeSince));
  }

  /** True while the nodes of the shard may be here, or come here, and while its Lease is being written. */
  get isBusy(): boolean {
    return this.#state.name !== 'elsewhere' || this.#isWriting;
  }

  get isHandingOver(): boolean {
    return this.#state.name === 'handingOver' || this.#state.name === 'releasing';
  }

  /** Who holds the Lease, as far as it was seen: the name of a holder; undefined while nobody does. */
  get holder(): string | undefined {
    return this.#lease.holder;
  }

  /** See {@link ShardLease.isUnsettled}. */
  get isUnsettled(): boolean {
    return this.#lease.isUnsettled;
  }

  /** Why the Lease could not be written last, while no write has succeeded since. */
  get failure(): LastFailure | undefined {
    return this.#failure;
  }

  /** Resolves once the host has done what it was asked last. */
  get hostEnded(): Promise<void> {
    return this.#hostEnded;
  }

  /** Does what is due. Returns when the next look is due at the latest, by `clock.elapsed()`. */
  look(outlook: ShardOutlook): number {
    switch (this.#state.name) {
      case 'elsewhere':
        return this.#lookForTurn(outlook);
      case 'owned':
      case 'handingOver':
        return this.#lookAtTerm(this.#state, outlook);
      case 'releasing':
        return this.#lookAtRelease(this.#state.untilMs);
      default:
        return Number.POSITIVE_INFINITY;
    }
  }

  /** Ends the term at once, and begins no other one: also an acquisition whose answer is still to come begins none. */
  close(why: string, help?: string): void {
    this.#isClosed = true;
    this.lose(why, help);
    if (this.#state.name === 'releasing') this.#ended('lost');
  }

  /** Ends the term at once, where there is one. `help`: what would help, where that is not for the Lease to say. */
  lose(why: string, help?: string): void {
    const state = this.#state;
    if (state.name !== 'owned' && state.name !== 'handingOver') return;
    const { shard, host, logger, metrics, names, id, clock } = this.#options;
    state.term.end();
    this.#enter({ name: 'lost' });
    this.ended.lost += 1;
    metrics.increment('pod_status_manager_fleet_shards_ended_total', { reason: 'lost' });
    const problem = lostShardProblem(shard, why, this.#failure, help);
    this.#failure = undefined;
    const said = { problem: why, reason: problem.message, ...problemFields(problem, clock.now()) };
    logger.warn({ fleet: names.name, member: id, shard, ...said }, 'the fleet has lost a shard: its nodes are ended here');
    this.#afterHost(
      () => host.lost(shard),
      () => this.#enter({ name: 'elsewhere' }),
    );
  }

  #lookForTurn({ line, takesSince, areAllTaken, isSure }: ShardOutlook): number {
    const { clock, id } = this.#options;
    const now = clock.elapsed();
    const rank = line.indexOf(id);
    if (this.#isWriting || takesSince === undefined || !isSure || rank === -1) return Number.POSITIVE_INFINITY;
    const dueAt = Math.max(this.#freeSince(takesSince, areAllTaken) + rank * this.#waitInLineMs, this.#retryAtMs);
    if (now < dueAt) {
      // another member has it
      if (this.#lease.isAnothers) this.#failure = undefined;
      return dueAt;
    }
    this.#enter({ name: 'acquiring' });
    const isAnothers = rank > 0 && this.#lease.seen?.observed.holder !== this.#options.identity;
    this.#kept = isAnothers ? keptAgain(this.#kept, line[0], now, this.#options.timing) : undefined;
    this.#write(() => this.#acquire());
    return Number.POSITIVE_INFINITY;
  }

  /** Since when the shard may be taken; in the future while somebody may own it. What was free before this member came waits for others that come with it. */
  #freeSince(takesSince: number, areAllTaken: boolean): number {
    const { observed } = this.#lease.seen ?? {};
    const { identity, timing } = this.#options;
    const settledAt = takesSince + settleMs;
    // the owner of a Lease that is gone may not know it yet, here and below; this one went before this member came
    if (observed === undefined) return areAllTaken ? takesSince + timing.leaseDurationMs : settledAt;
    if (observed.holder === identity) return takesSince;
    // its duration may be longer there
    const restMs = Math.max(timing.leaseDurationMs, observed.durationMs);
    const freeSince = observed.lease === undefined ? observed.since + restMs : observed.freeSince;
    return freeSince < takesSince ? settledAt : freeSince;
  }

  get #waitInLineMs(): number {
    return Math.max(inLine.leastMs, inLine.periods * this.#options.timing.retryPeriodMs);
  }

  #lookAtTerm(state: Extract<State, { readonly term: ShardTerm }>, outlook: ShardOutlook): number {
    const { clock, timing } = this.#options;
    const now = clock.elapsed();
    const { deadlineMs } = state.term;
    const other = this.#lease.otherHolder;
    if (other !== undefined) this.lose(`the Lease ${this.#lease.name} is held by ${other}`);
    else if (now >= deadlineMs) this.lose(`the Lease ${this.#lease.name} was not renewed for ${timing.renewDeadlineMs} ms`);
    if (this.#state.name === 'lost') return Number.POSITIVE_INFINITY;
    if (state.name === 'owned' && this.#isToGo(outlook) && outlook.mayHandOver) this.#handOver(state.term);
    if (this.#isWriting) return deadlineMs;
    if (this.#state.name === 'handingOver' && this.#state.hasDrained) {
      this.#beginRelease(this.#state);
      return Number.POSITIVE_INFINITY;
    }
    if (!outlook.isSure) return deadlineMs;
    const renewAt = Math.max(this.#renewalDueAt(outlook.beatAt), this.#retryAtMs);
    if (now < renewAt) return Math.min(renewAt, deadlineMs);
    this.#write(() => this.#renew(state.term));
    return deadlineMs;
  }

  /** At once where the last renewal is older than the beat, the Lease was seen without its holder, or the others wait for a word; in time also where the beat is late. */
  #renewalDueAt(beatAt: number): number {
    const { identity, timing } = this.#options;
    const sentMs = this.#lease.sent?.elapsedMs ?? 0;
    const isOurs = this.#lease.seen?.observed.holder === identity;
    return sentMs < beatAt || !isOurs || this.#isToTell ? 0 : sentMs + timing.renewEveryMs;
  }

  #isToGo({ line, takesSince }: ShardOutlook): boolean {
    if (takesSince === undefined) return true;
    const placedOn = line[0];
    if (placedOn === undefined || placedOn === this.#options.id) return false;
    return !isKeptFrom(this.#kept, placedOn, this.#options.clock.elapsed());
  }

  #handOver(term: ShardTerm): void {
    const { shard, host, clock } = this.#options;
    const state: State = { name: 'handingOver', term, hasDrained: false, beganAt: clock.elapsed() };
    this.#enter(state);
    this.#afterHost(
      () => host.handOver(shard),
      () => {
        state.hasDrained = true;
      },
    );
  }

  /** Whatever the host does, its end is heard. */
  #afterHost(call: () => Promise<void>, ended: () => void): void {
    const { logger, shard, wake } = this.#options;
    const failed = (err: unknown): void => logger.error({ err, shard }, 'the end of the nodes of a shard has failed');
    const settled = async (): Promise<void> => {
      try {
        await call();
      } catch (error) {
        failed(error);
      }
      ended();
      wake();
    };
    callGuarded(() => {
      this.#hostEnded = settled();
    }, failed);
  }

  #beginRelease({ term, beganAt }: Extract<State, { readonly name: 'handingOver' }>): void {
    const { clock, timing, metrics } = this.#options;
    // nothing may be written once the request is on its way, whatever its answer
    term.end();
    metrics.observe('pod_status_manager_fleet_handover_duration_seconds', (clock.elapsed() - beganAt) / 1000, {
      direction: 'out',
    });
    this.#enter({ name: 'releasing', untilMs: clock.elapsed() + timing.leaseDurationMs });
    this.#write(() => this.#release());
  }

  #lookAtRelease(untilMs: number): number {
    const { clock } = this.#options;
    const now = clock.elapsed();
    if (this.#isWriting) return Number.POSITIVE_INFINITY;
    if (now >= untilMs) {
      // the Lease has run out meanwhile
      this.#ended('lost');
      return now;
    }
    if (now < this.#retryAtMs) return Math.min(this.#retryAtMs, untilMs);
    this.#write(() => this.#release());
    return Number.POSITIVE_INFINITY;
  }

  #ended(reason: 'handedOver' | 'lost'): void {
    const { metrics } = this.#options;
    if (this.#state.name !== 'releasing') return;
    this.ended[reason] += 1;
    this.#failure = undefined;
    metrics.increment('pod_status_manager_fleet_shards_ended_total', { reason: reason === 'lost' ? 'lost' : 'handed_over' });
    this.#enter({ name: 'elsewhere' });
  }

  async #acquire(): Promise<void> {
    const { shard, clock, timing, logger, metrics, names, id, identity } = this.#options;
    const base = this.#lease.seen?.observed.lease;
    const sent = sentNow(clock);
    const reason = gainReason(base, identity);
    this.#areStarting = reason !== 'free';
    let term: ShardTerm;
    try {
      await this.#lease.hold(base, sent, this.#areStarting);
      const refused = (): void => metrics.increment('pod_status_manager_fleet_refused_writes_total');
      term = new ShardTerm({ shard, ...timing, clock, refused }, sent);
    } catch (error) {
      this.#enter({ name: 'elsewhere' });
      throw error;
    }
    // an answer that came too late: the Lease is this member's, and is taken anew
    if (!term.isOwned || this.#isClosed) {
      this.#enter({ name: 'elsewhere' });
      return;
    }
    metrics.increment('pod_status_manager_fleet_shards_gained_total', { reason });
    logger.info({ fleet: names.name, member: id, shard, reason }, 'the fleet has gained a shard');
    this.#enter({ name: 'owned', term });
    void this.#startNodes(term);
  }

  /** Where the shard had another owner, the others hear when its nodes run. */
  async #startNodes(term: ShardTerm): Promise<void> {
    const { shard, host, logger, wake } = this.#options;
    try {
      await host.gained(shard, term);
    } catch (err) {
      logger.error({ err, shard }, 'the nodes of a shard could not be started');
    }
    if (!this.#areStarting || this.#state.name !== 'owned' || this.#state.term !== term) return;
    this.#areStarting = false;
    this.#isToTell = true;
    wake();
  }

  async #renew(term: ShardTerm): Promise<void> {
    const sent = sentNow(this.#options.clock);
    this.#isToTell = false;
    try {
      await this.#lease.hold(this.#lease.written, sent, this.#areStarting);
      term.renewed(sent);
    } catch (error) {
      if (!isWriteRefused(error)) throw error;
      const lease = await this.#lease.read();
      if (lease !== undefined && this.#lease.isOurs(lease)) this.#lease.found(lease, this.#lease.sent ?? sent);
      else if (lease !== undefined)
        this.lose(`the Lease ${this.#lease.name} is held by ${lease.spec?.holderIdentity || 'nobody'}`);
      // a Lease that was deleted is created again: others leave it alone for its duration
      else this.#lease.forget();
    }
  }

  async #release(): Promise<void> {
    const base = this.#lease.written;
    if (base === undefined) return this.#ended('lost');
    try {
      await this.#lease.release(base);
      this.#ended('handedOver');
    } catch (error) {
      if (!isWriteRefused(error)) throw error;
      const lease = await this.#lease.read();
      if (lease !== undefined && this.#lease.isOurs(lease)) this.#lease.found(lease, sentNow(this.#options.clock));
      else this.#ended(lease?.spec?.holderIdentity === '' ? 'handedOver' : 'lost');
    }
  }

  /** One write of the Lease, with what belongs to it. What has failed is tried again a retry period after it began: one that had no answer has waited. */
  #write(request: () => Promise<void>): void {
    this.#isWriting = true;
    void this.#settle(request);
  }

  async #settle(request: () => Promise<void>): Promise<void> {
    const { clock, timing, random, wake } = this.#options;
    const beganAt = clock.elapsed();
    const { lost } = this.ended;
    try {
      await request();
      this.#failure = undefined;
    } catch (error) {
      const periodMs = timing.retryPeriodMs * (1 + random() * 0.2);
      const waitMs = Math.max(0, beganAt + periodMs - clock.elapsed());
      this.#retryAtMs = beganAt + periodMs;
      // another member was first: what there is now is read
      if (isWriteRefused(error)) await this.#lease.read().catch(() => {});
      // a shard that was lost meanwhile is not tried for as it was
      else if (this.ended.lost === lost) this.#failure = failedAgain(this.#failure, error, clock.now(), waitMs);
    }
    this.#isWriting = false;
    wake();
  }

  #enter(state: State): void {
    this.#state = state;
    this.#since = this.#options.clock.now();
  }
}
