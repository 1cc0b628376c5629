import { isDeepStrictEqual } from 'node:util';
import type { WirePodStatus } from '../../../src/index.ts';
import type { Attempt } from './recorded-calls.ts';
import type { Expected } from './recording.ts';
import type { Call, Step } from './replay-scenario.ts';
import type { World } from './replay-world.ts';

/** Upstream's requests, as far as rules need them. */
export class TheirRequests {
  readonly #world: World;
  readonly #last = new Map<string, Attempt>();
  #now: ReadonlyMap<string, Attempt> = new Map();
  #failedNow: ReadonlySet<string> = new Set();
  #retriedNow: ReadonlySet<string> = new Set();
  /** The uids whose entry is gone or new, while upstream still remembers the acknowledged version of the old entry. */
  readonly #leftovers = new Set<string>();
  /** uids that upstream has written since the pod manager was last given a copy. */
  readonly #unshown = new Set<string>();
  /** The same, before the last batch of this step. */
  #unshownBefore: ReadonlySet<string> = new Set();
  /** Pods that another writer has changed since upstream last asked for them, and whether the pod manager has been given a copy. */
  readonly #foreign = new Map<string, 'unseen' | 'shown'>();
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
    this.#noteForeign(step, expected, batches > 0);
    this.#noteShown(step, expected);
    const before = new Set(this.#unshown);
    for (const { verb, error, patch } of calls) if (verb === 'patch' && !error) this.#unshown.add(uidOf(patch));
    this.#unshownBefore = batches > 1 ? new Set(this.#unshown) : before;
    const deleted = new Set(calls.filter(({ verb, error }) => verb === 'delete' && !error).map(({ uid = '' }) => uid));
    for (const [pod, podUIDs] of this.#world.pods) {
      const gets = calls.filter(({ verb, pod: asked }) => verb === 'get' && asked === pod).length;
      for (const uid of podUIDs) {
        const isAsked = expected.attempts.has(pod) && (gets > 1 || isAboutUID(step, uid, podUIDs, expected.cache));
        this.#noteLeftover(uid, { isAsked, isDeleted: deleted.has(uid), isShown: uid in shown, hasBatch: batches > 0 }, expected);
      }
    }
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

  /** Upstream takes the first versions of this entry for acknowledged, because it remembers the version of an older entry. */
  takesForAcknowledged(podUID: string): boolean {
    return this.#leftovers.has(podUID);
  }

  /** When the last batch of this step ran, the pod manager's copy was older than upstream's own last PATCH. */
  hasOwnWriteUnshown(podUID: string): boolean {
    return this.#unshownBefore.has(podUID);
  }

  /** The last write of another writer was in no answer to upstream, and no batch has run since the pod manager showed it, if it has. */
  hasNotDealtWithForeignWrite(pod: string): boolean {
    return this.#foreign.has(pod);
  }

  #noteShown({ op, pod, namespace, name }: Step, { recorded }: Expected): void {
    const observed = op === 'podManager.observe' ? recorded[`${namespace}/${name}`]?.uid : undefined;
    if (observed !== undefined) this.#unshown.delete(observed);
    if (op.startsWith('podManager.') && pod) this.#unshown.delete(pod.metadata?.uid ?? '');
  }

  #noteForeign({ op, pod, namespace, name }: Step, { attempts, recorded }: Expected, hasBatch: boolean): void {
    if (hasBatch) for (const [key, state] of this.#foreign) if (state === 'shown') this.#foreign.delete(key);
    const key = pod === undefined ? `${namespace}/${name}` : `${pod.metadata?.namespace}/${pod.metadata?.name}`;
    if (op === 'apiserver.put') this.#foreign.set(key, 'unseen');
    if (op === 'apiserver.remove') this.#foreign.delete(key);
    if (op === 'podManager.observe' && key in recorded && this.#foreign.has(key)) this.#foreign.set(key, 'shown');
    for (const [asked, attempt] of attempts) if (attempt === 'done') this.#foreign.delete(asked);
  }

  /** `isAsked`: a request of this step was for the entry of this uid. */
  #noteLeftover(
    uid: string,
    { isAsked, isDeleted, isShown, hasBatch }: Readonly<Record<'isAsked' | 'isDeleted' | 'isShown' | 'hasBatch', boolean>>,
    { cache }: Expected,
  ): void {
    const had = uid in this.#cache;
    // a batch cleans up after entries that are gone, but for those of mirror pods it knows
    const isSwept = hasBatch && !had && !(this.#world.isMirror(uid) && isShown);
    if (isSwept || (had && isAsked)) this.#leftovers.delete(uid);
    if ((had || isDeleted) && !(uid in cache)) this.#leftovers.add(uid);
  }
}

/** An operation on another pod of the same name brings the request for that one; a static pod's entry is read under its mirror's uid, too. */
export function isAboutUID(
  { podUID }: Step,
  uid: string,
  podUIDs: ReadonlySet<string>,
  cache: Readonly<Record<string, WirePodStatus>>,
): boolean {
  if (podUID === undefined || podUID === uid || !podUIDs.has(podUID)) return true;
  return podUID in cache && isDeepStrictEqual(cache[podUID], cache[uid]);
}

function uidOf(patch: Call['patch']): string {
  return (patch?.metadata as { uid?: string } | undefined)?.uid ?? '';
}
