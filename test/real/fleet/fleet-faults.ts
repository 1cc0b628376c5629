import { Prng } from '../../random/chaos/prng.ts';
import { eventually } from '../../random/faults/pause.ts';
import { judgeFleet, type Verdict } from '../../support/fleet/fleet-judge.ts';
import type { FleetRecord } from '../../support/fleet/fleet-record.ts';
import { FleetWorld } from '../../support/fleet/fleet-world.ts';
import type { MemberProcess } from '../../support/fleet/member-process.ts';
import { type FaultSchedule, happen } from './fault-schedule.ts';
import type { FaultScene } from './member-faults.ts';
import { PodTraffic } from './pod-traffic.ts';

export interface FleetFaultOptions extends FaultSchedule {
  readonly nodes: number;
  readonly shards: number;
  readonly leaseDurationMs: number;
  /** How many statuses change a second. */
  readonly changes: number;
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

const membersAtFirst = 4;
/** So many statuses change while one pod comes or goes. */
const statusChangesPerPodChange = 3;
/** How long everything may take to be in step again. */
const calmMs = 120_000;
/** How often the log says how the fleet is. */
const lookEveryMs = 60_000;

/** Runs a fleet whose pods come, go and change all the time, lets faults happen, and judges what is left behind. `keep` gets the world before it goes. */
export async function runFleetFaults(
  options: FleetFaultOptions,
  keep: (world: FleetWorld) => Promise<void> = async () => {},
): Promise<FleetFaultReport> {
  const { seed, nodes, shards, leaseDurationMs, changes, log } = options;
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
  await traffic.start(changes / statusChangesPerPodChange);
  world.cloud.live(changes);
  const scene: FaultScene = { world, prng, leaseDurationMs, hindered: new Set<MemberProcess>() };
  const looks = setInterval(() => log(look(world, traffic)), lookEveryMs);
  const happened = await happen(scene, options);
  clearInterval(looks);
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

/** How the fleet is, in a line, as far as it can be seen without the servers' logs. */
function look({ running, members, cloud }: FleetWorld, { created, deleted }: PodTraffic): string {
  const doubled = cloud.ledger.filter(({ call, wasThere }) => call === 'create' && wasThere).length;
  const calls = `${cloud.ledger.length} calls of the cloud, ${doubled} doubled creations`;
  return `${running.length} of ${members.length} members run; pods: ${created} created, ${deleted} deleted; ${calls}`;
}
