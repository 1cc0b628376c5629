import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Prng } from '../../chaos/prng.ts';
import type { SeededOptions, SeededResult } from '../seeded-runs.ts';
import { SimulatedClock } from '../simulated-clock.ts';
import type { AgentMutant } from './agent-mutants.ts';
import { AgentWorld } from './agent-world.ts';
import { OrderedMachine } from './ordered-machine.ts';
import type { AgentRule } from './rules.ts';

export interface AgentSimulationResult extends SeededResult {
  readonly violation: { readonly rule: AgentRule; readonly detail: string; readonly atMs: number } | undefined;
}

/** The longest back-off of a crashing container, twice, and a watch that lies still from the last moment of the faults. */
const convergeWithinMs = 900_000;
const quietMs = 150_000;
/** An agent looks for what has ended once a minute; one look may meet a pod that the agent has not heard of yet. */
const collectWithinMs = 120_000;

/** One run in virtual time. It ends at the first broken promise: what breaks later may only follow from it. */
export async function simulateAgent({
  seed,
  minutes,
  mutant,
  onStep,
}: SeededOptions<AgentMutant>): Promise<AgentSimulationResult> {
  const prng = new Prng(seed).fork('agent world');
  const folder = await mkdtemp(join(tmpdir(), 'simulated-agent-'));
  const machine = new OrderedMachine(prng.fork('machine'));
  machine.install();
  try {
    return await simulateOn(machine, { seed, minutes, mutant, onStep }, { prng, folder });
  } finally {
    machine.restore();
    await rm(folder, { recursive: true, force: true });
  }
}

async function simulateOn(
  machine: OrderedMachine,
  { seed, minutes, mutant, onStep }: SeededOptions<AgentMutant>,
  { prng, folder }: { readonly prng: Prng; readonly folder: string },
): Promise<AgentSimulationResult> {
  const clock = new SimulatedClock(machine.settle);
  const [counts, faults] = [new Map<string, number>(), new Map<string, number>()];
  let violation: AgentSimulationResult['violation'];
  const found = (rule: AgentRule, detail: string): void => {
    violation ??= { rule, detail, atMs: clock.elapsedMs };
  };
  const noteIn = (tally: Map<string, number>) => (what: string) => {
    tally.set(what, (tally.get(what) ?? 0) + 1);
    onStep?.(`${(clock.elapsedMs / 1000).toFixed(3)} ${what}`);
  };
  const note = { found, count: noteIn(counts), countFault: noteIn(faults), onLog: onStep };
  const world = new AgentWorld({ clock, prng, folder, breakage: mutant?.breakage, ...note });
  let isOver = false;
  let convergedInMs: number | undefined;
  const run = async (): Promise<void> => {
    convergedInMs = await play(world, clock, prng, { minutes, found });
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
  world.crash();
  await world.end();
  await machine.settle();
  return { seed, simulatedMs: clock.elapsedMs, steps: clock.turn, counts, faults, convergedInMs, violation };
}

interface Play {
  readonly minutes: number;
  readonly found: (rule: AgentRule, detail: string) => void;
}

/** Faults and users, then calm. Returns how long the calm took until all was in step. */
async function play(world: AgentWorld, clock: SimulatedClock, prng: Prng, { minutes, found }: Play): Promise<number | undefined> {
  const pause = (ms: number): Promise<void> => new Promise((resolve) => clock.schedule(resolve, ms));
  const untilMs = minutes * 60_000;
  const users = prng.fork('user times');
  const everyMs = users.pick([1000, 4000, 10_000]) ?? 4000;
  const act = async (): Promise<void> => {
    for (; clock.elapsedMs < untilMs; await pause(users.between(0, 2 * everyMs))) world.act();
  };
  await Promise.all([act(), restartAgainAndAgain(world, clock, prng.fork('restarts'), untilMs)]);
  world.calmDown();
  const calmMs = clock.elapsedMs;
  for (let wrong = world.outOfStep(); wrong.length > 0; wrong = world.outOfStep()) {
    if (clock.elapsedMs > calmMs + convergeWithinMs) {
      found('what the server says is what runs', wrong.join('; '));
      return undefined;
    }
    await pause(1000);
  }
  const convergedInMs = clock.elapsedMs - calmMs;
  await pause(quietMs);
  const quietUntilMs = clock.elapsedMs + collectWithinMs;
  while (clock.elapsedMs < quietUntilMs && world.leftOfPods().length > 0) await pause(1000);
  for (const left of world.leftOfPods()) found('nothing survives its deletion', left);
  for (const folder of await world.foldersLeft()) found('the files of a pod go with it', folder);
  await world.stop();
  await pause(quietMs);
  return convergedInMs;
}

async function restartAgainAndAgain(world: AgentWorld, clock: SimulatedClock, prng: Prng, untilMs: number): Promise<void> {
  const pause = (ms: number): Promise<void> => new Promise((resolve) => clock.schedule(resolve, ms));
  world.begin();
  for (;;) {
    await pause(prng.chance(0.3) ? prng.between(200, 10_000) : prng.between(10_000, 120_000));
    if (clock.elapsedMs >= untilMs) return;
    if (prng.chance(0.6)) world.crash();
    else await world.stop();
    await pause(prng.between(0, prng.chance(0.5) ? 500 : 30_000));
    world.begin();
  }
}
