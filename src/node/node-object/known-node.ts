import { isOlderThan } from '../../api/json/resource-version.ts';
import type { WireNode } from '../../api/json/types.ts';
import type { SteadyClock } from '../../base/clock.ts';

/** The newest copy of the node: of those that the watch has shown and those that our own requests were answered with. */
export class KnownNode {
  readonly #clock: SteadyClock;
  #watched: WireNode | undefined;
  #answered: WireNode | undefined;
  /** In time that has passed. */
  #answeredAt = Number.NaN;
  #isWatched = false;

  constructor(clock: SteadyClock) {
    this.#clock = clock;
  }

  /** True once a full list was seen, so that a node which is not known is not there. */
  get isWatched(): boolean {
    return this.#isWatched;
  }

  get newest(): WireNode | undefined {
    if (this.#watched === undefined || this.#answered === undefined) return this.#answered ?? this.#watched;
    return isOlderThan(this.#watched, this.#answered) ? this.#answered : this.#watched;
  }

  answered(node: WireNode): void {
    this.#answered = node;
    this.#answeredAt = this.#clock.elapsed();
  }

  shown(node: WireNode): void {
    this.#watched = node;
  }

  /** Returns true when that was the node as it is known. */
  shownDeleted(node: WireNode): boolean {
    this.#watched = undefined;
    if (this.#answered !== undefined && this.#answered.metadata?.uid !== node.metadata?.uid) return false;
    this.#answered = undefined;
    return true;
  }

  /**
   * The watch has shown all that the server had when it was asked, at `askedAt` in time that has passed. Its word counts for what we knew before, also
   * where it shows an older version, as after a restore of etcd.
   */
  listed(askedAt: number | undefined): void {
    this.#isWatched = true;
    if (askedAt !== undefined && this.#answeredAt < askedAt) this.#answered = undefined;
  }

  /** A request has found no node. */
  forget(): void {
    this.#answered = undefined;
    this.#watched = undefined;
  }
}
