// Behaviour of pkg/kubelet/eviction/helpers.go (thresholdsFirstObservedAt, thresholdsMetGracePeriod, nodeConditionsObservedSince),
// v1.36.3.

import type { SteadyClock } from '../../base/clock.ts';
import type { NodePressures } from '../../node/node-object/node-conditions.ts';
import {
  byUrgency,
  type MetThreshold,
  metThresholds,
  signalKinds,
  type Threshold,
  thresholdKey,
  thresholdText,
} from './thresholds.ts';
import type { NodeUsage } from './usage.ts';

/** Something that the node runs short of. */
export interface NodeShortage {
  readonly pressure: keyof NodePressures;
  /** `memory.available: Threshold quantity: 100Mi, available: 95Mi`. */
  readonly message: string;
  /** In milliseconds since the epoch. */
  readonly since: number;
}

export interface Observation {
  /** Those for which pods have to go: their grace period is over. The most urgent one first. */
  readonly due: readonly MetThreshold[];
  /** True: something else counts as running short than before. */
  readonly isChanged: boolean;
}

/**
 * Which thresholds are met since when. What was due stays so until what has to be reclaimed is there, too. What runs short counts as
 * running short for a while afterwards, so that pods do not come and go.
 */
export class ThresholdWatch {
  readonly #transitionPeriodMs: number;
  /** By threshold, in elapsed time. */
  #metSince: ReadonlyMap<string, number> = new Map();
  #due: readonly Threshold[] = [];
  readonly #lastSeen = new Map<keyof NodePressures, number>();
  readonly #shortages = new Map<keyof NodePressures, NodeShortage>();
  #pressures: Required<NodePressures> = { memory: false, disk: false, pid: false };

  constructor(transitionPeriodMs: number) {
    this.#transitionPeriodMs = transitionPeriodMs;
  }

  get pressures(): Required<NodePressures> {
    return this.#pressures;
  }

  get shortages(): readonly NodeShortage[] {
    return [...this.#shortages.values()];
  }

  observe(thresholds: readonly Threshold[], node: NodeUsage, clock: SteadyClock): Observation {
    const now = clock.elapsed();
    const met = metThresholds(thresholds, node);
    const keys = new Set(met.map(thresholdKey));
    const unresolved = metThresholds(this.#due, node, true).filter((threshold) => !keys.has(thresholdKey(threshold)));
    const short = [...met, ...unresolved];
    this.#metSince = new Map(short.map(thresholdKey).map((key) => [key, this.#metSince.get(key) ?? now]));
    const due = short.filter((threshold) => now - (this.#metSince.get(thresholdKey(threshold)) ?? now) >= threshold.graceMs);
    this.#due = due;
    return { due: byUrgency(due), isChanged: this.#countPressures(byUrgency(short), now, clock.now()) };
  }

  #countPressures(short: readonly MetThreshold[], now: number, wallNow: number): boolean {
    const named = new Set<keyof NodePressures>();
    for (const threshold of short) {
      const { pressure } = signalKinds[threshold.signal];
      if (named.has(pressure)) continue;
      named.add(pressure);
      this.#lastSeen.set(pressure, now);
      const since = this.#shortages.get(pressure)?.since ?? wallNow;
      this.#shortages.set(pressure, { pressure, since, message: `${threshold.signal}: ${thresholdText(threshold).trim()}` });
    }
    const isUnder = (name: keyof NodePressures): boolean => {
      const seen = this.#lastSeen.get(name);
      return seen !== undefined && now - seen < this.#transitionPeriodMs;
    };
    const before = this.#pressures;
    this.#pressures = { memory: isUnder('memory'), disk: isUnder('disk'), pid: isUnder('pid') };
    for (const name of this.#shortages.keys()) if (!this.#pressures[name]) this.#shortages.delete(name);
    const { memory, disk, pid } = this.#pressures;
    return before.memory !== memory || before.disk !== disk || before.pid !== pid;
  }
}
