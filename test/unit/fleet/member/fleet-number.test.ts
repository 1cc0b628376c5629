import { describe, expect, it } from 'vitest';
import { FleetWorld } from './fleet-world.ts';

/** Nobody hears of a change any more but who asks. */
const deafen = (world: FleetWorld): void => {
  world.server.isDeaf = () => true;
};

// each step of a world looks that no two members own shards by two numbers
describe('the number of shards is not changed', () => {
  it('while a member counts with it, also one that has no shard', async () => {
    const world = new FleetWorld();
    world.writeShards(8);
    world.putMember('x');
    const b = world.process('b', { shards: 16 }).start();
    await world.pass(10_000);
    expect([world.saidShards, b.member.outside]).toEqual(['8', { kind: 'other-shards', shards: 8, members: ['x'], holders: [] }]);
    await world.end();
  });

  it('while anybody holds a shard, whose own Lease is gone', async () => {
    const world = new FleetWorld();
    world.writeShards(8);
    world.putShard(3);
    const b = world.process('b', { shards: 16 }).start();
    await world.pass(10_000);
    expect([world.saidShards, b.member.outside]).toEqual(['8', { kind: 'other-shards', shards: 8, members: [], holders: ['x'] }]);
    await world.end();
  });

  it('by one that waits and has not heard of a member that came meanwhile', async () => {
    const world = new FleetWorld();
    world.writeShards(8);
    world.putShard(3);
    const b = world.process('b', { shards: 16 }).start();
    await world.pass(1000);
    world.server.isDeaf = (who) => who === 'b';
    world.server.edit(world.shardLease(3), { holderIdentity: '', leaseDurationSeconds: 1, renewTime: 'given up' });
    const a = world.process('a').start();
    await world.pass(75_000);
    expect([world.saidShards, a.owned.length, b.member.outside]).toMatchObject(['8', 8, { shards: 8, members: ['a'] }]);
    expect(a.host.told.filter((told) => told.startsWith('handOver'))).toEqual([]);
    await world.end();
  });
});

describe('a process that joins while the number of shards is changed', () => {
  it('looks at it again once its own Lease is there: it leaves, and changes nothing in the same moment', async () => {
    const world = new FleetWorld();
    world.writeShards(8);
    const own = world.memberLease('a');
    world.server.fate = ({ verb, name }) => (verb === 'POST' && name === own ? { handledAfterMs: 1000 } : 'answered');
    const a = world.process('a').start();
    await world.pass(500);
    deafen(world);
    world.writeShards(16);
    await world.pass(600);
    expect([world.saidShards, a.member.isMember, a.member.outside]).toEqual([
      '16',
      false,
      { kind: 'other-shards', shards: 16, members: [], holders: [] },
    ]);
    expect(world.server.leases.has(own)).toBe(false);
    await world.end();
  });

  it('is seen by the one that has changed it, after that', async () => {
    const world = new FleetWorld();
    world.writeShards(8);
    world.server.fate = ({ who, verb, name }) =>
      who === 'b' && verb === 'PUT' && name === 'fleet-edge' ? { handledAfterMs: 1000 } : 'answered';
    const b = world.process('b', { shards: 16 }).start();
    await world.pass(200);
    world.server.isDeaf = (who) => who === 'b';
    const a = world.process('a').start();
    await world.pass(100);
    deafen(world);
    // the step after which both would own shards fails
    await world.pass(5000);
    expect([world.saidShards, a.owned.length, b.member.isMember]).toEqual(['16', 8, false]);
    expect(b.member.outside).toMatchObject({ members: ['a'] });
    await world.end();
  });
});

describe('a member whose fleet has another number of shards', () => {
  it('says at once that it leaves, and joins at once where it may when its nodes have ended', async () => {
    const world = new FleetWorld();
    const [a] = await world.fleet('a');
    await world.pass(3500);
    a.host.endsAfter = () => new Promise((resolve) => world.clock.setTimer(resolve, 1000));
    // the renewal of the own Lease is under way when the last node ends
    const own = world.memberLease('a');
    world.server.fate = ({ name }) => (name === own ? { answeredAfterMs: 2400 } : 'answered');
    world.writeShards(16);
    await world.pass(0);
    const { annotations } = world.server.leases.get(own)?.metadata ?? {};
    expect(annotations?.['pod-status-manager/fleet-state']).toBe('leaving');
    // eight shards, four at once
    await world.pass(2000);
    expect(a.owned).toEqual([]);
    // its renewal has ended, and the next one
    await world.pass(2900);
    expect([world.saidShards, a.member.isMember]).toEqual(['8', true]);
    a.host.endsAfter = () => Promise.resolve();
    await world.end();
  });

  it('has no Lease while it waits, so that others may go on', async () => {
    const world = new FleetWorld();
    await world.fleet('a');
    // by that number there is such a shard
    world.putShard(15);
    world.writeShards(16);
    await world.pass(10_000);
    expect([world.saidShards, world.server.leases.has(world.memberLease('a'))]).toEqual(['16', false]);
    await world.end();
  });

  it('writes nothing when it stops while it waits', async () => {
    const world = new FleetWorld();
    await world.fleet('a');
    const b = world.process('b', { shards: 4 }).start();
    await world.pass(5000);
    await world.stop(b);
    expect(world.server.tookWrites('b')).toEqual([]);
    await world.end();
  });

  it('reads the number again where its machine slept while it renewed its Lease anew', async () => {
    const world = new FleetWorld();
    const [a] = await world.fleet('a');
    const own = world.memberLease('a');
    await world.pass(1000);
    deafen(world);
    // somebody else has written the Lease: the renewal is refused, and made anew
    world.server.edit(own, { renewTime: 'by hand' });
    world.server.fate = ({ verb, name }) => (verb === 'PUT' && name === own ? { handledAfterMs: 500 } : 'answered');
    world.server.requests.splice(0);
    while (!world.server.requests.some(({ name }) => name === own)) await world.pass(100);
    world.writeShards(16);
    world.clock.jump(60_000);
    await world.pass(2500);
    expect(a.member.outside).toMatchObject({ kind: 'other-shards', shards: 16 });
    await world.end();
  });
});
