import type { Domains } from './node-places.ts';
import type { Rejection } from './plugin.ts';

const unknown = 0;
const fits = 1;
const rejected = 2;
/** Of the nodes without the label. */
const lacking = 3;

/** What a check has against nodes: by their domain, or because they lack the label. */
export interface CheckReasons {
  readonly rejection: Rejection;
  /** Undefined: a node without the label fits. */
  readonly lacking: Rejection | undefined;
}

/** Whether a pod fits on a node, by the node's domain of one topology key. What is found out of a domain holds for all its nodes. */
export class DomainCheck {
  readonly #at: Int32Array;
  /** By the number of the domain and one: the first is that of nodes without the label. */
  readonly #verdicts: Uint8Array;
  readonly #reasons: CheckReasons;
  readonly #isRejected: ((domain: number) => boolean) | undefined;

  private constructor({ at, names }: Domains, reasons: CheckReasons, isRejected?: (domain: number) => boolean) {
    this.#at = at;
    this.#reasons = reasons;
    this.#isRejected = isRejected;
    this.#verdicts = new Uint8Array(names.length + 1);
  }

  /** Asks about each domain once, when a node of it is looked at. */
  static asking(domains: Domains, reasons: CheckReasons, isRejected: (domain: number) => boolean): DomainCheck {
    const check = new DomainCheck(domains, reasons, isRejected);
    check.#noteLacking();
    return check;
  }

  /** Rejects these domains (`only`), or all others. A name that no node has is passed over. */
  static of(domains: Domains, reasons: CheckReasons, only: boolean, names: Iterable<string>): DomainCheck {
    const check = new DomainCheck(domains, reasons);
    const verdicts = check.#verdicts;
    verdicts.fill(only ? fits : rejected);
    for (const name of names) {
      const domain = domains.numbers.get(name);
      if (domain !== undefined) verdicts[domain + 1] = only ? rejected : fits;
    }
    check.#noteLacking();
    return check;
  }

  isRejected(place: number): boolean {
    return this.#verdict(place) >= rejected;
  }

  rejection(place: number): Rejection | undefined {
    const verdict = this.#verdict(place);
    if (verdict < rejected) return undefined;
    return verdict === rejected ? this.#reasons.rejection : this.#reasons.lacking;
  }

  #verdict(place: number): number {
    const domain = this.#at[place] as number;
    const known = this.#verdicts[domain + 1] as number;
    return known === unknown ? this.#find(domain) : known;
  }

  #find(domain: number): number {
    const found = this.#isRejected?.(domain) === true ? rejected : fits;
    this.#verdicts[domain + 1] = found;
    return found;
  }

  #noteLacking(): void {
    this.#verdicts[0] = this.#reasons.lacking === undefined ? fits : lacking;
  }
}
