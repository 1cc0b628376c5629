import type { Prng } from '../../chaos/prng.ts';
import type { SimulatedClock } from '../simulated-clock.ts';
import { type FleetPods, notBound } from './fleet-pods.ts';
import type { PodStates } from './pod-states.ts';

export interface ChangingPodsParts {
  readonly clock: SimulatedClock;
  readonly prng: Prng;
  readonly table: FleetPods;
  readonly states: PodStates;
  readonly nodesOf: readonly (readonly number[])[];
  readonly count: (what: string) => void;
}

const busyMs = 60_000;
const quietMs = 600_000;

/** What happens to the pods, whoever owns their nodes: they come, and change their states. One pod of each shard changes most. */
export class ChangingPods {
  readonly #parts: ChangingPodsParts;
  readonly #nodes: number;
  #everyMs = busyMs;
  #isHeld = false;
  #isOver = false;

  constructor(parts: ChangingPodsParts) {
    this.#parts = parts;
    this.#nodes = parts.nodesOf.reduce((sum, { length }) => sum + length, 0);
    this.#next();
  }

  /** Little happens from now on. */
  quieten(): void {
    this.#everyMs = quietMs;
  }

  /** Nothing happens, until it is let go on. */
  hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
  }

  end(): void {
    this.#isOver = true;
  }

  /** The pods on the server whose status is another than their state. */
  outOfStep(): readonly number[] {
    const { table, states } = this.#parts;
    const pods: number[] = [];
    for (let pod = 0; pod < states.pods; pod++) {
      const version = table.versionOf(pod);
      if (version !== notBound && (version !== states.of(pod) || version === 0)) pods.push(pod);
    }
    return pods;
  }

  /** Each node has something to say every `everyMs` on average. */
  #next(): void {
    const { clock, prng } = this.#parts;
    const change = (): void => {
      if (this.#isOver) return;
      if (!this.#isHeld) this.#change();
      this.#next();
    };
    clock.schedule(change, prng.between(0, (2 * this.#everyMs) / this.#nodes));
  }

  #change(): void {
    const { prng, table, states, count } = this.#parts;
    const pod = prng.chance(0.5) ? this.#busyPod() : prng.int(0, this.#nodes * table.podsPerNode - 1);
    if (table.versionOf(pod) !== notBound) {
      states.change(pod);
      return;
    }
    if (!table.bind(pod)) return;
    count('pod bound');
    states.tell(pod);
  }

  #busyPod(): number {
    const { prng, nodesOf, table } = this.#parts;
    return (prng.pick(nodesOf)?.[0] ?? 0) * table.podsPerNode;
  }
}
