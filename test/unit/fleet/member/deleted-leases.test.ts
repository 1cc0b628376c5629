import { describe, expect, it } from 'vitest';
import { refusal } from './fleet-lease-server.ts';
import { type FleetProcess, FleetWorld } from './fleet-world.ts';

const everyShard = [0, 1, 2, 3, 4, 5, 6, 7];

/** What the Lease of the fleet says. */
const said = (world: FleetWorld): object | undefined => world.server.leases.get('fleet-edge')?.metadata?.annotations;
const saysAllTaken = { 'pod-status-manager/fleet-shards': '8', 'pod-status-manager/fleet-shards-taken': '8' };

/** A member that owns every shard, whose Leases are renewed in this moment. */
async function owner(): Promise<{ world: FleetWorld; a: FleetProcess }> {
  const world = new FleetWorld();
  const [a] = (await world.fleet('a')) as [FleetProcess];
  await world.pass(7000);
  world.server.tookWrites('a');
  while (!world.server.tookWrites('a').includes(`PUT ${world.memberLease('a')}`)) await world.pass(100);
  expect(a.owned.length).toBe(8);
  return { world, a };
}

const deleteShards = (world: FleetWorld): void => {
  for (const shard of everyShard) world.server.delete(world.shardLease(shard));
};

// each step of a world looks that no two members own one shard
describe('the Leases of shards that somebody has deleted', () => {
  it('are left alone for their duration by a member that comes afterwards: their owner may not know it yet', async () => {
    const { world, a } = await owner();
    world.cutOff('a');
    deleteShards(world);
    const b = world.process('b').start();
    await world.pass(9000);
    expect([b.member.isMember, a.owned.length, b.owned]).toEqual([true, 8, []]);
    await world.pass(5900);
    expect(b.owned).toEqual([]);
    await world.pass(10_000);
    expect([a.owned, b.owned.toSorted()]).toEqual([[], everyShard]);
    await world.end();
  });

  it('are created again by an owner that can, before one that comes afterwards takes them', async () => {
    const { world, a } = await owner();
    deleteShards(world);
    await world.pass(0);
    expect([a.owned.length, world.server.holder(world.shardLease(3))]).toEqual([8, 'a_p']);
    expect(a.host.told.filter((told) => !told.startsWith('gained'))).toEqual([]);
    await world.end();
  });

  it('are taken at once where the fleet is new, which the Lease of the fleet says', async () => {
    const world = new FleetWorld();
    const a = world.process('a').start();
    await world.pass(0);
    expect(said(world)).toEqual({ 'pod-status-manager/fleet-shards': '8' });
    await world.pass(1000);
    expect(a.owned).toEqual(everyShard);
    // the next beat says that each has had a Lease
    await world.pass(5000);
    expect(said(world)).toEqual(saysAllTaken);
    world.server.tookWrites('a');
    await world.pass(30_000);
    expect(world.server.tookWrites('a').filter((write) => write === 'PUT fleet-edge')).toEqual([]);
    await world.end();
  });

  it('by another number of shards say nothing of those that there are now', async () => {
    const { world, a } = await owner();
    await world.stop(a);
    const b = world.process('b', { shards: 16 }).start();
    await world.pass(1100);
    expect([b.owned.length, said(world)]).toEqual([16, { ...saysAllTaken, 'pod-status-manager/fleet-shards': '16' }]);
    await world.end();
  });
});

describe('the Lease of the fleet that somebody has deleted', () => {
  it('is created again by a living member, so that others can come', async () => {
    const { world } = await owner();
    world.server.delete('fleet-edge');
    const b = world.process('b').start();
    await world.pass(10_000);
    expect([said(world), b.member.isMember]).toEqual([saysAllTaken, true]);
    await world.end();
  });

  it('is tried for again with each beat where that is refused', async () => {
    const { world, a } = await owner();
    world.server.fate = ({ name }) => (name === 'fleet-edge' ? refusal(403, 'Forbidden') : 'answered');
    world.server.delete('fleet-edge');
    await world.pass(5000);
    world.server.requests.splice(0);
    await world.pass(60_000);
    const tries = world.server.requests.filter(({ name, verb }) => name === 'fleet-edge' && verb === 'POST').length;
    expect([tries, a.owned.length]).toEqual([12, 8]);
    world.server.fate = () => 'answered';
    await world.pass(6000);
    expect(said(world)).toEqual(saysAllTaken);
    await world.end();
  });
});
