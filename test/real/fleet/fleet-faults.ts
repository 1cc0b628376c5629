import { Prng } from '../../random/chaos/prng.ts';
import { eventually, pause } from '../../random/faults/pause.ts';
import { judgeFleet, type Verdict } from '../../support/fleet/fleet-judge.ts';
import type { FleetRecord } from '../../support/fleet/fleet-record.ts';
import { FleetWorld } from '../../support/fleet/fleet-world.ts';
import type { MemberProcess } from '../../support/fleet/member-process.ts';
import { type FaultScene, type FleetFault, memberFaults } from './member-faults.ts';
import { PodTraffic } from './pod-traffic.ts';
import { serverFaults } from './server-faults.ts';

export interface FleetFaultOptions {
  readonly seed: number;
  readonly minutes: number;
  readonly faults: number;
  readonly nodes: number;
  readonly shards: number;
  readonly leaseDurationMs: number;
  readonly log: (line: string) => void;
}

export interface FleetFaultReport extends FleetFaultOptions {
  readonly happened: ReadonlyMap<string, number>;
  readonly members: number;
  readonly created: number;
  readonly deleted: number;
  /** From the last fault until server and cloud said the same; undefined: never. */
  readonly convergedInMs: number | undefined;
  readonly outOfStep: readonly string[];
  readonly verdict: Verdict;
  readonly record: FleetRecord;
}

const membersAtFirst = 3;
const podChangesPerSecond = 3;
const statusChangesPerSecond = 10;
/** What cannot happen when it is due, as where too few members are left, is followed by another fault. */
const mostDraws = 8;
/** How long everything may take to be in step again. */
const calmMs = 120_000;

const allFaults: Readonly<Record<string, FleetFault>> = { ...memberFaults, ...serverFaults };

/** Runs a fleet whose pods come, go and change all the time, lets faults happen, and judges what is left behind. `keep` gets the world before it goes. */
export async function runFleetFaults(
  options: FleetFaultOptions,
  keep: (world: FleetWorld) => Promise<void> = async () => {},
): Promise<FleetFaultReport> {
  const { seed, nodes, shards, leaseDurationMs, log } = options;
  // in the proportions of the defaults: 15 s, 10 s, 2 s
  const times = {
    leaseDurationMs,
    renewDeadlineMs: Math.round((leaseDurationMs * 2) / 3),
    retryPeriodMs: Math.round((leaseDurationMs * 2) / 15),
  };
  await using world = await FleetWorld.start({ fleet: 'faulty', nodes, shards, ...times, apiServers: 2, seed });
  const prng = new Prng(seed);
  for (let i = 0; i < membersAtFirst; i++) await world.addMember();
  if (!(await eventually(async () => (await world.readyNodes()).length === nodes, 60_000))) {
    await keep(world);
    throw new Error(`${(await world.readyNodes()).length} of ${nodes} nodes are Ready after a minute`);
  }
  const traffic = new PodTraffic(world, prng.fork('pods'));
  await traffic.start(podChangesPerSecond);
  world.cloud.live(statusChangesPerSecond);
  const scene: FaultScene = { world, prng, leaseDurationMs, hindered: new Set<MemberProcess>() };
  const happened = await happen(scene, options);
  await traffic.stop();
  world.cloud.freeze();
  log('the faults are over');
  const calmAt = performance.now();
  const converged = await eventually(async () => (await world.outOfStep()).length === 0, calmMs, 200);
  const convergedInMs = converged ? performance.now() - calmAt : undefined;
  const outOfStep = await world.outOfStep();
  const departures = [...world.departures];
  await Promise.all(world.running.map((member) => member.stop()));
  // the end of all members at once is no fault
  const record = { ...(await world.record()), departures };
  await keep(world);
  const { created, deleted } = traffic;
  const found = { happened, members: world.members.length, created, deleted, convergedInMs, outOfStep };
  return { ...options, ...found, verdict: judgeFleet(record), record };
}

/** All faults, one after another at times that the seed says; several may be under way at once. */
async function happen(
  scene: FaultScene,
  { minutes, faults, seed, log }: FleetFaultOptions,
): Promise<ReadonlyMap<string, number>> {
  const prng = new Prng(seed).fork('faults');
  const happened = new Map<string, number>();
  const underWay = new Set<Promise<void>>();
  const weights = Object.fromEntries(Object.entries(allFaults).map(([kind, { weight }]) => [kind, weight]));
  const everyMs = (minutes * 60_000) / faults;
  let servers: Promise<unknown> = Promise.resolve();
  const once = (kind: string, own: FaultScene): Promise<boolean> => {
    const run = async (): Promise<boolean> => (await allFaults[kind]?.run(own)) === true;
    if (!(kind in serverFaults)) return run();
    const turn = servers.then(run);
    servers = turn;
    return turn;
  };
  const began = performance.now();
  for (let n = 0; n < faults; n++) {
    const dueAt = began + (n + prng.next()) * everyMs;
    await pause(Math.max(0, dueAt - performance.now()));
    const draws = Array.from({ length: mostDraws }, () => prng.weighted(weights));
    const own: FaultScene = { ...scene, prng: prng.fork(`${n}`) };
    underWay.add(
      (async () => {
        for (const kind of draws) {
          log(`${((performance.now() - began) / 1000).toFixed(1)} s: ${kind}`);
          if (!(await once(kind, own))) continue;
          happened.set(kind, (happened.get(kind) ?? 0) + 1);
          return;
        }
      })(),
    );
  }
  await Promise.all(underWay);
  return happened;
}
