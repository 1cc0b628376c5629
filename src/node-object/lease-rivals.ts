import type { WireLease } from './wire-node.ts';

/** Another agent that renews the Lease of this node: two agents run under one name. */
export interface LeaseRival {
  readonly holderIdentity: string;
  /** As the Lease says. */
  readonly renewTime: string;
  /** When it was noticed, in milliseconds since the epoch. */
  readonly seenAt: number;
}

/** Renewals of ours that the server may still tell of: the answer to one may have been lost. */
const remembered = 8;

/** Tells our renewals from those of another agent. */
export class LeaseRivals {
  readonly #sent: string[] = [];
  /** The renewal that was there before our first. */
  #found: string | undefined;
  #rival: LeaseRival | undefined;

  /** The last that was noticed. */
  get rival(): LeaseRival | undefined {
    return this.#rival;
  }

  sent(lease: WireLease): void {
    this.#sent.push(lease.spec?.renewTime ?? '');
    if (this.#sent.length > remembered) this.#sent.shift();
  }

  /** A Lease that was read. Returns the rival whose renewal it shows. */
  read(lease: WireLease, now: number): LeaseRival | undefined {
    const { renewTime = '', holderIdentity = '' } = lease.spec ?? {};
    if (this.#sent.length === 0) {
      // that of an agent before us, perhaps of ourselves before a restart
      this.#found = renewTime;
      return undefined;
    }
    if (renewTime === '' || renewTime === this.#found || this.#sent.includes(renewTime)) return undefined;
    this.#rival = { holderIdentity, renewTime, seenAt: now };
    return this.#rival;
  }
}
