import { jitter, type Outcome } from './play-scenario.ts';
import type { Arrived } from './replay-client.ts';
import type { Step } from './replay-scenario.ts';
import type { World } from './replay-world.ts';

/** A backoff is at most this long after the first failure, twice as long after the next, and so on. */
const firstBackoffMs = 1000;
const longestBackoffMs = 60_000;
/** What the replay's server asks for with a 429. A pause is never shorter than a backoff after as many of them in a row. */
const askedMs = 1000;

/** One pod's requests so far, as the server answered them. */
interface PodRequests {
  /** The last request failed on demand; how many have in a row, and when the last one did. */
  failed?: { readonly inARow: number; readonly at: number } | undefined;
  /** The last write of another writer, until an answer shows it or a batch runs after the pod manager has shown it. */
  foreign?: { readonly resourceVersion: string; readonly uid: string } | undefined;
}

/** What the server knows of our manager's requests. By these facts a rule may say that our manager is late. */
export class OurRequests {
  readonly #world: World;
  readonly #pods = new Map<string, PodRequests>();
  /** The uids whose last request was answered "no such pod", until something causes the next request. True once the pod manager shows the pod again. */
  readonly #absent = new Map<string, boolean>();
  /** Mirror pods that the pod manager shows since the last batch, and that our manager has not asked for yet. */
  readonly #newMirrors = new Set<string>();
  #pausedUntil = Number.NEGATIVE_INFINITY;
  /** How many pauses there have been since a PATCH was last taken. */
  #throttledInARow = 0;
  #shown: Readonly<Record<string, string>> = {};
  /** uids that the pod manager has shown at some time, and those it had forgotten when the last batch ran. */
  readonly #everShown = new Set<string>();
  #forgotten: ReadonlySet<string> = new Set();
  #now: readonly Arrived[] = [];

  constructor(world: World) {
    this.#world = world;
  }

  note(step: Step, outcome: Outcome, hasBatch: boolean): void {
    if (hasBatch) this.#noteBatch();
    this.#noteForeign(step, outcome);
    this.#noteReturns(outcome, hasBatch);
    this.#noteShown(outcome);
    this.#now = outcome.arrived;
    for (const arrived of outcome.arrived) this.#noteArrived(arrived);
  }

  /** A request for the pod failed, and its backoff may not be over. */
  isBackingOff(pod: string, now: number): boolean {
    const failed = this.#pods.get(pod)?.failed;
    return failed !== undefined && now < failed.at + backoffAfter(failed.inARow);
  }

  /** The server asked the whole client to wait, and that is not over. */
  isPaused(now: number): boolean {
    return now < this.#pausedUntil;
  }

  hasFailedNow(pod: string): boolean {
    return this.#now.some((arrived) => arrived.pod === pod && arrived.injected);
  }

  /** An answer of this step has shown our manager which pod has the name now. */
  hasReadNow(pod: string): boolean {
    return this.readsNow(pod) > 0;
  }

  /** How many answers of this step have done so. */
  readsNow(pod: string): number {
    return this.#now.filter((arrived) => arrived.pod === pod && arrived.verb === 'get' && arrived.code === 200).length;
  }

  /** A DELETE of this step was answered that there is no such pod. */
  hasFoundNothingToDelete(pod: string): boolean {
    return this.#now.some((arrived) => arrived.pod === pod && arrived.verb === 'delete' && arrived.code === 404);
  }

  /** The pod manager shows this mirror pod, our manager has not asked for it yet, and no batch has run since. */
  isNewMirror(uid: string | undefined): boolean {
    return uid !== undefined && this.#newMirrors.has(uid);
  }

  /** A batch has run since the pod manager forgot this pod. */
  isForgotten(uid: string): boolean {
    return this.#forgotten.has(uid);
  }

  /** The server has said that there is no such pod, and nothing has caused another request since. */
  wasToldOfNoPod(uid: string | undefined): boolean {
    return uid !== undefined && this.#absent.has(uid);
  }

  /** The last write of another writer to the pod was in no answer, and no batch has run since the pod manager showed it, if it has. */
  hasNotDealtWithForeignWrite(pod: string): boolean {
    return this.#pods.get(pod)?.foreign !== undefined;
  }

  /** The batch compares with what the pod manager showed before this step. */
  #noteBatch(): void {
    for (const requests of this.#pods.values()) {
      const { foreign } = requests;
      if (foreign && Number(this.#shown[foreign.uid] || 0) >= Number(foreign.resourceVersion)) requests.foreign = undefined;
    }
    this.#newMirrors.clear();
    this.#forgotten = new Set([...this.#everShown].filter((uid) => !(uid in this.#shown)));
  }

  #noteShown({ shown }: Outcome): void {
    for (const uid of Object.keys(shown)) {
      if (!(uid in this.#shown) && this.#world.isMirror(uid)) this.#newMirrors.add(uid);
      this.#everShown.add(uid);
    }
    this.#shown = shown;
  }

  #noteArrived({ pod, verb, code, at, injected, resourceVersion, patched }: Arrived): void {
    const requests = this.#of(pod);
    const podUIDs = this.#world.uidsOf(pod);
    if (code === 429) this.#notePause(at);
    if (patched !== undefined) this.#throttledInARow = 0;
    // the Node authorizer answers 403 for a pod that is not on the node any more
    const isAbsent = code === 404 || (code === 403 && ![...podUIDs].some((uid) => uid in this.#shown));
    if (isAbsent) for (const uid of podUIDs) this.#absent.set(uid, false);
    if (patched !== undefined) this.#absent.delete(patched.before.metadata?.uid ?? '');
    if (injected) requests.failed = { inARow: (requests.failed?.inARow ?? 0) + 1, at };
    else if (verb !== 'get' && code === 200) requests.failed = undefined;
    if (code !== 200) return;
    if (resourceVersion !== undefined) requests.foreign = undefined;
    for (const uid of podUIDs) this.#newMirrors.delete(uid);
  }

  /** Requests that fail during a pause make no new one. */
  #notePause(at: number): void {
    if (at >= this.#pausedUntil) this.#throttledInARow++;
    this.#pausedUntil = Math.max(this.#pausedUntil, at + Math.max(askedMs, jitter * backoffAfter(this.#throttledInARow)));
  }

  /** What causes the next request for a pod that is not there: a new status, or a batch after the pod manager has shown another copy. */
  #noteReturns({ notifications, shown }: Outcome, hasBatch: boolean): void {
    for (const { podUID } of notifications) this.#absent.delete(podUID);
    for (const [uid, shownAnew] of this.#absent) {
      if (shownAnew && hasBatch) this.#absent.delete(uid);
      else if (uid in shown && shown[uid] !== this.#shown[uid]) this.#absent.set(uid, true);
    }
  }

  #noteForeign({ op, pod, namespace, name }: Step, { versions }: Outcome): void {
    if (op === 'apiserver.put' && pod?.metadata) {
      const { uid = '' } = pod.metadata;
      const key = `${pod.metadata.namespace}/${pod.metadata.name}`;
      this.#of(key).foreign = { resourceVersion: versions[key] ?? '0', uid };
    }
    if (op === 'apiserver.remove') this.#of(`${namespace}/${name}`).foreign = undefined;
  }

  #of(pod: string): PodRequests {
    let requests = this.#pods.get(pod);
    if (requests === undefined) {
      requests = {};
      this.#pods.set(pod, requests);
    }
    return requests;
  }
}

/** The longest backoff after this many failures in a row. */
function backoffAfter(failures: number): number {
  return Math.min(longestBackoffMs, firstBackoffMs * 2 ** (failures - 1));
}
