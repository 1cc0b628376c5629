import { describe, expect, it } from 'vitest';
import { KeeperWorld, type KeptShard, leaseName } from './keeper-world.ts';

const ends = 'pod_status_manager_fleet_shards_ended_total';

async function owning(): Promise<{ world: KeeperWorld; a: KeptShard }> {
  const world = new KeeperWorld();
  const a = await world.member('a');
  await world.pass(0);
  expect(a.host.took()).toEqual(['gained 3']);
  world.server.tookWrites('a');
  return { world, a };
}

describe('a keeper of a shard renews', () => {
  it('once with each beat, and keeps the moment at which it was acquired', async () => {
    const { world, a } = await owning();
    await world.pass(15_000);
    expect(world.server.tookWrites('a')).toEqual([`PUT ${leaseName}`, `PUT ${leaseName}`, `PUT ${leaseName}`]);
    expect(world.server.leases.get(leaseName)?.spec).toMatchObject({
      acquireTime: '2000-01-01T00:00:00.000000Z',
      renewTime: '2000-01-01T00:00:15.000000Z',
    });
    expect([a.state, a.isOwned, a.keeper.failure]).toEqual(['owned', true, undefined]);
    await world.stop();
  });

  it('in time also where no beat comes, as that of the member has not ended', async () => {
    const { world, a } = await owning();
    a.beats = false;
    await world.pass(30_000);
    expect([a.isOwned, world.server.tookWrites('a').length, a.host.took()]).toEqual([true, 6, []]);
    await world.stop();
  });

  it('after the retry period where a request was lost, and says why until one succeeds', async () => {
    const { world, a } = await owning();
    world.server.fate = ({ verb }) => (verb === 'PUT' ? 'lost' : 'answered');
    await world.pass(5000);
    expect(a.keeper.failure).toMatchObject({ attempt: 1, retryAt: world.clock.now() + 2000 });
    await world.pass(2000);
    expect(a.keeper.failure).toMatchObject({ attempt: 2, since: world.clock.now() - 2000 });
    world.server.fate = () => 'answered';
    await world.pass(2000);
    expect([a.state, a.isOwned, a.keeper.failure]).toEqual(['owned', true, undefined]);
    await world.stop();
  });

  it('on after one that was carried out though its answer was lost', async () => {
    const { world, a } = await owning();
    let isFirst = true;
    world.server.fate = ({ verb }) => {
      const isLost = verb === 'PUT' && isFirst;
      if (verb === 'PUT') isFirst = false;
      return isLost ? 'answerLost' : 'answered';
    };
    await world.pass(30_000);
    expect([a.state, a.isOwned, a.host.told]).toEqual(['owned', true, []]);
    expect(a.metrics.nonZero(ends)).toEqual({});
    expect(world.server.leases.get(leaseName)?.spec?.leaseTransitions).toBe(0);
    await world.stop();
  });

  it('on after one that the server has carried out when nobody waited for it any more', async () => {
    const { world, a } = await owning();
    let count = 0;
    world.server.fate = ({ verb }) => {
      if (verb === 'PUT') count += 1;
      // the limit of a request is five seconds
      return verb === 'PUT' && count === 1 ? { handledAfterMs: 5500 } : 'answered';
    };
    await world.pass(16_000);
    expect([a.host.told.filter((told) => told !== 'gained 3' && told !== 'lost 3'), a.state]).toEqual([[], 'owned']);
    expect(world.server.holder(leaseName)).toBe('a_p');
    await world.pass(30_000);
    expect([a.state, a.isOwned, a.keeper.failure]).toEqual(['owned', true, undefined]);
    await world.stop();
  });

  it('on after somebody has changed an annotation of the Lease, which it keeps', async () => {
    const { world, a } = await owning();
    const lease = world.server.leases.get(leaseName) ?? {};
    world.server.put({ ...lease, metadata: { ...lease.metadata, annotations: { note: 'mine' } } });
    await world.pass(10_000);
    expect([a.state, a.isOwned, a.host.told]).toEqual(['owned', true, []]);
    expect(world.server.leases.get(leaseName)?.metadata?.annotations).toEqual({ note: 'mine' });
    expect(world.server.leases.get(leaseName)?.spec?.renewTime).toBe('2000-01-01T00:00:10.000000Z');
    await world.stop();
  });

  it('with one write at a time, however slow the answers', async () => {
    const { world, a } = await owning();
    const most = world.slowWrites({ answeredAfterMs: 3000 });
    await world.pass(60_000);
    expect([most(), a.state, a.host.told]).toEqual([1, 'owned', []]);
    await world.stop();
  });
});

describe('a keeper of a shard loses it', () => {
  it.each([
    ['lost', 'unavailable', 'See whether the apiserver is up, and whether what lies between lets requests through.'],
    [
      'silent',
      'timeout',
      'See whether the apiserver is overloaded, or the network drops packets: it was reached, and gave no answer.',
    ],
  ] as const)('ten seconds after the last renewal was sent (requests %s), not later, and says why', async (fate, problemKind, help) => {
    const { world, a } = await owning();
    await world.pass(5000);
    world.server.fate = ({ who }) => (who === 'a' ? fate : 'answered');
    await world.pass(9999);
    expect([a.state, a.isOwned]).toEqual(['owned', true]);
    expect(() => a.host.term?.requireOwned()).not.toThrow();
    // it is not to take it again
    a.line = [];
    await world.pass(1);
    expect([a.isOwned, a.host.took()]).toEqual([false, ['lost 3']]);
    expect(() => a.host.term?.requireOwned()).toThrow('shard 3');
    expect([a.keeper.ended, a.metrics.nonZero(ends)]).toEqual([{ handedOver: 0, lost: 1 }, { lost: 1 }]);
    const [{ fields } = { fields: {} }, ...others] = a.lines.saying('the fleet has lost a shard: its nodes are ended here');
    expect([fields, others]).toMatchObject([
      { fleet: 'edge', member: 'a', shard: 3, problem: `the Lease ${leaseName} was not renewed for 10000 ms` },
      [],
    ]);
    const reason = expect.stringContaining('the Lease of shard 3 could not be written: ');
    expect(fields).toMatchObject({ reason, problemKind, help, attempt: expect.any(Number), failingForMs: expect.any(Number) });
    expect([fields, a.keeper.failure]).toEqual([expect.not.objectContaining({ retryInMs: expect.anything() }), undefined]);
    await world.pass(6000);
    expect(a.keeper.failure).toBe(undefined);
    await world.stop();
  });

  it('when it reads that another has it, and leaves that one alone', async () => {
    const { world, a } = await owning();
    await world.pass(1000);
    world.server.edit(leaseName, { holderIdentity: 'intruder_x', renewTime: 'now' });
    await world.pass(0);
    expect([a.state, a.isOwned, a.host.took(), a.keeper.holder]).toEqual(['elsewhere', false, ['lost 3'], 'intruder_x']);
    expect(world.server.holder(leaseName)).toBe('intruder_x');
    await world.stop();
  });

  it('as soon as it sees that another has it, whatever becomes of its requests', async () => {
    const { world, a } = await owning();
    world.server.fate = () => 'silent';
    await world.pass(6000);
    world.server.edit(leaseName, { holderIdentity: 'intruder_x', renewTime: 'now' });
    await world.pass(0);
    expect([a.isOwned, a.host.took(), a.keeper.ended.lost]).toEqual([false, ['lost 3'], 1]);
    expect(a.lines.saying('the fleet has lost a shard: its nodes are ended here')).toMatchObject([
      {
        fields: {
          problem: `the Lease ${leaseName} is held by intruder_x`,
          problemKind: 'not-owner',
          help: expect.stringContaining('where another process has taken this over'),
        },
      },
    ]);
    // a renewal that was under way fails later: nothing of it is tried again
    a.line = [];
    await world.pass(5000);
    expect(a.keeper.failure).toBe(undefined);
    await world.pass(5000);
    expect([a.state, a.keeper.holder]).toEqual(['elsewhere', 'intruder_x']);
    await world.stop();
  });

  it('not by a list that was made before it took the shard', async () => {
    const { world, a } = await owning();
    const lease = world.server.leases.get(leaseName) ?? {};
    const older = { ...lease.metadata, resourceVersion: '0' };
    a.seen.noted({ metadata: older, spec: { ...lease.spec, holderIdentity: 'earlier_x', renewTime: 'then' } }, true);
    await world.pass(100);
    expect([a.state, a.isOwned, a.host.took()]).toEqual(['owned', true, []]);
    await world.stop();
  });

  it('and takes nothing before the host has ended what ran of it', async () => {
    const { world, a } = await owning();
    const ended = Promise.withResolvers<void>();
    a.host.loses = () => ended.promise;
    a.keeper.lose('a test');
    await world.pass(60_000);
    expect([a.state, a.keeper.isBusy, a.host.took()]).toEqual(['lost', true, ['lost 3']]);
    ended.resolve();
    await world.pass(0);
    expect([a.state, a.host.took()]).toEqual(['owned', ['gained 3']]);
    await world.stop();
  });

  it.each([
    ['throws', (): Promise<void> => Promise.reject(new Error('broken'))],
    [
      'throws at once',
      (): Promise<void> => {
        throw new Error('broken');
      },
    ],
    ['returns nothing', (): Promise<void> => undefined as never],
  ])('also where the host %s', async (_, loses) => {
    const { world, a } = await owning();
    a.host.loses = loses;
    a.keeper.lose('a test');
    await world.pass(0);
    expect(a.host.took()).toEqual(['lost 3', 'gained 3']);
    await world.stop();
  });

  it('once, and not where it has none', async () => {
    const { world, a } = await owning();
    a.host.loses = () => new Promise(() => {});
    a.keeper.lose('once');
    a.keeper.lose('twice');
    const b = await world.member('b', []);
    b.keeper.lose('nothing');
    expect([a.keeper.ended, b.keeper.ended, a.host.told, b.host.told]).toEqual([
      { handedOver: 0, lost: 1 },
      { handedOver: 0, lost: 0 },
      ['lost 3'],
      [],
    ]);
    await world.stop();
  });

  it('also where the answer to its renewal comes afterwards', async () => {
    const { world, a } = await owning();
    a.host.loses = () => new Promise(() => {});
    world.server.fate = ({ verb }) => (verb === 'PUT' ? { answeredAfterMs: 1000 } : 'answered');
    await world.pass(5500);
    a.keeper.lose('a test');
    await world.pass(5000);
    expect([a.state, a.isOwned, a.host.took()]).toEqual(['lost', false, ['lost 3']]);
    await world.stop();
  });
});
