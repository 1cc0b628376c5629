import { describe, expect, it } from 'vitest';
import { placementOf, type ShardWeights } from '../../../../src/fleet/placement.ts';
import { leaseLabels } from './fleet-lease-server.ts';
import { FleetWorld } from './fleet-world.ts';

/** When requests of a verb for Leases of these names came, by the clock. */
function times(world: FleetWorld, verb: string, isWanted: (name: string) => boolean): { at: number; who: string }[] {
  const found: { at: number; who: string }[] = [];
  const { fate } = world.server;
  world.server.fate = (request) => {
    if (request.verb === verb && isWanted(request.name)) found.push({ at: world.clock.elapsed(), who: request.who });
    return fate(request);
  };
  return found;
}

describe('a member of a fleet renews its own Lease', () => {
  it('every five seconds, also where each answer is slow', async () => {
    const world = new FleetWorld();
    const [a] = await world.fleet('a');
    const own = world.memberLease('a');
    world.server.fate = ({ name }) => (name === own ? { answeredAfterMs: 1500 } : 'answered');
    const renewals = times(world, 'PUT', (name) => name === own);
    await world.pass(60_000);
    expect([renewals.length, a.owned.length]).toEqual([12, 8]);
    await world.end();
  });

  it('at once where its machine has slept, also where a renewal was under way', async () => {
    const world = new FleetWorld();
    const [a] = await world.fleet('a');
    await world.pass(3000);
    const own = world.memberLease('a');
    for (const answeredAfterMs of [0, 500]) {
      world.server.fate = ({ name }) => (name === own ? { answeredAfterMs } : 'answered');
      const renewals = times(world, 'PUT', (name) => name === own);
      while (renewals.length === 0) await world.pass(100);
      await world.pass(100);
      world.clock.jump(60_000);
      // the clock alone wakes nobody: a Lease that says nothing does
      world.server.put({ metadata: { name: world.memberLease(`odd-${answeredAfterMs}`), labels: leaseLabels('member') } });
      await world.pass(1300);
      expect([answeredAfterMs, a.owned.length]).toEqual([answeredAfterMs, 8]);
      await world.pass(4000);
    }
    await world.end();
  });

  it('no more where another process has written its own into it: it gives its shards up with the next beat', async () => {
    const world = new FleetWorld();
    const [a] = await world.fleet('a');
    a.host.took();
    world.server.edit(world.memberLease('a'), { holderIdentity: 'a_q', renewTime: 'now' });
    await world.pass(6000);
    expect([a.member.isMember, a.member.outside]).toEqual([false, { kind: 'namesake', agent: 'process 1 on a' }]);
    expect(a.host.took().filter((told) => told.startsWith('handOver')).length).toBe(8);
    await world.end();
  });
});

describe('a member of a fleet looks', () => {
  it('when another one has run out, which nothing tells of, and says who is there once each time', async () => {
    const world = new FleetWorld();
    const [a] = await world.fleet('a');
    const placed = (): boolean => [0, 1, 2, 3, 4, 5, 6, 7].every((shard) => a.member.placedOn(shard) === 'a');
    await world.pass(500);
    // nothing else is due then
    world.putMember('x', { seconds: 1 });
    await world.pass(900);
    expect(placed()).toBe(false);
    await world.pass(100);
    expect(placed()).toBe(true);
    await world.pass(30_000);
    expect(a.lines.saying('the fleet has other members').map(({ fields }) => (fields as { members?: unknown }).members)).toEqual([
      ['a'],
      ['a', 'x'],
      ['a'],
    ]);
    await world.end();
  });

  it('at its placement with weights of those alone that are there', async () => {
    const world = new FleetWorld();
    let weights: ShardWeights | undefined;
    const placement: typeof placementOf = (...given) => {
      weights = given[2];
      return placementOf(...given);
    };
    world.process('a', { placement }).start();
    world.putMember('x', { seconds: 3 });
    await world.pass(2000);
    const [ofOwn, ofOther] = [weights?.of('a'), weights?.of('x')];
    expect(weights?.of('x')).toBe(ofOther);
    await world.pass(5000);
    expect(weights?.of('a')).toBe(ofOwn);
    expect(weights?.of('x')).not.toBe(ofOther);
    await world.end();
  });

  it('and counts a shard that is lost as moving until its nodes have ended', async () => {
    const world = new FleetWorld();
    const [a] = await world.fleet('a');
    const nodes = Promise.withResolvers<void>();
    a.host.endsAfter = () => nodes.promise;
    world.server.edit(world.shardLease(3), { holderIdentity: 'x_p', renewTime: 'now' });
    await world.pass(100);
    expect([a.member.shards[3]?.state, a.member.movingShards]).toEqual(['lost', 1]);
    nodes.resolve();
    await world.pass(100);
    expect([a.member.shards[3]?.state, a.member.movingShards]).toEqual(['elsewhere', 0]);
    await world.end();
  });
});

describe('a member of a fleet that cannot renew the Lease of a shard', () => {
  it('ends the shard at its deadline, where nothing else is due then', async () => {
    const world = new FleetWorld();
    const name = world.shardLease(3);
    world.writeShards(8);
    world.putShard(3);
    world.putMember('x');
    const placement: typeof placementOf = () => Array.from({ length: 8 }, () => ['a']);
    const a = world.process('a', { placement }).start();
    await world.pass(2300);
    world.server.edit(name, { holderIdentity: '', leaseDurationSeconds: 1, renewTime: 'given up' });
    await world.pass(100);
    expect(a.owned.length).toBe(8);
    world.server.fate = (request) => (request.verb === 'PUT' && request.name === name ? 'lost' : 'answered');
    await world.pass(9800);
    expect([a.owned.includes(3), a.host.told.includes('lost 3')]).toEqual([true, false]);
    await world.pass(100);
    expect([a.owned.includes(3), a.host.told.includes('lost 3')]).toEqual([false, true]);
    await world.end();
  });
});

describe('Leases of members that have ended without a word', () => {
  it('are removed by one member, one after the other; a server that gives no answer keeps no renewal back', async () => {
    const world = new FleetWorld();
    const [a, b] = await world.fleet('a', 'b');
    const dead = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((number) => `x${number}`);
    world.server.fate = ({ verb }) => (verb === 'DELETE' ? 'silent' : 'answered');
    const removals = times(world, 'DELETE', () => true);
    for (const id of dead) world.putMember(id, { seconds: 1 });
    await world.pass(4000);
    for (const { host } of [a, b]) host.took();
    await world.pass(60_000);
    expect(new Set(removals.map(({ who }) => who))).toEqual(new Set([a.member.placedOn(0)]));
    // each waits for its time, which is two and a half seconds
    const gaps = removals.slice(1).map(({ at }, index) => at - (removals[index]?.at ?? 0));
    expect([removals.length > 9, Math.min(...gaps)]).toEqual([true, 2500]);
    expect([a.owned.length + b.owned.length, a.host.took(), b.host.took()]).toEqual([8, [], []]);
    world.server.fate = () => 'answered';
    await world.pass(20_000);
    expect(dead.filter((id) => world.server.leases.has(world.memberLease(id)))).toEqual([]);
    await world.end();
  });
});

describe('the stop of a member', () => {
  it('waits for a renewal of its own Lease that is under way, and removes what that has written', async () => {
    const world = new FleetWorld();
    const [a] = await world.fleet('a');
    const own = world.memberLease('a');
    const renewals = times(world, 'PUT', (name) => name === own);
    const { fate } = world.server;
    world.server.fate = (request) =>
      fate(request) === 'answered' && request.name === own ? { answeredAfterMs: 500 } : 'answered';
    // of what that writes only the answer tells
    world.server.isDeaf = () => true;
    while (renewals.length === 0) await world.pass(100);
    expect(await world.stop(a)).toEqual({ handedOver: 8, leftToRunOut: 0 });
    expect(world.server.leases.has(own)).toBe(false);
    await world.end();
  });

  it('gives a Lease that it cannot give up no longer than it lasts', async () => {
    const world = new FleetWorld();
    const [a] = await world.fleet('a');
    const name = world.shardLease(3);
    // when its time is over nothing else is due
    a.host.endsAfter = () => new Promise((resolve) => world.clock.setTimer(resolve, 300));
    world.server.fate = (request) => (request.verb === 'PUT' && request.name === name ? 'lost' : 'answered');
    const beganAt = world.clock.elapsed();
    expect(await world.stop(a, 60_000)).toEqual({ handedOver: 7, leftToRunOut: 1 });
    expect(world.clock.elapsed() - beganAt).toBe(15_300);
    await world.end();
  });

  it('leaves no request under way, whatever the server does', async () => {
    const world = new FleetWorld();
    const [a] = await world.fleet('a');
    world.server.fate = () => 'silent';
    expect(await world.stop(a, 1000)).toEqual({ handedOver: 0, leftToRunOut: 8 });
    await world.pass(0);
    expect(world.clock.pendingTimers).toBe(0);
    await world.end();
  });
});
