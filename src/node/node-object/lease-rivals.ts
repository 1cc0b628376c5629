import type { WireLease } from '../../api/json/types.ts';
import { type GrowingDelay, nthDelayMs } from '../../base/concurrency/backoff.ts';
import { frozenProblem, type Problem } from '../../base/problem.ts';
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
const remembered = 8;
/** A living agent renews a Lease four times in its duration, and somewhat later than that. */
const latestRenewal = 1.25 / 4;
/** A rival that has not renewed the Lease for so long has gone; or for the duration of the Lease, where that is longer. */
const freshMs = 60_000;
/** How long after its start an agent that suspects another renews first; each further renewal comes later by this factor. */
const looks: GrowingDelay = { firstMs: 500, factor: 3 };

interface Watchfulness {
  /** By `Clock.elapsed`. */
  readonly until: number;
  /** What it is told as; undefined where nothing but a hint was seen. */
  readonly rival: LeaseRival | undefined;
  looks: number;
}

/** Tells our renewals from those of another agent. */
export class LeaseRivals {
  readonly #self: LeaseWriter;
  readonly #durationMs: number;
  readonly #sent: string[] = [];
  /** The renewal that was there before our first. */
  #found: string | undefined;
  /** The last that is certain. */
  #rival: LeaseRival | undefined;
  /** When it was noticed, by `Clock.elapsed`. */
  #rivalAt = Number.NEGATIVE_INFINITY;
  #watchful: Watchfulness | undefined;

  constructor(self: LeaseWriter, durationMs: number) {
    this.#self = self;
    this.#durationMs = durationMs;
  }

  /** The one that is certain, or else the one that is suspected; undefined when neither was heard of for long enough. */
  rival(elapsed: number): LeaseRival | undefined {
    const isFresh = this.#rival !== undefined && elapsed - this.#rivalAt < Math.max(freshMs, this.#durationMs);
    return isFresh ? this.#rival : this.#watchful?.rival;
  }

  sent(lease: WireLease): void {
    this.#sent.push(renewalOf(lease));
    if (this.#sent.length > remembered) this.#sent.shift();
  }

  /** A Lease that was read. Returns the rival that it shows, certain or not. */
  read(lease: WireLease, reading: ClockReading): LeaseRival | undefined {
    const { renewTime = '' } = lease.spec ?? {};
    if (this.#sent.length === 0) {
      // that of an agent before us, perhaps of ourselves before a restart
      this.#found = renewTime;
      return this.#suspected(lease, reading);
    }
    if (renewTime === '' || renewTime === this.#found || this.#isOurs(lease)) return undefined;
    if (readMark(lease)?.hasEnded === true) {
      this.#forget(reading);
      return undefined;
    }
    this.#watchful = undefined;
    this.#rivalAt = reading.elapsed;
    this.#rival = { ...this.#writer(lease), seenAt: reading.now, isCertain: true, knownAt: undefined };
    return this.#rival;
  }

  /** Something else than the Lease has hinted at another agent: the next renewals come soon. Returns true when that is new. */
  hint({ elapsed }: ClockReading): boolean {
    if (this.#watchful !== undefined || this.rival(elapsed) !== undefined) return false;
    this.#watchful = { until: elapsed + this.#durationMs * latestRenewal, rival: undefined, looks: 0 };
    return true;
  }

  /** How soon the next renewal shall come; undefined where there is no hurry. */
  nextLookMs(elapsed: number): number | undefined {
    const { until = elapsed } = this.#watchful ?? {};
    if (this.#watchful === undefined || until <= elapsed) return undefined;
    this.#watchful.looks += 1;
    return Math.min(nthDelayMs(this.#watchful.looks, looks), until - elapsed);
  }

  /** Our renewal is written, and nobody has renewed the Lease in between. Returns the rival that is not there any more. */
  renewed(elapsed: number): LeaseRival | undefined {
    const watchful = this.#watchful;
    if (watchful !== undefined && elapsed >= watchful.until) {
      this.#watchful = undefined;
      return watchful.rival;
    }
    const rival = this.#rival;
    if (rival === undefined || this.rival(elapsed) === rival) return undefined;
    this.#rival = undefined;
    return rival;
  }

  /**
   * True when another agent lives under the name of this node, as far as this Lease and those that were read before say. A
   * renewal that is none of ours is one of another agent; that of an agent before us counts while its Lease has not run out.
   */
  isAnotherAlive(lease: WireLease | undefined, { now, elapsed }: ClockReading): boolean {
    if (lease !== undefined && readMark(lease)?.hasEnded === true) return false;
    if (elapsed - this.#rivalAt < this.#durationMs) return true;
    const { renewTime = '' } = lease?.spec ?? {};
    if (lease === undefined || renewTime === '' || this.#isOurs(lease)) return false;
    const isOfBefore = this.#sent.length === 0 || renewTime === this.#found;
    return !isOfBefore || Math.abs(now - Date.parse(renewTime)) < this.#durationMs;
  }

  /** By its mark; where it has none, by what we have sent. */
  #isOurs(lease: WireLease): boolean {
    const mark = readMark(lease);
    return mark === undefined ? this.#sent.includes(renewalOf(lease)) : mark.id === this.#self.id;
  }

  /** The next renewal of ours tells that it has gone. */
  #forget({ elapsed }: ClockReading): void {
    this.#rivalAt = Number.NEGATIVE_INFINITY;
    if (this.#watchful !== undefined) this.#watchful = { ...this.#watchful, until: elapsed };
  }

  /** The first look at the Lease: whoever has renewed it just now, and did not say that it ended, may be alive. */
  #suspected(lease: WireLease, { now, elapsed }: ClockReading): LeaseRival | undefined {
    const { renewTime = '', leaseDurationSeconds = 0 } = lease.spec ?? {};
    const longestMs = Math.min(leaseDurationSeconds * 1000, this.#durationMs) * latestRenewal;
    const isRecent = Math.abs(now - Date.parse(renewTime)) < longestMs;
    if (!isRecent || readMark(lease)?.hasEnded === true) return undefined;
    const rival = { ...this.#writer(lease), seenAt: now, isCertain: false, knownAt: now + longestMs };
    this.#watchful = { until: elapsed + longestMs, rival, looks: 0 };
    return rival;
  }

  #writer(lease: WireLease): Pick<LeaseRival, 'agent' | 'holderIdentity' | 'renewTime'> {
    const { renewTime = '', holderIdentity = '' } = lease.spec ?? {};
    const agent = readMark(lease)?.agent;
    return { agent: agent === this.#self.agent ? `${agent}, this process` : agent, holderIdentity, renewTime };
  }
}

const remedy = 'end one of the two agents, or give it a node name of its own.';

/** The message has no times: an event is counted by its text. */
export function rivalProblem({ agent, holderIdentity, isCertain, seenAt, knownAt }: LeaseRival): Problem {
  const who = `another agent, ${agent ?? holderIdentity},`;
  const about = { kind: 'two-agents', attempt: 0, since: seenAt };
  if (isCertain) {
    const message = `${who} renews the Lease of this node: two agents run under one name`;
    return frozenProblem({ ...about, message, help: sentence(remedy) });
  }
  const message = `${who} renewed the Lease of this node just before this one started, and did not say that it ended`;
  const help = `It runs, or it was killed: its next renewal tells. If it runs, ${remedy}`;
  return frozenProblem({ ...about, message, retryAt: knownAt, help });
}

/** With a great letter in front. */
export function sentence(text: string): string {
  return `${text[0]?.toUpperCase()}${text.slice(1)}`;
}

/** Tells one renewal from another: by its time, and by its holder where each process has a `holderIdentity` of its own. */
function renewalOf({ spec }: WireLease): string {
  return `${spec?.renewTime ?? ''} ${spec?.holderIdentity ?? ''}`;
}

/**
 * The annotation in which an agent says which process has renewed the Lease, and that it has ended. It counts for one renewal: a kubelet
 * leaves it when it renews the Lease of another.
 */
const markAnnotation = 'pod-status-manager/renewed-by';
const longestMark = 1000;
const longestAgent = 200;

/** Who writes a Lease. */
export interface LeaseWriter {
  /** The process, in words: `process 4711 on host-a`. */
  readonly agent: string;
  /** Tells this writer from every other one, also of the same process. */
  readonly id: string;
}

interface Mark extends LeaseWriter {
  readonly hasEnded: boolean;
}

/** The Lease with the mark of its writer for its renewal. */
export function markedLease(lease: WireLease, { agent, id }: LeaseWriter, hasEnded: boolean): WireLease {
  const { renewTime } = lease.spec ?? {};
  const mark = JSON.stringify({ agent, id, renewTime, ...(hasEnded && { hasEnded }) });
  return { ...lease, metadata: { ...lease.metadata, annotations: { ...lease.metadata?.annotations, [markAnnotation]: mark } } };
}

function readMark({ metadata, spec }: WireLease): Mark | undefined {
  const text: unknown = metadata?.annotations?.[markAnnotation];
  if (typeof text !== 'string' || text.length > longestMark) return undefined;
  try {
    const { agent, id, renewTime, hasEnded } = JSON.parse(text) as Record<string, unknown>;
    if (typeof agent !== 'string' || agent === '' || typeof id !== 'string' || renewTime !== spec?.renewTime) return undefined;
    return { agent: textBeginning(agent, longestAgent), id, hasEnded: hasEnded === true };
  } catch {
    return undefined;
  }
}
