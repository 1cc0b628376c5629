import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { falsifications } from '../../support/fleet/falsify.ts';
import { judgeFleet, type Verdict } from '../../support/fleet/fleet-judge.ts';
import type { FleetRecord } from '../../support/fleet/fleet-record.ts';
import { FleetWorld, podNamespace } from '../../support/fleet/fleet-world.ts';
import type { MemberProcess } from '../../support/fleet/member-process.ts';
import { pollUntil } from '../../support/poll-until.ts';

const leaseDurationMs = 3000;
const shards = 12;
const nodeCount = 24;
const patience = { withinMs: 40_000 };

let world: FleetWorld;
let verdict: Verdict;
let record: FleetRecord;
beforeAll(async () => {
  const times = { leaseDurationMs, renewDeadlineMs: 2000, retryPeriodMs: 400 };
  world = await FleetWorld.start({ fleet: 'real', nodes: nodeCount, shards, ...times });
});
afterAll(() => world[Symbol.asyncDispose]());

/** Every node is run by one of these members. */
async function areServed(by: readonly MemberProcess[] = world.running): Promise<void> {
  const served = (): string[] => by.flatMap(({ serves }) => serves).toSorted();
  const seen = (): string[] => by.map(({ id, serves }) => `${id}: ${serves.length}`);
  await pollUntil('every node is run by one member', () => served().join(' ') === world.nodes.join(' '), { ...patience, seen });
}

function memberThatServes(): MemberProcess {
  const member = world.running.find(({ serves }) => serves.length > 0);
  if (member === undefined) throw new Error('no member runs a node');
  return member;
}

// each test goes on where the one before has ended
describe('a fleet of processes on a real apiserver, whose pods change all the time', () => {
  it('shares its nodes between three members: every node is Ready, and every pod is as the cloud has it', async () => {
    for (let i = 0; i < 3; i++) await world.addMember();
    await areServed();
    await pollUntil('every node is Ready', async () => (await world.readyNodes()).length === nodeCount, patience);
    for (const nodeName of world.nodes) {
      for (const number of [1, 2]) expect(await world.createPod(`${nodeName}-${number}`, nodeName)).toBe(201);
    }
    let left: string[] = [];
    const inStep = async (): Promise<boolean> => {
      left = await world.outOfStep();
      return left.length === 0 && world.cloud.pods.length === 2 * nodeCount;
    };
    await pollUntil('every pod is as the cloud has it', inStep, { ...patience, seen: () => left });
    for (const { serves } of world.members) expect(serves.length).toBeGreaterThan(2);
    world.cloud.live(20);
  });

  it('gives the nodes of a member that is stopped to the others, and the member says so', async () => {
    const member = memberThatServes();
    expect(await member.stop()).toMatchObject({ leftToRunOut: 0 });
    await areServed();
  });

  it('gives a member that comes its share', async () => {
    const member = await world.addMember();
    await pollUntil('the new member runs nodes', () => member.serves.length > 2, patience);
    await areServed();
  });

  it('takes the nodes of a member that is killed', async () => {
    await memberThatServes().kill();
    await areServed();
  });

  it('takes the nodes of a member that stands still for longer than its Lease, and lets it come back', async () => {
    const member = memberThatServes();
    const { serves } = member;
    member.pause();
    const others = world.running.filter((other) => other !== member);
    await areServed(others);
    for (const nodeName of serves.slice(0, 3)) {
      expect((await world.servers.admin.deletePod(podNamespace, `${nodeName}-1`, { gracePeriodSeconds: 1 })).status).toBe(200);
    }
    member.resume();
    await pollUntil(
      'the member runs nodes again',
      () => member.lines.at(-1)?.what === 'serves' && member.serves.length > 2,
      patience,
    );
    await areServed();
  });

  it('ends with every status on the server, and leaves the cloud’s pods alone', async () => {
    world.cloud.freeze();
    let left: string[] = [];
    const inStep = async (): Promise<boolean> => {
      left = await world.outOfStep();
      return left.length === 0;
    };
    await pollUntil('every pod is as the cloud has it', inStep, { ...patience, seen: () => left });
    await Promise.all(world.running.map((member) => member.stop()));
    expect(world.cloud.pods.length).toBe(2 * nodeCount - 3);
    record = await world.record();
    verdict = judgeFleet(record);
    expect(record.cloudPods.some(({ containers }) => containers.some(({ restartCount }) => restartCount > 0))).toBe(true);
  });

  it('has lost no status, let none go back, created no pod twice and written nothing for nodes of others, by the audit log', () => {
    expect(verdict.findings).toEqual([]);
    expect(verdict.unattributed).toBe(0);
    expect(verdict.memberWrites).toBeGreaterThan(500);
  });

  it('has served the nodes of the killed member again within the Lease’s duration and five seconds, by the audit log', () => {
    const gaps = verdict.handOvers.filter(({ how }) => how === 'killed').map(({ gapMs }) => gapMs ?? Number.POSITIVE_INFINITY);
    expect(gaps.length).toBeGreaterThan(2);
    expect(Math.max(...gaps)).toBeLessThan(leaseDurationMs + 5000);
  });

  it.each(falsifications)('would have told of $name', ({ breaks, falsify }) => {
    expect(judgeFleet(falsify(record)).findings.map(({ rule }) => rule)).toContain(breaks);
  });
});
