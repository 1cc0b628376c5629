import { Prng } from '../../chaos/prng.ts';
import type { SeededOptions, SeededResult } from '../seeded-runs.ts';
import { SimulatedClock } from '../simulated-clock.ts';
import { FleetPlay } from './fleet-play.ts';
import type { FleetRule } from './fleet-rules.ts';
import { FleetWorld } from './fleet-world.ts';
import type { FleetMutant } from './mutants.ts';

export interface FleetSimulationResult extends SeededResult {
  readonly violation: { readonly rule: FleetRule; readonly detail: string; readonly atMs: number } | undefined;
}

const nodes = 5000;
const podsPerNode = 30;
/** A run after its faults: members that come and go in calm weather, and shards that were kept for five minutes. */
const longestCalmMs = 1_500_000;

/**
 * One run of a fleet in virtual time: 16 members or fewer, 5,000 nodes with 30 pods each. It ends at the first broken promise: what
 * breaks later may only follow from it.
 */
export async function simulateFleet({
  seed,
  minutes,
  mutant,
  onStep,
}: SeededOptions<FleetMutant>): Promise<FleetSimulationResult> {
  const clock = new SimulatedClock();
  const prng = new Prng(seed).fork('fleet world');
  const [counts, faults] = [new Map<string, number>(), new Map<string, number>()];
  let violation: FleetSimulationResult['violation'];
  const found = (rule: FleetRule, detail: string): void => {
    violation ??= { rule, detail, atMs: clock.elapsedMs };
    onStep?.(`${(clock.elapsedMs / 1000).toFixed(3)} BROKEN ${rule}: ${detail}`);
  };
  const add = (sums: Map<string, number>) => (what: string) => void sums.set(what, (sums.get(what) ?? 0) + 1);
  const countFault = add(faults);
  const shape = prng.fork('shape');
  const shards = shape.pick([64, 64, 32, 16]) ?? 64;
  const world = new FleetWorld({
    clock,
    prng,
    nodes,
    podsPerNode,
    shards,
    found,
    count: add(counts),
    countFault: (fault) => {
      countFault(fault);
      onStep?.(`${(clock.elapsedMs / 1000).toFixed(3)} ${fault}`);
    },
    breakage: mutant?.breakage ?? {},
    onLog: onStep,
  });
  const play = new FleetPlay({
    world,
    clock,
    prng: prng.fork('play'),
    minutes,
    isLong: mutant?.isSeenInCalm ?? shape.chance(0.25),
    shards,
    found,
    count: add(counts),
  });
  let isOver = false;
  play.run().then(
    () => {
      isOver = true;
    },
    (error: unknown) => found('nothing unforeseen happens', error instanceof Error ? `${error.stack}` : String(error)),
  );
  await clock.runUntil(minutes * 60_000 + longestCalmMs, () => isOver || violation !== undefined);
  if (!isOver && violation === undefined) found('nothing unforeseen happens', 'the run did not end');
  world.end();
  return { seed, simulatedMs: clock.elapsedMs, steps: clock.turn, counts, faults, convergedInMs: play.servedInMs, violation };
}
