import { describe, expect, it } from 'vitest';
import { leaseLabels, refusal } from './fleet-lease-server.ts';
import { KeeperWorld, leaseName } from './keeper-world.ts';

const labels = leaseLabels('shard');

/** A shard that somebody else has. */
async function heldBy(holderIdentity: string, leaseDurationSeconds = 15): Promise<KeeperWorld> {
  const world = new KeeperWorld();
  world.server.put({ metadata: { name: leaseName, labels }, spec: { holderIdentity, leaseDurationSeconds } });
  return world;
}

const saysStarting = ({ server }: KeeperWorld): boolean =>
  server.leases.get(leaseName)?.metadata?.annotations?.['pod-status-manager/fleet-state'] === 'starting';

const giveUp = ({ server }: KeeperWorld): void =>
  server.edit(leaseName, { holderIdentity: '', leaseDurationSeconds: 1, renewTime: 'given up' });

describe('a shard is not taken', () => {
  it('while the others may have counted this member as gone', async () => {
    const world = await heldBy('');
    const a = await world.member('a');
    a.isSure = false;
    await world.pass(60_000);
    expect([a.state, a.host.took(), world.server.tookWrites('a')]).toEqual(['free', [], []]);
    a.isSure = true;
    await world.pass(0);
    expect(a.host.took()).toEqual(['gained 3']);
    await world.stop();
  });

  it('in the first second of a member, where nobody had it before', async () => {
    const world = await heldBy('');
    const a = await world.member('a', []);
    await world.pass(5000);
    a.line = ['a'];
    a.takesSince = world.clock.elapsed();
    await world.pass(999);
    expect(a.host.took()).toEqual([]);
    await world.pass(1);
    expect(a.host.took()).toEqual(['gained 3']);
    await world.stop();
  });

  it('for its own duration where its Lease was deleted after it was given up: somebody may have taken it between', async () => {
    const world = await heldBy('', 1);
    const a = await world.member('a', []);
    world.server.delete(leaseName);
    a.line = ['a'];
    await world.pass(14_999);
    expect(a.host.took()).toEqual([]);
    await world.pass(1);
    expect(a.host.took()).toEqual(['gained 3']);
    await world.stop();
  });

  it('by the second in line for a second after it came free, however short the retry period is', async () => {
    const world = await heldBy('x_p', 5);
    const a = await world.member('a', ['b', 'a'], { retryPeriodMs: 100 });
    await world.pass(5999);
    expect(a.host.took()).toEqual([]);
    await world.pass(1);
    expect(a.host.took()).toEqual(['gained 3']);
    await world.stop();
  });

  it('while another write of its Lease is under way', async () => {
    const world = new KeeperWorld();
    const a = await world.member('a');
    await world.pass(0);
    const most = world.slowWrites({ handledAfterMs: 4500 });
    // it is lost while a renewal is under way
    await world.pass(6000);
    a.keeper.lose('by the test');
    await world.pass(0);
    expect([a.state, a.keeper.isBusy]).toEqual(['elsewhere', true]);
    await world.pass(30_000);
    expect([a.host.took().slice(0, 3), most()]).toEqual([['gained 3', 'lost 3', 'gained 3'], 1]);
    await world.stop();
  });
});

describe('a failure to write the Lease of a shard', () => {
  it('is over once another member has the shard', async () => {
    const world = new KeeperWorld();
    const a = await world.member('a');
    world.server.fate = ({ verb }) => (verb === 'POST' ? refusal(403, 'Forbidden') : 'answered');
    await world.pass(5000);
    expect(a.keeper.failure?.error).toMatchObject({ status: 403 });
    world.server.put({ metadata: { name: leaseName, labels }, spec: { holderIdentity: 'b_p', leaseDurationSeconds: 15 } });
    await world.pass(100);
    expect([a.keeper.failure, a.state]).toEqual([undefined, 'elsewhere']);
    await world.stop();
  });
});

describe('a shard that this member has lost and taken again', () => {
  it('is offered to the member that it is placed on now: that one has had no turn', async () => {
    const world = new KeeperWorld();
    const a = await world.member('a');
    await world.pass(0);
    world.server.fate = ({ verb }) => (verb === 'PUT' ? 'lost' : 'answered');
    await world.pass(11_000);
    expect(a.host.took()).toEqual(['gained 3', 'lost 3']);
    a.line = ['b', 'a'];
    world.server.fate = () => 'answered';
    await world.pass(10_000);
    expect(a.host.took().slice(0, 2)).toEqual(['gained 3', 'handOver 3']);
    await world.stop();
  });
});

describe('a shard says that its nodes start', () => {
  it.each([
    ['ran out', true],
    ['was given up', true],
    ['is this member’s', false],
  ])('where its Lease %s: %s', async (how, isStarting) => {
    const world = await heldBy(how === 'is this member’s' ? 'a_p' : 'x_p', 5);
    const a = await world.member('a');
    const nodes = Promise.withResolvers<void>();
    a.host.gains = () => nodes.promise;
    if (how === 'was given up') giveUp(world);
    await world.pass(5000);
    expect([a.state, saysStarting(world)]).toEqual(['owned', isStarting]);
    nodes.resolve();
    await world.pass(0);
    expect(saysStarting(world)).toBe(false);
    await world.stop();
  });

  it('until those of this term run, whatever becomes of those of an earlier one', async () => {
    const world = await heldBy('x_p');
    const a = await world.member('a');
    const [before, now] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    a.host.gains = () => before.promise;
    giveUp(world);
    await world.pass(0);
    a.host.gains = () => now.promise;
    a.line = ['b', 'a'];
    await world.pass(0);
    expect(a.host.took()).toEqual(['gained 3', 'handOver 3']);
    a.line = ['a'];
    await world.pass(0);
    expect([a.host.took(), saysStarting(world)]).toEqual([['gained 3'], true]);
    before.resolve();
    await world.pass(10_000);
    expect(saysStarting(world)).toBe(true);
    now.resolve();
    await world.pass(0);
    expect(saysStarting(world)).toBe(false);
    await world.stop();
  });
});

describe('a shard that is given up', () => {
  it('counts as being handed over until that is answered', async () => {
    const world = new KeeperWorld();
    const a = await world.member('a');
    await world.pass(0);
    world.server.fate = () => ({ answeredAfterMs: 500 });
    a.line = ['b', 'a'];
    await world.pass(499);
    expect([a.keeper.isHandingOver, a.keeper.isBusy]).toEqual([true, true]);
    await world.pass(1);
    expect([a.keeper.isHandingOver, a.keeper.isBusy]).toEqual([false, false]);
    await world.stop();
  });

  it('counts once, also where the answer comes when nobody waits for it any more', async () => {
    const world = new KeeperWorld();
    const a = await world.member('a');
    await world.pass(0);
    world.server.fate = () => ({ answeredAfterMs: 500 });
    a.line = ['b', 'a'];
    await world.pass(200);
    a.keeper.close('the time is over');
    await world.pass(1000);
    expect([a.keeper.ended, a.keeper.isBusy]).toEqual([{ handedOver: 0, lost: 1 }, false]);
    await world.stop();
  });
});
