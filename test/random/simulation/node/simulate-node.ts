import { Prng } from '../../chaos/prng.ts';
import type { SeededOptions, SeededResult } from '../seeded-runs.ts';
import { SimulatedClock } from '../simulated-clock.ts';
import type { NodeMutant } from './mutants.ts';
import { NodeWorld } from './node-world.ts';
import type { NodeRule } from './rules.ts';

export type NodeSimulationOptions = SeededOptions<NodeMutant>;

export interface NodeSimulationResult extends SeededResult {
  readonly violation: { readonly rule: NodeRule; readonly detail: string; readonly atMs: number } | undefined;
}

/** The longest back-off of a crashing container, twice, and a watch that lies still from the last moment of the faults. */
const convergeWithinMs = 900_000;
const quietMs = 120_000;

/** One run in virtual time. It ends at the first broken promise: what breaks later may only follow from it. */
export async function simulateNode({ seed, minutes, mutant, onStep }: NodeSimulationOptions): Promise<NodeSimulationResult> {
  const clock = new SimulatedClock();
  const prng = new Prng(seed).fork('node world');
  const [counts, faults] = [new Map<string, number>(), new Map<string, number>()];
  let violation: NodeSimulationResult['violation'];
  const found = (rule: NodeRule, detail: string): void => {
    violation ??= { rule, detail, atMs: clock.elapsedMs };
  };
  const step = (line: string): void => onStep?.(`${(clock.elapsedMs / 1000).toFixed(3)} ${line}`);
  const world = new NodeWorld({
    clock,
    prng,
    found,
    count: (what) => {
      counts.set(what, (counts.get(what) ?? 0) + 1);
      step(what);
    },
    countFault: (fault) => {
      faults.set(fault, (faults.get(fault) ?? 0) + 1);
      step(fault);
    },
    breakage: mutant?.breakage,
    onLog: onStep,
  });
  let convergedInMs: number | undefined;
  let isOver = false;
  const pause = (ms: number): Promise<void> => new Promise((resolve) => clock.schedule(resolve, ms));
  const run = async (): Promise<void> => {
    const untilMs = minutes * 60_000;
    const users = prng.fork('user times');
    const userEveryMs = users.pick([1000, 4000, 10_000]) ?? 4000;
    const act = async (): Promise<void> => {
      while (clock.elapsedMs < untilMs) {
        world.act();
        await pause(users.between(0, 2 * userEveryMs));
      }
    };
    const restarts = prng.fork('restarts');
    const restart = async (): Promise<void> => {
      world.begin();
      for (;;) {
        await pause(restarts.chance(0.3) ? restarts.between(200, 10_000) : restarts.between(10_000, 120_000));
        if (clock.elapsedMs >= untilMs) return;
        if (restarts.chance(0.6)) world.crash();
        else await world.stop();
        await pause(restarts.chance(0.5) ? restarts.between(0, 500) : restarts.between(500, 30_000));
        world.begin();
      }
    };
    await Promise.all([act(), restart()]);
    world.calmDown();
    const calmMs = clock.elapsedMs;
    for (let wrong = world.outOfStep(); wrong.length > 0; wrong = world.outOfStep()) {
      if (clock.elapsedMs > calmMs + convergeWithinMs) {
        found('what the server says is what runs', wrong.join('; '));
        return;
      }
      await pause(1000);
    }
    convergedInMs = clock.elapsedMs - calmMs;
    step('all is in step');
    await pause(quietMs);
    world.lookAtTimers();
    await world.stop();
    world.endLooks();
    await pause(quietMs);
  };
  run().then(
    () => {
      isOver = true;
    },
    (error: unknown) => found('nothing unforeseen happens', error instanceof Error ? `${error.stack}` : String(error)),
  );
  const lastMs = minutes * 60_000 + 2 * convergeWithinMs;
  await clock.runUntil(lastMs, () => isOver || violation !== undefined);
  if (!isOver) found('nothing unforeseen happens', 'the run did not end');
  return { seed, simulatedMs: clock.elapsedMs, steps: clock.turn, counts, faults, convergedInMs, violation };
}
