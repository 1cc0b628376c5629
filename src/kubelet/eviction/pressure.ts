// Behaviour of pkg/kubelet/eviction/helpers.go (nodeConditionsObservedSince), v1.36.3.
import type { NodePressures } from '../../node/node-object/node-conditions.ts';
import { type MetThreshold, signalKinds } from './signals.ts';

/** What runs short, and for a while afterwards still counts as running short, so that pods do not come and go. */
export class Pressure {
  readonly #transitionPeriodMs: number;
  readonly #lastSeen = new Map<keyof NodePressures, number>();
  #now: Required<NodePressures> = { memory: false, disk: false, pid: false };

  constructor(transitionPeriodMs: number) {
    this.#transitionPeriodMs = transitionPeriodMs;
  }

  get current(): Required<NodePressures> {
    return this.#now;
  }

  /** True when this changes what counts. */
  observe(met: readonly MetThreshold[], now: number): boolean {
    for (const { signal } of met) this.#lastSeen.set(signalKinds[signal].pressure, now);
    const isUnder = (name: keyof NodePressures): boolean => {
      const seen = this.#lastSeen.get(name);
      return seen !== undefined && now - seen < this.#transitionPeriodMs;
    };
    const before = this.#now;
    this.#now = { memory: isUnder('memory'), disk: isUnder('disk'), pid: isUnder('pid') };
    return before.memory !== this.#now.memory || before.disk !== this.#now.disk || before.pid !== this.#now.pid;
  }
}
