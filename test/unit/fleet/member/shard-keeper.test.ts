import { describe, expect, it } from 'vitest';
import { KeeperWorld, type KeptShard, leaseName } from './keeper-world.ts';

const gains = 'pod_status_manager_fleet_shards_gained_total';
const ends = 'pod_status_manager_fleet_shards_ended_total';

/** A member that owns the shard. */
async function owning(line?: readonly string[]): Promise<{ world: KeeperWorld; a: KeptShard }> {
  const world = new KeeperWorld();
  const a = await world.member('a', line);
  await world.pass(0);
  expect(a.host.took()).toEqual(['gained 3']);
  return { world, a };
}

describe('a keeper of a shard acquires', () => {
  it('a Lease that nobody has, at once where the shard falls to it, with the labels of the fleet', async () => {
    const { world, a } = await owning();
    expect([a.state, a.keeper.isBusy, a.isOwned]).toEqual(['owned', true, true]);
    const { metadata, spec } = world.server.leases.get(leaseName) ?? {};
    expect(spec).toMatchObject({ holderIdentity: 'a_p', leaseDurationSeconds: 15, leaseTransitions: 0 });
    expect(metadata?.labels).toEqual({ 'pod-status-manager/fleet': 'edge', 'pod-status-manager/fleet-role': 'shard' });
    expect(a.metrics.nonZero(gains)).toEqual({ free: 1 });
    expect(a.lines.saying('the fleet has gained a shard').map(({ fields }) => fields)).toEqual([
      { fleet: 'edge', member: 'a', shard: 3, reason: 'free' },
    ]);
    await world.stop();
  });

  it('nothing before it may, and nothing where it is not in the line', async () => {
    const world = new KeeperWorld();
    const [a, b] = [await world.member('a', ['a', 'b']), await world.member('b', ['a'])];
    a.takesSince = undefined;
    await world.pass(20_000);
    expect([a.state, b.state]).toEqual(['free', 'free']);
    // members that come together share what is free
    a.takesSince = world.clock.elapsed();
    await world.pass(999);
    expect(world.server.writes).toEqual([]);
    await world.pass(1);
    expect(a.state).toBe('owned');
    await world.stop();
  });

  it('one that is handed to it at once, however short it has been a member', async () => {
    const { world, a } = await owning();
    const b = await world.member('b');
    b.takesSince = world.clock.elapsed();
    a.line = ['b', 'a'];
    b.line = ['b', 'a'];
    await world.pass(100);
    expect([a.state, b.state]).toEqual(['elsewhere', 'owned']);
    await world.stop();
  });

  it.each([
    [1, 4000],
    [2, 8000],
  ])('as the member after %i others in the line %i ms later, for each waits two retry periods', async (rank, afterMs) => {
    const world = new KeeperWorld();
    const a = await world.member('a', ['dead', 'gone', 'a'].slice(2 - rank));
    await world.pass(afterMs - 1);
    expect(world.server.writes).toEqual([]);
    await world.pass(1);
    expect(a.state).toBe('owned');
    await world.stop();
  });

  it('one that was given up at once, and counts the change of the holder', async () => {
    const { world, a } = await owning();
    const b = await world.member('b');
    await world.pass(1000);
    expect([b.state, b.keeper.holder]).toEqual(['elsewhere', 'a_p']);
    a.line = ['b', 'a'];
    await world.pass(0);
    expect([a.state, b.state, b.isOwned, a.isOwned]).toEqual(['elsewhere', 'owned', true, false]);
    expect(world.server.leases.get(leaseName)?.spec).toMatchObject({ holderIdentity: 'b_p', leaseTransitions: 1 });
    expect([b.metrics.nonZero(gains), a.metrics.nonZero(ends)]).toEqual([{ handed_over: 1 }, { handed_over: 1 }]);
    await world.stop();
  });

  it('one that has run out not before it stood unchanged for its duration, by what has passed here since it was seen', async () => {
    const { world, a } = await owning();
    await world.pass(7000);
    world.server.fate = ({ who }) => (who === 'a' ? 'lost' : 'answered');
    const b = await world.member('b');
    world.clock.jump(3_600_000);
    await world.pass(14_999);
    expect([b.state, b.host.told]).toEqual(['elsewhere', []]);
    await world.pass(1);
    expect([b.state, a.isOwned]).toEqual(['owned', false]);
    expect(b.metrics.nonZero(gains)).toEqual({ run_out: 1 });
    await world.stop();
  });

  it('nothing while the owner renews, however often the line changes', async () => {
    const { world } = await owning();
    const b = await world.member('b');
    await world.pass(60_000);
    expect(world.server.tookWrites('b')).toEqual([]);
    expect(b.host.told).toEqual([]);
    await world.stop();
  });

  it('only with the version that stood unchanged: a renewal that it has not seen yet wins', async () => {
    const { world, a } = await owning();
    const b = await world.member('b');
    world.server.isDeaf = (who) => who === 'b';
    await world.pass(15_000);
    expect(world.server.requests.filter(({ who, verb }) => who === 'b' && verb === 'PUT').length).toBe(1);
    expect([a.state, b.state, b.host.told, b.keeper.failure]).toEqual(['owned', 'elsewhere', [], undefined]);
    expect(world.server.tookWrites('b')).toEqual([]);
    await world.stop();
  });

  it('one that was its own before without a wait, as after a lost answer', async () => {
    const { world, a } = await owning();
    a.keeper.lose('a test');
    await world.pass(0);
    expect(a.host.took()).toEqual(['lost 3', 'gained 3']);
    expect(world.server.leases.get(leaseName)?.spec).toMatchObject({ leaseTransitions: 0 });
    await world.stop();
  });
});

describe('an acquisition', () => {
  it('that was carried out though its answer was lost is made anew after the retry period', async () => {
    const world = new KeeperWorld();
    const a = await world.member('a');
    world.server.fate = ({ verb }) => (verb === 'POST' ? 'answerLost' : 'answered');
    await world.pass(0);
    expect([a.state, a.host.told]).toEqual(['elsewhere', []]);
    expect(a.keeper.failure).toMatchObject({ attempt: 1, retryAt: world.clock.now() + 2000 });
    await world.pass(2000);
    expect([a.state, a.host.told, a.keeper.failure]).toEqual(['owned', ['gained 3'], undefined]);
    expect(world.server.leases.get(leaseName)?.spec).toMatchObject({ holderIdentity: 'a_p', leaseTransitions: 0 });
    await world.stop();
  });

  it('of two at once is one: the other reads who was first', async () => {
    const world = new KeeperWorld();
    const [a, b] = [await world.member('a'), await world.member('b')];
    await world.pass(0);
    const [winner, loser] = a.state === 'owned' ? [a, b] : [b, a];
    expect([winner.state, loser.state, loser.host.told, loser.keeper.failure]).toEqual(['owned', 'elsewhere', [], undefined]);
    await world.pass(30_000);
    expect([winner.state, loser.state, loser.host.told]).toEqual(['owned', 'elsewhere', []]);
    await world.stop();
  });

  it('whose answer comes when its term would be over begins none, and is made anew', async () => {
    const world = new KeeperWorld();
    const a = await world.member('a');
    world.server.fate = ({ verb }) => {
      // the machine slept between the request and its answer
      if (verb === 'POST') world.clock.jump(10_000);
      return 'answered';
    };
    await world.pass(0);
    expect(world.server.tookWrites('a')).toEqual([`POST ${leaseName}`, `PUT ${leaseName}`]);
    expect([a.state, a.host.told, a.isOwned]).toEqual(['owned', ['gained 3'], true]);
    await world.stop();
  });

  it('that was refused is tried again for as long as it is refused, and says so', async () => {
    const world = new KeeperWorld();
    const a = await world.member('a');
    world.server.fate = ({ verb }) => (verb === 'POST' ? 'lost' : 'answered');
    await world.pass(6000);
    expect(a.keeper.failure).toMatchObject({ attempt: 4, since: world.clock.now() - 6000 });
    world.server.fate = () => 'answered';
    await world.pass(2000);
    expect([a.state, a.keeper.failure]).toEqual(['owned', undefined]);
    await world.stop();
  });

  it('of a host that throws leaves the shard owned, and says so', async () => {
    const world = new KeeperWorld();
    const a = await world.member('a');
    a.host.gains = () => {
      throw new Error('no nodes today');
    };
    await world.pass(20_000);
    expect([a.state, a.isOwned]).toEqual(['owned', true]);
    expect(a.lines.of('error')).toEqual(['the nodes of a shard could not be started']);
    await world.stop();
  });
});

describe('a Lease that somebody has deleted', () => {
  it('is created again by its owner at once, whose term goes on', async () => {
    const { world, a } = await owning();
    await world.pass(2000);
    world.server.delete(leaseName);
    await world.pass(0);
    expect([a.state, a.isOwned, a.host.told]).toEqual(['owned', true, []]);
    expect(world.server.holder(leaseName)).toBe('a_p');
    expect(a.metrics.nonZero(ends)).toEqual({});
    await world.stop();
  });

  it('is left alone by the others for its duration, where its owner does not see it', async () => {
    const { world, a } = await owning();
    const b = await world.member('b');
    await world.pass(1000);
    world.server.isDeaf = (who) => who === 'a';
    world.server.fate = ({ who }) => (who === 'a' ? 'lost' : 'answered');
    world.server.delete(leaseName);
    await world.pass(14_999);
    expect([b.state, world.server.tookWrites('b')]).toEqual(['free', []]);
    expect(a.isOwned).toBe(false);
    await world.pass(1);
    expect(b.state).toBe('owned');
    await world.stop();
  });
});
