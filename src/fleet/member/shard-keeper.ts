import { isOlderThan } from '../../api/json/resource-version.ts';
import type { WireLease } from '../../api/json/types.ts';
import { failedAgain, type LastFailure } from '../../base/concurrency/run-state.ts';
import { callGuarded } from '../../base/guard.ts';
import { heldLease, releasedLease } from '../../client/leases/observed-lease.ts';
import type { FleetShardState } from '../fleet-reports.ts';
import { isWriteRefused } from './fleet-lease-client.ts';
import { isKeptFrom, type Kept, keptAgain } from './kept-shard.ts';
import { gainReason, labelled, shardLeaseName } from './lease-documents.ts';
import type { SeenLease } from './seen-leases.ts';
import type { EndedTerms, ShardKeeperOptions, ShardOutlook } from './shard-keeper-options.ts';
import { type SentAt, ShardTerm, sentNow } from './shard-term.ts';

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
  readonly #leaseName: string;
  readonly ended: EndedTerms = { handedOver: 0, lost: 0 };
  #state: State = { name: 'elsewhere' };
  /** When the state began, in milliseconds since the epoch. */
  #since: number;
  /** The Lease as this member wrote it last, and when that was sent; of use while it is this member's. */
  #written: { readonly lease: WireLease; readonly sent: SentAt } | undefined;
  #isWriting = false;
  #isClosed = false;
  #hostEnded: Promise<void> = Promise.resolve();
  #retryAtMs = 0;
  #failure: LastFailure | undefined;
  /** How this member came to the shard that another is to own; undefined where it is to own it itself. */
  #kept: Kept | undefined;

  constructor(options: ShardKeeperOptions) {
    this.#options = options;
    this.#leaseName = shardLeaseName(options.names, options.shard);
    this.#since = options.clock.now();
  }

  get state(): FleetShardState {
    const { name } = this.#state;
    if (name === 'releasing') return 'handingOver';
    return name === 'elsewhere' && this.holder === undefined ? 'free' : name;
  }

  /** Since when the shard is in its state, in milliseconds since the epoch; for one of another member, since when that has it, by its own word. */
  get since(): number {
    const { observed } = this.#seen ?? {};
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
    const { observed } = this.#seen ?? {};
    if (observed === undefined || observed.holder === '') return undefined;
    return observed.runsOutAt <= this.#options.clock.elapsed() ? undefined : observed.holder;
  }

  /** Why the Lease could not be written last, while no write has succeeded since. */
  get failure(): LastFailure | undefined {
    return this.#failure;
  }

  /** Resolves once the host has done what it was asked last. */
  get hostEnded(): Promise<void> {
    return this.#hostEnded;
  }

  get #seen(): SeenLease | undefined {
    return this.#options.seen.get(this.#leaseName);
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
  close(why: string): void {
    this.#isClosed = true;
    this.lose(why);
    if (this.#state.name === 'releasing') this.#ended('lost');
  }

  /** Ends the term at once, where there is one. */
  lose(why: string): void {
    const state = this.#state;
    if (state.name !== 'owned' && state.name !== 'handingOver') return;
    const { shard, host, logger, metrics, names, id } = this.#options;
    state.term.end();
    this.#enter({ name: 'lost' });
    this.ended.lost += 1;
    metrics.increment('pod_status_manager_fleet_shards_ended_total', { reason: 'lost' });
    logger.warn({ fleet: names.name, member: id, shard, problem: why }, 'the fleet has lost a shard: its nodes are ended here');
    this.#afterHost(
      () => host.lost(shard),
      () => {
        if (this.#state.name === 'lost') this.#enter({ name: 'elsewhere' });
      },
    );
  }

  #lookForTurn({ line, takesSince, areAllTaken }: ShardOutlook): number {
    const { clock, id } = this.#options;
    const now = clock.elapsed();
    const rank = line.indexOf(id);
    if (this.#isWriting || takesSince === undefined || rank === -1) return Number.POSITIVE_INFINITY;
    const dueAt = Math.max(this.#freeSince(takesSince, areAllTaken) + rank * this.#waitInLineMs, this.#retryAtMs);
    if (now < dueAt) {
      // another member has it
      if (this.#isAnothers) this.#failure = undefined;
      return dueAt;
    }
    this.#enter({ name: 'acquiring' });
    const isAnothers = rank > 0 && this.#seen?.observed.holder !== this.#options.identity;
    this.#kept = isAnothers ? keptAgain(this.#kept, line[0], now, this.#options.timing) : undefined;
    this.#write(() => this.#acquire());
    return Number.POSITIVE_INFINITY;
  }

  get #isAnothers(): boolean {
    const { identity, clock } = this.#options;
    return this.#seen?.observed.isHeldByAnother(identity, clock.elapsed()) ?? false;
  }

  /** Since when the shard may be taken; in the future while somebody may own it. What was free before this member came waits for others that come with it. */
  #freeSince(takesSince: number, areAllTaken: boolean): number {
    const { observed } = this.#seen ?? {};
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
    const other = this.#otherHolder;
    if (other !== undefined) this.lose(`the Lease ${this.#leaseName} is held by ${other}`);
    else if (now >= deadlineMs) this.lose(`the Lease ${this.#leaseName} was not renewed for ${timing.renewDeadlineMs} ms`);
    if (this.#state.name === 'lost') return Number.POSITIVE_INFINITY;
    if (state.name === 'owned' && this.#isToGo(outlook) && outlook.mayHandOver) this.#handOver(state.term);
    if (this.#isWriting) return deadlineMs;
    if (this.#state.name === 'handingOver' && this.#state.hasDrained) {
      this.#beginRelease(this.#state);
      return Number.POSITIVE_INFINITY;
    }
    const renewAt = Math.max(this.#renewalDueAt(outlook.beatAt), this.#retryAtMs);
    if (now < renewAt) return Math.min(renewAt, deadlineMs);
    this.#write(() => this.#renew(state.term));
    return deadlineMs;
  }

  /** Who has taken the Lease since this member wrote it, as far as it was seen; undefined where nobody has. */
  get #otherHolder(): string | undefined {
    const { lease, holder = '' } = this.#seen?.observed ?? {};
    const written = this.#written?.lease;
    if (lease === undefined || holder === '' || holder === this.#options.identity) return undefined;
    // a list may have been made before the last write
    return written !== undefined && isOlderThan(lease, written) ? undefined : holder;
  }

  /** At once where the last renewal is older than the beat, or the Lease was seen without its holder; in time also where the beat is late. */
  #renewalDueAt(beatAt: number): number {
    const { identity, timing } = this.#options;
    const sentMs = this.#written?.sent.elapsedMs ?? 0;
    const { observed } = this.#seen ?? {};
    const isOurs = observed === undefined || observed.holder === identity;
    return sentMs < beatAt || !isOurs ? 0 : sentMs + timing.renewEveryMs;
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
    const { metrics, wake } = this.#options;
    if (this.#state.name !== 'releasing') return;
    this.ended[reason] += 1;
    metrics.increment('pod_status_manager_fleet_shards_ended_total', { reason: reason === 'lost' ? 'lost' : 'handed_over' });
    this.#written = undefined;
    this.#enter({ name: 'elsewhere' });
    wake();
  }

  async #acquire(): Promise<void> {
    const { shard, clock, timing, host, logger, metrics, names, id } = this.#options;
    const base = this.#seen?.observed.lease;
    const sent = sentNow(clock);
    let term: ShardTerm;
    try {
      await this.#put(base, sent);
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
    const reason = gainReason(base, this.#options.identity);
    metrics.increment('pod_status_manager_fleet_shards_gained_total', { reason });
    logger.info({ fleet: names.name, member: id, shard, reason }, 'the fleet has gained a shard');
    this.#enter({ name: 'owned', term });
    callGuarded(
      () => host.gained(shard, term),
      (err) => logger.error({ err, shard }, 'the nodes of a shard could not be started'),
    );
  }

  async #renew(term: ShardTerm): Promise<void> {
    const sent = sentNow(this.#options.clock);
    try {
      await this.#put(this.#written?.lease, sent);
      term.renewed(sent);
    } catch (error) {
      if (!isWriteRefused(error)) throw error;
      const lease = await this.#read();
      if (lease?.spec?.holderIdentity === this.#options.identity) this.#written = { lease, sent: this.#written?.sent ?? sent };
      else if (lease !== undefined)
        this.lose(`the Lease ${this.#leaseName} is held by ${lease.spec?.holderIdentity || 'nobody'}`);
      // a Lease that was deleted is created again: others leave it alone for its duration
      else this.#written = undefined;
    }
  }

  async #release(): Promise<void> {
    const { clock, leases, seen, names, identity } = this.#options;
    const base = this.#written?.lease;
    if (base === undefined) return this.#ended('lost');
    try {
      seen.noted(await leases.write(labelled(releasedLease(base, clock.now()), names, 'shard'), 'shard'));
      this.#ended('handedOver');
    } catch (error) {
      if (!isWriteRefused(error)) throw error;
      const lease = await this.#read();
      if (lease?.spec?.holderIdentity === identity) this.#written = { lease, sent: sentNow(clock) };
      else this.#ended(lease?.spec?.holderIdentity === '' ? 'handedOver' : 'lost');
    }
  }

  async #put(base: WireLease | undefined, sent: SentAt): Promise<void> {
    const { leases, seen, names, identity, timing } = this.#options;
    const { leaseDurationMs } = timing;
    const holder = { namespace: names.namespace, name: this.#leaseName, identity, leaseDurationMs };
    const lease = await leases.write(labelled(heldLease(base, holder, sent.at), names, 'shard'), 'shard');
    this.#written = { lease, sent };
    seen.noted(lease);
  }

  async #read(): Promise<WireLease | undefined> {
    const { leases, seen } = this.#options;
    const lease = await leases.read(this.#leaseName);
    if (lease === undefined) seen.gone(this.#leaseName);
    else seen.noted(lease, true);
    return lease;
  }

  /** One write of the Lease, with what belongs to it. What has failed is tried again a retry period after it began: one that had no answer has waited. */
  #write(request: () => Promise<void>): void {
    this.#isWriting = true;
    void this.#settle(request);
  }

  async #settle(request: () => Promise<void>): Promise<void> {
    const { clock, timing, random, wake } = this.#options;
    const beganAt = clock.elapsed();
    try {
      await request();
      this.#failure = undefined;
      this.#retryAtMs = 0;
    } catch (error) {
      const periodMs = timing.retryPeriodMs * (1 + random() * 0.2);
      const waitMs = Math.max(0, beganAt + periodMs - clock.elapsed());
      this.#retryAtMs = beganAt + periodMs;
      // another member was first: what there is now is read
      if (isWriteRefused(error)) await this.#read().catch(() => {});
      else this.#failure = failedAgain(this.#failure, error, clock.now(), waitMs);
    }
    this.#isWriting = false;
    wake();
  }

  #enter(state: State): void {
    this.#state = state;
    this.#since = this.#options.clock.now();
  }
}
