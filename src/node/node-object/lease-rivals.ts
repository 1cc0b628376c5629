import type { WireLease } from '../../api/json/types.ts';
import { type GrowingDelay, nthDelayMs } from '../../base/concurrency/backoff.ts';
import { LateMap } from '../../base/concurrency/late-collections.ts';
import { capitalized, frozenProblem, type Problem } from '../../base/problem.ts';
import { textBeginning } from '../../base/text-beginning.ts';

/** Another agent under the name of this node. */
export interface LeaseRival {
  /** The process that has renewed the Lease, by its own word; undefined where it does not say so, as a kubelet. */
  readonly agent: string | undefined;
  /** Who holds the Lease, by its own word. */
  readonly holderIdentity: string;
  /** As the Lease says. */
  readonly renewTime: string;
  /** When it was noticed, in milliseconds since the epoch. */
  readonly seenAt: number;
  /**
   * True: it has renewed the Lease while this agent ran. False: it had renewed it just before, and has not said that it ended.
   * Then it runs, or it was killed.
   */
  readonly isCertain: boolean;
  /** By when it must have renewed the Lease again, where it runs; in milliseconds since the epoch. Undefined for a certain one. */
  readonly knownAt: number | undefined;
}

/** What a clock says: in milliseconds since the epoch, and by `Clock.elapsed`. */
export interface ClockReading {
  readonly now: number;
  readonly elapsed: number;
}

/** Renewals of ours that the server may still tell of: the answer to one may have been lost. */
const rememberedRenewals = 8;
/** So many other agents are told apart. */
const rememberedAgents = 8;
/** A living agent renews a Lease four times in its duration, and somewhat later than that. */
const latestRenewal = 1.25 / 4;
/** A certain rival that has missed so many renewals has gone: it is told no more. */
const missedRenewals = 2;
/** What a Lease may say of its duration. */
const longestDurationMs = 600_000;
/** How long after its start an agent that suspects another renews, and how long after that again. */
const looks: GrowingDelay = { firstMs: 500, factor: 3 };
/** So long after a hint that led to nobody no other one is followed: some controllers write heartbeats, too. */
const muteMs = 3_600_000;

/** Another agent; times are by `Clock.elapsed`. */
interface OtherAgent {
  readonly renewTime: string;
  /** Undefined where only a renewal of long ago was seen, as after a restore of etcd, and once it is told that the agent has gone. */
  readonly rival: LeaseRival | undefined;
  readonly aliveUntil: number;
  readonly toldUntil: number;
}

/**
 * Tells our renewals from those of other agents. A renewal that follows one of ours proves that its agent lives, since it names the
 * version that it follows. One that was there before ours leaves open whether its agent lives or was killed.
 */
export class LeaseRivals {
  readonly #self: LeaseWriter;
  readonly #durationMs: number;
  readonly #isSoleAgent: boolean;
  readonly #sent: string[] = [];
  /** The server has taken a renewal of ours. */
  #hasRenewed = false;
  /** The renewal that was there before our first. */
  #found: string | undefined;
  readonly #others = new LateMap<string, OtherAgent>();
  /** One that has gone, and of which that was not told yet. */
  #gone: LeaseRival | undefined;
  /** Until when the next renewals come soon, by `Clock.elapsed`. */
  #watchfulUntil = Number.NEGATIVE_INFINITY;
  /** Until when no hint is followed, by `Clock.elapsed`. */
  #mutedUntil = Number.NEGATIVE_INFINITY;
  #looks = 0;

  /** `isSoleAgent`: something else makes sure that no other agent runs, and one that ended without a word is not suspected. */
  constructor(self: LeaseWriter, durationMs: number, isSoleAgent = false) {
    this.#self = self;
    this.#durationMs = durationMs;
    this.#isSoleAgent = isSoleAgent;
  }

  /** One that is certain, or else one that is suspected; undefined when none was heard of for long enough. */
  rival(elapsed: number): LeaseRival | undefined {
    const told = [...this.#others.values()].filter(({ toldUntil }) => elapsed < toldUntil).map(({ rival }) => rival);
    return told.findLast((rival) => rival?.isCertain) ?? told.findLast((rival) => rival !== undefined);
  }

  sent(lease: WireLease): void {
    this.#sent.push(renewalOf(lease));
    if (this.#sent.length > rememberedRenewals) this.#sent.shift();
  }

  /** A Lease that was read. Returns the rival that it shows, certain or not. */
  read(lease: WireLease, reading: ClockReading): LeaseRival | undefined {
    this.#noteEnd(lease);
    const { renewTime = '' } = lease.spec ?? {};
    if (renewTime === '' || this.#isOurs(lease) || hasEnded(lease)) return undefined;
    if (!this.#hasRenewed) {
      // that of an agent before us, perhaps of ourselves before a restart
      this.#found = renewTime;
      return this.#isSoleAgent ? undefined : this.#suspected(lease, reading);
    }
    if (renewTime === this.#found) return undefined;
    const before = this.#others.get(writerOf(lease));
    const isLiving = this.#isRecent(lease, reading) || (before !== undefined && before.renewTime !== renewTime);
    const durationMs = this.#durationOf(lease);
    const aliveUntil = reading.elapsed + durationMs;
    if (!isLiving) {
      this.#note(lease, { renewTime, rival: undefined, aliveUntil, toldUntil: 0 });
      this.hint(reading);
      return undefined;
    }
    const rival = { ...this.#namesOf(lease), seenAt: reading.now, isCertain: true, knownAt: undefined };
    const toldUntil = reading.elapsed + durationMs * latestRenewal * missedRenewals;
    // a renewal hides those of others that came before it
    for (const [writer, other] of this.#others) {
      if (other.rival?.isCertain !== true) continue;
      const times = { aliveUntil: Math.max(other.aliveUntil, aliveUntil), toldUntil: Math.max(other.toldUntil, toldUntil) };
      this.#others.set(writer, { ...other, ...times });
    }
    this.#note(lease, { renewTime, rival, aliveUntil, toldUntil });
    this.#watchfulUntil = Number.NEGATIVE_INFINITY;
    return rival;
  }

  /** Something else than the Lease has hinted at another agent: the next renewals come soon. Returns true when that is new. */
  hint({ elapsed }: ClockReading): boolean {
    if (elapsed < this.#mutedUntil || this.rival(elapsed) !== undefined) return false;
    this.#mutedUntil = elapsed + muteMs;
    this.#watch(elapsed + this.#durationMs * latestRenewal);
    return true;
  }

  /** How soon the next renewal shall come; undefined where there is no hurry. */
  nextLookMs(elapsed: number): number | undefined {
    if (elapsed >= this.#watchfulUntil) return undefined;
    this.#looks += 1;
    return Math.min(nthDelayMs(this.#looks, looks), this.#watchfulUntil - elapsed);
  }

  /** Our renewal is written, and nobody has renewed the Lease in between. Returns the last rival, when there is none any more. */
  renewed(elapsed: number): LeaseRival | undefined {
    this.#hasRenewed = true;
    for (const [writer, other] of this.#others) {
      if (other.rival === undefined || elapsed < other.toldUntil) continue;
      this.#gone = other.rival;
      this.#others.set(writer, { ...other, rival: undefined });
    }
    if (this.rival(elapsed) !== undefined) return undefined;
    const gone = this.#gone;
    this.#gone = undefined;
    return gone;
  }

  /**
   * True when another agent lives under the name of this node, or may live, as far as this Lease and those that were read before say. A
   * renewal that is none of ours is one of another agent; that of an agent before us counts while its Lease has not run out.
   */
  isAnotherAlive(lease: WireLease | undefined, { now, elapsed }: ClockReading): boolean {
    if (lease !== undefined) this.#noteEnd(lease);
    if (elapsed < this.#watchfulUntil) return true;
    if ([...this.#others.values()].some(({ aliveUntil }) => elapsed < aliveUntil)) return true;
    const { renewTime = '' } = lease?.spec ?? {};
    if (lease === undefined || renewTime === '' || this.#isOurs(lease) || hasEnded(lease)) return false;
    const isOfBefore = !this.#hasRenewed || renewTime === this.#found;
    return !isOfBefore || Math.abs(now - Date.parse(renewTime)) < this.#durationOf(lease);
  }

  /** By its mark; where it has none, by what we have sent. */
  #isOurs(lease: WireLease): boolean {
    const mark = readMark(lease);
    return mark === undefined ? this.#sent.includes(renewalOf(lease)) : mark.id === this.#self.id;
  }

  /** Whoever has renewed a Lease just now, and did not say that it ended, may be alive. */
  #suspected(lease: WireLease, reading: ClockReading): LeaseRival | undefined {
    if (!this.#isRecent(lease, reading)) return undefined;
    const { now, elapsed } = reading;
    const waitMs = this.#renewedWithinMs(lease);
    const rival = { ...this.#namesOf(lease), seenAt: now, isCertain: false, knownAt: now + waitMs };
    const until = elapsed + waitMs;
    this.#note(lease, { renewTime: rival.renewTime, rival, aliveUntil: until, toldUntil: until });
    this.#watch(until);
    return rival;
  }

  #watch(until: number): void {
    this.#watchfulUntil = until;
    this.#looks = 0;
  }

  #note(lease: WireLease, other: OtherAgent): void {
    const writer = writerOf(lease);
    this.#others.delete(writer);
    this.#others.set(writer, other);
    const [oldest] = this.#others.keys();
    if (this.#others.size > rememberedAgents && oldest !== undefined) this.#others.delete(oldest);
  }

  /** The next renewal of ours tells that it has gone. */
  #noteEnd(lease: WireLease): void {
    for (const writer of endedWriters(lease)) {
      const ended = this.#others.get(writer);
      if (!this.#others.delete(writer)) continue;
      this.#gone = ended?.rival ?? this.#gone;
      this.#watchfulUntil = Number.NEGATIVE_INFINITY;
    }
  }

  /** True for a renewal after which its agent has not missed the next one yet. */
  #isRecent(lease: WireLease, { now }: ClockReading): boolean {
    return Math.abs(now - Date.parse(lease.spec?.renewTime ?? '')) < this.#renewedWithinMs(lease);
  }

  /** How long after one renewal the next one comes at the latest, by what the Lease says of its duration. */
  #renewedWithinMs({ spec }: WireLease): number {
    return Math.min((spec?.leaseDurationSeconds ?? this.#durationMs / 1000) * 1000, longestDurationMs) * latestRenewal;
  }

  /** The longer one of its Lease and ours, in milliseconds. */
  #durationOf({ spec }: WireLease): number {
    return Math.max(this.#durationMs, Math.min((spec?.leaseDurationSeconds ?? 0) * 1000, longestDurationMs));
  }

  #namesOf(lease: WireLease): Pick<LeaseRival, 'agent' | 'holderIdentity' | 'renewTime'> {
    const { renewTime = '', holderIdentity = '' } = lease.spec ?? {};
    return {
      agent: readMark(lease)?.agent,
      holderIdentity: textBeginning(holderIdentity, longestName),
      renewTime: textBeginning(renewTime, longestName),
    };
  }
}

const remedy = 'end one of the two agents, or give it a node name of its own.';

/** The message has no times: an event is counted by its text. */
export function rivalProblem({ agent, holderIdentity, isCertain, seenAt, knownAt }: LeaseRival): Problem {
  const who = `another agent, ${agent ?? holderIdentity},`;
  const about = { kind: 'two-agents', attempt: 0, since: seenAt };
  if (isCertain) {
    const message = `${who} renews the Lease of this node: two agents run under one name`;
    return frozenProblem({ ...about, message, help: capitalized(remedy) });
  }
  const message = `${who} renewed the Lease of this node just before this one started, and did not say that it ended`;
  const help = `It runs, or it was killed: its next renewal tells. If it runs, ${remedy}`;
  return frozenProblem({ ...about, message, retryAt: knownAt, help });
}

/** Tells one renewal from another: by its time, and by its holder where each process has a `holderIdentity` of its own. */
function renewalOf({ spec }: WireLease): string {
  return `${spec?.renewTime ?? ''} ${spec?.holderIdentity ?? ''}`;
}

/** Tells one agent from another: by the id in its mark, or else by the holder of the Lease. */
function writerOf(lease: WireLease): string {
  return readMark(lease)?.id ?? `holder ${textBeginning(lease.spec?.holderIdentity ?? '', longestName)}`;
}

/**
 * The annotation in which an agent says which process has renewed the Lease. It counts for one renewal: a kubelet leaves it when it
 * renews the Lease of another.
 */
const markAnnotation = 'pod-status-manager/renewed-by';
/** The annotation with the ids of the agents that have stopped last, with commas between. */
const endAnnotation = 'pod-status-manager/ended';
const rememberedEnds = 4;
/** In characters. */
const longestMark = 1000;
const longestName = 200;

/** Who writes a Lease. */
export interface LeaseWriter {
  /** The process, in words: `process 4711 on host-a, started 2026-01-01T00:00:00Z`. */
  readonly agent: string;
  /** Tells this writer from every other one, also of the same process. */
  readonly id: string;
}

/** The Lease with the mark of its writer for its renewal. */
export function markedLease(lease: WireLease, { agent, id }: LeaseWriter): WireLease {
  return annotated(lease, markAnnotation, JSON.stringify({ agent, id, renewTime: lease.spec?.renewTime }));
}

/** The Lease with the word of an agent that it has ended. */
export function leaseAfterEnd(lease: WireLease, { id }: LeaseWriter): WireLease {
  const ended = [...endedWriters(lease), id].slice(-rememberedEnds);
  return annotated(lease, endAnnotation, ended.join(','));
}

function annotated(lease: WireLease, name: string, value: string): WireLease {
  return { ...lease, metadata: { ...lease.metadata, annotations: { ...lease.metadata?.annotations, [name]: value } } };
}

function readMark({ metadata, spec }: WireLease): LeaseWriter | undefined {
  const text: unknown = metadata?.annotations?.[markAnnotation];
  if (typeof text !== 'string' || text.length > longestMark) return undefined;
  try {
    const { agent, id, renewTime } = JSON.parse(text) as Record<string, unknown>;
    if (typeof agent !== 'string' || agent === '' || typeof id !== 'string' || renewTime !== spec?.renewTime) return undefined;
    return { agent: textBeginning(agent.replace(/[\p{Cc}\s]+/gu, ' '), longestName), id };
  } catch {
    return undefined;
  }
}

function endedWriters({ metadata }: WireLease): string[] {
  const text: unknown = metadata?.annotations?.[endAnnotation];
  return typeof text === 'string' && text !== '' && text.length <= longestMark ? text.split(',') : [];
}

/** True when the agent that has renewed the Lease last has said that it ended. */
function hasEnded(lease: WireLease): boolean {
  const mark = readMark(lease);
  return mark !== undefined && endedWriters(lease).includes(mark.id);
}
