import { describe, expect, it } from 'vitest';
import { FleetWorld } from './fleet-world.ts';

// each step of a world looks that no two members own shards by two numbers
describe('a process that counts with another number of shards', () => {
  it('waits without a Lease, says which members count otherwise, and changes the number once they have gone', async () => {
    const world = new FleetWorld();
    const [a] = await world.fleet('a');
    const b = world.process('b', { shards: 4 }).start();
    await world.pass(10_000);
    expect([b.started, b.member.isMember, b.owned, world.saidShards]).toEqual(['resolved', false, [], '8']);
    expect(b.member.outside).toEqual({ kind: 'other-shards', shards: 8, members: ['a'], holders: [] });
    expect(world.server.leases.has(world.memberLease('b'))).toBe(false);
    await world.stop(a);
    await world.pass(6000);
    expect([b.member.isMember, b.owned.length, world.saidShards, b.member.outside]).toEqual([true, 4, '4', undefined]);
    await world.end();
  });

  it('waits until the Leases of the others have run out, where they have died', async () => {
    const world = new FleetWorld();
    await world.fleet('a');
    const b = world.process('b', { shards: 4 }).start();
    world.cutOff('a');
    await world.pass(12_000);
    expect([b.member.isMember, world.saidShards]).toEqual([false, '8']);
    await world.pass(8000);
    expect([b.member.isMember, b.owned.length, world.saidShards]).toEqual([true, 4, '4']);
    await world.end();
  });

  it('starts at the same moment as another: one of them waits', async () => {
    const world = new FleetWorld();
    const [a, b] = [world.process('a').start(), world.process('b', { shards: 4 }).start()];
    await world.pass(30_000);
    expect([a.member.isMember, b.member.isMember].filter(Boolean).length).toBe(1);
    expect(a.owned.length + b.owned.length).toBe(Number(world.saidShards));
    await world.end();
  });

  it('owns nothing beside one that comes back with the old number, and whose watch is late', async () => {
    const world = new FleetWorld();
    const [a] = await world.fleet('a');
    const b = world.process('b', { shards: 4 }).start();
    world.cutOff('a');
    await world.pass(25_000);
    expect([b.owned.length, a.owned]).toEqual([4, []]);
    world.server.fate = () => 'answered';
    // each step looks whether two numbers are in use
    await world.pass(10_000);
    expect([b.owned.length, a.member.isMember]).toEqual([4, false]);
    await world.end();
  });

  it('waits while another gives up its shards because somebody has changed the number, however long that takes', async () => {
    const world = new FleetWorld();
    const [a] = await world.fleet('a');
    a.host.endsAfter = () => new Promise((resolve) => world.clock.setTimer(resolve, 12_000));
    const b = world.process('b', { shards: 16 }).start();
    await world.pass(3000);
    world.writeShards(16);
    await world.pass(22_000);
    expect([a.owned.length, b.owned, b.member.outside]).toMatchObject([4, [], { kind: 'other-shards', members: ['a'] }]);
    expect(world.server.holder(world.memberLease('a'))).toBe('a_p');
    await world.pass(10_000);
    // whoever is first then says the number
    expect(a.owned.length + b.owned.length).toBe(Number(world.saidShards));
    a.host.endsAfter = () => Promise.resolve();
    await world.end();
  });

  it('waits while another that is to stop as well gives up its shards', async () => {
    const world = new FleetWorld();
    const [a] = await world.fleet('a');
    a.host.endsAfter = () => new Promise((resolve) => world.clock.setTimer(resolve, 12_000));
    const b = world.process('b', { shards: 16 }).start();
    world.writeShards(16);
    await world.pass(3000);
    const stopped = a.member.stop(60_000);
    await world.pass(19_000);
    expect([a.owned.length, b.member.outside]).toMatchObject([4, { kind: 'other-shards', members: ['a'] }]);
    expect(await world.settled(stopped)).toEqual({ handedOver: 8, leftToRunOut: 0 });
    await world.end();
  });

  it('renews nothing where the fleet has gone on with another number while its machine slept', async () => {
    const world = new FleetWorld();
    const [a] = await world.fleet('a');
    a.host.endsAfter = () => new Promise((resolve) => world.clock.setTimer(resolve, 3000));
    const renewedAt = (name: string) => world.server.leases.get(name)?.spec?.renewTime;
    const before = Array.from({ length: 8 }, (_, shard) => world.shardLease(shard)).map(
      (name) => [name, renewedAt(name)] as const,
    );
    world.server.isDeaf = (who) => who === 'a';
    world.writeShards(16);
    world.clock.jump(60_000);
    await world.pass(2500);
    expect(a.member.outside).toMatchObject({ kind: 'other-shards', shards: 16 });
    await world.pass(7500);
    expect(a.host.took().filter((told) => told.startsWith('lost'))).not.toEqual([]);
    expect(a.owned).toEqual([]);
    const held = before.filter(([name]) => world.server.holder(name) === 'a_p');
    expect(held.length).toBeGreaterThan(0);
    expect(held).toEqual(held.map(([name]) => [name, renewedAt(name)]));
    await world.end();
  });

  it('waits while a shard is held by one that is no member of its number, and says who that is', async () => {
    const world = new FleetWorld();
    const [a] = await world.fleet('a');
    a.host.endsAfter = () => new Promise((resolve) => world.clock.setTimer(resolve, 30_000));
    // its own Lease runs out, and those of its shards do not
    const own = world.memberLease('a');
    world.server.fate = ({ who, name }) => (who === 'a' && name === own ? 'lost' : 'answered');
    world.server.delete(own);
    world.writeShards(16);
    const b = world.process('b', { shards: 16 }).start();
    await world.pass(20_000);
    expect([a.owned.length, b.owned]).toEqual([8, []]);
    expect(b.member.outside).toEqual({ kind: 'other-shards', shards: 16, members: [], holders: ['a'] });
    await world.pass(60_000);
    expect([a.owned, b.owned.length, b.member.outside]).toEqual([[], 16, undefined]);
    await world.end();
  });

  it('does not come in where somebody has deleted the number, while members are alive', async () => {
    const world = new FleetWorld();
    const [a] = await world.fleet('a');
    world.server.delete('fleet-edge');
    const b = world.process('b', { shards: 4 }).start();
    await world.pass(20_000);
    expect([a.owned.length, b.member.isMember, b.owned]).toEqual([8, false, []]);
    await world.end();
  });
});

describe('the number of shards of a fleet', () => {
  it('is put back where somebody has written another one: the members hand over, and take their shards again', async () => {
    const world = new FleetWorld();
    const [a] = await world.fleet('a');
    world.writeShards(4);
    await world.pass(100);
    expect(a.host.told.filter((told) => told.startsWith('handOver')).length).toBeGreaterThan(0);
    await world.pass(20_000);
    expect([world.saidShards, a.member.isMember, a.owned.length]).toEqual(['8', true, 8]);
    await world.end();
  });
});
