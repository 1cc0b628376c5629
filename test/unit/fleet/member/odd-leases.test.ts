import { describe, expect, it } from 'vitest';
import { mostMembers, placementOf } from '../../../../src/fleet/placement.ts';
import { leaseLabels, refusal } from './fleet-lease-server.ts';
import { FleetWorld } from './fleet-world.ts';

const [ofMember, ofShard] = [leaseLabels('member'), leaseLabels('shard')];
const counting = (shards: number) => ({ 'pod-status-manager/fleet-shards': String(shards) });
const longest = 2 ** 31 - 1;

// whoever writes a Lease of the fleet may be no member
describe('a member of a fleet', () => {
  it('joins where its Lease is there without labels, and writes them', async () => {
    const world = new FleetWorld();
    const name = world.memberLease('a');
    world.server.put({ metadata: { name }, spec: { holderIdentity: 'old', leaseDurationSeconds: 15, renewTime: 'long ago' } });
    const a = world.process('a').start();
    await world.pass(20_000);
    expect([a.member.isMember, a.owned.length, a.member.failure]).toEqual([true, 8, undefined]);
    expect(world.server.leases.get(name)?.metadata?.labels).toEqual(ofMember);
    await world.end();
  });

  it('passes over Leases of members that name no number of shards, and says which', async () => {
    const world = new FleetWorld();
    const spec = { holderIdentity: 'odd', leaseDurationSeconds: longest };
    world.server.put({ metadata: { name: 'fleet-edge-member-odd', labels: ofMember }, spec });
    const [a] = await world.fleet('a');
    expect([a.owned.length, a.member.members.all().map(({ id }) => id)]).toEqual([8, ['a']]);
    expect(a.member.members.unclear()).toEqual(['fleet-edge-member-odd']);
    await world.end();
  });

  it('waits no longer than a day for one that counts otherwise, whatever duration its Lease names', async () => {
    const world = new FleetWorld();
    const metadata = { name: 'fleet-edge-member-odd', labels: ofMember, annotations: counting(4) };
    world.server.put({ metadata, spec: { holderIdentity: 'odd', leaseDurationSeconds: longest } });
    const a = world.process('a').start();
    await world.pass(86_000_000, 1_000_000);
    expect([a.member.isMember, a.member.outside]).toMatchObject([false, { kind: 'other-shards', members: ['odd'] }]);
    await world.pass(1_000_000, 1_000_000);
    await world.pass(10_000);
    expect([a.member.isMember, a.owned.length]).toEqual([true, 8]);
    await world.end();
  });

  it('takes a shard whose Lease has changed hands as often as its field can count', async () => {
    const world = new FleetWorld();
    const spec = { holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: longest };
    world.server.put({ metadata: { name: world.shardLease(3), labels: ofShard }, spec });
    const put = world.server.put.bind(world.server);
    world.server.put = (lease) => {
      if ((lease.spec?.leaseTransitions ?? 0) > longest) throw refusal(400, 'BadRequest');
      return put(lease);
    };
    const [a] = await world.fleet('a');
    expect(a.owned.length).toBe(8);
    expect(world.server.leases.get(world.shardLease(3))?.spec?.leaseTransitions).toBe(0);
    await world.end();
  });

  it('writes its Lease once in a retry period where that comes back without its marks', async () => {
    const world = new FleetWorld();
    const put = world.server.put.bind(world.server);
    const own = world.memberLease('a');
    world.server.put = ({ metadata, ...lease }) =>
      put({ ...lease, metadata: { ...metadata, ...(metadata?.name === own && { annotations: {} }) } });
    world.server.fate = () => ({ answeredAfterMs: 5 });
    await world.fleet('a');
    world.server.requests.splice(0);
    await world.pass(10_000, 5);
    const writes = world.server.requests.filter(({ verb, name }) => verb === 'PUT' && name === own);
    expect(writes.length).toBeGreaterThan(3);
    expect(writes.length).toBeLessThan(8);
    await world.end();
  });

  it.each([
    'a',
    'b',
  ])('counts no copy of the Lease of %s under another name, says so, and removes it once it has run out', async (of) => {
    const world = new FleetWorld();
    const [a, b] = await world.fleet('a', 'b');
    const lease = world.server.leases.get(world.memberLease(of));
    const name = 'fleet-edge-member-copy';
    world.server.put({ ...lease, metadata: { name, labels: ofMember, annotations: lease?.metadata?.annotations ?? {} } });
    await world.pass(100);
    expect(a.member.members.all().map(({ id, isSelf }) => [id, isSelf])).toEqual([
      ['a', true],
      ['b', false],
    ]);
    expect([a.member.members.unclear(), b.member.members.living().length]).toEqual([[name], 2]);
    expect([0, 1, 2, 3, 4, 5, 6, 7].map((shard) => a.member.placedOn(shard))).not.toContain('copy');
    await world.pass(60_000);
    expect([world.server.leases.has(name), (a.owned.length ?? 0) + (b.owned.length ?? 0)]).toEqual([false, 8]);
    await world.end();
  });

  it('does not believe the Lease of another that the holder of a shard counts as it does', async () => {
    const world = new FleetWorld();
    const spec = { holderIdentity: 'b_p', leaseDurationSeconds: 15 };
    world.server.put({ metadata: { name: world.shardLease(3), labels: ofShard }, spec });
    world.server.put({ metadata: { name: 'fleet-edge-member-copy', labels: ofMember, annotations: counting(8) }, spec });
    const a = world.process('a').start();
    await world.pass(1000);
    expect([a.member.isMember, a.member.outside]).toMatchObject([false, { kind: 'other-shards', holders: ['b'] }]);
    await world.end();
  });

  it('leaves a deleted shard alone that had lost its labels before', async () => {
    const world = new FleetWorld();
    const [a, b] = await world.fleet('a', 'b');
    await world.pass(7000);
    const shard = a.owned[0] ?? 0;
    const name = world.shardLease(shard);
    world.server.tookWrites('a');
    while (!world.server.tookWrites('a').includes(`PUT ${name}`)) await world.pass(100);
    world.cutOff('a');
    const lease = world.server.leases.get(name);
    world.server.put({ ...lease, metadata: { ...lease?.metadata, labels: { 'pod-status-manager/fleet': 'edge' } } });
    world.server.delete(name);
    // each step looks that no two own one shard
    await world.pass(14_000);
    expect(b.owned.includes(shard)).toBe(false);
    await world.pass(20_000);
    expect(b.owned.includes(shard)).toBe(true);
    await world.end();
  });

  it('leaves a deleted shard alone for the duration of its Lease, where that was longer than its own', async () => {
    const world = new FleetWorld();
    const [a] = await world.fleet('a');
    const name = world.shardLease(3);
    world.server.fate = ({ name: of }) => (of === name ? 'lost' : 'answered');
    world.server.edit(name, { holderIdentity: 'slow_p', leaseDurationSeconds: 60, renewTime: 'now' });
    await world.pass(1000);
    world.server.delete(name);
    world.server.fate = () => 'answered';
    await world.pass(59_000);
    expect(a.owned.includes(3)).toBe(false);
    await world.pass(2000);
    expect(a.owned.includes(3)).toBe(true);
    await world.end();
  });

  it('goes on where a look has failed: it ends its terms, and looks again after the retry period', async () => {
    const world = new FleetWorld();
    const [a] = await world.fleet('a');
    const { members } = a.member;
    const living = members.living.bind(members);
    members.living = () => {
      throw new RangeError('too many');
    };
    await world.pass(6000);
    expect([a.owned, a.member.failure?.error]).toEqual([[], new RangeError('too many')]);
    expect(a.host.told.filter((told) => told.startsWith('lost')).length).toBe(8);
    expect(a.lines.saying('a look at the fleet has failed: it comes again after the retry period').length).toBeGreaterThan(0);
    members.living = living;
    await world.pass(20_000);
    expect([a.owned.length, a.member.failure]).toEqual([8, undefined]);
    await world.end();
  });

  it('places shards on so many members at most, the first by their ids, with thousands of Leases', async () => {
    const world = new FleetWorld();
    for (let member = 0; member < 3000; member += 1) {
      const metadata = { name: `fleet-edge-member-z${member}`, labels: ofMember, annotations: counting(8) };
      world.server.put({ metadata, spec: { holderIdentity: `z${member}_p`, leaseDurationSeconds: 15 } });
    }
    const a = world.process('a').start();
    await world.pass(100);
    const ids = a.member.members.living().map(({ id }) => id);
    const placed = [0, 1, 2, 3, 4, 5, 6, 7].map((shard) => a.member.placedOn(shard));
    expect(ids.length).toBe(3001);
    expect(placed).toEqual(placementOf(ids.slice(0, mostMembers), 8).map(([first]) => first));
    await world.end();
  });
});
