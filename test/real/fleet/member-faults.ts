import type { Prng } from '../../random/chaos/prng.ts';
import { pause } from '../../random/faults/pause.ts';
import type { FleetWorld } from '../../support/fleet/fleet-world.ts';
import type { MemberProcess } from '../../support/fleet/member-process.ts';

/** What a fault may use. */
export interface FaultScene {
  readonly world: FleetWorld;
  readonly prng: Prng;
  readonly leaseDurationMs: number;
  /** Members that something happens to just now. */
  readonly hindered: Set<MemberProcess>;
}

/** Something that happens to a fleet. */
export interface FleetFault {
  /** How often it happens beside the others. */
  readonly weight: number;
  /** Resolves once it is over. False: it cannot happen now. */
  readonly run: (scene: FaultScene) => Promise<boolean>;
}

/** So many members are unhindered at any time. */
const fewestLeft = 2;
const mostMembers = 6;

/** Faults of one member each. */
export const memberFaults: Readonly<Record<string, FleetFault>> = {
  'member killed': { weight: 3, run: (scene) => toOne(scene, (member) => replaced(scene, () => member.kill())) },
  'member killed and started again under its name': {
    weight: 2,
    run: (scene) =>
      toOne(scene, async (member) => {
        await member.crash();
        await part(scene, 0, 0.5);
        await scene.world.addMember(member.id);
      }),
  },
  'member stopped': { weight: 3, run: (scene) => toOne(scene, (member) => replaced(scene, () => member.stop())) },
  'member added': {
    weight: 2,
    run: async ({ world }) => {
      if (world.running.length >= mostMembers) return false;
      await world.addMember();
      return true;
    },
  },
  'member paused for longer than its Lease': {
    weight: 3,
    run: (scene) => toOne(scene, (member) => paused(scene, member, 1.1, 2.5)),
  },
  'member paused for less than its Lease': { weight: 2, run: (scene) => toOne(scene, (member) => paused(scene, member, 0.3, 1)) },
  'member cut off': {
    weight: 3,
    run: (scene) =>
      toOne(scene, async (member) => {
        member.cutOff();
        await part(scene, 0.3, 2.5);
        member.mend();
      }),
  },
  'member cut off from one kube-apiserver': {
    weight: 2,
    run: (scene) =>
      toOne(scene, async (member) => {
        member.cutOffFrom(scene.prng.int(0, 1));
        await part(scene, 0.3, 2.5);
        member.mend();
      }),
  },
  'answers to a member held back': {
    weight: 2,
    run: (scene) =>
      toOne(scene, async ({ relay }) => {
        relay.hold();
        await part(scene, 0.3, 2);
        relay.release();
      }),
  },
};

/** Waits for a part of the Lease's duration. */
function part({ prng, leaseDurationMs }: FaultScene, least: number, most: number): Promise<void> {
  return pause(prng.between(least, most) * leaseDurationMs);
}

/** Happens to a member that nothing else happens to; false where too few would be left. */
async function toOne(scene: FaultScene, happen: (member: MemberProcess) => Promise<void>): Promise<boolean> {
  const { world, prng, hindered } = scene;
  const sound = world.running.filter((member) => member.hasStarted && !hindered.has(member));
  const member = prng.pick(sound);
  if (member === undefined || sound.length <= fewestLeft) return false;
  hindered.add(member);
  await happen(member);
  hindered.delete(member);
  return true;
}

/** Another member comes a while after one has left. */
async function replaced(scene: FaultScene, leave: () => Promise<unknown>): Promise<void> {
  await leave();
  await part(scene, 0, 1.5);
  if (scene.world.running.length < mostMembers) await scene.world.addMember();
}

async function paused(scene: FaultScene, member: MemberProcess, least: number, most: number): Promise<void> {
  member.pause();
  await part(scene, least, most);
  member.resume();
}
