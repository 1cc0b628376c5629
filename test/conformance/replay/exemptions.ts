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
  /** The init containers of the pod's spec, by name and in order. */
  readonly initContainers: readonly string[];
}

/** What has happened to one pod that may explain a difference. */
export class PodHistory {
  /** The rule under which the two differ now; they are compared all the same, and it ends when they agree. */
  divergence: Exemption | undefined;
  #failed = false;
  #unobserved = false;
  #wasUnobserved = false;
  #livesApart = false;
  readonly #dropped = new Set<string>();
  #cached = new Set<string>();

  get livesApart(): boolean {
    return this.#livesApart;
  }

  /** Before a step's pair is compared. */
  note(pod: string, podUIDs: ReadonlySet<string>, expected: Expected, outcome: Outcome): void {
    if (expected.failed.has(pod) || outcome.failed.has(pod)) this.#failed = true;
    this.#wasUnobserved = this.#unobserved;
    this.#unobserved = outcome.unobserved.has(pod);
    const cached = new Set([...podUIDs].filter((podUID) => podUID in expected.cache));
    for (const podUID of this.#cached) if (!cached.has(podUID)) this.#dropped.add(podUID);
    this.#cached = cached;
  }

  /** The two agree after this step. A failed request is only behind them once a batch has passed. */
  agreed({ op, seconds = 0 }: Step): void {
    this.divergence = undefined;
    this.#livesApart = false;
    if (op === 'advance' && seconds >= 10) this.#failed = false;
  }

  /** The rule that explains the difference, if one does. */
  explain(pair: PairContext): Exemption | undefined {
    const rule = this.#rule(pair);
    const presence = cachePresenceDiffers(pair);
    if (!this.#livesApart && contentDiffers(pair) && rule !== 'D4 init order') return undefined;
    // one side began the pod's entry anew: its times and versions are those of another life until the two agree
    if (rule !== undefined && presence) this.#livesApart = true;
    return rule;
  }

  #rule(pair: PairContext): Exemption | undefined {
    if (this.divergence !== undefined && this.divergence !== 'D6 disruption time') return this.divergence;
    if (isInitOrderCase(pair)) return 'D4 init order';
    if (onlyDisruptionTimeDiffers(pair)) return 'D6 disruption time';
    if (this.#failed) return 'D1 retry';
    if (isFoundLater(pair)) return 'D5 recreated';
    if (this.#unobserved || this.#wasUnobserved) return 'D3 unobserved';
    return isSentAtOnce(pair) && [...pair.podUIDs].some((podUID) => this.#dropped.has(podUID)) ? 'D2 entry' : undefined;
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

/** A cached status that both have, or a notification, differs: never explained away while both speak of one life of the pod. */
function contentDiffers(pair: PairContext): boolean {
  const [expected, got] = caches(pair);
  const both = Object.keys(expected).filter((podUID) => podUID in got);
  if (both.some((podUID) => !isDeepStrictEqual(untimed(expected[podUID]), untimed(got[podUID])))) return true;
  return pair.differences.some(({ aspect }) => aspect === 'notifications');
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

/** Upstream refused the first status of a pod because of the order its API status has. */
function isInitOrderCase({ step, podUIDs, expected, expectedView, gotView, initContainers }: PairContext): boolean {
  if (step.podUID === undefined || !podUIDs.has(step.podUID) || step.podUID in expected.cache) return false;
  if (gotView.notifications.length === 0 || expectedView.notifications.length > 0) return false;
  return expectedView.server?.status.initContainerStatuses?.some(({ name }, index) => name !== initContainers[index]) === true;
}
