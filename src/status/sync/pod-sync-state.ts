import type { FailureInWords } from '../../client/resources/api-problem.ts';
import type { LastError } from '../../client/resources/error-class.ts';
import type { Wait } from './sync-context.ts';

/** What failed, and since when requests of the pod have failed without a success. */
export interface FailureInARow {
  /** What could not be done, in words. */
  readonly what: string;
  readonly words: FailureInWords;
  /** In milliseconds since the epoch. */
  readonly since: number;
}

/** What is to happen as soon as the sync in flight has settled: a look at the pod, or a sync whatever the look would say. */
export type Afterwards = 'nothing' | 'look' | 'sync';

interface InFlight {
  readonly kind: 'in-flight';
  /** The pod's entry was dropped meanwhile: what the sync brings is about the dropped entry, and is ignored. */
  readonly entryDropped: boolean;
  readonly afterwards: Afterwards;
  /** When it began. */
  readonly since: Since;
  /** The version that the sync has dealt with. */
  readonly attempted: number;
}

/** A sync has failed, and its request has not settled: no other write of the pod may leave before it has. */
interface Overdue extends Omit<InFlight, 'kind'> {
  readonly kind: 'overdue';
  /** What the pod waits for once the request has settled. */
  readonly wait: Wait | undefined;
}

/** When something began: to be shown, and to be counted from. */
export interface Since {
  /** In milliseconds since the epoch. */
  readonly at: number;
  /** By `Clock.elapsed`. */
  readonly elapsed: number;
}

interface Waiting {
  readonly kind: 'waiting';
  readonly wait: Wait;
  readonly since: Since;
}

/** What a pod is doing. At most one sync of a pod is in flight. */
type Activity = { readonly kind: 'idle' } | InFlight | Overdue | Waiting;

const idle: Activity = { kind: 'idle' };

/**
 * What the sync remembers of one pod, beside its acknowledged version: what the pod is doing, as one union whose moves are
 * the methods here, and how its last requests went. Only `SyncRecords` calls the moves.
 */
export class PodSyncState {
  #activity: Activity = idle;
  /** Failures in a row. */
  failures = 0;
  lastError: LastError | undefined;
  /** The same for people, while `lastError` is there. */
  failure: FailureInARow | undefined;
  /** When the wait began that the sync under way has interrupted. */
  waitedSince: Since | undefined;
  /** The next sync reads the pod from the apiserver first. */
  fetch = false;
  /**
   * A PATCH that failed, or whose entry was dropped meanwhile, may have changed the pod: no copy shows that. Outlives the
   * entry: the next one cannot trust the copy at hand either.
   */
  inDoubt = false;
  /** Another pod's success has ended this pod's wait once. If this pod fails again, the fault is its own. */
  releasedBySuccess = false;
  /** The acknowledged version's terminal phase is not on the apiserver: containers could still run. */
  phaseHeldBack = false;

  /** The sync of the pod, or the request that a failed one left behind; undefined when all has settled. */
  get underWay(): InFlight | Overdue | undefined {
    return this.#activity.kind === 'in-flight' || this.#activity.kind === 'overdue' ? this.#activity : undefined;
  }

  get isOverdue(): boolean {
    return this.#activity.kind === 'overdue';
  }

  /** What the pod waits for, now or once its overdue request has settled. */
  get wait(): Wait | undefined {
    return 'wait' in this.#activity ? this.#activity.wait : undefined;
  }

  /** When what is under way, or waited for, began; undefined for a pod that is idle. */
  get since(): Since | undefined {
    return 'since' in this.#activity ? this.#activity.since : undefined;
  }

  /** True when nothing here is worth remembering. */
  get isForgettable(): boolean {
    return this.#activity.kind === 'idle' && this.failures === 0 && !this.fetch && !this.inDoubt && !this.phaseHeldBack;
  }

  /** A sync begins. What the pod waited for no longer counts. */
  begin(since: Since): void {
    this.fetch = false;
    this.waitedSince = this.#activity.kind === 'waiting' ? this.#activity.since : undefined;
    this.#activity = { kind: 'in-flight', since, entryDropped: false, afterwards: 'nothing', attempted: 0 };
  }

  /** The sync in flight has dealt with this version. */
  attempt(attempted: number): void {
    if (this.#activity.kind === 'in-flight') this.#activity = { ...this.#activity, attempted };
  }

  /** Something is to happen as soon as what is under way has settled; a sync outweighs a look. */
  askFor(afterwards: Afterwards): void {
    const { underWay } = this;
    if (underWay !== undefined && underWay.afterwards !== 'sync') this.#activity = { ...underWay, afterwards };
  }

  /** The sync has settled; the pod waits from now on, or not. */
  settle(wait: Wait | undefined, since: Since): void {
    this.#activity = wait === undefined ? idle : { kind: 'waiting', wait, since };
  }

  /** The sync has failed while its request goes on: the pod is not free before {@link release}. */
  settleOverdue(wait: Wait | undefined): void {
    const { underWay } = this;
    if (underWay !== undefined) this.#activity = { ...underWay, kind: 'overdue', wait };
  }

  /** The overdue request has settled. */
  release(): void {
    const { wait, since } = this;
    this.#activity = wait === undefined || since === undefined ? idle : { kind: 'waiting', wait, since };
  }

  endWait(): void {
    if (this.#activity.kind === 'waiting') this.#activity = idle;
    else if (this.#activity.kind === 'overdue') this.#activity = { ...this.#activity, wait: undefined };
  }

  /** The failures before this are over. */
  succeed(): void {
    this.failures = 0;
    this.lastError = undefined;
    this.failure = undefined;
    this.releasedBySuccess = false;
  }

  /** `what`: what could not be done. */
  fail(error: LastError, what: string, words: FailureInWords): void {
    this.failures++;
    this.lastError = error;
    this.failure = { what, words, since: this.failure?.since ?? error.at };
  }

  /** The pod's entry was dropped: nothing is remembered but that something is under way, and a PATCH in doubt. */
  forget(): void {
    this.succeed();
    this.fetch = false;
    this.phaseHeldBack = false;
    this.endWait();
    const { underWay } = this;
    if (underWay !== undefined) this.#activity = { ...underWay, entryDropped: true, afterwards: 'nothing' };
  }
}
