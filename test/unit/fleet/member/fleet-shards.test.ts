import { describe, expect, it } from 'vitest';
import { FleetWorld } from './fleet-world.ts';

const shardsAnnotation = 'pod-status-manager/fleet-shards';

/** The number of shards that the fleet says. */
const said = (world: FleetWorld): string | undefined =>
  world.server.leases.get('fleet-edge')?.metadata?.annotations?.[shardsAnnotation];

// each step of a world looks that no two members own shards by two numbers
describe('a process that counts with another number of shards', () => {
  it('waits without a Lease, says which members count otherwise, and changes the number once they have gone', async () => {
    const world = new FleetWorld();
    const [a] = await world.fleet('a');
    const b = world.process('b', { shards: 4 }).start();
    await world.pass(10_000);
    expect([b.started, b.member.isMember, b.owned, said(world)]).toEqual(['resolved', false, [], '8']);
    expect(b.member.outside).toEqual({ kind: 'other-shards', shards: 8, members: ['a'] });
    expect(world.server.leases.has(world.memberLease('b'))).toBe(false);
    if (a !== undefined) await world.stop(a);
    await world.pass(6000);
    expect([b.member.isMember, b.owned.length, said(world), b.member.outside]).toEqual([true, 4, '4', undefined]);
    await world.end();
  });

  it('waits until the Leases of the others have run out, where they have died', async () => {
    const world = new FleetWorld();
    await world.fleet('a');
    const b = world.process('b', { shards: 4 }).start();
    world.cutOff('a');
    await world.pass(12_000);
    expect([b.member.isMember, said(world)]).toEqual([false, '8']);
    await world.pass(8000);
    expect([b.member.isMember, b.owned.length, said(world)]).toEqual([true, 4, '4']);
    await world.end();
  });

  it('starts at the same moment as another: one of them waits', async () => {
    const world = new FleetWorld();
    const [a, b] = [world.process('a'), world.process('b', { shards: 4 })].map((process) => process.start());
    await world.pass(30_000);
    expect([a?.member.isMember, b?.member.isMember].filter(Boolean).length).toBe(1);
    expect((a?.owned.length ?? 0) + (b?.owned.length ?? 0)).toBe(Number(said(world)));
    await world.end();
  });

  it('owns nothing beside one that comes back with the old number, and whose watch is late', async () => {
    const world = new FleetWorld();
    const [a] = await world.fleet('a');
    const b = world.process('b', { shards: 4 }).start();
    world.cutOff('a');
    await world.pass(25_000);
    expect([b.owned.length, a?.owned]).toEqual([4, []]);
    world.server.fate = () => 'answered';
    // each step looks whether two numbers are in use
    await world.pass(10_000);
    expect([b.owned.length, a?.member.isMember]).toEqual([4, false]);
    await world.end();
  });

  it('does not come in where somebody has deleted the number, while members are alive', async () => {
    const world = new FleetWorld();
    const [a] = await world.fleet('a');
    world.server.delete('fleet-edge');
    const b = world.process('b', { shards: 4 }).start();
    await world.pass(20_000);
    expect([a?.owned.length, b.member.isMember, b.owned]).toEqual([8, false, []]);
    await world.end();
  });
});

describe('the number of shards of a fleet', () => {
  it('is put back where somebody has written another one: the members hand over, and take their shards again', async () => {
    const world = new FleetWorld();
    const [a] = await world.fleet('a');
    const lease = world.server.leases.get('fleet-edge') ?? {};
    world.server.put({ ...lease, metadata: { ...lease.metadata, annotations: { [shardsAnnotation]: '4' } } });
    await world.pass(100);
    expect(a?.host.told.filter((told) => told.startsWith('handOver')).length).toBeGreaterThan(0);
    await world.pass(20_000);
    expect([said(world), a?.member.isMember, a?.owned.length]).toEqual(['8', true, 8]);
    await world.end();
  });
});
