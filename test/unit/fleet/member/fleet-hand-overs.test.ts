import { describe, expect, it } from 'vitest';
import type { FleetProcess } from './fleet-world.ts';
import { FleetWorld } from './fleet-world.ts';

/** Until the nodes of a shard run, they wait here. */
class Starts {
  readonly waiting: (() => void)[] = [];

  readonly startsAfter = (): Promise<void> => new Promise((resolve) => this.waiting.push(resolve));

  release(): void {
    for (const resolve of this.waiting.splice(0)) resolve();
  }
}

const gained = ({ host }: FleetProcess): number => host.told.filter((told) => told.startsWith('gained')).length;

/** Members that have shared the shards; the first has more of them than any other. Their nodes start when the test says so. */
async function fleetOf(...ids: string[]): Promise<{ world: FleetWorld; processes: FleetProcess[]; starts: Starts[] }> {
  const world = new FleetWorld();
  const processes = (await world.fleet(...ids)).toSorted((one, two) => two.owned.length - one.owned.length);
  await world.pass(6000);
  const starts = processes.map(({ host }) => {
    const own = new Starts();
    host.startsAfter = own.startsAfter;
    host.took();
    return own;
  });
  return { world, processes, starts };
}

describe('a member that leaves', () => {
  it('gives each other member one shard, and the next once the nodes of that run', async () => {
    const { world, processes, starts } = await fleetOf('a', 'b', 'c');
    const [a, b, c] = processes as [FleetProcess, FleetProcess, FleetProcess];
    const share = a.owned.length;
    expect(share).toBeGreaterThan(2);
    const stopped = a.member.stop(60_000);
    await world.pass(2000);
    expect([gained(b), gained(c)]).toEqual([1, 1]);
    starts[1]?.release();
    await world.pass(500);
    expect([gained(b), gained(c)]).toEqual([2, 1]);
    for (const { host } of [b, c]) host.startsAfter = () => Promise.resolve();
    for (const own of starts) own.release();
    await world.settled(stopped);
    expect(await stopped).toEqual({ handedOver: share, leftToRunOut: 0 });
    await world.end();
  });

  it('goes before one that only balances, as its Lease says', async () => {
    const world = new FleetWorld();
    const [a, b] = (await world.fleet('a', 'b')) as [FleetProcess, FleetProcess];
    await world.pass(6000);
    const c = world.process('c');
    for (const { host } of [a, b, c]) host.startsAfter = () => new Promise(() => {});
    b.host.took();
    const stopped = b.member.stop(300_000);
    await world.pass(200);
    expect(b.host.took().length).toBe(1);
    c.start();
    await world.pass(400);
    const handOvers = (told: string[]): number => told.filter((one) => one.startsWith('handOver')).length;
    expect([handOvers(b.host.took()), handOvers(a.host.took())]).toEqual([1, 0]);
    for (const { host } of [a, b, c]) host.startsAfter = () => Promise.resolve();
    await world.settled(stopped, 200_000);
    await world.end();
  });

  it('waits five seconds for the nodes of one, so that one that never starts them holds up no stop', async () => {
    const { world, processes } = await fleetOf('a', 'b');
    const [a, b] = processes as [FleetProcess, FleetProcess];
    const share = a.owned.length;
    const stopped = a.member.stop(300_000);
    await world.pass(4900);
    expect(gained(b)).toBe(1);
    await world.pass(200);
    expect(gained(b)).toBe(2);
    expect(await world.settled(stopped)).toEqual({ handedOver: share, leftToRunOut: 0 });
    await world.end();
  });

  it('waits for nobody any more once half of the time for its shards is over', async () => {
    const { world, processes } = await fleetOf('a', 'b');
    const [a, b] = processes as [FleetProcess, FleetProcess];
    const share = a.owned.length;
    const stopped = a.member.stop(4000);
    await world.pass(1400);
    expect(gained(b)).toBe(1);
    await world.pass(500);
    expect(gained(b)).toBe(share);
    expect(await world.settled(stopped)).toEqual({ handedOver: share, leftToRunOut: 0 });
    await world.end();
  });

  it('has gone in time where the next owner takes nothing', async () => {
    const { world, processes } = await fleetOf('a', 'b');
    const [a, b] = processes as [FleetProcess, FleetProcess];
    const share = a.owned.length;
    world.cutOff(b.id);
    const beganAt = world.clock.elapsed();
    expect(await world.stop(a, 8000)).toEqual({ handedOver: share, leftToRunOut: 0 });
    expect(world.clock.elapsed() - beganAt).toBeLessThanOrEqual(8000);
    await world.end();
  });
});

describe('a member that comes', () => {
  it('gets one shard after the other, from whomever', async () => {
    const { world } = await fleetOf('a', 'b', 'c');
    const starts = new Starts();
    const d = world.process('d');
    d.host.startsAfter = starts.startsAfter;
    d.start();
    for (let turns = 0; turns < 40; turns += 1) {
      await world.pass(400);
      expect(starts.waiting.length).toBeLessThan(2);
      starts.release();
    }
    expect(d.owned.length).toBeGreaterThan(1);
    await world.end();
  });
});

describe('a shard that comes from another member', () => {
  it('says in its Lease that its nodes start, through all renewals, until they run; one that was free says nothing', async () => {
    const { world, processes, starts } = await fleetOf('a', 'b');
    const [a, b] = processes as [FleetProcess, FleetProcess];
    const [shard = 0] = a.owned;
    const says = (): unknown => {
      const { metadata, spec } = world.server.leases.get(world.shardLease(shard)) ?? {};
      return [spec?.holderIdentity, metadata?.annotations?.['pod-status-manager/fleet-state']];
    };
    expect(says()).toEqual([`${a.id}_p`, undefined]);
    const stopped = a.member.stop(60_000);
    await world.pass(100);
    expect(says()).toEqual([`${b.id}_p`, 'starting']);
    await world.pass(7000);
    expect(says()).toEqual([`${b.id}_p`, 'starting']);
    starts[processes.indexOf(b)]?.release();
    await world.pass(0);
    expect(says()).toEqual([`${b.id}_p`, undefined]);
    for (const own of starts) own.release();
    for (const { host } of processes) host.startsAfter = () => Promise.resolve();
    await world.settled(stopped);
    await world.end();
  });
});
