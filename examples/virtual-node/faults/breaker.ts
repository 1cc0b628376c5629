import { describeError, type Journal } from '../journal.ts';
import { pause } from '../pause.ts';
import { Random } from '../random.ts';
import type { FaultOn, Parts } from './fault.ts';
import { faultPlan, faults, type PlannedFault, type PlanOptions } from './fault-plan.ts';

/** Lets things go wrong as the plan says, and ends every fault again. */
export class Breaker {
  /** The names of the faults that there were. */
  readonly names = new Set<string>();
  readonly problems: string[] = [];
  readonly #parts: Parts;
  readonly #journal: Journal;
  readonly #on = new Map<PlannedFault, string>();

  constructor(parts: Parts, journal: Journal) {
    this.#parts = parts;
    this.#journal = journal;
  }

  /** What is wrong now, one sentence each. */
  get wrong(): string[] {
    return [...this.#on.values()];
  }

  /** Resolves when every fault of the plan is over, or the signal has aborted; then nothing is broken any more. Never rejects. */
  async run(options: PlanOptions, signal: AbortSignal): Promise<void> {
    for (let round = 0; !signal.aborted; round++) {
      await Promise.all(faultPlan({ ...options, round }).map((planned) => this.#play(planned, signal)));
      if (options.seconds !== undefined) return;
    }
  }

  async #play(planned: PlannedFault, signal: AbortSignal): Promise<void> {
    if (!(await pause(planned.atMs, signal))) return;
    try {
      const fault = await this.#begin(planned, signal);
      await pause(planned.forMs, signal);
      await fault?.end();
    } catch (error) {
      this.problems.push(`the fault ${planned.name} could not be played: ${describeError(error)}`);
    } finally {
      this.#on.delete(planned);
      this.#journal.event(`${planned.name} is over`);
    }
  }

  async #begin(planned: PlannedFault, signal: AbortSignal): Promise<FaultOn | undefined> {
    const { name, forMs, seed } = planned;
    const random = new Random(seed);
    const some = this.#parts.owners.pick(random, 3);
    const names = some.map((pod) => pod.name).join(', ');
    const fault = await faults[name]?.begin({ name, parts: this.#parts, random, forMs, signal, some, names });
    if (fault !== undefined) this.#on.set(planned, `${name}: ${fault.wrong}`);
    this.names.add(name);
    this.#journal.event(`${name} begins`);
    return fault;
  }
}
