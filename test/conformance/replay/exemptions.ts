import { isDeepStrictEqual } from 'node:util';
import type { AspectDifference, PodView } from './compare.ts';
import type { Expected } from './expected.ts';
import type { Outcome } from './play.ts';
import type { Step } from './scenario.ts';

/** The rules of DIVERGENCES.md that explain a difference, by their number there. */
export const exemptions = {
  'D1 retry': 'a failed request is retried by backoff and by nobody else’s change, and a new version at once',
  'D2 entry': 'the acknowledged version goes with the entry, so a pod set again is sent at once',
  'D3 unobserved': 'a write the pod manager has not seen is found by a conflict or a later look, not by a GET before each patch',
  'D5 recreated': 'a recreated pod to which nothing would be written is found when the next write is due',
  'D6 disruption time': 'the cached DisruptionTarget keeps its time; upstream’s merge writes a new one into the cache',
  'D7 pause': 'after a 429 nothing is sent for as long as the server asked',
  'D8 gone': 'a pod the apiserver did not know is not asked for because another pod changed, but when it is seen again',
  'D9 server fill-ins':
    'a copy observed from the server holds what the server keeps (D9) and one end of Ready (D10), the oracle’s does not',
  'D4 init order': 'an API status with init containers out of spec order is put in order before it is compared',
} as const;

export type Exemption = keyof typeof exemptions;

export interface PairContext {
  readonly step: Step;
  readonly pod: string;
  readonly podUIDs: ReadonlySet<string>;
  readonly expected: Expected;
  readonly outcome: Outcome;
  readonly differences: readonly AspectDifference[];
  readonly expectedView: PodView;
  readonly gotView: PodView;
  /** The pod manager's copy of the pod lists init containers in another order than the spec. */
  readonly initOutOfOrder: boolean;
}

/** What has happened to one pod that may explain a difference. */
export class PodHistory {
  /** The rule under which the two differ now; they are compared all the same, and it ends when they agree. */
  #divergence: Exemption | undefined;
  #failed = false;
  #failedNow = false;
  #paused = false;
  #gone = false;
  #goneNow = false;
  #unobserved = false;
  #wasUnobserved = false;
  /** One side began the pod's entry anew while the other kept it. */
  #livesApart = false;
  /** The rule under which something differs that is not compared: the copy the pod manager was given, or the entry's age. */
  #aftermath: Exemption | undefined;
  /** The uids of which the pod manager was given a copy while the two differed. */
  readonly #observedApart = new Set<string>();
  #entryApart = false;
  readonly #dropped = new Set<string>();
  #cached = new Set<string>();
  #cachedBefore = new Set<string>();

  get livesApart(): boolean {
    return this.#livesApart || this.#aftermath !== undefined;
  }

  /** Before a step's pair is compared. */
  note(pod: string, podUIDs: ReadonlySet<string>, step: Step, expected: Expected, outcome: Outcome): void {
    this.#failedNow = expected.failed.has(pod) || outcome.failed.has(pod);
    if (this.#failedNow) this.#failed = true;
    if (step.op === 'podManager.observe' && `${step.namespace}/${step.name}` === pod)
      this.#observed((expected.server[pod] ?? outcome.server[pod])?.uid, expected.filledIn.has(pod));
    this.#paused = outcome.paused;
    this.#wasUnobserved = this.#unobserved;
    this.#unobserved = outcome.unobserved.has(pod);
    const cached = new Set([...podUIDs].filter((podUID) => podUID in expected.cache));
    for (const podUID of this.#cached) if (!cached.has(podUID)) this.#dropped.add(podUID);
    this.#goneNow = cached.size > 0 && expected.server[pod] === undefined;
    if (this.#goneNow) this.#gone = true;
    this.#cachedBefore = this.#cached;
    this.#cached = cached;
  }

  /** The pod manager was given the server's copy; where one server has none any more, only ours or only theirs was. */
  #observed(apiUID: string | undefined, filledIn: boolean): void {
    if (apiUID === undefined) return;
    if (filledIn || this.#divergence !== undefined) this.#observedApart.add(apiUID);
    else this.#observedApart.delete(apiUID);
    if (filledIn) this.#aftermath ??= 'D9 server fill-ins';
  }

  /** The two agree after this step. A failed request is only behind them once a batch has passed. */
  agreed({ op, seconds = 0 }: Step): void {
    if (this.#livesApart) this.#entryApart = true;
    if (this.#cached.size === 0) this.#entryApart = false;
    if (this.#divergence !== undefined) this.#aftermath = this.#divergence;
    if (this.#observedApart.size === 0 && !this.#entryApart) this.#aftermath = undefined;
    this.#divergence = undefined;
    this.#livesApart = false;
    if (op !== 'advance' || seconds < 10) return;
    this.#failed = this.#failedNow;
    this.#gone = this.#goneNow;
  }

  /** The two differ after this step, and `rule` says why. */
  diverged(rule: Exemption): void {
    this.#divergence = rule;
  }

  /** The rule that explains the difference, if one does. */
  explain(pair: PairContext): Exemption | undefined {
    const rule = this.#rule(pair);
    // a pod observed while the two held different ones on the server: the agent's own look at it differs too
    if (rule !== undefined && this.#observedApart.size > 0 && pair.step.op === 'reconcilePodReadiness') this.#livesApart = true;
    const presence = cachePresenceDiffers(pair);
    if (!this.livesApart && contentDiffers(pair) && rule !== 'D4 init order') return undefined;
    // one side began the pod's entry anew: its times and versions are those of another life until the two agree
    if (rule !== undefined && presence) this.#livesApart = true;
    return rule;
  }

  #rule(pair: PairContext): Exemption | undefined {
    if (this.#divergence !== undefined && this.#divergence !== 'D6 disruption time') return this.#divergence;
    if (pair.initOutOfOrder && this.#isFirstStatus(pair)) return 'D4 init order';
    if (onlyDisruptionTimeDiffers(pair)) return 'D6 disruption time';
    if (this.#aftermath !== undefined) return this.#aftermath;
    if (this.#failed) return 'D1 retry';
    if (this.#paused && pair.gotView.writes.length < pair.expectedView.writes.length) return 'D7 pause';
    if (isFoundLater(pair)) return 'D5 recreated';
    if (this.#gone && pair.gotView.writes.length < pair.expectedView.writes.length) return 'D8 gone';
    if (this.#unobserved || this.#wasUnobserved) return 'D3 unobserved';
    return isSentAtOnce(pair) && [...pair.podUIDs].some((podUID) => this.#dropped.has(podUID)) ? 'D2 entry' : undefined;
  }

  /** The operation makes the pod's entry, from the API status. */
  #isFirstStatus({ step, podUIDs }: PairContext): boolean {
    return step.podUID !== undefined && podUIDs.has(step.podUID) && !this.#cachedBefore.has(step.podUID);
  }
}

/** Ours wrote where upstream stayed silent, or looked and found another pod. */
function isSentAtOnce(pair: PairContext): boolean {
  if (pair.expectedView.writes.length > 0) return false;
  const [expected, got] = caches(pair);
  const foundOther = Object.keys(expected).some((podUID) => !(podUID in got) && pair.gotView.server?.uid !== podUID);
  return foundOther || pair.gotView.writes.length > 0;
}

function caches(pair: PairContext): [Record<string, unknown>, Record<string, unknown>] {
  const cache = pair.differences.find(({ aspect }) => aspect === 'cache');
  return [(cache?.expected ?? {}) as Record<string, unknown>, (cache?.got ?? {}) as Record<string, unknown>];
}

function cachePresenceDiffers(pair: PairContext): boolean {
  const [expected, got] = caches(pair);
  return !isDeepStrictEqual(Object.keys(expected).sort(), Object.keys(got).sort());
}

/** A cached status that both have, a notification, or a resize condition of no dropped entry differs: never explained away while both speak of one life of the pod. */
function contentDiffers(pair: PairContext): boolean {
  const [expected, got] = caches(pair);
  const both = Object.keys(expected).filter((podUID) => podUID in got);
  if (both.some((podUID) => !isDeepStrictEqual(untimed(expected[podUID]), untimed(got[podUID])))) return true;
  const presence = cachePresenceDiffers(pair);
  return pair.differences.some(({ aspect }) => aspect === 'notifications' || (aspect === 'resizeConditions' && !presence));
}

function onlyDisruptionTimeDiffers({ differences }: PairContext): boolean {
  return differences.every(({ expected, got }) => isDeepStrictEqual(untimed(expected), untimed(got)));
}

/** Without the time of a DisruptionTarget condition. */
function untimed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(untimed);
  if (typeof value !== 'object' || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, untimed(inner)]));
  if (copy.type === 'DisruptionTarget') delete copy.lastTransitionTime;
  return copy;
}

/** Upstream dropped the entry of a uid that the server no longer has; ours has it still. */
function isFoundLater(pair: PairContext): boolean {
  const [expected, got] = caches(pair);
  return Object.keys(got).some((podUID) => !(podUID in expected) && pair.expectedView.server?.uid !== podUID);
}
