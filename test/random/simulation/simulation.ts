import type { Mutant } from '../chaos/mutants.ts';
import type { Prng } from '../chaos/prng.ts';
import { Agent } from './agent.ts';
import { checkConvergence } from './convergence.ts';
import { Faults } from './faults.ts';
import { Rivals } from './rivals.ts';
import type { RunCounts, Violation } from './run-log.ts';
import { World } from './simulation-world.ts';

export interface SimulationOptions {
  readonly seed: number;
  /** How long the faults go on, in simulated minutes; calm follows. */
  readonly minutes: number;
  readonly mutant?: Mutant | undefined;
  readonly onStep?: ((line: string) => void) | undefined;
}

export interface SimulationResult {
  readonly seed: number;
  readonly simulatedMs: number;
  readonly steps: number;
  readonly counts: RunCounts;
  readonly violation: Violation | undefined;
}

/** Long enough, after the last fault, for the latest straggler, the longest backoff, and a few batches. */
const calmMs = 150_000;
const quietMs = 30_000;

/** One run: faults, then calm, in which every pod must come into step, and then no request may be sent. */
export async function simulate({ seed, minutes, mutant, onStep }: SimulationOptions): Promise<SimulationResult> {
  const world = new World(seed, mutant, onStep);
  const { log, clock } = world;
  const isBroken = (): boolean => log.violation !== undefined;
  const shape = world.prng.fork('shape');
  const rivals = new Rivals(world, shape.int(1, 8));
  const agent = new Agent(world, shape.int(0, 2));
  const paceMs = shape.pick([200, 1000, 3000]) ?? 1000;
  world.startProcess();
  const faults = new Faults(world, rivals);
  const untilMs = minutes * 60_000;
  const isOver = (): boolean => clock.elapsedMs >= untilMs;
  repeat(world, shape.fork('agent'), paceMs, isOver, () => agent.act());
  repeat(world, shape.fork('users'), 20_000, isOver, () => rivals.actAsUser());
  repeat(world, shape.fork('controllers'), 4000, isOver, () => rivals.actAsController());
  await clock.runUntil(untilMs, isBroken);
  if (!isBroken()) {
    faults.end();
    for (let i = shape.int(0, 5); i > 0; i--) rivals.actAsController();
    await calm(world, agent, rivals, isBroken);
  }
  world.crash();
  log.counts.updatesSet = world.ledger.updates;
  return { seed, simulatedMs: clock.elapsedMs, steps: log.steps, counts: log.counts, violation: log.violation };
}

async function calm(world: World, agent: Agent, rivals: Rivals, isBroken: () => boolean): Promise<void> {
  const { log, clock } = world;
  const fromMs = clock.elapsedMs;
  const isCaughtUp = (): boolean => clock.elapsedMs > fromMs + 60_000;
  repeat(world, world.prng.fork('calm'), 1000, isCaughtUp, () => agent.catchUp());
  repeat(world, world.prng.fork('touches'), 10_000, isCaughtUp, () => touchWhatIsQuarantined(world, rivals));
  await clock.runUntil(fromMs + calmMs, isBroken);
  if (isBroken()) return;
  checkConvergence(world);
  agent.tidyUp();
  world.process?.flush(0);
  const { requests } = log.counts;
  await clock.runUntil(fromMs + calmMs + quietMs, isBroken);
  // a pod source that is silent has its pods read again and again
  if (!world.watchDies && log.counts.requests > requests)
    log.violate('a quiet pod costs nothing', `${log.counts.requests - requests} requests in ${quietMs} ms of calm`);
  if (isBroken()) return;
  let hasStopped = false;
  world.stopProcess(10_000).then(
    () => {
      hasStopped = true;
    },
    (error: unknown) => log.violate('stop ends', `stop() rejected with ${String(error)}`),
  );
  await clock.runUntil(clock.elapsedMs + 2000, isBroken);
  if (!hasStopped) log.violate('stop ends', 'stop() had not ended after 2 s of calm');
}

/** A status that the server refused waits for another copy of its pod. The server does not tell when it would take the status. */
function touchWhatIsQuarantined({ process, server }: World, rivals: Rivals): void {
  for (const pod of server.store.list())
    if (process?.isUp && process.manager.explain(pod.metadata?.uid ?? '').phase === 'quarantined') rivals.touch(pod);
}

/** Calls `act` again and again, at random intervals, until `isOver`. */
function repeat(world: World, prng: Prng, meanMs: number, isOver: () => boolean, act: () => void): void {
  world.clock.schedule(
    () => {
      if (isOver()) return;
      act();
      repeat(world, prng, meanMs, isOver, act);
    },
    prng.between(0, 2 * meanMs),
  );
}
