import type { Attempt } from './recorded-calls.ts';
import type { Expected } from './recording.ts';
import type { Step } from './scenario.ts';
import type { World } from './world.ts';

/** What upstream has asked of the server, as far as rules go by it. */
export class TheirRequests {
  readonly #world: World;
  readonly #last = new Map<string, Attempt>();
  #now: ReadonlyMap<string, Attempt> = new Map();
  #failedNow: ReadonlySet<string> = new Set();
  #retriedNow: ReadonlySet<string> = new Set();
  /** uids whose entry is gone, or new, while the version that was acknowledged of the old one is still remembered. */
  readonly #leftovers = new Set<string>();
  /** Pods that upstream has written since the pod manager was last given a copy. */
  readonly #unshown = new Set<string>();
  /** Those of which that was so before the last batch of this step. */
  #unshownBefore: ReadonlySet<string> = new Set();
  #cache: Expected['cache'] = {};

  constructor(world: World) {
    this.#world = world;
  }

  /** `shown` are the uids in the pod manager, `batches` is how often the batch has run. */
  note(step: Step, expected: Expected, shown: Readonly<Record<string, string>>, batches: number): void {
    const calls = (step.expect.calls ?? []).map((call) => ({ ...call, pod: `${call.namespace}/${call.name}` }));
    this.#now = expected.attempts;
    this.#failedNow = new Set(calls.filter(({ error }) => error).map(({ pod }) => pod));
    this.#retriedNow = new Set([...expected.attempts.keys()].filter((pod) => this.isBehindAfterFailure(pod)));
    for (const [pod, attempt] of expected.attempts) this.#last.set(pod, attempt);
    this.#noteShown(step, expected);
    const before = new Set(this.#unshown);
    for (const { verb, error, pod } of calls) if (verb === 'patch' && !error) this.#unshown.add(pod);
    this.#unshownBefore = batches > 1 ? new Set(this.#unshown) : before;
    const deleted = new Set(calls.filter(({ verb, error }) => verb === 'delete' && !error).map(({ uid = '' }) => uid));
    for (const [pod, podUIDs] of this.#world.pods) this.#noteLeftovers(pod, podUIDs, expected, shown, deleted, batches > 0);
    this.#cache = expected.cache;
  }

  /** Upstream asked the server for the pod in this step. */
  hasAskedNow(pod: string): boolean {
    return this.#now.has(pod);
  }

  hasFailedNow(pod: string): boolean {
    return this.#failedNow.has(pod);
  }

  /** Upstream's last request before this step had failed, and it has asked again in this step. */
  hasRetriedNow(pod: string): boolean {
    return this.#retriedNow.has(pod);
  }

  /** Upstream's last request of the pod failed: the next wake-up or batch brings the next try. */
  isBehindAfterFailure(pod: string): boolean {
    const last = this.#last.get(pod);
    return last === 'failed' || last === 'delete failed';
  }

  /** The entry is older than it looks: upstream takes its first versions for acknowledged. */
  takesForAcknowledged(podUID: string): boolean {
    return this.#leftovers.has(podUID);
  }

  /** When the last batch of this step ran, the pod manager's copy was older than upstream's own last PATCH. */
  hasOwnWriteUnshown(pod: string): boolean {
    return this.#unshownBefore.has(pod);
  }

  #noteShown({ op, pod, namespace, name }: Step, { recorded }: Expected): void {
    if (op === 'podManager.observe' && `${namespace}/${name}` in recorded) this.#unshown.delete(`${namespace}/${name}`);
    if (op.startsWith('podManager.') && pod) this.#unshown.delete(`${pod.metadata?.namespace}/${pod.metadata?.name}`);
  }

  #noteLeftovers(
    pod: string,
    podUIDs: ReadonlySet<string>,
    { cache, attempts }: Expected,
    shown: Readonly<Record<string, string>>,
    deleted: ReadonlySet<string>,
    hasBatch: boolean,
  ): void {
    for (const uid of podUIDs) {
      const had = uid in this.#cache;
      // a batch cleans up after entries that are gone, but for those of mirror pods it knows
      const isSwept = hasBatch && !had && !(this.#world.isMirror(uid) && uid in shown);
      if (isSwept || (had && attempts.has(pod))) this.#leftovers.delete(uid);
      if ((had || deleted.has(uid)) && !(uid in cache)) this.#leftovers.add(uid);
    }
  }
}
