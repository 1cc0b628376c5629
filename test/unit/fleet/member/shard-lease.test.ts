import { describe, expect, it } from 'vitest';
import type { WireLease } from '../../../../src/api/json/types.ts';
import { refusal } from './fleet-lease-server.ts';
import { KeeperWorld, leaseName } from './keeper-world.ts';

const labels = { 'pod-status-manager/fleet': 'edge', 'pod-status-manager/fleet-role': 'shard' };
const leaseOf = (holderIdentity: string, spec: object = {}, state?: string): WireLease => ({
  metadata: {
    name: leaseName,
    labels,
    ...(state !== undefined && { annotations: { 'pod-status-manager/fleet-state': state } }),
  },
  spec: { holderIdentity, leaseDurationSeconds: 15, ...spec },
});

/** A member that takes nothing, and a shard. */
async function watching(lease: WireLease) {
  const world = new KeeperWorld();
  world.server.put(lease);
  const a = await world.member('a', []);
  return { world, a };
}

/** A member that has just taken the shard. */
async function owning() {
  const world = new KeeperWorld();
  const a = await world.member('a');
  await world.pass(0);
  expect(a.host.took()).toEqual(['gained 3']);
  return { world, a };
}

describe('the Lease of a shard, as it is seen', () => {
  it('has no holder once it has run out, and its nodes do not start any more then', async () => {
    const { world, a } = await watching(leaseOf('x_p', {}, 'starting'));
    await world.pass(14_999);
    expect([a.keeper.holder, a.state, a.keeper.isUnsettled]).toEqual(['x_p', 'elsewhere', true]);
    await world.pass(1);
    expect([a.keeper.holder, a.state, a.keeper.isUnsettled]).toEqual([undefined, 'free', false]);
    await world.stop();
  });

  it('is on its way to somebody while it is given up, or its nodes start', async () => {
    const { world, a } = await watching(leaseOf('x_p'));
    expect(a.keeper.isUnsettled).toBe(false);
    world.server.edit(leaseName, { holderIdentity: '', renewTime: 'given up' });
    await world.pass(0);
    expect(a.keeper.isUnsettled).toBe(true);
    world.server.delete(leaseName);
    await world.pass(0);
    expect(a.keeper.isUnsettled).toBe(false);
    await world.stop();
  });

  it('is so since its owner took it, by its own word, and since it came free', async () => {
    const world = new KeeperWorld();
    const beganAt = world.clock.now();
    world.server.put(leaseOf('x_p', { acquireTime: '2020-01-01T00:00:00.000000Z' }));
    const a = await world.member('a', []);
    expect(a.keeper.since).toBe(Date.UTC(2020, 0, 1));
    const freeAt = world.clock.now() + 15_000;
    await world.pass(20_000);
    expect([a.state, a.keeper.since]).toEqual(['free', freeAt]);
    world.server.edit(leaseName, { holderIdentity: 'x_p', acquireTime: 'who knows', renewTime: 'now' });
    await world.pass(0);
    expect([a.state, a.keeper.since]).toEqual(['elsewhere', beganAt]);
    await world.stop();
  });

  it('is known from what this member writes and reads, without the watch', async () => {
    const world = new KeeperWorld();
    const a = await world.member('a');
    world.server.isDeaf = () => true;
    await world.pass(0);
    expect(a.keeper.holder).toBe('a_p');
    a.line = ['b', 'a'];
    await world.pass(0);
    expect([a.keeper.holder, a.state]).toEqual([undefined, 'free']);
    await world.stop();
  });
});

describe('the Lease of a shard, as it is read after a refused acquisition', () => {
  it('is left alone for its duration where it is gone, and made anew then', async () => {
    const { world, a } = await watching(leaseOf(''));
    world.server.isDeaf = () => true;
    world.server.delete(leaseName);
    a.line = ['a'];
    await world.pass(14_999);
    expect(a.host.took()).toEqual([]);
    await world.pass(3000);
    expect([a.host.took(), world.server.holder(leaseName)]).toEqual([['gained 3'], 'a_p']);
    await world.stop();
  });

  it('is the truth also where it is older than what was known', async () => {
    const { world, a } = await watching(leaseOf(''));
    const older = structuredClone(world.server.leases.get(leaseName) ?? {});
    world.server.edit(leaseName, { renewTime: 'later' });
    await world.pass(2000);
    world.server.isDeaf = () => true;
    // etcd was restored
    world.server.leases.set(leaseName, older);
    a.line = ['a'];
    await world.pass(5000);
    expect(a.host.took()).toEqual(['gained 3']);
    await world.stop();
  });
});

describe('a renewal of the Lease of a shard', () => {
  it('counts from when it was sent, not from its answer', async () => {
    const { world, a } = await owning();
    let left = 1;
    world.server.fate = ({ verb }) => {
      if (verb !== 'PUT') return 'answered';
      left -= 1;
      return left < 0 ? 'lost' : { answeredAfterMs: 3000 };
    };
    await world.pass(14_999);
    expect([a.isOwned, a.host.took()]).toEqual([true, []]);
    await world.pass(1);
    expect([a.isOwned, a.host.took()]).toEqual([false, ['lost 3']]);
    await world.stop();
  });

  it('that is refused renews nothing, also where the Lease is this member’s: an earlier one has written that', async () => {
    const { world, a } = await owning();
    let left = 2;
    world.server.fate = ({ verb }) => {
      if (verb !== 'PUT') return 'answered';
      left -= 1;
      if (left === 1) return 'answerLost';
      return left === 0 ? 'answered' : 'lost';
    };
    world.server.isDeaf = () => true;
    await world.pass(9999);
    // the second one was made against an old version
    expect([a.isOwned, left < 0]).toEqual([true, true]);
    await world.pass(1);
    expect([a.isOwned, a.host.took()]).toEqual([false, ['lost 3']]);
    await world.stop();
  });

  it('that has failed is tried again a retry period after it began, and says when', async () => {
    const { world, a } = await owning();
    const tries: number[] = [];
    const { server, clock } = world;
    const put = server.put.bind(server);
    server.put = () => {
      throw refusal(500, 'InternalError');
    };
    server.fate = ({ verb }) => {
      if (verb === 'PUT') tries.push(clock.elapsed());
      return { handledAfterMs: 1500 };
    };
    await world.pass(6999);
    expect([tries, a.keeper.failure?.retryAt]).toEqual([[5000], clock.now() + 1]);
    await world.pass(2500);
    expect(tries).toEqual([5000, 7000, 9000]);
    server.put = put;
    await world.stop();
  });
});

describe('a shard whose Lease somebody deletes while its nodes end', () => {
  it('counts as lost: there is nothing that can be given up', async () => {
    const { world, a } = await owning();
    const drained = Promise.withResolvers<void>();
    a.host.handsOver = () => drained.promise;
    a.line = ['b', 'a'];
    await world.pass(4000);
    world.server.isDeaf = () => true;
    world.server.delete(leaseName);
    world.server.fate = ({ verb }) => (verb === 'PUT' ? { handledAfterMs: 500 } : 'answered');
    await world.pass(1000);
    drained.resolve();
    await world.pass(1000);
    expect([a.state, a.keeper.ended]).toEqual(['free', { handedOver: 0, lost: 1 }]);
    await world.stop();
  });
});
