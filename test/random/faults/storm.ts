import { Prng } from '../chaos/prng.ts';
import type { Ledger } from '../chaos/said/ledger.ts';
import type { FaultPlan } from './fault-plan.ts';
import type { Disturbance } from './fault-target.ts';
import type { JumpingClock } from './jumping-clock.ts';
import type { NodeAgent } from './node-agent.ts';
import { pause } from './pause.ts';

/** A turn of the event loop that takes longer than this says that the machine is busy. */
const slowTurnMs = 50;

export interface StormParts {
  readonly seed: number;
  readonly updates: number;
  readonly seconds: number;
  readonly agent: NodeAgent;
  readonly ledger: Ledger;
  readonly clock: JumpingClock;
  readonly plan: FaultPlan;
  readonly isOver: () => boolean;
}

/** The part of a run with faults: updates at an even pace, disturbances one after the other, clock jumps. */
export class Storm {
  readonly disturbances = new Map<string, number>();
  peakHeap = 0;
  readonly #parts: StormParts;
  #disturbing = true;
  #progress = 0;

  constructor(parts: StormParts) {
    this.#parts = parts;
  }

  async run(disturbances: readonly Disturbance[]): Promise<void> {
    const weighing = setInterval(() => {
      this.peakHeap = Math.max(this.peakHeap, process.memoryUsage().heapUsed);
    }, 100);
    await Promise.all([this.#update(), this.#disturb(disturbances), this.#jump()]);
    clearInterval(weighing);
  }

  /** The last update comes after the last disturbance, however long that took. */
  async #update(): Promise<void> {
    const { updates, seconds, agent, ledger, isOver } = this.#parts;
    const began = performance.now();
    let burst = 200;
    while (!isOver()) {
      this.#progress = (performance.now() - began) / (seconds * 1000);
      if (this.#progress >= 1 && ledger.updates >= updates && !this.#disturbing) return;
      const due = this.#progress >= 1 && !this.#disturbing ? updates : Math.min(this.#progress, 1) * updates - 1;
      // updates come in bursts, so that sockets get their turn; one by one while the event loop is slow
      for (let n = 0; n < burst && ledger.updates < due; n++) agent.update();
      const before = performance.now();
      await pause(5);
      burst = performance.now() - before > slowTurnMs ? 1 : 200;
    }
  }

  async #disturb(disturbances: readonly Disturbance[]): Promise<void> {
    for (const [i, { kind, run }] of disturbances.entries()) {
      while (this.#progress < (i + 0.5) / disturbances.length && !this.#parts.isOver()) await pause(20);
      if (this.#parts.isOver()) break;
      await run();
      this.disturbances.set(kind, (this.disturbances.get(kind) ?? 0) + 1);
    }
    this.#disturbing = false;
  }

  async #jump(): Promise<void> {
    const { seed, clock, plan, isOver } = this.#parts;
    const prng = new Prng(seed).fork('clock');
    for (let i = 1; i <= 8; i++) {
      while (this.#progress < i / 9 && !isOver()) await pause(20);
      clock.jump(prng.between(-7_200_000, 7_200_000));
      plan.count('clock jump');
    }
  }
}
