import { describe, expect, it } from 'vitest';
import { KeeperWorld, type KeptShard, leaseName } from './keeper-world.ts';

const ends = 'pod_status_manager_fleet_shards_ended_total';
const durations = 'pod_status_manager_fleet_handover_duration_seconds';

async function owning(): Promise<{ world: KeeperWorld; a: KeptShard; drained: PromiseWithResolvers<void> }> {
  const world = new KeeperWorld();
  const a = await world.member('a');
  await world.pass(0);
  expect(a.host.took()).toEqual(['gained 3']);
  world.server.tookWrites('a');
  const drained = Promise.withResolvers<void>();
  a.host.handsOver = () => drained.promise;
  return { world, a, drained };
}

describe('a hand-over', () => {
  it('ends the nodes first, then the term, and then gives the Lease up', async () => {
    const { world, a, drained } = await owning();
    const isOwnedAtRelease: boolean[] = [];
    a.line = ['b', 'a'];
    await world.pass(7000);
    // the Lease is renewed meanwhile
    expect([a.state, a.isOwned, a.host.took()]).toEqual(['handingOver', true, ['handOver 3']]);
    expect(world.server.tookWrites('a')).toEqual([`PUT ${leaseName}`]);
    expect(world.server.holder(leaseName)).toBe('a_p');
    world.server.fate = ({ verb }) => {
      if (verb === 'PUT') isOwnedAtRelease.push(a.isOwned);
      return { answeredAfterMs: 500 };
    };
    drained.resolve();
    await world.pass(499);
    expect([a.state, a.isOwned, isOwnedAtRelease]).toEqual(['handingOver', false, [false]]);
    await world.pass(1);
    expect([a.state, a.keeper.isBusy, a.keeper.holder]).toEqual(['free', false, undefined]);
    expect(world.server.leases.get(leaseName)?.spec).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1 });
    expect([a.keeper.ended, a.metrics.nonZero(ends)]).toEqual([{ handedOver: 1, lost: 0 }, { handed_over: 1 }]);
    expect(a.metrics.values(durations, { direction: 'out' })).toEqual([7]);
    expect(a.host.took()).toEqual([]);
    await world.stop();
  });

  it('begins when this member may take no shards any more', async () => {
    const { world, a, drained } = await owning();
    drained.resolve();
    a.takesSince = undefined;
    await world.pass(0);
    expect([a.state, a.host.took(), world.server.holder(leaseName)]).toEqual(['free', ['handOver 3'], '']);
    await world.stop();
  });

  it('waits for its turn, and the shard is served meanwhile', async () => {
    const { world, a } = await owning();
    a.mayHandOver = false;
    a.line = ['b', 'a'];
    await world.pass(20_000);
    expect([a.state, a.isOwned, a.host.took()]).toEqual(['owned', true, []]);
    a.mayHandOver = true;
    await world.pass(0);
    expect([a.state, a.keeper.isHandingOver]).toEqual(['handingOver', true]);
    await world.stop();
  });

  it('does not begin where no member is known that is to have the shard', async () => {
    const { world, a } = await owning();
    a.line = [];
    await world.pass(20_000);
    expect([a.state, a.host.took()]).toEqual(['owned', []]);
    await world.stop();
  });

  it('goes on where the shard falls to this member again meanwhile, which takes it anew', async () => {
    const { world, a, drained } = await owning();
    a.line = ['b', 'a'];
    await world.pass(0);
    a.line = ['a', 'b'];
    await world.pass(1000);
    expect(a.state).toBe('handingOver');
    drained.resolve();
    await world.pass(0);
    expect([a.state, a.host.took()]).toEqual(['owned', ['handOver 3', 'gained 3']]);
    await world.stop();
  });

  it.each([
    ['rejects', (): Promise<void> => Promise.reject(new Error('broken'))],
    [
      'throws at once',
      (): Promise<void> => {
        throw new Error('broken');
      },
    ],
  ])('of a host that %s comes to its end, and says so', async (_, handsOver) => {
    const { world, a } = await owning();
    a.host.handsOver = handsOver;
    a.line = ['b', 'a'];
    await world.pass(0);
    expect([a.state, world.server.holder(leaseName)]).toEqual(['free', '']);
    expect(a.lines.of('error')).toEqual(['the end of the nodes of a shard has failed']);
    await world.stop();
  });

  it('of a host that never ends it keeps the shard, renewed, and gives nothing up', async () => {
    const { world, a } = await owning();
    a.line = ['b', 'a'];
    await world.pass(120_000);
    expect([a.state, a.isOwned, world.server.holder(leaseName)]).toEqual(['handingOver', true, 'a_p']);
    await world.stop();
  });

  it('becomes a loss where the Lease cannot be renewed: the host is told', async () => {
    const { world, a, drained } = await owning();
    a.line = ['b', 'a'];
    await world.pass(0);
    world.server.fate = ({ who }) => (who === 'a' ? 'silent' : 'answered');
    await world.pass(10_000);
    expect([a.isOwned, a.host.took()]).toEqual([false, ['handOver 3', 'lost 3']]);
    drained.resolve();
    world.server.fate = () => 'answered';
    world.server.tookWrites('a');
    await world.pass(1000);
    // the Lease is not this member's to give up
    expect(world.server.tookWrites('a')).toEqual([]);
    expect(a.keeper.ended).toEqual({ handedOver: 0, lost: 1 });
    await world.stop();
  });
});

describe('the release of a Lease', () => {
  const leaving = async (): Promise<{ world: KeeperWorld; a: KeptShard }> => {
    const { world, a, drained } = await owning();
    drained.resolve();
    await world.pass(1000);
    a.takesSince = undefined;
    return { world, a };
  };

  it('is tried again after the retry period where it was lost, and the term stays over', async () => {
    const { world, a } = await leaving();
    world.server.fate = ({ verb }) => (verb === 'PUT' ? 'lost' : 'answered');
    await world.pass(2000);
    expect([a.state, a.isOwned]).toEqual(['handingOver', false]);
    expect(a.keeper.failure).toMatchObject({ attempt: 2 });
    world.server.fate = () => 'answered';
    await world.pass(2000);
    expect([a.state, a.keeper.failure, world.server.holder(leaseName)]).toEqual(['free', undefined, '']);
    expect(a.keeper.ended).toEqual({ handedOver: 1, lost: 0 });
    await world.stop();
  });

  it('counts as done where it was carried out though its answer was lost', async () => {
    const { world, a } = await leaving();
    let isFirst = true;
    world.server.fate = ({ verb }) => {
      const fate = verb === 'PUT' && isFirst ? 'answerLost' : 'answered';
      if (verb === 'PUT') isFirst = false;
      return fate;
    };
    await world.pass(2000);
    expect([a.state, a.keeper.ended]).toEqual(['free', { handedOver: 1, lost: 0 }]);
    await world.stop();
  });

  it('is made with the new version where somebody has changed the Lease', async () => {
    const { world, a } = await leaving();
    world.server.isDeaf = () => true;
    world.server.edit(leaseName, { renewTime: 'changed' });
    await world.pass(2000);
    expect([a.state, world.server.holder(leaseName), a.keeper.ended.handedOver]).toEqual(['free', '', 1]);
    await world.stop();
  });

  it('is not made where another has the Lease', async () => {
    const { world, a } = await leaving();
    world.server.isDeaf = () => true;
    world.server.edit(leaseName, { holderIdentity: 'intruder_x', renewTime: 'changed' });
    await world.pass(2000);
    expect([a.state, world.server.holder(leaseName)]).toEqual(['elsewhere', 'intruder_x']);
    expect([a.keeper.ended, a.metrics.nonZero(ends)]).toEqual([{ handedOver: 0, lost: 1 }, { lost: 1 }]);
    await world.stop();
  });

  it('is given up once the Lease has run out', async () => {
    const { world, a } = await leaving();
    world.server.fate = ({ verb }) => (verb === 'PUT' ? 'lost' : 'answered');
    await world.pass(14_999);
    expect(a.keeper.isBusy).toBe(true);
    await world.pass(1);
    expect([a.keeper.isBusy, a.keeper.ended]).toEqual([false, { handedOver: 0, lost: 1 }]);
    expect(a.host.took()).toEqual(['handOver 3']);
    await world.stop();
  });
});

describe('a shard that was taken in the place of a living member', () => {
  /** How long `a` serves the shard until it offers it again, each time that it does. */
  const keptFor = async (world: KeeperWorld, a: KeptShard): Promise<number> => {
    const from = world.clock.elapsed();
    while (a.state === 'owned') await world.pass(1000);
    return Math.round((world.clock.elapsed() - from) / 1000);
  };

  it('is kept, and offered again ever later where that one does not take it', async () => {
    const world = new KeeperWorld();
    const a = await world.member('a', ['lazy', 'a']);
    await world.pass(4000);
    const kept: number[] = [];
    for (let time = 0; time < 6; time++) {
      expect(a.host.took()).toEqual(time === 0 ? ['gained 3'] : ['handOver 3', 'gained 3']);
      kept.push(await keptFor(world, a));
      await world.pass(4000);
    }
    expect(kept).toEqual([30, 60, 120, 240, 300, 300]);
    await world.stop();
  });

  it('goes at once to a third one that is to have it meanwhile', async () => {
    const world = new KeeperWorld();
    const a = await world.member('a', ['lazy', 'a']);
    await world.pass(4000);
    expect(a.host.took()).toEqual(['gained 3']);
    a.line = ['eager', 'lazy', 'a'];
    await world.pass(0);
    expect(a.host.took()).toEqual(['handOver 3']);
    await world.stop();
  });

  it('is kept for the first time again where it fell to this member in between', async () => {
    const world = new KeeperWorld();
    const a = await world.member('a', ['lazy', 'a']);
    await world.pass(4000);
    await keptFor(world, a);
    a.line = ['a', 'lazy'];
    await world.pass(1000);
    expect(a.state).toBe('owned');
    a.line = ['lazy', 'a'];
    await world.pass(0);
    await world.pass(4000);
    expect(await keptFor(world, a)).toBe(30);
    await world.stop();
  });
});
