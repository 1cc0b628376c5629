import type { WireLease } from '../../api/json/types.ts';

/** Another agent that renews the Lease of this node: two agents run under one name. */
export interface LeaseRival {
  /** Who holds the Lease, by its own word. */
  readonly holderIdentity: string;
  /** As the Lease says. */
  readonly renewTime: string;
  /** When it was noticed, in milliseconds since the epoch. */
  readonly seenAt: number;
}

/** The time of day, in milliseconds since the epoch, and the time that has passed. */
export interface Moment {
  readonly now: number;
  readonly elapsed: number;
}

/** Renewals of ours that the server may still tell of: the answer to one may have been lost. */
const remembered = 8;

/** Tells our renewals from those of another agent. */
export class LeaseRivals {
  readonly #sent: string[] = [];
  /** The renewal that was there before our first. */
  #found: string | undefined;
  #rival: LeaseRival | undefined;
  /** When the last was noticed, in time that has passed. */
  #rivalAt = 0;

  /** The last that was noticed. */
  get rival(): LeaseRival | undefined {
    return this.#rival;
  }

  sent(lease: WireLease): void {
    this.#sent.push(renewalOf(lease));
    if (this.#sent.length > remembered) this.#sent.shift();
  }

  /** A Lease that was read. Returns the rival whose renewal it shows. */
  read(lease: WireLease, { now, elapsed }: Moment): LeaseRival | undefined {
    const { renewTime = '', holderIdentity = '' } = lease.spec ?? {};
    if (this.#sent.length === 0) {
      // that of an agent before us, perhaps of ourselves before a restart
      this.#found = renewTime;
      return undefined;
    }
    if (renewTime === '' || renewTime === this.#found || this.#sent.includes(renewalOf(lease))) return undefined;
    this.#rivalAt = elapsed;
    this.#rival = { holderIdentity, renewTime, seenAt: now };
    return this.#rival;
  }

  /**
   * True when another agent lives under the name of this node, as far as this Lease and those that were read before say. A
   * renewal that is none of ours is one of another agent; that of an agent before us counts while its Lease has not run out.
   */
  isAnotherAlive(lease: WireLease | undefined, { now, elapsed }: Moment, durationMs: number): boolean {
    if (this.#rival !== undefined && elapsed - this.#rivalAt < durationMs) return true;
    const { renewTime = '' } = lease?.spec ?? {};
    if (lease === undefined || renewTime === '' || this.#sent.includes(renewalOf(lease))) return false;
    const isOfBefore = this.#sent.length === 0 || renewTime === this.#found;
    return !isOfBefore || Math.abs(now - Date.parse(renewTime)) < durationMs;
  }
}

/** Tells one renewal from another: by its time, and by its holder where each process has a `holderIdentity` of its own. */
function renewalOf({ spec }: WireLease): string {
  return `${spec?.renewTime ?? ''} ${spec?.holderIdentity ?? ''}`;
}
