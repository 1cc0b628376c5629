import { describe, expect, it } from 'vitest';
import { placementOf } from '../../../../src/fleet/placement.ts';
import { refusal } from './fleet-lease-server.ts';
import { FleetWorld } from './fleet-world.ts';

const members = 'pod-status-manager/fleet-role';
const everyShard = [0, 1, 2, 3, 4, 5, 6, 7];

/** The shards that are placed on a member, by the placement alone. */
const placedOn = (id: string, ...ids: string[]): number[] => everyShard.filter((shard) => placementOf(ids, 8)[shard]?.[0] === id);

describe('a member of a fleet joins', () => {
  it('with a Lease of its own and the number of shards, and takes all shards once it has settled', async () => {
    const world = new FleetWorld();
    const a = world.process('a').start();
    await world.pass(0);
    expect([a.started, a.member.isMember, a.owned]).toEqual(['resolved', true, []]);
    expect(world.server.leases.get('fleet-edge')?.metadata?.annotations).toEqual({ 'pod-status-manager/fleet-shards': '8' });
    const { metadata, spec } = world.server.leases.get(world.memberLease('a')) ?? {};
    expect(spec).toMatchObject({ holderIdentity: 'a_p', leaseDurationSeconds: 15 });
    expect(metadata?.labels).toMatchObject({ 'pod-status-manager/fleet': 'edge', [members]: 'member' });
    expect(metadata?.annotations).toEqual({
      'pod-status-manager/fleet-agent': 'process 1 on a',
      'pod-status-manager/fleet-shards': '8',
      'pod-status-manager/fleet-state': 'active',
    });
    await world.pass(1000);
    expect(a.owned).toEqual(everyShard);
    await world.end();
  });

  it('together with others, and each takes its share at once: nothing moves afterwards', async () => {
    const world = new FleetWorld();
    const processes = await world.fleet('a', 'b', 'c');
    for (const { id, owned, host } of processes) {
      expect(owned.toSorted()).toEqual(placedOn(id, 'a', 'b', 'c'));
      expect(host.told.every((told) => told.startsWith('gained'))).toBe(true);
    }
    await world.pass(30_000);
    expect(processes.flatMap(({ host }) => host.told).length).toBe(8);
    await world.end();
  });

  it('later than others, which hand over its share and keep the rest', async () => {
    const world = new FleetWorld();
    const [a] = await world.fleet('a');
    a.host.took();
    const [b] = await world.fleet('b');
    const share = placedOn('b', 'a', 'b');
    expect(share.length).toBeGreaterThan(1);
    expect(b.owned.toSorted()).toEqual(share);
    expect(a.host.took().toSorted()).toEqual(share.map((shard) => `handOver ${shard}`));
    expect(a.owned.length).toBe(8 - share.length);
    await world.end();
  });

  it('and gets so many shards at once from another as that may hand over', async () => {
    const world = new FleetWorld();
    const [a] = await world.fleet('a');
    a.host.took();
    a.host.endsAfter = () => new Promise((resolve) => world.clock.setTimer(resolve, 5000));
    a.member.stop(60_000);
    await world.pass(100);
    expect(a.host.took().length).toBe(4);
    await world.pass(5000);
    expect(a.host.took().length).toBe(4);
    await world.end();
  });

  it('again with its requests where the server refuses them, and says why', async () => {
    const world = new FleetWorld();
    world.server.fate = ({ verb }) => (verb === 'POST' ? refusal(403, 'Forbidden') : 'answered');
    const a = world.process('a').start();
    await world.pass(5000);
    expect([a.started, a.member.isMember, a.member.failure?.attempt]).toEqual(['pending', false, 3]);
    world.server.fate = () => 'answered';
    await world.pass(2000);
    expect([a.started, a.member.isMember, a.member.failure]).toEqual(['resolved', true, undefined]);
    await world.end();
  });
});

describe('a member of a fleet', () => {
  it('renews its Lease and those of its shards with every beat, and nothing more', async () => {
    const world = new FleetWorld();
    await world.fleet('a');
    await world.pass(3000);
    world.server.requests.splice(0);
    await world.pass(10_000);
    const puts = world.server.requests.map(({ verb, name }) => `${verb} ${name}`).toSorted();
    const once = [world.memberLease('a'), ...everyShard.map((shard) => world.shardLease(shard))];
    expect(puts).toEqual([...once, ...once].map((name) => `PUT ${name}`).toSorted());
    await world.end();
  });

  it.each([
    ['carried out', { answeredAfterMs: 20_000 }],
    ['lost', 'silent'],
  ] as const)('keeps every shard where one renewal of each has no answer, and was %s', async (_, fate) => {
    const world = new FleetWorld();
    const [a] = await world.fleet('a');
    await world.pass(7000);
    a.host.took();
    const without = new Set<string>();
    world.server.fate = ({ verb, name }) => {
      if (verb !== 'PUT' || name === 'fleet-edge' || without.has(name)) return 'answered';
      without.add(name);
      return fate;
    };
    await world.pass(30_000);
    expect([without.size, a.owned.length, a.host.took()]).toEqual([9, 8, []]);
    await world.end();
  });

  it('creates its Lease again at once where somebody has deleted it, and loses nothing', async () => {
    const world = new FleetWorld();
    const [a, b] = await world.fleet('a', 'b');
    await world.pass(1000);
    world.server.delete(world.memberLease('a'));
    await world.pass(100);
    expect(world.server.holder(world.memberLease('a'))).toBe('a_p');
    await world.pass(10_000);
    expect([a, b].map((one) => one.owned.toSorted())).toEqual([placedOn('a', 'a', 'b'), placedOn('b', 'a', 'b')]);
    await world.end();
  });

  it('asks for its deleted Lease only after the retry period each time, where it is refused', async () => {
    const world = new FleetWorld();
    await world.fleet('a');
    world.server.fate = ({ verb }) => (verb === 'POST' ? refusal(403, 'Forbidden') : 'answered');
    world.server.delete(world.memberLease('a'));
    await world.pass(10_000);
    const posts = world.server.requests.filter(({ verb, name }) => verb === 'POST' && name === world.memberLease('a'));
    expect(posts.length).toBeLessThan(10);
    await world.end();
  });

  it('that dies loses its shards to the others when its Leases have run out', async () => {
    const world = new FleetWorld();
    const [a, b] = await world.fleet('a', 'b');
    world.cutOff('a');
    await world.pass(12_000);
    expect(b.owned.length).toBe(placedOn('b', 'a', 'b').length);
    await world.pass(5000);
    expect(b.owned.toSorted()).toEqual(everyShard);
    expect(a.owned).toEqual([]);
    expect(b.metrics.value('pod_status_manager_fleet_shards_gained_total', { reason: 'run_out' })).toBe(
      placedOn('a', 'a', 'b').length,
    );
    await world.end();
  });

  it('that comes back after it was cut off gets its share again', async () => {
    const world = new FleetWorld();
    const [a, b] = await world.fleet('a', 'b');
    world.cutOff('a');
    await world.pass(30_000);
    expect([a.owned, b.owned.toSorted()]).toEqual([[], everyShard]);
    world.cutOff();
    world.server.endWatches('a');
    await world.pass(20_000);
    expect([a, b].map((one) => one.owned.toSorted())).toEqual([placedOn('a', 'a', 'b'), placedOn('b', 'a', 'b')]);
    await world.end();
  });

  it('removes the Leases of members that have run out, and no others', async () => {
    const world = new FleetWorld();
    const [a] = await world.fleet('a', 'b');
    world.cutOff('b');
    const name = 'fleet-edge-member-odd';
    world.server.put({ metadata: { name, labels: { 'pod-status-manager/fleet': 'edge' } }, spec: { holderIdentity: 'x' } });
    await world.pass(9000);
    expect(world.server.leases.has(world.memberLease('b'))).toBe(true);
    await world.pass(15_000);
    expect(world.server.leases.has(world.memberLease('b'))).toBe(false);
    expect([world.server.leases.has(name), a.member.members.all().map(({ id }) => id)]).toEqual([true, ['a']]);
    await world.end();
  });

  it('renews while the removal of such a Lease gets no answer', async () => {
    const world = new FleetWorld();
    const [a] = await world.fleet('a', 'b', 'c', 'd');
    world.cutOff('b', 'c', 'd');
    const { fate } = world.server;
    world.server.fate = (request) => (request.verb === 'DELETE' ? 'silent' : fate(request));
    await world.pass(30_000);
    expect(a.owned.toSorted()).toEqual(everyShard);
    a.host.took();
    await world.pass(60_000);
    expect([a.owned.toSorted(), a.host.took()]).toEqual([everyShard, []]);
    await world.end();
  });

  it('goes on alone where the Leases cannot be watched', async () => {
    const world = new FleetWorld();
    const [a] = await world.fleet('a');
    world.server.isDeaf = () => true;
    await world.pass(60_000);
    expect(a.owned.toSorted()).toEqual(everyShard);
    await world.end();
  });

  it.each([13_000, 3_600_000])('keeps its shards where the clock of its machine is set forward by %i ms', async (ms) => {
    const world = new FleetWorld();
    const [a, b] = await world.fleet('a', 'b');
    for (const { host } of [a, b]) host.took();
    world.clock.jump(ms);
    expect([...a.owned, ...b.owned]).toEqual([]);
    // the clock alone wakes nobody
    await world.pass(4000);
    expect([...a.owned, ...b.owned].length).toBe(8);
    expect([...a.host.took(), ...b.host.took()]).toEqual([]);
    await world.end();
  });
});

describe('a process with the id of another', () => {
  it('waits, says who that is, and takes its place once it has gone', async () => {
    const world = new FleetWorld();
    const [a] = await world.fleet('a');
    const namesake = world.process('a', { process: 'q' }).start();
    await world.pass(10_000);
    expect([namesake.started, namesake.member.isMember, namesake.owned]).toEqual(['resolved', false, []]);
    expect(namesake.member.outside).toEqual({ kind: 'namesake', agent: 'process 1 on a' });
    expect(namesake.member.placedOn(3)).toBe('a');
    expect(a.owned.length).toBe(8);
    await world.stop(a);
    await world.pass(5000);
    expect([namesake.member.isMember, namesake.owned.length, namesake.member.outside]).toEqual([true, 8, undefined]);
    await world.end();
  });

  it('takes the place of one that has died when that one’s Lease has run out', async () => {
    const world = new FleetWorld();
    await world.fleet('a');
    world.cutOff('a');
    const namesake = world.process('a', { process: 'q' }).start();
    await world.pass(20_000);
    expect([namesake.member.isMember, namesake.owned.length]).toEqual([true, 8]);
    await world.end();
  });
});

describe('a member of a fleet stops', () => {
  it('in peace: it says that it leaves, gives up every Lease of a shard, removes its own, and the others take over at once', async () => {
    const world = new FleetWorld();
    const [a, b] = await world.fleet('a', 'b');
    const share = placedOn('a', 'a', 'b');
    expect(await world.stop(a)).toEqual({ handedOver: share.length, leftToRunOut: 0 });
    expect([world.server.leases.has(world.memberLease('a')), a.owned]).toEqual([false, []]);
    await world.pass(200);
    expect(b.owned.toSorted()).toEqual(everyShard);
    await world.end();
  });

  it.each([
    400, 1000, 2000,
  ])('in peace also where it has only %i ms, and is no member from the beginning of it', async (timeoutMs) => {
    const world = new FleetWorld();
    const [a] = await world.fleet('a');
    a.host.endsAfter = () => new Promise((resolve) => world.clock.setTimer(resolve, 100));
    expect(a.member.isMember).toBe(true);
    const stopped = a.member.stop(timeoutMs);
    expect(a.member.isMember).toBe(false);
    expect(await world.settled(stopped)).toEqual({ handedOver: 8, leftToRunOut: 0 });
    expect([a.member.isMember, world.server.leases.has(world.memberLease('a'))]).toEqual([false, false]);
    await world.end();
  });

  it('and says so as soon as a renewal that is under way has ended', async () => {
    const world = new FleetWorld();
    const [a] = await world.fleet('a', 'b');
    a.host.endsAfter = () => new Promise((resolve) => world.clock.setTimer(resolve, 8000));
    world.server.fate = ({ who, name }) =>
      who === 'a' && name === world.memberLease('a') ? { answeredAfterMs: 500 } : 'answered';
    world.server.tookWrites('a');
    // a renewal has been carried out, and its answer is on its way
    while (!world.server.tookWrites('a').includes(`PUT ${world.memberLease('a')}`)) await world.pass(100);
    const stopped = a.member.stop(25_000);
    await world.pass(1100);
    const { annotations } = world.server.leases.get(world.memberLease('a'))?.metadata ?? {};
    expect(annotations?.['pod-status-manager/fleet-state']).toBe('leaving');
    await world.settled(stopped);
    await world.end();
  });

  it('out of time: what has not ended is lost, and is waited for a little', async () => {
    const world = new FleetWorld();
    const [a] = await world.fleet('a');
    const beganAt = world.clock.elapsed();
    const stops = (): number => (world.clock.elapsed() - beganAt < 3000 ? 5000 : 900);
    a.host.endsAfter = () => new Promise((resolve) => world.clock.setTimer(resolve, stops()));
    expect(await world.stop(a, 4000)).toEqual({ handedOver: 0, leftToRunOut: 8 });
    // nothing runs here any more
    expect([a.host.terms.size, world.clock.elapsed() - beganAt]).toEqual([0, 3900]);
    await world.end();
  });

  it('also where what runs never ends', async () => {
    const world = new FleetWorld();
    const [a] = await world.fleet('a');
    a.host.endsAfter = () => new Promise(() => {});
    const beganAt = world.clock.elapsed();
    expect(await world.stop(a, 5000)).toEqual({ handedOver: 0, leftToRunOut: 8 });
    expect(world.clock.elapsed() - beganAt).toBe(5000);
    await world.end();
  });

  it('while Leases cannot be written: they are left to run out, each counted once', async () => {
    const world = new FleetWorld();
    const [a] = await world.fleet('a');
    world.server.fate = ({ verb }) => (verb === 'GET' || verb === 'LIST' ? 'answered' : 'lost');
    expect(await world.stop(a, 5000)).toEqual({ handedOver: 0, leftToRunOut: 8 });
    await world.end();
  });

  it('while it acquires: an answer that comes afterwards begins no term', async () => {
    const world = new FleetWorld();
    const a = world.process('a').start();
    world.server.fate = ({ verb, name }) => {
      if (verb === 'POST' && name === world.shardLease(0)) return { answeredAfterMs: 1800 };
      return verb === 'DELETE' ? { answeredAfterMs: 1900 } : 'answered';
    };
    await world.pass(1100);
    expect(a.owned.length).toBe(7);
    await world.stop(a, 2000);
    await world.pass(2000);
    expect([a.owned, a.host.told.includes('gained 0')]).toEqual([[], false]);
    await world.end();
  });

  it('before it has joined: its start rejects', async () => {
    const world = new FleetWorld();
    world.server.fate = ({ verb }) => (verb === 'POST' ? 'lost' : 'answered');
    const a = world.process('a').start();
    await world.pass(3000);
    expect(await world.stop(a)).toEqual({ handedOver: 0, leftToRunOut: 0 });
    expect(a.started).toBe('rejected: ERR_STOPPED');
    await world.end();
  });

  it('before it has read anything, and before it was started', async () => {
    const world = new FleetWorld();
    world.server.fate = () => 'lost';
    world.server.isDeaf = () => true;
    const [a, b] = [world.process('a'), world.process('b')];
    await world.stop(a);
    b.start();
    await world.stop(b);
    expect([a.started, world.clock.pendingTimers]).toEqual(['pending', 0]);
    await world.end();
  });
});
