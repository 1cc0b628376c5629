import { describe, expect, it, onTestFinished } from 'vitest';
import { Members } from '../../../../src/fleet/member/members.ts';
import { names } from './keeper-world.ts';
import { LeaseUser } from './lease-user.ts';

const shardsAnnotation = 'pod-status-manager/fleet-shards';
const stateAnnotation = 'pod-status-manager/fleet-state';

interface Written {
  readonly holder?: string;
  readonly shards?: number | undefined;
  readonly seconds?: number;
  readonly isLeaving?: boolean;
}

async function world() {
  const user = await new LeaseUser().start();
  onTestFinished(() => user.seen.stop());
  const { clock, server, seen } = user;
  const members = new Members({ names, id: 'b', identity: 'b_p', seen, clock });
  const put = (name: string, role: string, { holder = 'x_p', seconds = 15, ...marks }: Written): void => {
    const annotations = {
      ...(marks.shards !== undefined && { [shardsAnnotation]: String(marks.shards) }),
      ...(marks.isLeaving === true && { [stateAnnotation]: 'leaving' }),
    };
    const labels = { 'pod-status-manager/fleet': 'edge', 'pod-status-manager/fleet-role': role };
    server.put({ metadata: { name, labels, annotations }, spec: { holderIdentity: holder, leaseDurationSeconds: seconds } });
  };
  const member = (id: string, written: Written = {}): void =>
    put(`fleet-edge-member-${id}`, 'member', { holder: `${id}_p`, shards: 8, ...written });
  const shard = (number: number, holder: string, seconds = 15): void =>
    put(`fleet-edge-shard-00${number}`, 'shard', { holder, seconds });
  const ids = (of: readonly { readonly id: string }[]): string[] => of.map(({ id }) => id);
  return { clock, members, member, shard, ids };
}

describe('the members of a fleet', () => {
  it('are those whose Leases name a number of shards, by their ids', async () => {
    const { members, member, ids } = await world();
    member('c');
    member('a', { shards: 4 });
    member('odd', { shards: undefined });
    member('b');
    expect(members.all().map(({ id, isSelf, shards }) => [id, isSelf, shards])).toEqual([
      ['a', false, 4],
      ['b', true, 8],
      ['c', false, 8],
    ]);
    expect([ids(members.living()), ids(members.countingElse())]).toEqual([['b', 'c'], ['a']]);
  });

  it('are alive until their Leases have run out; this one is while it has one', async () => {
    const { clock, members, member } = await world();
    member('a');
    member('b');
    const alive = (): (string | boolean)[][] => members.all().map(({ id, isAlive }) => [id, isAlive]);
    await clock.advance(14_999);
    expect(alive()).toEqual([
      ['a', true],
      ['b', true],
    ]);
    await clock.advance(1);
    expect(alive()).toEqual([
      ['a', false],
      ['b', true],
    ]);
  });

  it('are this one only where its own process holds the Lease', async () => {
    const { clock, members, member } = await world();
    member('b', { holder: 'b_q' });
    expect(members.all()).toMatchObject([{ id: 'b', isSelf: false, isAlive: true }]);
    await clock.advance(15_000);
    expect(members.all()).toMatchObject([{ id: 'b', isSelf: false, isAlive: false }]);
  });

  it('that leave own no shards any more, and count with their number still', async () => {
    const { members, member, ids } = await world();
    member('a', { isLeaving: true });
    member('c', { isLeaving: true, shards: 4 });
    expect([ids(members.living()), ids(members.countingElse())]).toEqual([[], ['c']]);
  });

  it('count otherwise only while they are alive, and this one never does, whatever its Lease says', async () => {
    const { clock, members, member, ids } = await world();
    member('a', { shards: 4 });
    member('b', { shards: 4 });
    expect(ids(members.countingElse())).toEqual(['a']);
    await clock.advance(15_000);
    expect(ids(members.countingElse())).toEqual([]);
  });

  it('are looked at again when the next of the others runs out', async () => {
    const { clock, members, member } = await world();
    const next = (): number => members.nextRunOutAt(members.all());
    expect(next()).toBe(Number.POSITIVE_INFINITY);
    member('a', { seconds: 20 });
    member('b', { seconds: 5 });
    member('c', { seconds: 10 });
    expect(next()).toBe(clock.elapsed() + 10_000);
    await clock.advance(10_000);
    expect(next()).toBe(clock.elapsed() + 10_000);
  });
});

describe('strangers', () => {
  it('are those that hold a shard and are not known to count with this number, until that runs out', async () => {
    const { clock, members, member, shard } = await world();
    member('a');
    member('c', { shards: 4 });
    shard(0, 'a_p');
    shard(1, 'b_p');
    shard(2, 'c_p');
    shard(3, 'd_p');
    shard(4, 'a_before');
    shard(5, '');
    expect(members.strangers()).toEqual(['c', 'd', 'a']);
    await clock.advance(14_999);
    expect(members.strangers()).toEqual(['c', 'd', 'a']);
    await clock.advance(1);
    expect(members.strangers()).toEqual([]);
  });
});

describe('Leases of members', () => {
  it('that have run out are to be removed, ten at once, but for the own one', async () => {
    const { clock, members, member, shard } = await world();
    member('b', { seconds: 1 });
    member('lives');
    shard(1, 'x_p', 1);
    for (let dead = 0; dead < 12; dead += 1) member(`dead-${dead}`, { seconds: 1 });
    expect(members.leftLeases()).toEqual([]);
    await clock.advance(1000);
    const left = members.leftLeases().map(({ metadata }) => metadata?.name);
    expect(left).toEqual(Array.from({ length: 10 }, (_, dead) => `fleet-edge-member-dead-${dead}`));
  });

  it('that name no number of shards are unclear until they run out, but for the own one', async () => {
    const { clock, members, member } = await world();
    for (const id of ['b', 'd', 'c']) member(id, { shards: undefined });
    member('a');
    expect(members.unclear()).toEqual(['fleet-edge-member-c', 'fleet-edge-member-d']);
    await clock.advance(15_000);
    expect(members.unclear()).toEqual([]);
  });
});
