import { requireKnownOptions } from '../../base/options.ts';
import type { CycleState, StateData, StateKey } from '../framework/cycle-state.ts';
import { maxNodeScore } from '../framework/plugin.ts';
import { totalsByDomain } from '../nodes/domain-totals.ts';
import type { Snapshot } from '../nodes/node-info.ts';
import { PodIndex, type PodsByNode } from '../nodes/pod-index.ts';
import type { PodInfo } from '../nodes/pod-info.ts';

/** The label that tells nodes apart. */
export const hostname = 'kubernetes.io/hostname';

/**
 * How many pods each topology domain has, by the value of the nodes' label. A clone costs only what was changed since the
 * counts were first shared: preemption makes one for each node that it tries.
 */
export class DomainCounts {
  /** Not written any more once it is shared with a clone. */
  readonly #base: Base;
  /** The counts that differ from the base, or are not in it. */
  readonly #changed: Map<string, number>;
  #isShared = false;
  #size = 0;
  #positive = 0;
  /** Known until something is counted. */
  #minimum: number | undefined;

  constructor(from?: DomainCounts) {
    if (from === undefined) {
      this.#base = new Base();
      this.#changed = new Map();
    } else {
      this.#base = from.#base;
      this.#changed = new Map(from.#changed);
      this.#isShared = true;
      this.#size = from.#size;
      this.#positive = from.#positive;
    }
  }

  /** The number of domains, those without pods among them. */
  get size(): number {
    return this.#size;
  }

  /** True where no domain has a pod. */
  get isEmpty(): boolean {
    return this.#positive === 0;
  }

  /** 0 for a domain that is not known. */
  get(domain: string): number {
    return this.#changed.get(domain) ?? this.#base.counts.get(domain) ?? 0;
  }

  /** The domains that have a pod. */
  *withPods(): Generator<string> {
    for (const [domain, pods] of this.#changed) if (pods > 0) yield domain;
    if (this.#positive === 0) return;
    for (const [domain, pods] of this.#base.counts) if (pods > 0 && !this.#changed.has(domain)) yield domain;
  }

  /** Counts so many pods more; a domain that was not known is known from now on, even with 0. */
  add(domain: string, pods: number): void {
    const before = this.#changed.get(domain) ?? this.#base.counts.get(domain);
    const after = (before ?? 0) + pods;
    if (before === undefined) this.#size += 1;
    this.#minimum = undefined;
    this.#positive += Number(after > 0) - Number((before ?? 0) > 0);
    if (this.#isShared) this.#changed.set(domain, after);
    else this.#base.counts.set(domain, after);
  }

  /** The fewest pods of any domain; 0 where there is none. Asked after the first clone or filter, it costs what changed since. */
  minimum(): number {
    this.#minimum ??= this.#findMinimum();
    return this.#minimum;
  }

  clone(): DomainCounts {
    this.#isShared = true;
    return new DomainCounts(this);
  }

  #findMinimum(): number {
    this.#isShared = true;
    const unchanged = this.#base.ascending().find(([domain]) => !this.#changed.has(domain));
    let lowest = unchanged?.[1] ?? Number.POSITIVE_INFINITY;
    for (const count of this.#changed.values()) lowest = Math.min(lowest, count);
    return Number.isFinite(lowest) ? lowest : 0;
  }
}

class Base {
  readonly counts = new Map<string, number>();
  #ascending: readonly (readonly [string, number])[] | undefined;

  /** The domains by their counts, sorted once: nothing is written after the first call. */
  ascending(): readonly (readonly [string, number])[] {
    this.#ascending ??= [...this.counts].sort(([, first], [, second]) => first - second);
    return this.#ascending;
  }
}

// Behaviour of pkg/scheduler/framework/plugins/helper DefaultNormalizeScore, v1.36.3.

/**
 * Scales whole scores from 0 up, in place, so that the highest becomes 100; where all are 0 they stay 0. `reverse`: the lowest
 * number is the best, and 0 becomes 100.
 */
export function normalizeScores(scores: number[], { reverse = false }: { readonly reverse?: boolean } = {}): void {
  let highest = 0;
  for (const score of scores) if (score > highest) highest = score;
  for (let index = 0; index < scores.length; index += 1) {
    const share = highest === 0 ? 0 : Math.trunc((maxNodeScore * (scores[index] ?? 0)) / highest);
    scores[index] = reverse ? maxNodeScore - share : share;
  }
}

/** How many of a group's pods each domain has. Pods on nodes that lack the label, or are not in the snapshot, are not counted. */
export function podsByDomain(pods: PodsByNode, topologyKey: string, snapshot: Snapshot): ReadonlyMap<string, number> {
  const { grouped } = snapshot;
  // a group of the index may have been counted before
  return grouped instanceof PodIndex
    ? grouped.byDomain(pods, topologyKey, snapshot)
    : totalsByDomain(pods, topologyKey, snapshot);
}

/** What the plugin kept earlier in this cycle. Throws where it kept nothing: then it must not agree to a node. */
export function kept<Data extends StateData<Data>>(state: CycleState, key: StateKey<Data>): Data {
  const data = state.read(key);
  if (data === undefined) throw new Error(`Nothing was kept for "${key.name}" in this cycle`);
  return data;
}

/** For a plugin without arguments: throws ERR_INVALID_OPTION for any. */
export function refuseArgs(plugin: string, args: unknown): void {
  requireKnownOptions(plugin, args ?? {}, ['apiVersion', 'kind']);
}

/** Pods with the same text tolerate the same taints. */
export function tolerationsText({ pod: { spec } }: PodInfo): string {
  const tolerations = spec?.tolerations ?? [];
  return tolerations.length === 0 ? '' : JSON.stringify(tolerations);
}

/** Pods with the same text ask for the same. */
export function requestsText({ requests, nonZeroRequests }: PodInfo): string {
  const { milliCPU, memory, ephemeralStorage, scalar } = requests;
  const text = `${milliCPU} ${memory} ${ephemeralStorage} ${nonZeroRequests.milliCPU} ${nonZeroRequests.memory}`;
  return scalar.size === 0 ? text : `${text} ${JSON.stringify([...scalar])}`;
}
