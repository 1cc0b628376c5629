import type { SteadyClock } from '../../base/clock.ts';
import { TimeLeft } from '../../base/concurrency/aborts.ts';
import { failedAgain, type LastFailure } from '../../base/concurrency/run-state.ts';
import { WakeableWait } from '../../base/concurrency/timers.ts';
import { StatusManagerError } from '../../base/errors.ts';
import { ignoreFailure } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { Metrics, MetricsSink } from '../../base/metrics/metrics.ts';
import { longestTimerMs } from '../../base/options.ts';
import type { ResourceTransport } from '../../client/resources/resource-client.ts';
import { mostMembers, type Placement, placementOf, ShardWeights } from '../placement.ts';
import { FleetLeaseClient } from './fleet-lease-client.ts';
import { FleetSettings } from './fleet-settings.ts';
import { HandOverTurns } from './hand-over-turns.ts';
import { type FleetNames, fleetSelector, identityOf } from './lease-documents.ts';
import { lossHelp } from './lease-problems.ts';
import { MemberLease } from './member-lease.ts';
import { Members, type SeenMember } from './members.ts';
import { SeenLeases } from './seen-leases.ts';
import { ShardKeeper } from './shard-keeper.ts';
import type { FleetTiming, ShardHost } from './shard-keeper-options.ts';

export interface FleetMemberOptions {
  readonly transport: ResourceTransport;
  readonly names: FleetNames;
  readonly id: string;
  /** What no other process has: see `identityOf`. */
  readonly process: string;
  /** The process and its host, for people. */
  readonly agent: string;
  readonly timing: FleetTiming;
  /** How many shards are handed over at once. */
  readonly handOversAtOnce: number;
  readonly clock: SteadyClock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** The sink as it was given. */
  readonly sink: MetricsSink | undefined;
  /** Who is to own which shard. Default: `placementOf`. */
  readonly placement?: typeof placementOf;
}

/** Why this process takes no shards, although it runs. */
export type Outside =
  | { readonly kind: 'namesake'; readonly agent: string }
  | {
      readonly kind: 'other-shards';
      readonly shards: number | undefined;
      /** Those that are alive and count with another number. */
      readonly members: readonly string[];
      /** Those that hold a shard, and are not known to count with this process's number. */
      readonly holders: readonly string[];
    };

/** What a stop has come to: see `StoppedFleet`. */
export interface StoppedMember {
  readonly handedOver: number;
  readonly leftToRunOut: number;
}

/** So much of a stop's time shards are handed over one after the other to each member; then without waiting for any. */
const shareInTurns = 0.5;
/** What of a stop's time is kept for its last writes, and for what still ends then: so long at most, in milliseconds, and no more than a quarter. */
const lastWriteMs = 2000;

/**
 * A process of the fleet: its own Lease, who else is alive, which shards fall to it, and the Leases of these. It knows nothing of nodes:
 * the host runs them. One loop decides; it looks whenever something has changed, and when something is due.
 */
export class FleetMember {
  readonly members: Members;
  readonly shards: readonly ShardKeeper[];
  readonly #options: FleetMemberOptions;
  readonly #leases: FleetLeaseClient;
  readonly #seen: SeenLeases;
  readonly #settings: FleetSettings;
  readonly #ownLease: MemberLease;
  readonly #weights: ShardWeights;
  readonly #wait: WakeableWait;
  readonly #turns: HandOverTurns;
  /** From then on no member is waited for that is to take a shard, by `clock.elapsed()`. */
  #noTurnsFrom = Number.POSITIVE_INFINITY;
  #loop: Promise<void> = Promise.resolve();
  #placement: Placement = [];
  /** The members by which the placement was made. */
  #placedFor = '';
  /** Since when this member may take shards, by `clock.elapsed()`; undefined while it may not. */
  #takesSince: number | undefined;
  /** When the last beat began: the own Lease is renewed, and then those of the shards. */
  #beatAt = Number.NEGATIVE_INFINITY;
  #nextBeatAt = Number.NEGATIVE_INFINITY;
  /** When the own Lease, which was not as it was written, was last written again. */
  #mendedAt = Number.NEGATIVE_INFINITY;
  #isBeating = false;
  #isTidying = false;
  /** True while it joins again once its shards have ended. */
  #waitsForShards = false;
  #isLeaving = false;
  /** True while the others may have counted this member as gone, and it has not read since what they did. */
  #isInDoubt = false;
  #isClosed = false;
  #outside: Outside | undefined;
  #failure: LastFailure | undefined;

  constructor(options: FleetMemberOptions, host: ShardHost) {
    this.#options = options;
    const { transport, names, id, process, timing, clock, random, logger, metrics, sink } = options;
    const identity = identityOf(id, process);
    // where a renewal has no answer, there is time for another one before the deadline
    const requestTimeoutMs = Math.max(1, Math.floor((timing.renewDeadlineMs - timing.renewEveryMs) / 2));
    // with so many at once a thousand shards are renewed in time, where each takes 150 ms
    const shardWritesAtOnce = Math.max(32, Math.ceil(names.shards / 20));
    const ofLeases = { namespace: names.namespace, requestTimeoutMs, shardWritesAtOnce };
    this.#leases = new FleetLeaseClient({ transport, ...ofLeases, clock, metrics });
    this.#wait = new WakeableWait({ clock, logger });
    const wake = (): void => this.#wait.wake();
    const { leaseDurationMs } = timing;
    this.#seen = new SeenLeases({ transport, names, leaseDurationMs, clock, random, logger, metrics: sink, changed: wake });
    const shared = { names, id, identity, timing, leases: this.#leases, seen: this.#seen, clock };
    this.#settings = new FleetSettings(shared);
    this.#ownLease = new MemberLease({ ...shared, agent: options.agent });
    this.members = new Members(shared);
    this.#weights = new ShardWeights(names.shards);
    this.#turns = new HandOverTurns(id);
    const ofShard = { ...shared, host, random, logger, metrics, wake };
    this.shards = Array.from({ length: names.shards }, (_, shard) => new ShardKeeper({ ...ofShard, shard }));
  }

  /** True while this process takes shards; false from the beginning of its stop. */
  get isMember(): boolean {
    return this.#takesSince !== undefined && !this.#isLeaving;
  }

  get outside(): Outside | undefined {
    return this.#outside;
  }

  /** Why the own Lease, or the number of shards, could not be read or written last, while nothing has succeeded since. */
  get failure(): LastFailure | undefined {
    return this.#failure;
  }

  /** Why the Leases of the fleet could not be read last. */
  get watchFailure(): LastFailure | undefined {
    return this.#seen.lastFailure();
  }

  /** What is heard of the Leases of the fleet. */
  get heard(): Pick<SeenLeases, 'isHeard' | 'heardUntil'> {
    return this.#seen;
  }

  /** The id of the member that is to own the shard. */
  placedOn(shard: number): string | undefined {
    return this.#placement[shard]?.[0];
  }

  get movingShards(): number {
    return this.shards.filter(({ state }) => state === 'acquiring' || state === 'handingOver' || state === 'lost').length;
  }

  /** Resolves once this process is a member and has looked at every shard, or has found out why it cannot be one. Rejects where it is stopped before. */
  async start(): Promise<void> {
    await this.#seen.start();
    const first = Promise.withResolvers<void>();
    this.#loop = this.#run(first.resolve).then(() => {
      first.reject(new StatusManagerError('ERR_STOPPED', 'The fleet was stopped before this process was a member'));
    }, first.reject);
    await first.promise;
  }

  /** Hands the shards over, and leaves the fleet. When it resolves, no timer is left, and no request but one that does not heed its signal. */
  async stop(timeoutMs: number): Promise<StoppedMember> {
    const { clock } = this.#options;
    const timeLeft = new TimeLeft(clock, timeoutMs);
    const before = this.#endedTerms();
    this.#isLeaving = true;
    // a short stop hands over, too
    const forShardsMs = timeoutMs - Math.min(lastWriteMs, timeoutMs / 4);
    this.#noTurnsFrom = clock.elapsed() + forShardsMs * shareInTurns;
    this.#nextBeatAt = Number.NEGATIVE_INFINITY;
    this.#wait.wake();
    await timeLeft.allows(this.#loop, forShardsMs);
    this.#isClosed = true;
    for (const shard of this.shards) shard.close('the time of the stop is over', lossHelp.ofStop);
    this.#wait.close();
    await timeLeft.allows(this.#ownLease.remove());
    this.#leases.stop();
    const ended = Promise.all([this.#loop, ...this.shards.map(({ hostEnded }) => hostEnded)]);
    await timeLeft.allows(ended);
    await this.#seen.stop();
    const after = this.#endedTerms();
    return { handedOver: after.handedOver - before.handedOver, leftToRunOut: after.lost - before.lost };
  }

  #endedTerms(): { handedOver: number; lost: number } {
    const sum = (name: 'handedOver' | 'lost'): number => this.shards.reduce((total, { ended }) => total + ended[name], 0);
    return { handedOver: sum('handedOver'), lost: sum('lost') };
  }

  /** Ends once this member is to leave and has nothing any more. */
  async #run(looked: () => void): Promise<void> {
    const { clock } = this.#options;
    while (!this.#isClosed) {
      const dueAt = this.#lookSafely();
      if (this.#hasJoinedOrFailed) looked();
      if (this.#isLeaving && !this.#isBeating && !this.shards.some(({ isBusy }) => isBusy)) break;
      await this.#wait.wait(Math.min(longestTimerMs, Math.max(0, dueAt - clock.elapsed())));
    }
  }

  /** Whatever goes wrong in a look, another one comes. Nobody watches the terms meanwhile: they end. */
  #lookSafely(): number {
    const { clock, timing, logger, names, id } = this.#options;
    try {
      return this.#look();
    } catch (err) {
      this.#failure = failedAgain(this.#failure, err, clock.now(), timing.retryPeriodMs);
      logger.error(
        { err, fleet: names.name, member: id },
        'a look at the fleet has failed: it comes again after the retry period',
      );
      for (const shard of this.shards) shard.lose('a look at the fleet has failed', lossHelp.ofLook);
      return clock.elapsed() + timing.retryPeriodMs;
    }
  }

  get #hasJoinedOrFailed(): boolean {
    return this.isMember || this.#outside !== undefined;
  }

  /** Does what is due. Returns when the next look is due at the latest, by `clock.elapsed()`. */
  #look(): number {
    const { clock, handOversAtOnce } = this.#options;
    const now = clock.elapsed();
    // the others may count this member as gone, and have changed the number: it joins again, or reads the number where only the wall clock says so
    const isDoubtful = this.#ownLease.age === 'doubtful';
    if (isDoubtful && !this.#isInDoubt) this.#nextBeatAt = now;
    this.#isInDoubt ||= isDoubtful;
    if (this.isMember && this.#ownLease.age === 'old') this.#leave();
    if (this.isMember && this.#settings.seen !== undefined && this.#settings.seen !== this.#options.names.shards) this.#leave();
    if (this.#waitsForShards && !this.#isBeating && !this.shards.some(({ isBusy }) => isBusy)) {
      this.#waitsForShards = false;
      this.#nextBeatAt = now;
    }
    const members = this.members.all();
    const living = this.members.living(members);
    // somebody has deleted the own Lease
    if (this.isMember && !living.some(({ isSelf }) => isSelf)) this.#mend(now);
    if (now >= this.#nextBeatAt && !this.#isBeating) this.#beat();
    this.#place(living.map(({ id }) => id));
    const takesSince = this.#isLeaving ? undefined : this.#takesSince;
    this.#lookAtTurns(now, members);
    let handingOver = this.shards.filter(({ isHandingOver }) => isHandingOver).length;
    let dueAt = Math.min(this.members.nextRunOutAt(members), this.#isBeating ? Number.POSITIVE_INFINITY : this.#nextBeatAt);
    const { areAllTaken } = this.#settings;
    const ofAll = { takesSince, areAllTaken, beatAt: this.#beatAt, isSure: !this.#isInDoubt };
    for (const [shard, keeper] of this.shards.entries()) {
      const line = this.#placement[shard] ?? [];
      const wasHandingOver = keeper.isHandingOver;
      const mayHandOver = handingOver < handOversAtOnce && (now >= this.#noTurnsFrom || now >= this.#turns.turnAt(line[0]));
      dueAt = Math.min(dueAt, keeper.look({ ...ofAll, line, mayHandOver }));
      if (!keeper.isHandingOver || wasHandingOver) continue;
      handingOver += 1;
      this.#turns.begun(line[0]);
    }
    const nextTurnAt = this.#turns.nextTurnAt;
    return Math.min(dueAt, now < this.#noTurnsFrom ? Math.min(nextTurnAt, this.#noTurnsFrom) : nextTurnAt);
  }

  #lookAtTurns(now: number, members: readonly SeenMember[]): void {
    // as their Leases say, this one's, too: so all members come to the same
    const leaving = new Set(members.filter(({ isLeaving }) => isLeaving).map(({ id }) => id));
    this.#turns.look({ now, shards: this.shards, placedOn: (shard) => this.placedOn(shard), leaving });
  }

  /** Writes the own Lease again; where it cannot be created, or comes back without what was written, not more often than what has failed is tried. */
  #mend(now: number): void {
    const mendsAt = Math.max(now, this.#mendedAt + this.#options.timing.retryPeriodMs);
    this.#nextBeatAt = Math.min(this.#nextBeatAt, mendsAt);
    if (mendsAt === now) this.#mendedAt = now;
  }

  #place(living: readonly string[]): void {
    const { names, id, logger, placement = placementOf } = this.#options;
    const others = living.filter((one) => one !== id);
    const isPlaced = this.isMember || living.includes(id);
    // the others learn a moment later that this one leaves
    const ids = [...others, ...(isPlaced && !this.#isLeaving ? [id] : [])].toSorted().slice(0, mostMembers);
    const placedFor = ids.join(' ');
    if (placedFor === this.#placedFor) return;
    this.#placedFor = placedFor;
    this.#weights.keep(ids);
    this.#placement = placement(ids, names.shards, this.#weights);
    logger.info({ fleet: names.name, member: id, members: ids }, 'the fleet has other members');
  }

  /** Takes no shards any more, and hands over those that it has: the fleet has another number of shards. */
  #leave(): void {
    this.#takesSince = undefined;
    this.#nextBeatAt = Number.NEGATIVE_INFINITY;
  }

  #beat(): void {
    const { clock } = this.#options;
    this.#isBeating = true;
    this.#beatAt = clock.elapsed();
    void this.#settleBeat();
  }

  async #settleBeat(): Promise<void> {
    const { clock, timing, random } = this.#options;
    let waitMs = timing.renewEveryMs;
    const wasLeaving = this.#isLeaving;
    try {
      await this.#stepOfMember();
      this.#failure = undefined;
    } catch (error) {
      waitMs = timing.retryPeriodMs * (1 + random() * 0.2);
      this.#failure = failedAgain(this.#failure, error, clock.now(), waitMs);
    }
    if (this.#outside !== undefined) waitMs = timing.retryPeriodMs;
    this.#isBeating = false;
    // the others are to know at once that it leaves
    this.#nextBeatAt = this.#isLeaving && !wasLeaving ? this.#beatAt : this.#beatAt + waitMs;
    this.#wait.wake();
  }

  /** Renews the own Lease, or joins. */
  async #stepOfMember(): Promise<void> {
    const { clock } = this.#options;
    const isBusy = this.shards.some((shard) => shard.isBusy);
    if (this.#isLeaving || (this.#takesSince === undefined && isBusy)) {
      this.#waitsForShards = !this.#isLeaving;
      // whoever counts with another number waits for as long as nodes of these shards may be written
      if (isBusy) await this.#ownLease.renew(true);
      return;
    }
    if (this.#takesSince === undefined) {
      // members that wait count with their number of shards no more, so that the others may go on
      if (!(await this.#agreesOnShards())) return this.#ownLease.remove();
    }
    if (!(await this.#ownLease.renew())) {
      this.#takesSince = undefined;
      this.#outside = { kind: 'namesake', agent: this.#ownLease.namesake ?? 'unknown' };
      return;
    }
    // whoever changes the number reads the members after it: one of both sees the other. One in doubt may have been counted as gone
    const isJoining = this.#takesSince === undefined;
    if ((isJoining || this.#isInDoubt) && !(await this.#agreesOnShards(false))) {
      // one that is in doubt renews no shard until it knows more, and leaves where it has seen another number
      if (isJoining) await this.#ownLease.remove();
      return;
    }
    this.#outside = undefined;
    // where that was sent before its machine slept, the next look finds it out
    this.#isInDoubt = false;
    this.#takesSince ??= clock.elapsed();
    // it is not waited for: a slow answer must not keep the next renewals back
    if (this.placedOn(0) === this.#options.id && !this.#isTidying) void this.#tidy();
  }

  /**
   * Keeps the Lease of the fleet in order, and removes those of members that have ended without a word: to a member that comes they would
   * count as alive. One member of the fleet does it. What fails is tried again with the next beat.
   */
  async #tidy(): Promise<void> {
    this.#isTidying = true;
    await this.#settings.keep().catch(ignoreFailure);
    for (const lease of this.members.leftLeases()) await this.#leases.remove(lease).catch(ignoreFailure);
    this.#isTidying = false;
  }

  /** False where the fleet has another number of shards, or members are alive, or hold shards, that count with another one. */
  async #agreesOnShards(mayChange = true): Promise<boolean> {
    const { names } = this.#options;
    const isUnused = async (): Promise<boolean> => {
      if (!mayChange) return false;
      await this.#readAll();
      return this.members.countingElse().length === 0 && !this.#seen.hasOwnedShards;
    };
    const shards = await this.#settings.agree(isUnused);
    // what is decided last is decided by what there is then
    if (!mayChange) await this.#readAll();
    const members = this.members.countingElse().map(({ id }) => id);
    const holders = this.members.strangers().filter((id) => !members.includes(id));
    if (shards === names.shards && members.length === 0 && holders.length === 0) return true;
    this.#outside = { kind: 'other-shards', shards, members, holders };
    return false;
  }

  /** What the watch has not brought yet is known then. */
  async #readAll(): Promise<void> {
    for (const lease of await this.#leases.list(fleetSelector(this.#options.names))) this.#seen.noted(lease);
  }
}
